"""Every public class keeps one protocol: length and indexing, arrays, truth, pickling, and texts of a line and in notebooks."""

import pickle
from collections.abc import Callable
from inspect import isclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_nim
from gpu_nim import automata, counting, deciding, errors, games, guessing, jobs, oeis, papers, render
from gpu_nim.games import nim
from gpu_nim.games.evolution import explain, game_evolution
from gpu_nim.model.arrays import same
from gpu_nim.papers.views import StatementResults

PACKAGES = (gpu_nim, automata, counting, deciding, errors, games, nim, guessing, jobs, oeis, papers, render)

_X, _Y = deciding.numbers("x y")


def _guessed(kind: str, terms: Any) -> Any:
    found = gpu_nim.guess(terms, kinds=[kind])
    return (*found.formulas, *found.weak)[0]


#: What makes an object of each public class, or of one that a public function returns; long ones, where size could show.
SAMPLES: dict[str, Callable[[], Any]] = {
    "CellHistory": lambda: gpu_nim.why("cubic26", (9, 9, 9)),
    "Growth": lambda: gpu_nim.grow("edge", 40),
    "Table": lambda: gpu_nim.grow("edge", 40, columns=["births", "delay 1", "density", "population", "section z=0"]).table,
    "Rule": lambda: gpu_nim.Rule(2, [(x, y) for x in range(9) for y in range(1, 9)], {1}, [(0, 0)]),
    "Solution": lambda: gpu_nim.solve("chocolate", 20, a=3, grundy=True),
    "Automaton": lambda: automata.find("triangular"),
    "GrowthEntry": lambda: automata.find("nim").oeis[0],
    "GrowthProcess": lambda: automata.GrowthProcess("edge", 5, "numpy"),
    "MacroGrowth": lambda: automata.MacroGrowth("square8"),
    "Scale": lambda: automata.Scale(1, 2, 3, 4.0),
    "Family": lambda: counting.find_family("D", 4),
    "Relation": lambda: deciding.nim_sum_is_zero(_X, _Y, _X + _Y),
    "Term": lambda: sum((n * each for n, each in enumerate(deciding.numbers(" ".join(f"x{i}" for i in range(60))))), _X),
    "Evolution": lambda: games.evolve(games.Wythoff(40)),
    "EvolutionGraph": lambda: games.evolution_graph(3, 20),
    "GameEvolution": lambda: game_evolution("wythoff", 40),
    "Explanation": lambda: explain("kayles", [9, 9, 9]),
    "GameEntry": lambda: games.find("inequalities"),
    "GrundysGame": lambda: games.GrundysGame(),
    "Heaps": lambda: games.Heaps(games.SubtractionRule(range(1, 200))),
    "Inequality": lambda: games.six_coordinate_chocolate().inequalities[0],
    "InequalityGame": lambda: games.six_coordinate_chocolate(),
    "OctalCode": lambda: games.OctalCode("0." + "37" * 150),
    "Parameter": lambda: games.find("chocolate").parameters[0],
    "Period": lambda: games.Period(12, 71),
    "Proof": lambda: gpu_nim.prove("chocolate", a=3),
    "SubtractionRule": lambda: games.SubtractionRule(range(1, 200)),
    "Vectors": lambda: games.find("wythoff").game({}),
    "Wythoff": lambda: games.Wythoff(40),
    "Leg": lambda: nim.Leg(1, 1, "east", "left"),
    "Move": lambda: nim.winning_moves([10**70, 10**80, 5])[0],
    "Relative": lambda: nim.children([1, 1, 0])[0],
    "Answer": lambda: gpu_nim.guess("D", piles=4).answers["regular"],
    "Guess": lambda: gpu_nim.guess("D", piles=8, most=3000),
    "Match": lambda: _guessed("known", "A147582"),
    "Recurrence": lambda: _guessed("recurrence", [n**9 for n in range(400)]),
    "Regular": lambda: _guessed("regular", "A237711"),
    "FileResult": lambda: jobs.FileResult(papers.CheckResult("cells " * 99), "words " * 99, {"file": "nim.zarr"}),
    "Outputs": lambda: jobs.Outputs(Path("nim.zarr"), False, None, None),
    "Plan": lambda: jobs.plan_growth("edge", 2048),
    "RangeCount": lambda: jobs.CountJob("D", range(9), piles=4),
    "ValueCount": lambda: jobs.CountJob("D", 10**999, piles=4),
    "Verification": lambda: jobs.Verification(["all"]),
    "Comparison": lambda: oeis.Comparison(9, 0, 8, None),
    "Draft": lambda: oeis.DRAFTS["edge-births"],
    "Correction": lambda: oeis.CORRECTIONS["A151776"],
    "OeisEntry": lambda: oeis.find("A151776"),
    "CheckResult": lambda: papers.CheckResult("cases " * 99, "counterexample " * 99),
    "Entry": lambda: papers.statements()[0],
    "Paper": lambda: papers.statements()[0].paper,
    "Printed": lambda: papers.Printed("numbers", list(range(999)), [*range(999)]),
    "StatementResult": lambda: gpu_nim.verify("nf-lemma-8", 8)[0],
    "StatementResults": lambda: StatementResults(gpu_nim.verify("nf-lemma-8", 4) * 50),
    "ItemResult": lambda: next(iter(gpu_nim.reproduce(["nim-in-3d"], upto=4))),
    "Look": lambda: render.Look(title="long " * 99),
    "Movie": lambda: render.Movie("nim:7", look=render.Look(title="long " * 99)),
    "Picture": lambda: render.render("nim:3", resolution=(64, 48), engine="numpy"),
}

#: Those without: exceptions and enumerations are Python's own, protocols are of other objects, and what runs is not sent.
_OTHERS = {"Cluster", "DeviceArray", "Game", "Run", "Symmetry", "Verdict"}


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    return {name: make() for name, make in SAMPLES.items()}


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
    assert type(again) is type(value)
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
    assert not (papers.CheckResult("n < 9", 5))
    assert not found
    assert not (StatementResults([found]))
    assert not papers.ItemResult("nim-in-3d", found.statement, (), (found,))
    (tmp_path / "b1.txt").write_text("0 1\n1 3\n2 4\n")
    assert not oeis.compare(tmp_path / "b1.txt", oeis.resolve("D", 3))
    assert not gpu_nim.verify(tmp_path / "b1.txt", sequence="D", piles=3)
    with pytest.raises(TypeError, match="a relation is true for some numbers"):
        bool(1 <= _X <= 5)  # type: ignore[operator]
