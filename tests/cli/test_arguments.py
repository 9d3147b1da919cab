"""Every public function with invalid arguments, and every public class: each keeps to errors and to a protocol of gpunim."""

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from fractions import Fraction
from inspect import isclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpu_nim
from gpu_nim import automata, count, counting, deciding, errors, games, grow, guessing, jobs, oeis, papers, render, solve
from gpu_nim.counting.families import find_family
from gpu_nim.games import heaps, inequality, lines, nim
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.inequality import parse_game
from gpu_nim.model.arguments import parse_integer, parse_integers, parse_rational, parse_size
from gpu_nim.model.arrays import same
from gpu_nim.model.errors import GpunimError
from gpu_nim.model.rule import Rule
from gpu_nim.papers.views import StatementResults
from gpu_nim.storage.save_load import parse_terms
from tests.helpers import beside

#: Values of every kind that people pass by mistake.
FOREIGN: tuple[Any, ...] = (
    *(None, True, -1, 0, 2, 2.5, float("nan"), float("inf"), 10**30, 10**5000, -(10**5000), Fraction(1, 2), 1j),
    *("", "x", "numpy", "²", "1e9", b"x", [], [1, 2], [[0, 1]], [None], [10**5000], (1,), {}, {"a": 1}, {1}, object(), print),
    *(
        np.int64(3),
        np.uint8(200),
        np.float64(2),
        np.bool_(True),
        np.array([1, 2]),
        np.array(5),
        np.array([[1.5]]),
        np.zeros((0, 3)),
    ),
    *(range(3), range(10**30), iter(()), int),
)

GROWTH = grow("nim", 3, backend="numpy", cells=True)
SOLUTION = solve("y <= x", 3, backend="numpy")
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{name: (resolve_name(call["function"]), call["arguments"]) for name, call in beside(__file__).items()},
    "newborns": (GROWTH.newborns, {"generation": 2}),
    "cells": (GROWTH.cells, {"first": 0, "stop": 2}),
    "points": (SOLUTION.points, {"largest": 0}),
    "count a range": (count, {"sequence": "A130665", "n": range(5), "backend": "numpy"}),
    "value": (find_family("a", 4).value, {"n": 3}),
    "Rule": (Rule, {"dimension": 1, "offsets": ((1,),), "births": {1}, "seeds": ((0,),), "symmetry": None}),
    "limits": (inequality.chocolate(3).limits, {"size": 3}),
    "grundy_values": (lambda count: heaps.grundy_values(heaps.OctalCode("0.7"), count), {"count": 3}),
    "evolve": (evolve, {"game": lines.Nim(2, 2)}),
}
SYMMETRY_IS_GIVEN = {"symmetry": Rule(1, ((1,),), frozenset({1}), ((0,),)).symmetry}


def call(name: str, replaced: dict[str, Any]) -> bool:
    """Whether a function takes its arguments with some replaced; an error of gpunim's own is as good as a result."""
    function, arguments = CALLS[name]
    given = {**arguments, **(SYMMETRY_IS_GIVEN if "symmetry" in arguments else {}), **replaced}
    message = "none"
    try:
        function(**given)
    except GpunimError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    assert len(message) < 600
    return message == "none"


def told(value: object) -> str:
    """A value that may be too long to be written, for a report."""
    return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__


@pytest.mark.parametrize(("name", "argument"), [(name, argument) for name in CALLS for argument in CALLS[name][1]])
def test_any_one_argument(name: str, argument: str, place) -> None:
    assert call(name, {})
    wrong = []
    for value in FOREIGN:
        try:
            assert not (call(name, {argument: value}) and isinstance(value, float)) or argument == "name", "no exact number"
        except Exception as error:
            wrong.append(f"{told(value)}: {type(error).__name__}: {error!s:.120}")
    assert not wrong, "\n".join(wrong)


@given(st.lists(st.integers(0, 99), min_size=1))
def test_a_list_of_integers_in_any_brackets_and_with_spans(values: list[int]) -> None:
    listed = ", ".join(f"{value}..{value + 2}" for value in values)
    found = {parse_integers(each) for each in (listed.replace("..", "-"), f"{{{listed}}}", f"[{listed}]", f" ({listed}) ")}
    assert found == {tuple(value + more for value in values for more in range(3))}


