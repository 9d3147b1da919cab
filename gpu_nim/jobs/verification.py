"""Checks of what is named: statements of the papers, the file of a growth, or a b-file. Each has a result, which holds or not."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, overload

from gpu_nim.automata.growth import Growth
from gpu_nim.counting.families import FAMILIES
from gpu_nim.model.arguments import IntLike, argument, counted, items, short_repr
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import STDIN
from gpu_nim.model.registry import one_of, wrong_ending
from gpu_nim.model.shown import Checked, Shown
from gpu_nim.model.work import OnStep, duration, no_progress
from gpu_nim.oeis.b_files import compare
from gpu_nim.oeis.catalogue import resolve
from gpu_nim.papers.entries import CheckResult, Entry, find_statements
from gpu_nim.papers.growth_check import check_cells, theorem_of
from gpu_nim.papers.views import StatementResult, StatementResults, run_checks
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, readable_suffixes
from gpu_nim.storage.save_load import TEXTS, load, read_terms
from gpu_nim.storage.tables import TABLE_FORMATS

_FACTS = ("automaton", "generations", "population", "digest")


@dataclass(frozen=True, repr=False)
class FileResult(Checked):
    """The result of the check of a file.

    Attributes:
        result: what was checked, and the first difference.
        words: the same in a sentence.
        facts: the same as plain values.
    """

    result: CheckResult
    words: str
    facts: dict[str, Any]

    def lines(self, _: int = 0) -> Iterator[str]:
        """Yield the result in words."""
        yield self.words

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim verify --json` prints it."""
        return self.facts


class Check(NamedTuple):
    """A check that is not yet made.

    Attributes:
        name: the name of the statement, or of the file.
        seconds: about how long it takes.
        run: makes the check, given what takes reports of its progress.
    """

    name: str
    seconds: int
    run: Callable[[OnStep], StatementResult | FileResult]


