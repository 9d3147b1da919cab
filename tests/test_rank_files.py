"""Files that several ranks write together have what one process writes."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gpu_nim import load
from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.growth_job import GrowthJob
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage import growth_files
from gpu_nim.storage.growth_files import ChunkDeal
from tests.threads import on_ranks

zarr = pytest.importorskip("zarr", reason="zarr is not installed")

Cells = NDArray[np.int32]
CELLS = st.lists(st.tuples(*[st.integers(-3, 3)] * 3), unique=True, max_size=40)


@settings(deadline=None, max_examples=40)
@given(st.lists(CELLS, max_size=5), st.integers(1, 4), st.integers(1, 9), st.randoms())
def test_cells_are_dealt_to_their_chunks(generations: list[list[tuple[int, ...]]], ranks: int, size: int, random: Any) -> None:
    owners = [[random.randrange(ranks) for _ in cells] for cells in generations]

    def work(communicator: Communicator) -> list[tuple[int, Cells]]:
        deal, dealt = ChunkDeal(communicator, size), []
        for cells, owner in zip(generations, owners, strict=True):
            own = sorted(cell for cell, rank in zip(cells, owner, strict=True) if rank == communicator.rank)
            dealt += deal.deal(np.array(own, np.int32).reshape(-1, 3), len(cells))
        return dealt

    expected = [list(cell) for cells in generations for cell in sorted(cells)]
    found: dict[int, list[list[int]]] = {}
    for rank, dealt in enumerate(on_ranks(ranks, work)):
        for chunk, cells in dealt:
            assert chunk % ranks == rank
            found.setdefault(chunk, []).extend(cells.tolist())
    assert sorted(found) == list(range(-(-len(expected) // size)))
    assert [cell for chunk in sorted(found) for cell in found[chunk]] == expected


def test_a_box_without_numbers_is_refused() -> None:
    wide = np.array([[0, 0], [2**31 - 1, 2**31 - 1]], np.int32) * np.int64(4)
    with pytest.raises(UsageError, match=r"a box of fewer than 2\^63 cells"):
        on_ranks(2, lambda communicator: list(ChunkDeal(communicator, 3).deal(wide, 4)))


def grown(ranks: int, out: Path, automaton: str | None = "edge", last: int = 40, **more: Any) -> None:
    """Grow on ranks and save the cells."""

    def work(communicator: Communicator) -> None:
        backend = NumpyBackend(communicator)
        GrowthJob(automaton, last, backend=backend, out=out, parents=automaton == "nim", **more).grow()

    on_ranks(ranks, work)


def contents(store: Path) -> dict[str, bytes]:
    """The files of a store, but for the attributes of the group, which have the time that it took."""
    files = (path for path in store.rglob("*") if path.is_file())
    return {str(path.relative_to(store)): path.read_bytes() for path in files if path != store / "zarr.json"}


@pytest.mark.parametrize("automaton", ["edge", "nim", "ulam-warburton"])
def test_a_store_of_several_ranks_has_the_bytes_of_one(automaton: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_files, "_CHUNK", 150)
    for ranks in (1, 2, 3):
        grown(ranks, tmp_path / f"{ranks}.zarr", automaton)
    expected = contents(tmp_path / "1.zarr")
    assert len(expected) > 10
    assert contents(tmp_path / "2.zarr") == contents(tmp_path / "3.zarr") == expected
    assert len(load(tmp_path / "3.zarr").cells()) == load(tmp_path / "1.zarr").population
    assert {path.name for path in tmp_path.iterdir()} == {"1.zarr", "2.zarr", "3.zarr"}


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 1)])
def test_a_store_is_resumed_on_another_number_of_ranks(
    before: int, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth_files, "_CHUNK", 700)
    grown(1, tmp_path / "whole.zarr", last=33)
    run = tmp_path / "run"
    grown(before, tmp_path / "begun.zarr", last=25, checkpoint=run, every=10)
    (run / "checkpoint-0000000025.npz").unlink()  # the store is further than the checkpoint before
    grown(after, tmp_path / "resumed.zarr", None, last=33, resume=run)
    assert contents(tmp_path / "resumed.zarr") == contents(tmp_path / "whole.zarr")


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_rank_that_cannot_write_leaves_nothing(failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_files, "_CHUNK", 150)
    write: Callable[..., None] = zarr.Array.__setitem__
    ranks: dict[int, int] = {}

    def full(array: Any, place: slice, values: Any) -> None:
        if array.path == "cells" and place.start // 150 >= 10 and ranks[threading.get_ident()] == failing:
            raise OSError(28, "No space left on device")
        write(array, place, values)

    monkeypatch.setattr(zarr.Array, "__setitem__", full)

    def work(communicator: Communicator) -> None:
        ranks[threading.get_ident()] = communicator.rank
        GrowthJob("edge", 40, backend=NumpyBackend(communicator), out=tmp_path / "a.zarr").grow()

    with pytest.raises(FileError, match=r"cannot write .*a\.zarr: No space left on device"):
        on_ranks(3, work)
    assert os.listdir(tmp_path) == []
