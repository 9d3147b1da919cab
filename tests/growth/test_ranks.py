"""Growth on several ranks equals growth on one, cell by cell, and its files have what one process writes."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gpu_nim import load
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import ALONE, Communicator
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine, required_bytes
from gpu_nim.backends.shared.brick_grid import supports
from gpu_nim.backends.shared.bricks import Bricks, owners, pack, unpack
from gpu_nim.backends.shared.engines import join
from gpu_nim.jobs.grow_job import grow
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule, Symmetry
from tests.lattices import CUBIC26, EDGE, KNIGHT, ONE, RULE750, half_space, rules
from tests.threads import on_ranks

# Every communicator gives each rank what the others sent it


def check_communicator(communicator, most: int = 3) -> bool:
    """Whether buffers of all lengths arrive and sums wrap; called on every rank."""
    rank, size = communicator.rank, communicator.size
    for turn in (0, 1, most):
        # The buffer from one rank to another says who, to whom and when, as often as that.
        sent = [np.full(rank * turn + other, rank + 16 * other + turn % 7, np.uint8) for other in range(size)]
        for other, got in enumerate(communicator.exchange(sent)):
            assert got.tolist() == [other + 16 * rank + turn % 7] * (other * turn + rank)
        top = np.tile(np.array([2**64 - 1, rank], np.uint64), (1 + turn, 1))
        assert (communicator.sum(top) == np.array([2**64 - size, size * (size - 1) // 2], np.uint64)).all()
    return True


def test_alone():
    assert check_communicator(ALONE)


# Growths


FAST = rules(least=2, most=3, births=ONE)
RANKS = st.sampled_from([1, 2, 3, 4, 8])
NUMPY = NumpyBackend()
# Cells of odd sums lie outside of its universe, and bricks in the plane have bits for them.
DIAGONAL = Rule(2, ((-1, 1), (1, -1)), ONE, ((-2, 0), (0, -2)), half_space((1, 1), -2), symmetry=Symmetry.PERMUTATIONS)
some = settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def backend(every_backend):
    return every_backend


def grown(rule, last, ranks, to, *, state=None, backend=NUMPY, **wanted):
    """The batch of each rank and its part of the state."""

    def work(communicator):
        engine = backend.on_rank(communicator).engine(rule, last, state).make()
        return engine.advance(to, **wanted), engine.state()

    return on_ranks(ranks, work)


def assert_same_growth(results, expected):
    """Compare the counts on each rank, and the cells of all ranks together, with a batch of one process."""
    for batch, _ in results:
        assert batch.first == expected.first
        assert batch.births.tolist() == expected.births.tolist()
        assert batch.checksums.tolist() == expected.checksums.tolist()
        assert batch.section.tolist() == expected.section.tolist()
    cells = np.concatenate([batch.cells for batch, _ in results])
    assert sorted(cells.tolist()) == sorted(expected.cells.tolist())


@some
@given(rule=FAST, ranks=RANKS, last=st.integers(0, 7), more=st.integers(0, 40), value=st.integers(-2, 2))
def test_any_number_of_ranks_grows_the_same(backend, rule, ranks, last, more, value):
    # What is planned for moves the borders under the growth.
    expected = ExactlyOneEngine(Bricks(rule, last)).advance(last, cells=True, section=(0, value))
    assert_same_growth(grown(rule, last + more, ranks, last, backend=backend, cells=True, section=(0, value)), expected)


@some
@given(rule=FAST, before=RANKS, after=RANKS, stop=st.integers(0, 4), more=st.integers(1, 3), planned=st.integers(0, 4))
@example(rule=DIAGONAL, before=1, after=1, stop=0, more=1, planned=0)
def test_another_number_of_ranks_resumes(backend, rule, before, after, stop, more, planned):
    whole = ExactlyOneEngine(Bricks(rule, stop + more)).advance(stop + more, cells=True, section=(0, 0))
    done = int(whole.births[: stop + 1].sum())
    for begins, ends in [(backend, backend), *([] if type(backend) is NumpyBackend else [(backend, NUMPY), (NUMPY, backend)])]:
        parts = [part for _, part in grown(rule, stop + planned, before, stop, backend=begins)]
        rest = grown(rule, stop + more, after, stop + more, state=join(parts[::-1]), backend=ends, cells=True, section=(0, 0))
        assert sorted(np.concatenate([batch.cells for batch, _ in rest]).tolist()) == sorted(whole.cells[done:].tolist())
        for batch, _ in rest:
            assert batch.checksums.tolist() == whole.checksums[stop + 1 :].tolist()


def test_nim_is_cut_into_bricks_and_a_plane_of_one_process_is_not_shared(backend):
    def work(communicator, resume=None):
        growing = GrowthProcess("nim", 40, backend.on_rank(communicator), every=20, resume=resume)
        snapshots = [growing.snapshot() for batch in growing if growing.generation == 20]
        return growing.growth().digest, growing.mismatch, snapshots

    [(digest, mismatch, [plane])] = on_ranks(1, work)
    parts = on_ranks(3, work)
    assert [part[:2] for part in parts] == [(digest, mismatch)] * 3 == [(digest, None)] * 3
    states = [snapshot.state for *_, [snapshot] in parts]
    assert sum(len(state["newborns"]) for state in states) == 9  # each of 3^wt(20) on one of the ranks
    whole = replace(parts[0][2][0], state=join(states))
    assert on_ranks(1, partial(work, resume=whole)) == [(digest, None, [])]
    with pytest.raises(UsageError, match="a growth of nim that one process began is resumed by one process"):
        on_ranks(2, partial(work, resume=plane))


def test_ranks_of_a_host_share_what_is_free(monkeypatch):
    monkeypatch.setattr("gpu_nim.backends.numpy.host_memory", lambda: 3 * required_bytes(Bricks(EDGE, 128, 0, 2).busiest()) // 2)
    assert on_ranks(1, lambda ranks: GrowthProcess(EDGE, 64, NUMPY.on_rank(ranks)).begin().generation) == [-1]
    with pytest.raises(InsufficientMemoryError, match="growth to generation 128 needs"):
        on_ranks(2, lambda ranks: GrowthProcess(EDGE, 128, NUMPY.on_rank(ranks)).begin())


@given(ranks=st.integers(1, 9), slabs=st.integers(1, 3000))
def test_blocks_are_dealt_out_evenly(ranks, slabs):
    owner = owners(slabs, ranks)
    widths = np.diff(np.flatnonzero(np.diff(owner)) + 1)
    if ranks > 1 and len(widths):
        width = int(widths.min())
        blocks = owner[::width]
        for run in (ranks, ranks**2):  # all of them, also of 6 ranks or 12
            dealt = blocks[: len(blocks) // run * run].reshape(-1, run)
            assert all((np.bincount(row, minlength=ranks) == run // ranks).all() for row in dealt)


@given(rule=FAST.filter(supports), ranks=st.integers(2, 4), seed=st.integers(0, 2**32))
def test_a_rank_is_sent_the_newborns_within_reach_of_its_slabs(rule, ranks, seed):
    bricks = Bricks(rule, 150, 0, ranks)
    grid = np.stack(np.meshgrid(*map(np.arange, (bricks.slabs, bricks.wide, 4)), indexing="ij"), axis=-1).reshape(-1, 3)
    own = grid[bricks.owned[grid[:, 0]]][:40]
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**64, (len(own), bricks.words), np.uint64) * (random.random((len(own), bricks.words)) < 0.2)
    cells = bricks.cells_of(own, words)
    x = bricks.embedded(cells)[:, 0] - bricks.origin[0]
    for rank in range(ranks):
        theirs = np.flatnonzero(np.repeat(bricks.owners == rank, bricks.size[0])) if rank else np.zeros(0, np.int64)
        expected = cells[(abs(x[:, None] - theirs) <= rule.reach).any(axis=1)]
        faces = bricks.facing.get(rank, np.zeros((bricks.slabs, bricks.words), np.uint64))
        part = pack(own, words & faces[own[:, 0]])
        assert part[:, 1:].any(axis=1).all()
        assert sorted(bricks.cells_of(*unpack(part)).tolist()) == sorted(expected.tolist())


@pytest.mark.parametrize("rule", [EDGE, CUBIC26, KNIGHT], ids=["edge", "cubic26", "knight"])
def test_ranks_of_different_backends_share_a_growth(every_backend, rule):
    def work(communicator):
        here = (NUMPY, every_backend, every_backend)[communicator.rank].on_rank(communicator)
        engine = here.engine(rule, 40).make()
        return engine.advance(30, cells=True, section=(0, 2)), engine.state()

    assert_same_growth(on_ranks(3, work), ExactlyOneEngine(Bricks(rule, 30)).advance(30, cells=True, section=(0, 2)))


@pytest.mark.parametrize("rule", [RULE750, Rule(3, ((0, 5, 0),), ONE, ((0,) * 3,))], ids=["births", "far"])
def test_other_rules_are_refused_on_several_ranks(backend, rule):
    with pytest.raises(UsageError, match="several ranks must be of births on exactly one touch"):
        grown(rule, 5, 2, 5, backend=backend)


# Files


def saved(ranks: int, out: Path, automaton: str | None, last: int, **more: Any) -> None:
    """Grow on ranks and save the cells."""

    def work(communicator: Communicator) -> None:
        backend = NumpyBackend(communicator)
        grow(automaton, last, backend=backend, out=out, parents=automaton == "nim", **more)

    on_ranks(ranks, work)


def contents(store: Path) -> dict[str, bytes]:
    """The files of a store, but for the attributes of the group, which have the time that it took."""
    files = (path for path in store.rglob("*") if path.is_file())
    return {str(path.relative_to(store)): path.read_bytes() for path in files if path != store / "zarr.json"}


@pytest.mark.parametrize(("automaton", "last"), [("edge", 128), ("nim", 600), ("ulam-warburton", 600)])
def test_a_store_of_several_ranks_has_the_bytes_of_one(automaton: str, last: int, tmp_path: Path) -> None:
    for ranks in (1, 3):
        saved(ranks, tmp_path / f"{ranks}.zarr", automaton, last)
    expected = contents(tmp_path / "1.zarr")
    assert "cells/c/1/0" in expected  # of 2^18 cells each
    assert contents(tmp_path / "3.zarr") == expected
    assert len(load(tmp_path / "3.zarr").cells()) == load(tmp_path / "1.zarr").population
    assert {path.name for path in tmp_path.iterdir()} == {"1.zarr", "3.zarr"}


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 1)])
def test_a_store_is_resumed_on_another_number_of_ranks(before: int, after: int, tmp_path: Path) -> None:
    saved(1, tmp_path / "whole.zarr", "edge", 150)
    run = tmp_path / "run"
    saved(before, tmp_path / "begun.zarr", "edge", 130, checkpoint=run, every=50)
    (run / "checkpoint-0000000130.npz").unlink()  # the store is further than the checkpoint before
    saved(after, tmp_path / "resumed.zarr", None, 150, resume=run)
    assert contents(tmp_path / "resumed.zarr") == contents(tmp_path / "whole.zarr")


@pytest.mark.parametrize("failing", [0, 1])
def test_a_rank_that_fails_leaves_nothing(failing: int, tmp_path: Path) -> None:
    def work(communicator: Communicator) -> None:
        def full(what: str, done: int, total: int) -> None:
            if communicator.rank == failing and done >= 130:
                raise OSError(28, "No space left on device")

        grow("edge", 140, backend=NumpyBackend(communicator), out=tmp_path / "a.zarr", progress=full)

    with pytest.raises(OSError, match="No space left on device"):
        on_ranks(3, work)
    assert os.listdir(tmp_path) == []
