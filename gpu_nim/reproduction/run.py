"""A run over items of papers: each comparison is computed, each check is run, and a verdict follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.reproduction.item import REACH, Comparison, Item, Paper
from gpu_nim.reproduction.papers import find_papers
from gpu_nim.theorems import StatementResult, find_statements, run_checks


class Verdict(StrEnum):
    """What a comparison shows, from the best to the worst."""

    AGREEMENT = "agreement"  # gpunim computes what the paper prints
    ANSWERED = "answered"  # the paper leaves it to the reader
    SLIP = "slip"  # gpunim computes the right value that the catalogue holds, and the paper prints another one
    DISAGREEMENT = "disagreement"


@dataclass(frozen=True)
class Compared:
    """A comparison, and what came of it; values are plain, as JSON has them."""

    comparison: Comparison
    found: Any
    verdict: Verdict


@dataclass(frozen=True)
class ItemResult:
    """An item of a paper, with its comparisons and the results of its checks."""

    paper: str
    item: Item
    compared: tuple[Compared, ...]
    checked: tuple[StatementResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its comparisons and checks."""
        found = [compared.verdict for compared in self.compared]
        found += [Verdict.AGREEMENT if checked.holds else Verdict.DISAGREEMENT for checked in self.checked]
        return max(found, key=list(Verdict).index)

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim reproduce --json` prints it."""
        item = self.item
        return {
            "paper": self.paper,
            "number": item.number,
            "kind": item.kind,
            "statement": item.statement,
            "verdict": str(self.verdict),
            "slip": item.slip or None,
            "comparisons": [
                {
                    "about": each.comparison.about,
                    "printed": plain(each.comparison.printed),
                    "right": plain(each.comparison.right),
                    "computed": each.found,
                    "verdict": str(each.verdict),
                }
                for each in self.compared
            ],
            "checks": [
                {
                    "name": each.statement.name,
                    "summary": each.statement.summary,
                    "scope": each.result.scope,
                    "holds": each.holds,
                    "counterexample": None if each.holds else str(each.result.counterexample),
                }
                for each in self.checked
            ],
            "command": item.shown_by,
            "figure": item.figure or None,
        }


def reproduce(
    papers: Mapping[str, Paper] | Iterable[str] = (), upto: int = REACH, on_step: OnStep = unreported
) -> Iterator[ItemResult]:
    """Yield the results of all items of papers, one after the other; each check is run once.

    Args:
        papers: names of papers, such as ["nim-fractals"], or papers by name; all of the catalogue where none is named.
        upto: the reach of the checks, as for `run_checks`.
        on_step: called with the number of items done.

    Raises:
        UsageError: a name is unknown, or `upto` is below 1.

    >>> results = reproduce(["nim-in-3d"], upto=4)
    >>> [(result.item.number, str(result.verdict)) for result in results][:2]
    [('Parents', 'slip'), ('Neighbours', 'agreement')]
    """
    if upto < 1:
        raise UsageError(f"upto must be at least 1, got {upto}")
    if not isinstance(papers, Mapping):
        papers = find_papers([papers] if isinstance(papers, str) else papers)
    known: dict[str, StatementResult] = {}
    total, done = sum(len(paper.items) for paper in papers.values()), 0
    for name, paper in papers.items():
        for item in paper.items:
            on_step(f"{paper.label} {item.number}", done, total)
            compared = tuple(compare(comparison) for comparison in item.comparisons)
            for check in item.checks:
                if check not in known:
                    (known[check],) = run_checks(find_statements([check]), upto)
            yield ItemResult(name, item, compared, tuple(known[check] for check in item.checks))
            done += 1
    on_step("items", done, total)


def compare(comparison: Comparison) -> Compared:
    """Return the result of a comparison; one whose computation ends in an error is a disagreement.

    Args:
        comparison: the comparison.

    Raises:
        InsufficientMemoryError: it needs more memory than is free, which says nothing about the paper.

    >>> compare(Comparison("1 + 1", lambda: 1 + 1, 3, right=2)).verdict
    <Verdict.SLIP: 'slip'>
    """
    try:
        found = plain(comparison.compute())
    except InsufficientMemoryError:
        raise
    except Exception as error:  # the other items are still compared
        return Compared(comparison, f"{type(error).__name__}: {error}", Verdict.DISAGREEMENT)
    printed, right = plain(comparison.printed), plain(comparison.right)
    if printed is None:
        verdict = Verdict.ANSWERED
    elif right is None:
        verdict = Verdict.AGREEMENT if found == printed else Verdict.DISAGREEMENT
    else:
        verdict = Verdict.SLIP if found == right != printed else Verdict.DISAGREEMENT
    return Compared(comparison, found, verdict)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays, tuples and sets as lists, sets in order.

    >>> plain(({(1, 2), (0, 1)}, np.arange(2), "text", None))
    [[[0, 1], [1, 2]], [0, 1], 'text', None]
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return plain(sorted(value))
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def in_words(value: Any) -> str:
    """Return a plain value as people read it.

    >>> in_words([1, 3, 3, 9]), in_words([[0, [8, 0]], [1, [1, 1]]]), in_words(True), in_words([])
    ('1, 3, 3, 9', '(0,(8,0)), (1,(1,1))', 'yes', 'none')
    """
    if isinstance(value, list):
        return ", ".join(map(_within, value)) or "none"
    return _one(value)


def _within(value: Any) -> str:
    return f"({','.join(map(_within, value))})" if isinstance(value, list) else _one(value)


def _one(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def summary(results: list[ItemResult]) -> dict[Verdict, int]:
    """Return the number of results of each verdict."""
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}
