"""`gpu_nim.verify`: exhaustive checks of statements, or of a growth cell by cell."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import overload

from gpu_nim.automata.growth import Growth
from gpu_nim.model.arguments import Whole, integer, items, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.papers.catalogue import CheckResult, Entry, Reach, find_statements
from gpu_nim.papers.growth_check import check_cells


@dataclass(frozen=True)
class StatementResult:
    """A statement, the result of its check, and the seconds that took.

    Attributes:
        statement: the statement.
        result: the scope of its check, and the first counterexample.
        seconds: the time of the check.
    """

    statement: Entry
    result: CheckResult
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.result.holds

    def summary(self) -> dict[str, object]:
        """Return the result as plain values, as `gpunim verify --json` prints it."""
        return {
            "name": self.statement.name,
            "source": self.statement.source,
            "summary": self.statement.summary,
            "conjecture": self.statement.conjecture,
            "holds": self.holds,
            "scope": self.result.scope,
            "counterexample": None if self.holds else str(self.result.counterexample),
            "seconds": self.seconds,
        }


def run_checks(checked: Iterable[Entry], upto: int | None = None, thorough: bool = False) -> Iterator[StatementResult]:
    """Yield the results of the checks of statements, one after the other; a check that raises has failed.

    Args:
        checked: the statements.
        upto: the reach of the checks: the largest pile, index or generation; None for 64, or for the statement's own if thorough.
        thorough: go as far as takes minutes, or to `upto`.

    Raises:
        UsageError: `upto` is below 1.
    """
    if upto is not None and upto < 1:
        raise UsageError(f"upto must be at least 1, got {upto}")
    for each in checked:
        began = time.perf_counter()
        try:
            result = each.check((each.reach or Reach()).to(upto, thorough))
        except Exception as error:  # the other checks still run
            result = CheckResult("not tried to its end", f"the check ended with {type(error).__name__}: {error}")
        yield StatementResult(each, result, time.perf_counter() - began)


@overload
def verify(what: Growth) -> CheckResult: ...
@overload
def verify(what: str | Iterable[str] = "all", upto: Whole | None = None, *, thorough: bool = False) -> list[StatementResult]: ...
def verify(
    what: Growth | str | Iterable[str] = "all", upto: Whole | None = None, *, thorough: bool = False
) -> CheckResult | list[StatementResult]:
    """Verify statements by name, or a growth.

    Args:
        what: the name of a statement, the beginning of names such as "nf-lemma", "all", or several of these; or a growth, whose
            cells are compared with its births and checksums, and with its theorem or else a new growth by its rule, for about a
            minute.
        upto: the reach of the checks of statements: the largest pile, index or generation; by default 64, or as far as takes
            minutes if `thorough`.
        thorough: check each statement to a reach of its own, at least a hundred times as many cases as its source shows where that
            takes minutes: about twelve minutes in all.

    Returns:
        For statements a list with a result for each; `pandas.DataFrame(result.summary() for result in ...)` is a table of them.
        For a growth the scope of the check, and the first difference in words.

    Raises:
        UsageError: a name is unknown, or `upto` is below 1.
        FileError: cells in the file of a growth differ from their checksums.

    >>> [(checked.statement.name, checked.holds) for checked in verify(["nf-lemma-8", "v-theorem-3.1"], 16)]
    [('nf-lemma-8', True), ('v-theorem-3.1', True)]
    >>> from gpu_nim import grow
    >>> verify(grow("nim", 7)).holds
    True
    """
    if isinstance(what, Growth):
        return check_cells(what)
    names = [what] if isinstance(what, str) else items("what", what, "names of statements, or be a growth")
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"what must hold names of statements, got {shown(name)}")
    reach = None if upto is None else integer("upto", upto, 1)
    return list(run_checks(find_statements(map(str, names)), reach, thorough))