# Of a quadratic pattern the text takes hours.
BLANKS = " " * 2**20


@pytest.mark.parametrize("text", [f"{BLANKS}!", f"1{BLANKS}!", f"3{BLANKS}! <= z", f"A000045{BLANKS}!"], ids=["!", "1!", "3!", "A"])
@pytest.mark.parametrize("read", [parse_integer, parse_integers, parse_size, parse_rational, parse_terms, parse_game])
def test_many_blanks_are_read_in_linear_time(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|must"):
        read(text)


PACKAGES = (gpu_nim, automata, counting, deciding, errors, games, nim, guessing, jobs, oeis, papers, render)
DATA: dict[str, Any] = beside(Path(__file__).with_name("test_public_classes"))
SAMPLES: dict[str, str] = DATA["samples"]
NAMES: dict[str, Any] = {}
exec(DATA["names"], NAMES)

#: Those without: exceptions and enumerations are Python's own, protocols are of other objects, and what runs is not sent.
_OTHERS = {"Cluster", "DeviceArray", "Game", "Run", "Symmetry", "Verdict"}


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    return {name: eval(expression, NAMES) for name, expression in SAMPLES.items()}


def test_every_public_class_is_tried(samples: dict[str, Any]) -> None:
    tried = {base for each in samples.values() for base in type(each).__mro__}
    public = {value for package in PACKAGES for name in dir(package) if isclass(value := getattr(package, name))}
    missing = {each.__name__ for each in public - tried if not issubclass(each, BaseException)}
    assert missing == _OTHERS


@pytest.mark.parametrize("name", SAMPLES)
def test_every_public_class_keeps_the_protocol(name: str, samples: dict[str, Any]) -> None:
    value = samples[name]
    line = repr(value)
    assert len(line) <= 200
    assert line.isprintable()
    assert type(value).__name__ in line
    page = value._repr_png_() if isinstance(value, render.Picture) else value._repr_html_()
    assert 0 < len(page) < 200_000
    again = pickle.loads(pickle.dumps(value))
    if type(value).__eq__ is not object.__eq__ and name != "Term":  # which compares to a relation
        assert again == value
    if isinstance(value, gpu_nim.Growth | render.Picture):
        assert np.asarray(value).dtype != object
    else:
        with pytest.raises(TypeError, match=f"a {type(value).__name__} is no array"):
            np.asarray(value)
    if hasattr(value, "__len__") and not isinstance(value, dict):
        by_iteration, by_index = [*value], [value[n] for n in range(len(value))]
        assert same(by_iteration, by_index)
        assert same([*reversed(value)], by_index[::-1])


@pytest.mark.parametrize("line", DATA["lines"])
def test_results_say_what_they_are_in_a_line(line: str) -> None:
    value = eval(DATA["lines"][line], NAMES)
    assert repr(value).startswith(line)
    assert len({value, copy(value), deepcopy(value), pickle.loads(pickle.dumps(value))}) == 1


def test_results_are_true_if_they_hold(tmp_path: Path) -> None:
    assert gpu_nim.verify(["nf-lemma-8", "v-theorem-3.1"], 8)
    assert gpu_nim.guess([2**n for n in range(20)])
    assert not gpu_nim.guess([3, 1, 4, 1, 5, 9, 2, 6])
    found = papers.StatementResult(papers.statements()[0], papers.CheckResult("n < 9", 5), 0.1)
    wrong = [found.result, found, StatementResults([found]), papers.ItemResult("nim-in-3d", found.statement, (), (found,))]
    assert not any(map(bool, wrong))
    (tmp_path / "b1.txt").write_text("0 1\n1 3\n2 4\n")
    assert not oeis.compare([1, 3, 4], 0, oeis.resolve("D", 3))
    assert not gpu_nim.verify(tmp_path / "b1.txt", sequence="D", piles=3)
    with pytest.raises(TypeError, match="a relation is true for some numbers"):
        eval("1 <= x <= 5", NAMES)
