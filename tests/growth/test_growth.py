"""Three-pile Nim on every backend: against the theorem, against an independent slow path, and resumed."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.automata.catalogue import CATALOGUE, Automaton, find
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import CellsInMemory
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.model.digest import COEFFICIENTS, mix
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import NIM
from tests.helpers import mix64, p_positions


@cache
def born(n: int) -> list[tuple[int, int, int]]:
    """The P-positions of total 2n, in lexicographic order."""
    return [position for position in p_positions(n + 1) if sum(position) == 2 * n]


@pytest.mark.parametrize("generations", [0, 1, 2, 31, 32, 33, 63, 64, 65, 130])
def test_newborns_are_the_p_positions(backend: Backend, generations: int) -> None:
    growth = grow("nim", generations, backend=backend, cells=True)
    for generation, cells in enumerate(growth):
        assert [tuple(cell) for cell in cells.tolist()] == born(generation)
    assert growth.generations == generations
    assert growth.verified is True


def test_kept_cells_stop_at_their_limit() -> None:
    kept = CellsInMemory(limit=10)
    batch = NumpyBackend().engine(NIM, 1).make().advance(1, cells=True)
    with pytest.raises(InsufficientMemoryError, match="12 bytes, more than the 10 bytes set aside"):
        kept.add(batch)


def test_a_population_beyond_64_bits_is_exact() -> None:
    births = np.array([1 << 63, 1 << 63], np.uint64)
    growth = Growth("huge", births, births, CellsInMemory(0), verified=None, backend="numpy", device="", seconds=0)
    assert growth.table["population"].tolist() == [1 << 63, 1 << 64]


def _doubled(name: str) -> Automaton:
    """An automaton with a theorem, whose cells are all at twice their places."""
    known = find(name)
    offsets = tuple(tuple(2 * x for x in offset) for offset in known.rule.offsets)
    return replace(known, rule=replace(known.rule, offsets=offsets, touches=None))


@pytest.mark.parametrize("name", ["nim", "ulam-warburton", "ulam-warburton-3", "nim-2", "nim-3"])
@pytest.mark.parametrize("cells", [False, True])
def test_cells_in_other_places_are_found_out(name: str, cells: bool) -> None:
    growth = grow(_doubled(name), 9, backend="numpy", cells=cells)
    assert growth.verified is False
    if name in ("nim", "ulam-warburton"):
        assert growth.births.tolist() == grow(name, 9, backend="numpy").births.tolist()  # which births alone do not show


def test_the_first_generations_cells_are_tested_where_noobject_asks_for_cells() -> None:
    growing = GrowthProcess("nim", 200, NumpyBackend())
    assert all(batch.cells is None for batch in growing)
    assert growing.tested == 127
    growing = GrowthProcess("nim", 200, NumpyBackend(), cells=True)
    assert all(batch.cells is not None for batch in growing)
    assert growing.tested == 200
    assert GrowthProcess("edge", 5, NumpyBackend()).tested == -1


def test_what_was_grown_without_being_checked_is_checked_when_resumed() -> None:
    wrong = GrowthProcess(_doubled("nim-3"), 9, NumpyBackend(), verify=False)
    snapshots = [wrong.snapshot() for _ in wrong]
    assert wrong.mismatch is None
    assert GrowthProcess(_doubled("nim-3"), 12, NumpyBackend(), resume=snapshots[-1]).mismatch == 2
    unchecked = GrowthProcess("nim", 9, NumpyBackend(), verify=False)
    snapshots = [unchecked.snapshot() for _ in unchecked]
    resumed = GrowthProcess("nim", 20, NumpyBackend(), resume=snapshots[-1])
    assert sum(1 for _ in resumed) > 0
    assert (resumed.mismatch, resumed.tested) == (None, -1)


def test_verification_can_be_left_out() -> None:
    assert grow("nim", 9, backend="numpy", verify=False).verified is None
    bare = Automaton("bare", "no theorem", "none", CATALOGUE["nim"].rule)
    assert grow(bare, 9, backend="numpy").verified is None


# The digest


def slow_mix(cell: tuple[int, ...]) -> int:
    """The mix in Python integers, as its definition reads."""
    return mix64(sum(k * x for k, x in zip(COEFFICIENTS, cell, strict=False)) & 2**64 - 1)


cells_lists = st.integers(1, 8).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * d), min_size=1, max_size=20)
)


@settings(max_examples=40)
@given(cells_lists)
def test_mix_is_its_definition(cells: list[tuple[int, ...]]) -> None:
    assert mix(np.array(cells)).tolist() == [slow_mix(cell) for cell in cells]
