"""The catalogue of statements: each has a name, a source and a check that looks for a counterexample.

A new statement is one function, decorated with `statement`, in any module of `gpu_nim.theorems.papers`.  A function that yields the
cases to compare is decorated with `compared_cases`, too.
"""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from typing import NamedTuple

from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.registry import Registry
from gpu_nim.theorems import papers
from gpu_nim.theorems.check_result import CheckResult

Case = tuple[str, object, object]
"""A comparison: its description, the value found, and the value stated."""
Check = Callable[..., CheckResult]
"""Takes the reach of the check: the largest pile, index or generation."""
REACH = 64
"""The usual reach."""


class Thorough(NamedTuple):
    """The reach of a thorough check, and about how many seconds it takes on one core."""

    reach: int
    seconds: int


@dataclass(frozen=True)
class Statement:
    """A statement.

    Attributes:
        name: its name in `gpunim verify`.
        source: the paper and the number of the theorem.
        summary: what it says, in a line.
        check: looks for a counterexample.
        at_most: the largest reach of the check, where the check does not limit itself.
        conjecture: whether no proof is known here: the check is all the evidence there is.
        thorough: the reach of a thorough check, at least a hundred times as many cases as its source shows where that takes
            minutes; None for that of a usual one.
    """

    name: str
    source: str
    summary: str
    check: Check = field(repr=False)
    at_most: int | None = None
    conjecture: bool = False
    thorough: Thorough | None = None

    def reach(self, upto: int | None, thorough: bool) -> int:
        """Return the reach of its check: the largest pile, index or generation.

        Args:
            upto: the largest reach; None for `REACH`, or its own for a thorough check.
            thorough: whether the check is a thorough one.
        """
        if thorough and self.thorough is not None:
            return self.thorough.reach if upto is None else min(upto, self.thorough.reach)
        usual = REACH if upto is None else upto
        return usual if self.at_most is None else min(usual, self.at_most)


@dataclass(frozen=True)
class StatementResult:
    """A statement, the result of its check, and the seconds that took.

    Attributes:
        statement: the statement.
        result: the scope of its check, and the first counterexample.
        seconds: the time of the check.
    """

    statement: Statement
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


_STATEMENTS = Registry[Statement]("statement")


def statement(
    name: str,
    source: str,
    summary: str,
    at_most: int | None = None,
    conjecture: bool = False,
    thorough: tuple[int, int] | None = None,
) -> Callable[[Check], Check]:
    """Return a decorator that registers a function as the check of a statement.

    Args:
        name: as for `Statement`.
        source: as for `Statement`.
        summary: as for `Statement`.
        at_most: as for `Statement`.
        conjecture: as for `Statement`.
        thorough: its reach and about how many seconds it takes, as for `Statement`.

    Raises:
        UsageError: there is a statement of that name already.
    """
    further = None if thorough is None else Thorough(*thorough)
    return _STATEMENTS.decorator(lambda check: Statement(name, source, summary, check, at_most, conjecture, further))


def statements() -> list[Statement]:
    """Return every statement, by module in alphabetical order, and within each in the order of the source.

    >>> next(s.summary for s in statements() if s.name == "nf-lemma-8")
    'a_k(2^m - 1) = 2^(m(k-1))'
    """
    for module in pkgutil.walk_packages(papers.__path__, f"{papers.__name__}."):
        import_module(module.name)
    return sorted(_STATEMENTS.values(), key=lambda each: each.check.__module__)


def find_statements(names: Iterable[str]) -> list[Statement]:
    """Return the statements of these names.

    Args:
        names: names, or the beginnings of names ("nf-lemma"), or "all".

    Raises:
        UsageError: a name is unknown.
    """
    known = statements()
    found: list[Statement] = []
    for name in names:
        matching = [s for s in known if name in ("all", s.name)] or [s for s in known if s.name.startswith(name + "-")]
        if not matching:
            names = [s.name for s in known]
            raise UsageError(f"statement must be 'all' or one that `gpunim verify --list` prints, got {name!r}{close(name, names)}")
        found.extend(s for s in matching if s not in found)
    return found


def run_checks(checked: Iterable[Statement], upto: int | None = None, thorough: bool = False) -> Iterator[StatementResult]:
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
            result = each.check(each.reach(upto, thorough))
        except Exception as error:  # the other checks still run
            result = CheckResult("not tried to its end", f"the check ended with {type(error).__name__}: {error}")
        yield StatementResult(each, result, time.perf_counter() - began)


def compared_cases(scope: Callable[[int], str]) -> Callable[[Callable[[int], Iterable[Case]]], Check]:
    """Return a decorator that makes a check of a function that yields cases for a reach; see `check_cases`.

    Args:
        scope: returns what the cases of a reach cover, in words.
    """

    def make(cases: Callable[[int], Iterable[Case]]) -> Check:
        @wraps(cases)
        def check(upto: int) -> CheckResult:
            return check_cases(cases(upto), scope(upto))

        return check

    return make


def check_cases(cases: Iterable[Case], scope: str) -> CheckResult:
    """Return the result of comparing the values found with those stated, up to the first difference.

    Args:
        cases: the comparisons.
        scope: what they cover, in words.

    >>> check_cases([("1 + 1", 2, 2), ("2 + 2", 4, 5)], "up to 2")
    CheckResult(scope='2 cases, up to 2', counterexample='2 + 2 is 4, not 5')
    """
    count, difference = 0, None
    for what, found, stated in cases:
        count += 1
        if found != stated:
            difference = f"{what} is {found}, not {stated}"
            break
    return CheckResult(f"{count:,} case{'s' * (count != 1)}, {scope}", difference)
