"""Cases on several ranks: `mpirun -n N python -m tests.mpi_cases` runs all of them in one start, for `tests/growth/test_mpi.py`.

A case is a function of the communicator of all ranks and of a folder that they share, and fails by an exception on any rank. Rank 0
prints a JSON object with what was wrong with each case, or "".
"""

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np

from gpu_nim import grow
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import allgather
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.jobs.grow_job import Run
from gpu_nim.jobs.mpi import MpiCommunicator, join
from gpu_nim.model.errors import FileError, RankFailed
from gpu_nim.model.work import Outcome, mpi_rank
from tests import strict_cupy as xp
from tests.growth.test_ranks import check_communicator
from tests.helpers import no_file_longer_than

CASES: dict[str, Callable[[MpiCommunicator, Path], None]] = {}


def joined_anew() -> MpiCommunicator:
    """The communicator of all ranks, of which none has failed."""
    here = mpi_rank()
    assert here is not None
    return join(here)


def case(function: Callable[[MpiCommunicator, Path], None]) -> Callable[[MpiCommunicator, Path], None]:
    CASES[function.__name__] = function
    return function


# What the ranks say to each other


@case
def no_rank_waits_for_strangers(ranks: MpiCommunicator, folder: Path) -> None:
    own = {str(file.resolve().name) for file in Path("/proc/self/fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/self/net", name).read_text().splitlines()]
    waiting = [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]
    assert "OMPI_COMM_WORLD_SIZE" not in os.environ or not waiting  # MPICH's ways are not known to us


@case
def buffers_of_any_length_and_sums(ranks: MpiCommunicator, folder: Path) -> None:
    assert check_communicator(ranks, most=30_000)


@case
def buffers_of_several_messages(ranks: MpiCommunicator, folder: Path) -> None:
    ranks.largest = 7
    parts = ranks.exchange([np.arange(50, dtype=np.uint8)] * ranks.size)
    assert all(part.tolist() == list(range(50)) for part in parts)


@case
def buffers_of_a_device(ranks: MpiCommunicator, folder: Path) -> None:
    # Device memory that is the host's: MPI is given the same pointers as with CuPy's arrays.
    for length in (0, 1, 5000):
        parts = [xp.asarray(np.full(length * ((ranks.rank + to) % 3), 16 * ranks.rank + to, np.uint8)) for to in range(ranks.size)]
        for source, part in enumerate(ranks.exchange(parts, xp.empty)):
            assert type(part) is xp.ndarray
            assert part.get().tolist() == [16 * source + ranks.rank] * (length * ((source + ranks.rank) % 3))


@case
def a_failure_reaches_all_at_the_next_exchange(ranks: MpiCommunicator, folder: Path) -> None:
    steps: tuple[Callable[[], object], ...] = (
        lambda: ranks.exchange([np.ones(100, np.uint8)] * ranks.size),
        lambda: ranks.sum(np.ones(3, np.uint64)),
        lambda: allgather(ranks, 1),
        lambda: None,  # the others have done their work
    )
    for failing in ({0}, {ranks.size - 1}, {0, ranks.size - 1}, set(range(ranks.size))):
        for step in steps:
            ranks = joined_anew()
            try:
                if ranks.rank in failing:
                    raise FileError(f"the disk of rank {ranks.rank} is full")
                step()
                outcome = Outcome(0)
            except FileError as error:
                outcome = Outcome(error.exit_status, str(error))
            except RankFailed:
                outcome = Outcome(1)
            assert ranks.agree(outcome) == Outcome(1, f"the disk of rank {min(failing)} is full")


@case
def a_signal_waits_for_the_exchange(ranks: MpiCommunicator, folder: Path) -> None:
    came = []
    handler = signal.signal(signal.SIGTERM, lambda *_: came.append(1))
    try:
        if ranks.rank == 0:
            with ranks.signals_deferred():
                signal.raise_signal(signal.SIGTERM)
                assert not came
        allgather(ranks, 0)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert len(came) == (ranks.rank == 0)


# Growths


@cache
def digest_of_edge(last: int) -> str:
    return grow("edge", last, backend="numpy").digest


# Checkpoints


def _interrupted(ranks: MpiCommunicator, folder: Path, generations: int) -> None:
    """Write the checkpoints of a growth of edge, every 10 generations, but for the last."""
    checkpoints = Checkpoints(folder, ranks)
    if ranks.rank == 0:
        folder.mkdir(exist_ok=True)
    allgather(ranks, 0)
    growing = GrowthProcess("edge", generations, NumpyBackend(ranks), every=10)
    for _ in growing:
        if growing.generation % 10 == 0 and growing.generation < generations:
            checkpoints.save(growing.snapshot())


@case
def a_checkpoint_counts_only_with_all_parts(ranks: MpiCommunicator, folder: Path) -> None:
    damages: dict[str, Callable[[Path], object]] = {
        "missing": Path.unlink,
        "of another checkpoint": lambda part: part.write_bytes(Path(str(part).replace("30-rank", "20-rank")).read_bytes()),
    }
    for name, damage in damages.items():
        _interrupted(ranks, folder / name, 40)
        allgather(ranks, 0)
        if ranks.rank == 0:
            damage(folder / name / f"checkpoint-0000000030-rank-{ranks.size - 1}.npz")
        allgather(ranks, 0)

        def check(run: Run) -> None:
            assert run.growing.generation == 20
            assert ranks.rank or "checkpoint-0000000030.npz cannot be used" in run.checkpoints.skipped[0]

        resumed = grow(backend=NumpyBackend(ranks), resume=folder / name, on_begin=check)
        assert resumed.digest == digest_of_edge(40), name


@case
def a_disk_that_is_full_on_one_rank(ranks: MpiCommunicator, folder: Path) -> None:
    for failing in (0, ranks.size - 1):
        run = folder / str(failing)
        _interrupted(ranks, run, 20)
        allgather(ranks, 0)
        outcome = Outcome(0)
        try:
            with no_file_longer_than(3000) if ranks.rank == failing else nullcontext():
                grow(generations=60, backend=NumpyBackend(ranks), resume=run)
        except FileError as error:
            outcome = Outcome(1, str(error))
        except RankFailed:
            outcome = Outcome(1)
        agreed = ranks.agree(outcome)
        ranks = joined_anew()
        assert agreed.status == 1
        sentence = agreed.sentence
        assert sentence is not None
        assert "cannot write " in sentence
        assert "File too large" in sentence
        assert "can still be resumed" in sentence
        assert not list(run.glob(".gpunim-*[0-9a-f]"))
        allgather(ranks, 0)
        resumed = grow(generations=60, backend=NumpyBackend(ranks), resume=run)
        assert resumed.digest == digest_of_edge(60)


def main() -> None:
    found = {}
    for name, run in CASES.items():
        ranks = joined_anew()
        folder = allgather(ranks, tempfile.mkdtemp(dir=sys.argv[1]) if ranks.rank == 0 else "")[0]
        try:
            run(ranks, Path(folder))
            outcome = Outcome(0)
        except RankFailed:
            outcome = Outcome(1)
        except Exception:
            outcome = Outcome(1, f"rank {ranks.rank}: {traceback.format_exc()}")
        found[name] = ranks.agree(outcome).sentence
    if ranks.rank == 0:
        Path(sys.argv[1], "found").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
