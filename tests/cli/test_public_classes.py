"""Every public class keeps one protocol: length and indexing, arrays, truth, pickling, and texts of a line and in notebooks."""

import pickle
from inspect import isclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_nim
from gpu_nim import automata, counting, deciding, errors, games, guessing, jobs, oeis, papers, render
from gpu_nim.games import nim
from gpu_nim.model.arrays import same
from gpu_nim.papers.views import StatementResults
from tests.helpers import beside

PACKAGES = (gpu_nim, automata, counting, deciding, errors, games, nim, guessing, jobs, oeis, papers, render)
DATA: dict[str, Any] = beside(__file__)
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
