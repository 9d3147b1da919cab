"""Checks of what is named: statements of the papers, the file of a growth, or a b-file. Each has a result, which holds or not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gpu_nim.automata.growth import Growth
from gpu_nim.counting.families import FAMILIES
from gpu_nim.model.arguments import Whole, argument
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.oeis.b_files import compare
from gpu_nim.oeis.catalogue import resolve
from gpu_nim.papers.catalogue import Entry, find_statements
from gpu_nim.papers.growth_check import cells_to_check, check_cells, theorem_of
from gpu_nim.papers.views import StatementResult, run_checks
from gpu_nim.storage.growth_formats import readable_suffixes
from gpu_nim.storage.save_load import load

_FACTS = ("automaton", "generations", "population", "digest")


@dataclass(frozen=True)
class FileResult:
    """The result of the check of a file.

    Attributes:
        holds: whether no difference was found.
        words: what was checked, or the first difference.
        facts: the same as plain values.
    """

    holds: bool
    words: str
    facts: dict[str, Any]

    def lines(self, _: int = 0) -> Iterator[str]:
        """Yield the result in words."""
        yield self.words

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim verify --json` prints it."""
        return self.facts


@dataclass(frozen=True)
class Check:
    """A check that is not yet made.

    Attributes:
        name: the name of the statement, or of the file.
        seconds: about how long it takes.
        run: makes the check; it may be given what takes reports of its progress.
    """

    name: str
    seconds: int
    run: Callable[..., StatementResult | FileResult]


def checks(
    what: Collection[str],
    upto: int | None = None,
    *,
    thorough: bool = False,
    sequence: str | None = None,
    piles: Whole | None = None,
) -> list[Check]:
    """Return the checks of statements, of the file of a growth that holds cells, or of a b-file.

    Args:
        what: names of statements, or their beginnings, or "all"; or one file.
        upto: the reach of the checks of statements: the largest pile, index or generation; by default 64.
        thorough: check each statement as far as takes minutes.
        sequence: the OEIS entry or the family that the b-file has.
        piles: the number of piles of the family.

    Raises:
        UsageError: a name is unknown, or the arguments contradict each other.

    >>> [check.run().holds for check in checks(["nf-lemma-8", "v-theorem-3.1"], 16)]
    [True, True]
    """
    if not what:
        expected = " or ".join(readable_suffixes())
        raise UsageError(f"name what to verify: 'all', statements of --list, a growth's {expected}, a b-file and --as A-NUMBER")
    first = next(iter(what))
    if sequence is not None:
        if len(what) != 1:
            raise UsageError(f"{argument('sequence')} verifies one b-file, got {len(what)} of them")
        return [Check(first, 1, partial(_check_bfile, Path(first), sequence, piles))]
    if piles is not None:
        raise UsageError(f"{argument('piles')} needs {argument('sequence')} {one_of(FAMILIES)}, and a b-file to verify")
    for name in what:
        if name.endswith(readable_suffixes()) and len(what) > 1:
            raise UsageError(f"verify takes one growth and no other names, got {name} and {len(what) - 1} more")
        if name.endswith(".txt"):
            wanted = f"the OEIS entry, or which of {one_of(FAMILIES, 'and')}, to compare the b-file {name} with"
            raise UsageError(f"{argument('sequence')} must name {wanted}")
    if first.endswith(readable_suffixes()):
        return [Check(first, 1, partial(_check_growth, Path(first)))]

    def checked(statement: Entry, _: OnStep = unreported) -> StatementResult:
        return next(run_checks([statement], upto, thorough))

    return [
        Check(each.name, each.reach.seconds if thorough and each.reach else 1, partial(checked, each))
        for each in find_statements(what)
    ]


def _check_growth(path: Path, on_step: OnStep = unreported) -> FileResult:
    growth = load(path, Growth)
    theorem = theorem_of(growth)
    done, total = 0, cells_to_check(growth)

    def advance(cells: int) -> None:
        nonlocal done
        done += cells
        on_step("cells", done, total)

    result = check_cells(growth, advance)
    known = f"as {theorem.source} has it" if theorem else "no theorem is known"
    agree = f"{growth.automaton}, {result.scope}, agree with births and checksums; {known}"
    facts = {key: value for key, value in growth.summary().items() if key in _FACTS}
    facts |= {"theorem": theorem and theorem.source, "counterexample": result.counterexample}
    return FileResult(result.holds, f"{path}: {agree if result.holds else result.counterexample}", {"file": str(path), **facts})


def _check_bfile(path: Path, sequence: str, piles: Whole | None, _: OnStep = unreported) -> FileResult:
    compared = compare(path, resolve(sequence, piles))
    facts = {"file": str(path), "sequence": sequence, "terms": compared.terms}
    wrong = compared.difference
    if wrong is None:
        words = f"{path}: {compared.terms:,} terms, n = {compared.first} to {compared.last}, all those of {sequence}"
        return FileResult(True, words, {**facts, "difference": None})
    words = f"{path}, line {wrong.line}: {sequence} has {wrong.expected} at n = {wrong.n}, not {wrong.found}"
    found = {"line": wrong.line, "n": wrong.n, "found": str(wrong.found), "expected": str(wrong.expected)}
    return FileResult(False, words, {**facts, "difference": found})