class Verification(Shown):
    """Checks of statements, of the file of a growth that holds cells, or of a b-file, made one after the other.

    Args:
        what: names of statements, or their beginnings, or "all"; and files, by their names or as paths, or - for stdin.
        upto: the reach of the checks of statements: the largest pile, index or generation; by default 64.
        thorough: check each statement as far as takes minutes.
        prove: only those that are decided for all numbers, with more piles or parameters.
        sequence: the OEIS entry or the family that the files have, which are b-files or other lists of terms.
        piles: the number of piles of the family.

    Attributes:
        checks: the checks.
        done: the results of those that are made.

    Raises:
        UsageError: a name is unknown, or the arguments contradict each other.

    >>> verification = Verification(["nf-lemma-8", "v-theorem-3.1"], 16)
    >>> [result.holds for result in verification.run()], verification.total()
    ([True, True], '2 of 2 statements hold, 2 of them for every number')
    """

    def __init__(
        self,
        what: Collection[str | Path],
        upto: IntLike | None = None,
        *,
        thorough: bool = False,
        prove: bool = False,
        sequence: str | None = None,
        piles: IntLike | None = None,
    ) -> None:
        self._upto, self._thorough = upto, thorough or prove
        self.done: list[StatementResult | FileResult] = []
        if not what:
            expected, by = one_of(readable_suffixes()), argument("sequence")
            raise UsageError(f"name what to verify: 'all', statements of --list, a growth's {expected}, a b-file and {by} A-NUMBER")
        if piles is not None and sequence is None:
            raise UsageError(f"piles needs {argument('sequence')} {one_of(FAMILIES)}, and a b-file to verify")
        files = {name: _file_check(name, sequence, piles) for name in what}
        found = find_statements(str(name) for name, check in files.items() if check is None)
        statements = [each for each in found if each.decided] if prove else found
        if prove and not statements:
            raise UsageError(f"prove is for statements that are decided for all numbers, got {one_of(map(str, what), 'and')}")
        self.checks = [*filter(None, files.values()), *map(self._check, statements)]

    def _check(self, statement: Entry) -> Check:
        seconds = statement.reach.seconds if self._thorough and statement.reach else 1
        return Check(statement.name, seconds, partial(_check_statement, statement, self._upto, self._thorough))

    def run(self, bar: Callable[[], AbstractContextManager[OnStep]] | None = None) -> Iterator[StatementResult | FileResult]:
        """Make the checks, and yield their results.

        Args:
            bar: makes what takes reports of the progress of one check.
        """
        costs, began = [check.seconds for check in self.checks], time.monotonic()
        for number, check in enumerate(self.checks):
            slower = (time.monotonic() - began) / sum(costs[:number]) if number else 1
            with bar() if bar else nullcontext(no_progress) as step:
                step(f"{check.name}, {duration(slower * sum(costs[number:]))} left, statement", number, len(costs))
                self.done.append(check.run(step))
            yield self.done[-1]

    @property
    def failed(self) -> int:
        """How many checks so far have failed."""
        return sum(not result.holds for result in self.done)

    def estimate(self) -> str:
        """Return in words how long thorough checks take; nothing for others."""
        if not self._thorough or self._upto is not None:
            return ""
        count = len(self.checks)
        return f"{counted(count, 'statement')}, {duration(sum(check.seconds for check in self.checks))} on one core"

    def summary(self) -> dict[str, Any] | None:
        """Return what was found so far as plain values, as `gpunim verify --json` prints it; None where no check was made."""
        complete = len(self.done) == len(self.checks)
        files = [result.summary() for result in self.done if isinstance(result, FileResult)]
        if not self.done or (files and len(self.checks) == 1):
            return files[0] if files else None
        facts = {"upto": self._upto, "thorough": self._thorough, "complete": complete, "failed": self.failed}
        statements = [result.summary() for result in self.done if isinstance(result, StatementResult)]
        return {**facts, **({"files": files} if files else {}), "statements": statements}

    def total(self) -> str:
        """Return in words how many statements hold so far; nothing of one alone, or of files."""
        found = [result for result in self.done if isinstance(result, StatementResult)]
        done, unchecked = len(found), len(self.checks) - len(self.done)
        if not done or len(self.checks) == 1:
            return ""
        unproved = sum(result.holds and result.statement.conjecture for result in found)
        proved = sum(result.holds and result.statement.decided for result in found)
        decided = f", {proved} of them for every number" if proved else ""
        open_ = f", no counterexample was found to {counted(unproved, 'conjecture')}" if unproved else ""
        rest = f", {unchecked} {'were' if unchecked != 1 else 'was'} not checked" if unchecked else ""
        return f"{sum(map(bool, found)) - unproved} of {done} statements hold{decided}{open_}{rest}"


@overload
def verify(what: Growth | Path, *, sequence: str | None = None, piles: IntLike | None = None) -> CheckResult: ...
@overload
def verify(what: str, *, sequence: str, piles: IntLike | None = None) -> CheckResult: ...
@overload
def verify(
    what: str | Iterable[str] = "all", upto: IntLike | None = None, *, thorough: bool = False, prove: bool = False
) -> list[StatementResult]: ...
def verify(
    what: Growth | Path | str | Iterable[str] = "all",
    upto: IntLike | None = None,
    *,
    thorough: bool = False,
    prove: bool = False,
    sequence: str | None = None,
    piles: IntLike | None = None,
) -> CheckResult | list[StatementResult]:
    """Verify statements by name, a growth or its file, or a b-file, as `gpunim verify` does.

    Args:
        what: the name of a statement, the beginning of names such as "nf-lemma", "all", or several of these; or a growth or its
            .zarr or .npz file, whose cells are compared with its births and checksums, and with its theorem or else a new growth by
            its rule, for about a minute; or a b-file.
        upto: the reach of the checks of statements: the largest pile, index or generation; by default 64, or as far as takes
            minutes if `thorough`. A statement on larger ones alone is checked for its first. For a statement that is decided for
            all of them, the largest number of piles, or parameter.
        thorough: check each statement to its own reach, at least a hundred times as many cases as its source shows where that
            takes minutes: about seven minutes in all.
        prove: only the statements that are decided for all numbers, with more piles or parameters than usually.
        sequence: the OEIS entry or the family that the b-file has.
        piles: the number of piles of the family.

    Returns:
        For statements a list with a result for each; `pandas.DataFrame(result.summary() for result in ...)` is a table of them.
        For a growth or a b-file the scope of the check, and the first difference in words.

    Raises:
        UsageError: a name is unknown, `upto` is below 1, or a file is none that is verified.
        FileError: the file cannot be read, or the cells of a growth differ from their checksums.

    >>> [(checked.statement.name, checked.holds) for checked in verify(["nf-lemma-8", "v-theorem-3.1"], 16)]
    [('nf-lemma-8', True), ('v-theorem-3.1', True)]
    >>> verify("v-theorem-3.5", prove=True)[0].result  # of an automaton, by the moves of the game
    CheckResult(scope='every position', decided=True)
    >>> from gpu_nim import grow
    >>> verify(grow("nim", 7)).holds
    True
    """
    if isinstance(what, Growth):
        return check_cells(what)
    names = [what] if isinstance(what, str | Path) else items("what", what, "names of statements, or be a growth or a file")
    for name in names:
        if not isinstance(name, str | Path):
            raise UsageError(f"what must hold names of statements, got {short_repr(name)}")
    verification = Verification(names, upto, thorough=thorough, prove=prove, sequence=sequence, piles=piles)  # type: ignore[arg-type]
    results = [*verification.run()]
    statements = [each for each in results if isinstance(each, StatementResult)]
    if len(statements) == len(results):
        return StatementResults(statements)
    if len(results) > 1:
        raise UsageError(f"what must hold one file, which is verified alone, got {len(results)} names")
    return results[0].result


