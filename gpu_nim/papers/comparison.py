"""`gpu_nim.reproduce`: what the papers print is compared with what gpunim computes, each check is run, and a verdict follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import made_by
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.papers.catalogue import PAPERS, Entry, Paper, Printed, Verdict, find_papers, find_statements
from gpu_nim.papers.verification import StatementResult, run_checks


@dataclass(frozen=True)
class ItemResult:
    """An item of a paper, with its comparisons and the results of its checks."""

    paper: str
    item: Entry
    compared: tuple[Printed, ...]
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
            "statement": item.summary,
            "verdict": str(self.verdict),
            "slip": item.slip or None,
            "comparisons": [{**vars(each), "verdict": str(each.verdict)} for each in self.compared],
            "checks": [{key: value for key, value in each.summary().items() if key in _OF_CHECKS} for each in self.checked],
            "command": item.shown_by,
            "figure": item.figure or None,
        }


_OF_CHECKS = ("name", "summary", "scope", "holds", "counterexample")


def reproduce(
    papers: Mapping[str, Paper] | Iterable[str] = (), upto: int = 20, on_step: OnStep = unreported
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
    items = [(name, item) for name, paper in papers.items() for item in paper.items]
    for done, (name, item) in enumerate(items):
        on_step(item.source, done, len(items))
        compared = tuple(item.printed())
        for check in item.checks:
            if check not in known:
                (known[check],) = run_checks(find_statements([check]), upto)
        yield ItemResult(name, item, compared, tuple(known[check] for check in item.checks))
    on_step("items", len(items), len(items))


def in_words(value: Any) -> str:
    """Return a plain value as people read it.

    >>> in_words([1, 3, 3, 9]), in_words([[0, [8, 0]], [1, [1, 1]]]), in_words(True), in_words([]), in_words(None)
    ('1, 3, 3, 9', '(0,(8,0)), (1,(1,1))', 'yes', 'none', 'left to the reader')
    """
    if isinstance(value, list):
        return ", ".join(map(_within, value)) or "none"
    return _within(value)


def _within(value: Any) -> str:
    if isinstance(value, list):
        return f"({','.join(map(_within, value))})"
    return {True: "yes", False: "no", None: "left to the reader"}[value] if value is None or isinstance(value, bool) else str(value)


def summary(results: list[ItemResult]) -> dict[Verdict, int]:
    """Return the number of results of each verdict."""
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}


def report(results: list[ItemResult], upto: int) -> dict[str, Any]:
    """Return the results of a run as JSON has them.

    Args:
        results: the results.
        upto: the reach of the checks.
    """
    return {
        "gpunim": str(made_by("gpu_nim.render.report.save_report(...)")),
        "upto": upto,
        "verdicts": {str(verdict): count for verdict, count in summary(results).items()},
        "papers": {
            name: {"label": PAPERS[name].label, "title": PAPERS[name].title, "note": PAPERS[name].note or None}
            for name in dict.fromkeys(result.paper for result in results)
        },
        "items": [result.summary() for result in results],
    }
