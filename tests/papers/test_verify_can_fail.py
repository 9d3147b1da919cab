"""Verification can fail: each formula of the program is broken deliberately, and some statement has to fail; and so can each
statement, where something that it calls is broken.

A function is broken in place, by replacing its code, so that all references to it have the fault. Only statements that call it can
notice; they are recorded once, and tried from the quickest on.
"""

import inspect
import json
import os
import signal
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from gpu_nim import Growth
from gpu_nim.automata import formulas
from gpu_nim.automata.columns import ColumnRecorder
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import Batch
from gpu_nim.counting import closed_forms
from gpu_nim.counting.digit_matrices import DigitProduct, by_total
from gpu_nim.counting.families import ByMaximum, UpToMaximum
from gpu_nim.counting.family import DigitFamily, Family
from gpu_nim.counting.regular_sequences import RegularSequence
from gpu_nim.deciding import relations
from gpu_nim.games import breaking, game_graph, heaps, inequality, inequality_game, proofs, rulesets, theorems
from gpu_nim.games.nim import position_arrays, positions
from gpu_nim.papers import Entry, StatementResult, by_definition, claims, nim_fractals_5_2_to_5_6, run_checks, statements
from gpu_nim.papers.entries import ENTRIES
from tests.helpers import beside
from tests.threads import one_at_a_time

pytestmark = pytest.mark.nightly

# Where the program's formulas and fast paths live; all functions and methods of these are broken in turn.
ROOMS = (closed_forms, formulas, positions, position_arrays)
ROOMS += (heaps, breaking, theorems)
MORE = (
    nim_fractals_5_2_to_5_6.weights,
    nim_fractals_5_2_to_5_6.by_recursion,
    by_definition.a_by_digits,
    by_definition.d_by_digits,
    DigitFamily.value,
    ByMaximum.value,
    UpToMaximum.value,
    Family.sum,
    Family.maximum,
    Family.minimum,
    DigitProduct.step,
    DigitProduct.step_row,
    DigitProduct.value,
    inequality_game.InequalityGame.greatest_below,
)
#: How far statements are tried, by their source; others to 6.
_UPTO = {"edge-growth": 16}
#: Of computing, after which a check is taken to be endless.
_SECONDS = 20
#: What no statement can notice, and why.
LEFT_OUT: dict[str, str] = beside(__file__)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"


def _functions(room: types.ModuleType) -> Iterator[Callable[..., Any]]:
    """The functions and methods of a module, but for those that dataclasses make and what entries compare."""
    compared = {entry.compares for entry in ENTRIES.values()}
    for value in vars(room).values():
        if inspect.isclass(value) and value.__module__ == room.__name__ and not getattr(value, "_is_protocol", False):
            methods = [f for f in vars(value).values() if inspect.isfunction(f) and not f.__name__.startswith("__")]
            yield from (f for f in methods if f.__code__.co_filename == room.__file__ and not hasattr(f, "__isabstractmethod__"))
        elif inspect.isfunction(bare := inspect.unwrap(value)) and bare.__module__ == room.__name__ and value not in compared:
            yield value


