"""A user's script: mypy finds the types that it asserts, and a test runs it, in this environment and in one without extras."""

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gpu_nim
from gpu_nim import (
    Growth,
    Rule,
    Solution,
    Table,
    automata,
    chocolate,
    counting,
    errors,
    games,
    guessing,
    jobs,
    oeis,
    papers,
    render,
)
from gpu_nim.errors import UsageError

Exact = NDArray[np.int64] | NDArray[np.object_]
Reduced = int | dict[int, int] | list[tuple[int, int]]


def counts() -> None:
    assert_type(gpu_nim.count("D", np.int64(7), piles=4), int)
    assert assert_type(gpu_nim.count("A237711", range(7)), Exact).tolist() == [1, 6, 7, 36, 13, 42, 43]
    on_device = assert_type(gpu_nim.count("D", range(8), piles=3, backend="numpy", device=True), jobs.DeviceArray)
    assert np.from_dlpack(on_device).tolist() == [1, 3, 3, 9, 3, 9, 9, 27]
    far = assert_type(gpu_nim.count("D", 10**18, piles=4), int)
    assert assert_type(gpu_nim.count("D", [3, 10**18], piles=4), Exact).tolist() == [36, far]
    assert assert_type(gpu_nim.count("A151776", np.array([[3], [1]], np.int64)), Exact).tolist() == [[25], [1]]
    steps: list[float] = []
    gpu_nim.count("A151776", [3, 5], progress=lambda what, done, total: steps.append(done))
    assert (bool(steps), gpu_nim.count("D", [], piles=3).shape) == (True, (0,))
    n = range(1000)
    assert assert_type(gpu_nim.count("D", n, piles=3, reduce="sum"), Reduced) == gpu_nim.count("A", 999, piles=3)
    assert_type(gpu_nim.count("D", n, piles=3, reduce=["sum", "records"], records=5), dict[str, Reduced])
    assert_type(jobs.CountJob("D", 7, piles=3), jobs.ValueCount)
    assert_type(jobs.CountJob("D", n, piles=3, reduce=["sum", "records"], records=5).reductions()[0].value, Reduced)
    assert gpu_nim.count("D", range(4), piles=3, method="enumerate").tolist() == [1, 3, 3, 9]
    assert_type(counting.find_family("D", 3).value(5), int)
    assert_type(oeis.find("A237711").term(3), int)
    found = assert_type(gpu_nim.guess([1, 6, 7, 36, 13, 42, 43, 216], kinds=["known"]), guessing.Guess)
    assert assert_type(found.formulas[0], guessing.Formula).title == "known: A237711"
    assert (
        gpu_nim.guess("A237711", kinds=["known"]).formulas[0].title
        == gpu_nim.guess("D", piles=4, kinds=["known"]).formulas[0].title
    )


def growths(folder: Path) -> None:
    growth = assert_type(gpu_nim.grow("nim", 15, columns=["births", "density"]), Growth)
    assert_type(growth.births, NDArray[np.int64])
    assert_type(growth.cells(), NDArray[np.integer])
    assert_type(growth.rule, Rule | None)
    table = assert_type(growth.table, Table)
    assert_type(table["density"], NDArray[Any])
    gpu_nim.save(growth, folder / "nim.zarr")
    assert_type(gpu_nim.load(folder / "nim.zarr"), Growth | Solution)
    assert assert_type(gpu_nim.load(folder / "nim.zarr", Growth), Growth) == growth
    assert assert_type(gpu_nim.define([(1, 0), (0, 1)]), automata.Automaton).rule.births == {1}
    own = Rule(dimension=2, offsets=((1, 0), (-1, 0), (0, 1), (0, -1)), births=frozenset({1}), seeds=((0, 0),))
    assert gpu_nim.grow(own, 3).population == 21
    assert_type(jobs.plan_growth("fcc", 8), jobs.Plan)
    assert_type(gpu_nim.grow("fcc", 8, out=folder / "edge.zarr", checkpoint=folder / "run", every=4), Growth)
    assert_type(gpu_nim.grow(generations=12, resume=folder / "run"), Growth)
    assert_type(automata.CATALOGUE["edge"], automata.Automaton)
    assert_type(gpu_nim.verify(growth), papers.CheckResult)
    assert_type(gpu_nim.verify(folder / "nim.zarr"), papers.CheckResult)
    assert_type(gpu_nim.verify("nf-lemma-8", 4), list[papers.StatementResult])
    (folder / "b.txt").write_text("0 1\n1 6\n2 8\n")
    found = assert_type(gpu_nim.verify(folder / "b.txt", sequence="D", piles=4), papers.CheckResult)
    assert (found.holds, found.counterexample) == (False, "D has 7 at n = 2, not 8")
    assert_type(next(gpu_nim.reproduce(["nim-in-3d"], upto=1)).summary(), dict[str, Any])


def solutions(folder: Path) -> None:
    solution = gpu_nim.solve(chocolate(Fraction(5, 2)), 15, grundy=True)
    assert assert_type(solution.grundy, NDArray[np.signedinteger])[0, 0, 0] == 0
    assert_type(solution.largest_grundy, int | None)
    wythoff = assert_type(gpu_nim.solve("wythoff", 7), Solution)
    assert_type(wythoff.grundy, NDArray[np.signedinteger] | None)
    assert_type(wythoff.p_positions, NDArray[np.int64])
    gpu_nim.save(solution, folder / "chocolate.npz")
    assert assert_type(gpu_nim.load(folder / "chocolate.npz", Solution), Solution) == solution
    assert_type(games.nim.winning_moves((13, 12, 8)), list[games.nim.Move])
    graph = assert_type(games.evolution_graph(3, 4), games.EvolutionGraph)
    gpu_nim.save(graph, folder / "figure.dot")
    assert (folder / "figure.dot").read_text().splitlines()[1] == "digraph evolution {"
    try:
        assert_type(gpu_nim.grow("edgy", 3), Growth)
    except UsageError as error:
        assert_type(error, errors.UsageError)
        assert_type(error.exit_status, int)


def pictures() -> None:
    from matplotlib.axes import Axes  # what only grows and counts does without it
    from matplotlib.figure import Figure

    growth = gpu_nim.grow("ulam-warburton", 3)
    small = render.Look(resolution=(64, 48), engine="numpy")
    assert assert_type(render.render(growth, small), render.Picture).drawn == 21
    assert assert_type(growth.plot(resolution=(64, 48), engine="numpy"), render.Picture).engine == "numpy"
    axes = Figure().add_subplot()
    assert assert_type(growth.plot(ax=axes, theme="paper"), Axes) is axes
    assert_type(gpu_nim.solve("wythoff", 7).plot(resolution=(64, 48), engine="numpy"), render.Picture)


if TYPE_CHECKING:  # of an extra
    from pyvista import Plotter, UnstructuredGrid

    def in_pyvista(result: Growth | Solution) -> None:
        assert_type(result.plot(engine="pyvista", theme="paper"), Plotter)
        assert_type(result.to_pyvista(), UnstructuredGrid)
        assert_type(render.to_pyvista("nim:7", limit=100), UnstructuredGrid)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        counts()
        growths(Path(folder))
        solutions(Path(folder))
    pictures()


if __name__ == "__main__":
    main()
