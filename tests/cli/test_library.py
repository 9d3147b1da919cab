"""The library's public functions: their arguments, results, and errors of one sentence."""

import json
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from inspect import ismodule, signature
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_nim
from gpu_nim import Growth, Solution, grow, load, save, solve
from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import Backend, Batch
from gpu_nim.backends.selection import select
from gpu_nim.backends.shared.engines import SteppedEngine
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import OnStep
from gpu_nim.storage.growth_files import ZarrGrowthWriter
from tests.helpers import ended, interrupted_after, p_positions
from tests.typed_user import main

#: An automaton whose cells leave 32 bits at its second generation.
FAR = Rule(2, ((2_000_000_000, 0), (0, 1)), frozenset({1}), ((0, 0),))


@pytest.mark.parametrize(
    "name", ["", ".automata", ".counting", ".deciding", ".games", ".games.nim", ".guessing", ".jobs", ".oeis", ".papers", ".render"]
)
def test_a_package_shows_its_names(name: str) -> None:
    package = import_module(f"gpu_nim{name}")
    assert dir(package) == package.__all__ == sorted(package.__all__)
    for each in package.__all__:
        assert getattr(package, each) is vars(package)[each]
        with suppress(TypeError, ValueError):  # no function or class
            parameters = signature(getattr(package, each)).parameters
            callbacks = {one for one, its in parameters.items() if its.annotation in (OnStep, "OnStep") or one.startswith("on_")}
            assert callbacks <= {"progress", "on_begin"}
        assert ismodule(getattr(package, each)) or find_spec(f"gpu_nim{name}.{each}") is None  # else an import would replace it
    with pytest.raises(AttributeError, match=f"module 'gpu_nim{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


DRAWING = "pyvista vtkmodules imageio_ffmpeg matplotlib zarr"


@pytest.mark.parametrize(
    ("program", "later"),
    [
        ("import gpu_nim; dir(gpu_nim)", "numpy gpu_nim.automata"),
        ("import gpu_nim.cli.grow", "cupy dask distributed scipy networkx rich PIL logging " + DRAWING),
        ("import gpu_nim.render.image, gpu_nim.render.movie, gpu_nim.render.exports, gpu_nim.cli.render", DRAWING),
        ("import gpu_nim; gpu_nim.grow('nim', 3)", "gpu_nim.render PIL gpu_nim.model.tracing importlib.metadata " + DRAWING),
        ("import gpu_nim; gpu_nim.grow('nim', 4096, backend='numpy')", "scipy.linalg"),
        ("import gpu_nim; gpu_nim.grow('nim', 3)._repr_html_()", "pyvista matplotlib"),
    ],
)
def test_nothing_is_imported_before_it_is_needed(program: str, later: str) -> None:
    status, loaded, said = ended([sys.executable, "-c", f"{program}; import sys; print(*sys.modules)"])
    assert (status, said) == (0, "")
    assert not {*later.split()} & {*loaded.split()}


def test_results_go_to_other_processes(tmp_path) -> None:
    """Their cells are read from the same file there, or grown again; equal ones stay equal, since their arrays are read-only."""
    grown, kept = grow("edge", 9, columns=["births", "density"]), grow(FAR, 1, cells=True)
    paths = tmp_path / "edge.zarr", tmp_path / "edge.npz"
    for path in paths:
        save(grown, path, parents=path.suffix == ".zarr")
    solution = solve("3y <= x + z", 9, grundy=True)
    results = [grown, kept, *map(load, paths), solution, gpu_nim.guess([1, 2, 4, 8] * 9, kinds=["recurrence"])]
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        returned = list(processes.map(copy, results))
    assert returned == results
    for result, sent in zip(results[:4], returned, strict=False):
        assert np.array_equal(sent, result.cells())
        assert sent.table == result.table
    assert [len(each) for _, each in returned[2].parents(0, 4)] == grown.births[:4].tolist()
    with ThreadPoolExecutor(4) as threads:  # which share a growth
        assert [len(cells) for cells in threads.map(grown.newborns, [5, 9, 3] * 9)] == grown.births[[5, 9, 3] * 9].tolist()
    arrays = [array for each in (grown, returned[0]) for array in (each.births, each.checksums, *each.table.values())]
    for array in (*arrays, solution.p_positions, solution.grundy, returned[4].grundy):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99
    returned = pickle.dumps(load(paths[1]))
    save(grow("edge", 8), paths[1])
    with pytest.raises(FileError, match="it holds another growth than before"):
        pickle.loads(returned).cells()


def test_a_growth_is_a_set_of_cells_by_generation() -> None:
    growth = grow("nim", 7)
    assert len(growth) == len(list(growth)) == 8
    cells = p_positions(8)
    for cell in [*cells, np.array(cells[1]), (0, 0, 1), (-1, 1, 0), (8, 8, 0), (0, 0), "x", None, (2**80, 0, 0)]:
        assert (cell in growth) is (isinstance(cell, tuple | np.ndarray) and tuple(cell) in cells)
    for chosen in (slice(2, 5), slice(None), slice(-2, None), slice(5, 5), slice(None, None, 3), slice(6, 0, -1)):
        wanted = [cell for n in range(8)[chosen] for cell in cells if sum(cell) == 2 * n]
        assert growth[chosen].tolist() == [list(cell) for cell in wanted]
        assert growth[chosen].shape == (len(wanted), 3)
    assert growth[-1].tolist() == growth.newborns(7).tolist()
    with pytest.raises(IndexError, match="the generations are 0 to 7, got 8"):
        growth[8]
    assert np.asarray(growth, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(growth, copy=False)


def test_integers_are_signed_and_exact(backend: Backend, tmp_path: Path) -> None:
    given, steps = list(GrowthProcess("nim", 7, backend)), []
    growth = grow("nim", 7, backend=backend, progress=lambda *step: steps.append(step))
    save(growth, tmp_path / "nim.npz")
    assert (steps[-1][0][:10], steps[-1][0][-10:], *steps[-1][1:]) == ("27 births,", "generation", 7, 7)
    values = gpu_nim.count("D", range(8), piles=3, backend=backend)
    for births in (growth.births, load(tmp_path / "nim.npz").births, np.concatenate([each.births for each in given]), values):
        assert np.diff(births).tolist() == [2, 0, 6, -6, 6, 0, 18]
    assert (np.load(tmp_path / "nim.npz")["births"].dtype, np.asarray(growth).dtype) == (np.int64, np.int32)
    assert gpu_nim.count("A151776", range(1, 4)).dtype == gpu_nim.count("D", [3], piles=3).dtype == np.int64
    for n in (range(0, 10, 2), range(9, 0, -4), range(0, 2**62, 2**60), range(5, 5)):
        found = gpu_nim.count("D", n, piles=3, backend=backend)
        assert (found.dtype, found.tolist()) == (np.int64, [gpu_nim.count("D", each, piles=3) for each in n])
    for last, dtype, on_device in ((2**39, np.int64, np.int64), (2**40, object, np.uint64)):  # 3^39 < 2^63 < 3^40 < 2^64
        n = range(last - 2, last)
        found = gpu_nim.count("D", n, piles=3, backend=backend)
        assert (found.dtype, found.tolist()) == (dtype, [gpu_nim.count("D", each, piles=3) for each in n])
        assert gpu_nim.count("D", n, piles=3, backend=backend, device=True).dtype == on_device


def test_statements_and_growths_are_verified() -> None:
    (found,) = gpu_nim.verify("nf-lemma-8", 8)
    assert list(found.summary()) == [*found.statement.facts, "holds", "proved", "scope", "counterexample", "seconds"]
    growth = grow("nim", 7, backend="numpy")
    assert gpu_nim.verify(growth).holds
    assert gpu_nim.guess(growth, column="population", most=7).terms == (1, 4, 7, 16, 19, 28, 37)
    growth.births = growth.births - (np.arange(8) == 5)
    assert not gpu_nim.verify(growth).holds


def test_growths_and_solutions_are_datasets() -> None:
    pytest.importorskip("xarray", reason="xarray is not installed")
    growth = grow("edge", 9, backend="numpy", columns=["population", "density"])
    found = growth.to_xarray()
    assert dict(found.sizes) == {"generation": 10, "cell": growth.population, "coordinate": 3}
    for n, cells in enumerate(growth):
        assert found.cells.values[found.born.values == n].tolist() == cells.tolist()
        assert found.births.sel(generation=n).item() == len(cells)
    assert found.density.dtype == np.float64
    assert found.density.values[1] == growth.table["density"][1]
    assert found.attrs["digest"] == growth.digest
    assert list(found.coordinate.values) == ["x", "y", "z"]
    assert dict(growth.to_xarray(cells=False).sizes) == {"generation": 10}
    assert set(solve("4y <= x + z", 9).to_xarray().variables) == {"p_positions", "coordinate"}


def test_saved_growths_and_solutions_are_datasets_of_named_dimensions(tmp_path) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    growth, solution = grow("edge", 9, backend="numpy"), solve("3y <= x + z", 9, grundy=True)
    save(growth, tmp_path / "edge.zarr", parents=True)
    save(solution, tmp_path / "chocolate.zarr")
    with xarray.open_dataset(tmp_path / "edge.zarr", engine="zarr") as found:
        dimensions = {name: each.dims for name, each in found.variables.items()}
        assert found.cells.values.tolist() == growth.cells().tolist()
        assert found.attrs["digest"] == growth.digest
        assert found.births.sel(generation=5).item() == growth.births[5]
    by_generation, by_cell = ("generation",), ("cell",)
    index = {"generation": by_generation}
    named = {"births": by_generation, "checksums": by_generation, "cells": ("cell", "coordinate"), **index}
    named |= {"parents": by_cell, "parent_checksums": by_generation}
    assert dimensions == named
    with xarray.open_dataset(tmp_path / "chocolate.zarr", engine="zarr") as found:
        assert found.grundy.sel(x=7, y=2, z=3).item() == solution.grundy[7, 2, 3]
        assert found.grundy.dims == ("x", "y", "z")
        assert found.p_positions.dims == ("position", "coordinate")
        assert np.array_equal(found.grundy.values, solution.grundy)
    for name, result in (("edge", growth), ("chocolate", solution)):
        assert load(tmp_path / f"{name}.zarr").to_xarray().drop_attrs().equals(result.to_xarray().drop_attrs())
    # Files of earlier versions, whose dimensions have no names, are read as before.
    for path in tmp_path.rglob("zarr.json"):
        metadata = json.loads(path.read_text())
        for each in (metadata, *metadata.get("consolidated_metadata", {"metadata": {}})["metadata"].values()):
            each.pop("dimension_names", None)
        path.write_text(json.dumps(metadata))
    assert load(tmp_path / "edge.zarr", Growth).cells().tolist() == growth.cells().tolist()
    assert load(tmp_path / "chocolate.zarr", Solution) == solution


def test_what_type_checkers_are_told_is_true() -> None:
    main()


def test_a_file_is_loaded_as_what_it_holds(tmp_path) -> None:
    save(grow("nim", 3, backend="numpy"), tmp_path / "nim.npz")
    save(solve("wythoff", 3), tmp_path / "wythoff.npz")
    with pytest.raises(UsageError, match=r"nim.npz must hold a solved game, got a growth"):
        load(tmp_path / "nim.npz", Solution)
    with pytest.raises(UsageError, match=r"wythoff.npz must hold a growth, got a solved game"):
        load(tmp_path / "wythoff.npz", Growth)
    with pytest.raises(UsageError, match="kind must be Growth or Solution, got 'growth'"):
        load(tmp_path / "nim.npz", "growth")


@pytest.mark.parametrize("name", CATALOGUE)
def test_cells_are_wide_wherever_they_are_given(name: str) -> None:
    batches: list[Batch] = []
    for cells in (True, False):
        growth = grow(name, 3, backend="numpy", cells=cells)
        batches += GrowthProcess(name, 3, "numpy", cells=cells)
        for given in (growth.cells(), growth.newborns(3), *growth):
            assert given.dtype == np.int32
    assert {batch.cells.dtype for batch in batches if batch.cells is not None} == {np.dtype(np.int32)}


def test_cells_beyond_32_bits_are_carried(backend: Backend) -> None:
    growth = grow(FAR, 3, backend=backend)
    assert growth.newborns(3)[-1].tolist() == [6_000_000_000, 0]
    assert growth.cells().dtype == np.int64
    # Coordinates that fit 32 bits, but whose sums and differences would not.
    near = Rule(2, ((2**30, 0), (0, 2**30)), frozenset({1}), ((0, 0),))
    assert grow(near, 1, backend=backend).newborns(1).sum(axis=1, dtype=np.int64).max() == 2**30
    assert grow(near, 1, backend=backend).cells().dtype == np.int64


def test_a_store_in_short_integers_is_not_gone_on_with_past_them(tmp_path) -> None:
    import zarr  # here, since the file is read on machines with a GPU and few packages

    store = tmp_path / "cells.zarr"
    zarr.open_group(store, mode="w", zarr_format=3).create_array("cells", data=np.zeros((2, 2), np.int8))
    sink = ZarrGrowthWriter(store, population=2)
    many = np.full((1 << 18, 2), 128, np.int32)
    with pytest.raises(FileError, match="kept as int8, too short"):
        sink.append(many)


def test_generations_one_by_one_are_one_growth(monkeypatch) -> None:
    expected = [cells.tolist() for cells in grow("edge", 60, backend="numpy", cells=True)]
    growth = grow("edge", 60, backend="numpy")
    steps = []
    step = SteppedEngine.advance
    monkeypatch.setattr(
        SteppedEngine, "advance", lambda self, to, **how: steps.append(to - self.generation) or step(self, to, **how)
    )
    assert [growth.newborns(n).tolist() for n in range(61)] == expected
    assert sum(steps) <= 62  # the seeds alone, and once through the growth
    assert [growth.newborns(n).tolist() for n in (60, 60, 41, 7)] == [expected[n] for n in (60, 60, 41, 7)]
    assert growth.cells(7, 9).tolist() == expected[7] + expected[8]


def test_an_interrupted_growth_is_begun_again() -> None:
    growth, expected = grow("edge", 150, backend="numpy"), grow("edge", 150, backend="numpy", cells=True)
    growth.newborns(5)
    for seconds in (0.001, 0.003, 0.01, 0.03):
        with suppress(KeyboardInterrupt), interrupted_after(seconds):
            growth.newborns(140)
        assert np.array_equal(growth.newborns(30), expected.newborns(30))
    assert np.array_equal(growth.newborns(140), expected.newborns(140))


def test_growths_compare_by_their_cells(tmp_path) -> None:
    growth = grow("nim", 20, backend="numpy")
    assert growth == grow("nim", 20, backend="numpy", cells=True, columns=["population"])
    assert growth != grow("nim", 19, backend="numpy")
    assert growth != grow("nim-3", 20, backend="numpy")
    east, north = (grow(Rule(2, (step,), frozenset({1}), ((0, 0),)), 5, backend="numpy") for step in ((1, 0), (0, 1)))
    assert east != north
    assert growth != 7
    save(growth, tmp_path / "nim.npz")
    assert len({growth, load(tmp_path / "nim.npz")}) == 1


def test_batches_and_snapshots_compare_by_what_they_hold() -> None:
    def run(last: int) -> tuple[object, Any]:
        grown = GrowthProcess("edge", last, select("numpy"), every=1)  # else a batch ends when time is up
        batches = list(grown)
        return batches[-1], grown.snapshot()

    (batch, snapshot), (_, other) = run(5), run(6)
    again, _ = run(5)
    assert {batch: "found"}[again] == "found"
    assert snapshot != other
    assert snapshot != replace(snapshot, measured={"delay 0": snapshot.births})
    assert snapshot != 5


def test_solutions_compare_by_what_was_found() -> None:
    first, again = (solve("3y <= x + z", 15, grundy=True) for _ in range(2))
    assert first == again
    assert len({first, again}) == 1
    assert first != solve("3y <= x + z", 15)
    assert first != solve("3y <= x + z", 14, grundy=True)
    assert first != "3y <= x + z"
    assert len(repr(first)) < 400


@pytest.mark.parametrize("name", ["far.zarr", "far.npz", "far.rle"])
def test_far_cells_are_carried_by_the_formats_that_have_room(name: str, tmp_path) -> None:
    growth = grow(FAR, 3, backend="numpy")
    save(growth, tmp_path / name)
    if name.endswith(".rle"):
        assert f"x = {3 * 2_000_000_000 + 1}, y = 4" in (tmp_path / name).read_text()
    else:
        assert np.array_equal(load(tmp_path / name).cells(), growth.cells())  # type: ignore[union-attr]
