"""Statements that can be checked: each knows its name, its source and how to look for a counterexample.

A new entry is one function, decorated with `statement`, in one of the modules that `_MODULES` names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from gpu_nim.model.errors import UsageError, close
from gpu_nim.theorems.check_result import CheckResult

_MODULES = ("positions", "by_maximum", "by_total", "evolution", "automata", "inequalities", "program")

Check = Callable[[int], CheckResult]


@dataclass(frozen=True)
class Statement:
    """A statement: its name, where it comes from, what it says, and its check, which takes how far to go."""

    name: str
    source: str
    claim: str
    check: Check


@dataclass(frozen=True)
class Verdict:
    """A statement, what came of trying it, and the seconds that took."""

    statement: Statement
    finding: CheckResult
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.finding.holds


_STATEMENTS: dict[str, Statement] = {}


def statement(name: str, source: str, claim: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a statement."""

    def register(check: Check) -> Check:
        if name in _STATEMENTS:
            raise UsageError(f"there is a statement {name!r} already")
        _STATEMENTS[name] = Statement(name, source, claim, check)
        return check

    return register


def statements() -> list[Statement]:
    """Every statement, in the order of its module.

    >>> next(s.claim for s in statements() if s.name == "nf-lemma-8")
    'a_k(2^m - 1) = 2^(m(k-1))'
    """
    rooms = [import_module(f"gpu_nim.theorems.{module}").__name__ for module in _MODULES]
    order = {room: place for place, room in enumerate(rooms)}
    return sorted(_STATEMENTS.values(), key=lambda each: order.get(each.check.__module__, len(rooms)))


def chosen(names: Iterable[str]) -> list[Statement]:
    """The statements of these names, or of names that begin so ("nf-lemma"); all for "all"; UsageError for an unknown name."""
    known = statements()
    found: list[Statement] = []
    for name in names:
        matching = [s for s in known if name in ("all", s.name)] or [s for s in known if s.name.startswith(name + "-")]
        if not matching:
            names = [s.name for s in known]
            raise UsageError(f"statement must be 'all' or one that `gpunim verify --list` prints, got {name!r}{close(name, names)}")
        found.extend(s for s in matching if s not in found)
    return found


def run(chosen_statements: Iterable[Statement], upto: int) -> Iterator[Verdict]:
    """Check statements one after the other, each as far as `upto` means for it."""
    if upto < 1:
        raise UsageError(f"upto must be at least 1, got {upto}")
    for each in chosen_statements:
        began = time.perf_counter()
        try:
            finding = each.check(upto)
        except Exception as error:  # whatever ends one check, the others are still to be tried
            finding = CheckResult("not tried to its end", f"the check ended with {type(error).__name__}: {error}")
        yield Verdict(each, finding, time.perf_counter() - began)


def compare(cases: Iterable[tuple[str, object, object]], reach: str) -> CheckResult:
    """Try cases (what, found, stated) until one differs.

    >>> compare([("1 + 1", 2, 2), ("2 + 2", 4, 5)], "up to 2")
    CheckResult(scope='2 cases, up to 2', counterexample='2 + 2 is 4, not 5')
    """
    tried = 0
    for what, found, stated in cases:
        tried += 1
        if found != stated:
            return CheckResult(f"{tried:,} cases, {reach}", f"{what} is {found}, not {stated}")
    return CheckResult(f"{tried:,} cases, {reach}")