def _spoiled(value: Any, way: int = 0) -> Any:
    """Something else of the same kind; what holds several things loses the last, is turned round or halved, or has another last."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | Fraction):
        return value + 1 if way == 0 else -value - 1
    if type(value).__module__.startswith("flint"):
        return 3 * value + 1
    if isinstance(value, np.ndarray):
        moved = np.roll(value, 1) if way else value + value.dtype.type(1)
        return ~value if value.dtype == bool else moved
    if isinstance(value, relations.Relation):
        return ~value
    if isinstance(value, RegularSequence):
        return RegularSequence([2 * entry for entry in value.row], value.matrices, value.start, value.first)
    if isinstance(value, Batch):
        return replace(value, births=3 * value.births)
    if isinstance(value, heaps.Period):
        return heaps.Period(value.preperiod, value.length + 1)
    if isinstance(value, positions.Move):
        return positions.Move(value.pile, value.take, (1, *value.leaves))
    if isinstance(value, dict):
        return dict(zip(value, [*value.values()][::-1], strict=True))
    if isinstance(value, types.GeneratorType):
        return iter(_spoiled([*value], way))
    if isinstance(value, list | tuple | set):
        items = [*value] or ["mutant"]
        if way == 0 and isinstance(value, tuple) and isinstance(items[-1], int | Fraction | np.ndarray):
            way = 2
        others = items[::2] if isinstance(value, set) else items[::-1]
        return type(value)((items[:-1], others, [*items[:-1], _spoiled(items[-1])])[way])
    return 0 if value is None else value


def _replace(patch: pytest.MonkeyPatch, function: Callable[..., Any], replaced: Callable[[Callable[..., Any]], Any]) -> None:
    """Give a function the behaviour that is made of its own."""
    bare = inspect.unwrap(function)
    assert isinstance(bare, types.FunctionType)
    whole = types.FunctionType(bare.__code__, bare.__globals__, bare.__name__, bare.__defaults__, bare.__closure__)
    whole.__kwdefaults__ = bare.__kwdefaults__
    name = f"_mutant_{bare.__qualname__.replace('.', '_')}"
    patch.setitem(bare.__globals__, name, replaced(whole))
    # As many free variables as before, or Python refuses the code.
    free = bare.__code__.co_freevars
    lines = [
        "def make():",
        *(f"    {variable} = None" for variable in free),
        "    def broken(*given, **named):",
        f"        {', '.join(free) or None}",
        # A generator stays one, or Python warns.
        f"        {'yield from' if inspect.isgeneratorfunction(bare) else 'return'} {name}(*given, **named)",
        "    return broken",
    ]
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)
    patch.setattr(bare, "__code__", made["make"]().__code__)


FORMULAS = [*dict.fromkeys(function for room in ROOMS for function in _functions(room)), *MORE]
BROKEN = [function for function in FORMULAS if _name(function) not in LEFT_OUT]
PAPERS = [import_module(name) for name in sorted({each.compares.__module__ for each in statements()})]
_HELPER_ROOMS = (by_definition, claims, proofs, inequality, inequality_game, rulesets, game_graph, *PAPERS)
HELPERS = [function for room in _HELPER_ROOMS for function in _functions(room)]
HELPERS += [relations.nim_sum_is_zero, relations.is_power_of_two, RegularSequence.__add__, RegularSequence.__mul__]
HELPERS += [DigitProduct.weight, by_total]
HELPERS += [Growth.__iter__, Growth.newborns, Growth.cells, GrowthProcess.__iter__, ColumnRecorder.values]
"""What statements use beside formulas; not every fault of it can be noticed."""

Unbroken = dict[Entry, set[Callable[..., Any]]]


def _forget() -> None:
    """Forget what is remembered from before something was broken."""
    for function in HELPERS:
        getattr(function, "cache_clear", lambda: None)()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Unbroken:
    """All statements, the quickest first, each with the functions that its check calls; found by one of the processes that test."""
    functions = {f"{function.__module__}.{function.__qualname__}": function for function in (*BROKEN, *HELPERS)}
    base = tmp_path_factory.getbasetemp()
    found = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "calls.json"
    with one_at_a_time(found.with_suffix(".lock")):
        if not found.exists():
            found.write_text(json.dumps(_calls(functions)))
    of_name = {statement.name: statement for statement in statements()}
    calls: dict[str, list[str]] = json.loads(found.read_text())
    return {of_name[name]: {functions[called] for called in each} for name, each in calls.items()}


def _calls(functions: dict[str, Callable[..., Any]]) -> dict[str, list[str]]:
    """The names of the functions that each statement calls, by the statement's, while nothing is broken and all hold."""
    called: set[str] = set()

    def recorded(name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            called.add(name)
            return whole(*given, **named)

        return call

    results: list[tuple[StatementResult, list[str]]] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, function in functions.items():
            _replace(patch, function, partial(recorded, name))
        for statement in statements():
            _forget()
            results += [(checked, sorted(called)) for checked in _checked([statement])]
            called.clear()
    assert [checked.statement.name for checked, _ in results if not checked.holds] == []
    return {checked.statement.name: each for checked, each in sorted(results, key=lambda result: result[0].seconds)}


def _checked(tried: Iterable[Entry]) -> Iterator[StatementResult]:
    """The results of the checks; one that a fault makes endless is ended by a signal, as an error."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    try:
        for each in tried:
            signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
            yield from run_checks([each], _UPTO.get(each.paper.name, 6))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _counterexamples(function: Callable[..., Any], tried: Iterable[Entry], way: int = 0) -> Iterator[str]:
    """What the statements find while a function is broken."""
    with pytest.MonkeyPatch.context() as patch:
        _replace(patch, function, lambda whole: lambda *given, **named: _spoiled(whole(*given, **named), way))
        _forget()
        yield from (str(checked.result.counterexample) for checked in _checked(tried) if not checked.holds)
    _forget()


@pytest.mark.parametrize("function", BROKEN, ids=_name)
def test_a_broken_formula_is_noticed(function: Callable[..., Any], unbroken: Unbroken) -> None:
    callers = [statement for statement, called in unbroken.items() if function in called]
    assert any(_counterexamples(function, callers))


@pytest.mark.parametrize("statement", statements(), ids=lambda statement: statement.name)
def test_each_statement_can_fail(statement: Entry, unbroken: Unbroken) -> None:
    found = (
        words
        for way in range(3)
        for function in dict(unbroken)[statement]
        for words in _counterexamples(function, [statement], way)
    )
    assert any("the check ended with" not in words for words in found)


def test_what_is_left_out_is_there() -> None:
    assert LEFT_OUT.keys() <= {*map(_name, FORMULAS)}
