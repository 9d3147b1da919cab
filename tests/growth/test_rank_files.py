"""Files of a growth on several ranks have what one process writes."""

import os
from pathlib import Path
from typing import Any

import pytest

from gpu_nim import load
from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.grow_job import grow
from gpu_nim.storage import growth_files
from tests.threads import on_ranks

pytest.importorskip("zarr", reason="zarr is not installed")


def grown(ranks: int, out: Path, automaton: str | None = "edge", last: int = 24, **more: Any) -> None:
    """Grow on ranks and save the cells."""

    def work(communicator: Communicator) -> None:
        backend = NumpyBackend(communicator)
        grow(automaton, last, backend=backend, out=out, parents=automaton == "nim", **more)

    on_ranks(ranks, work)


def contents(store: Path) -> dict[str, bytes]:
    """The files of a store, but for the attributes of the group, which have the time that it took."""
    files = (path for path in store.rglob("*") if path.is_file())
    return {str(path.relative_to(store)): path.read_bytes() for path in files if path != store / "zarr.json"}


@pytest.mark.parametrize("automaton", ["edge", "nim", "ulam-warburton"])
def test_a_store_of_several_ranks_has_the_bytes_of_one(automaton: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_files, "_CHUNK", 150)
    for ranks in (1, 3):
        grown(ranks, tmp_path / f"{ranks}.zarr", automaton)
    expected = contents(tmp_path / "1.zarr")
    assert len(expected) > 10
    assert contents(tmp_path / "3.zarr") == expected
    assert len(load(tmp_path / "3.zarr").cells()) == load(tmp_path / "1.zarr").population
    assert {path.name for path in tmp_path.iterdir()} == {"1.zarr", "3.zarr"}


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


@pytest.mark.parametrize("failing", [0, 1])
def test_a_rank_that_fails_leaves_nothing(failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_files, "_CHUNK", 150)

    def work(communicator: Communicator) -> None:
        def full(what: str, done: int, total: int) -> None:
            if communicator.rank == failing and done >= 30:
                raise OSError(28, "No space left on device")

        grow("edge", 40, backend=NumpyBackend(communicator), out=tmp_path / "a.zarr", progress=full)

    with pytest.raises(OSError, match="No space left on device"):
        on_ranks(3, work)
    assert os.listdir(tmp_path) == []