def _check_statement(statement: Entry, upto: IntLike | None, thorough: bool, _: OnStep) -> StatementResult:
    return next(run_checks([statement], upto, thorough))


def _file_check(name: str | Path, sequence: str | None, piles: IntLike | None) -> Check | None:
    """The check of a file; None where statements are named."""
    path = Path(name)
    if sequence is not None:
        return Check(str(name), 1, partial(_check_terms, path, sequence, piles))
    if path.suffix in readable_suffixes():
        return Check(str(name), 1, partial(_check_growth, path))
    if path.suffix in TEXTS or str(name) in STDIN:
        wanted = f"the OEIS entry, or which of {one_of(FAMILIES, 'and')}, to compare the b-file {name} with"
        raise UsageError(f"sequence must name {wanted}")
    if isinstance(name, Path) or path.suffix in {*GROWTH_FORMATS, *TABLE_FORMATS}:
        raise wrong_ending("verify takes statements, or the file of a growth that ends in", name, readable_suffixes())
    return None


def _check_growth(path: Path, progress: OnStep) -> FileResult:
    growth = load(path, Growth)
    theorem = theorem_of(growth)
    result = check_cells(growth, progress)
    known = f"as {theorem.source} has it" if theorem else "no theorem is known"
    agree = f"{growth.automaton}, {result.scope}, agree with births and checksums; {known}"
    facts = {key: value for key, value in growth.summary().items() if key in _FACTS}
    facts |= {"theorem": theorem and theorem.source, "counterexample": result.counterexample}
    return FileResult(result, f"{path}: {agree if result.holds else result.counterexample}", {"file": str(path), **facts})


def _check_terms(path: Path, sequence: str, piles: IntLike | None, _: OnStep) -> FileResult:
    entry, terms = resolve(sequence, piles), read_terms(path)
    try:
        compared = compare(terms.values, terms.first if terms.counted else entry.offset, entry)
    except UsageError as error:
        raise FileError(f"{path}: {error}") from error
    scope = f"{counted(compared.terms, 'term')}, n = {compared.first} to {compared.last}"
    words, found, different = f"{path}: agrees with {sequence} in all {scope}", None, None
    if wrong := compared.difference:
        different = f"{sequence} has {wrong.expected} at n = {wrong.n}, not {wrong.found}"
        words, found = f"{path}: {different}", {"n": wrong.n, "found": str(wrong.found), "expected": str(wrong.expected)}
    facts = {"file": str(path), "sequence": sequence, "terms": compared.terms, "difference": found}
    return FileResult(CheckResult(scope, different), words, facts)
