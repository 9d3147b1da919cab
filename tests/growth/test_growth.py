"""Growths and rules: Nim against its theorem, the digest, what decides on a cell, symmetries, and automata that users define."""

import json
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpu_nim import grow, load, save, why
from gpu_nim.automata.catalogue import CATALOGUE, Automaton, find
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import CellsInMemory
from gpu_nim.automata.user_defined import define, describe, from_description
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.model.digest import COEFFICIENTS, mix
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import NIM, Rule, Symmetry
from gpu_nim.papers.by_definition import grown
from tests import helpers
from tests.helpers import mix64
from tests.lattices import ONE, literal, rules, steps


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


def born_at(rule, last):
    """Return the step of each cell that is alive after step `last`."""
    return {cell: step for step, cells in enumerate(grown(rule, last)) for cell in cells}


@pytest.mark.parametrize(
    ("automaton", "last", "side"),
    [("edge", 15, 5), ("fcc", 15, 4), ("hexagonal", 23, 9), ("nim-4", 9, 4), ("ulam-warburton", 31, 12)],
)
def test_each_cell_nearby_has_the_step_and_the_touches_of_the_literal_growth(automaton, last, side):
    rule = find(automaton).rule
    steps = born_at(rule, last)
    for cell in list(product(range(-1, side), repeat=rule.dimension))[:: 7 if rule.dimension > 2 else 3]:
        found = why(automaton, cell, generations=last, backend="numpy")
        assert found.generation == steps.get(cell)
        below = [(tuple(x - d for x, d in zip(cell, offset, strict=True)), offset) for offset in rule.offsets]
        below = [(each, offset) for each, offset in below if each in steps]
        if rule.touches is not None:
            below = [(each, offset) for each, offset in below if rule.touches(np.array([each]), offset).all()]
        touching = sorted((steps[each], each) for each, _ in below)
        if found.decided == 0:
            assert cell in rule.seeds or not all(x >= 0 for x in cell)
        elif found.decided is None:
            assert list(found.touches) == [pair for pair in touching if pair[0] <= last]
        else:
            assert list(found.touches) == [pair for pair in touching if pair[0] < found.decided]
            assert (len(found.touches) in rule.births) == (found.generation is not None)


def test_several_numbers_of_touches():
    """Born by 1 or 3: a cell with 2 may still be born, and one with 4 not."""
    rule = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1, 3}), ((0, 0),))
    steps = born_at(rule, 12)
    for cell in product(range(8), repeat=2):
        found = why(rule, cell, generations=12)
        assert found.generation == steps.get(cell)
        if found.generation is None and found.decided is not None:
            assert len(found.touches) > 3


CELLS = st.integers(1, 4).flatmap(lambda d: arrays.arrays(np.int64, (20, d), elements=st.integers(-3, 3)))


@given(cells=CELLS, symmetry=st.sampled_from(Symmetry))
def test_orbits(cells, symmetry):
    dimension = cells.shape[1]
    group = symmetry.transformations(dimension)
    assert len(group) == symmetry.order(dimension)
    folded = symmetry.representative(cells)
    assert (symmetry.representative(folded) == folded).all()
    for image in group:
        assert (symmetry.representative(cells @ image.T) == folded).all()
    for cell, representative in zip(cells, folded, strict=True):
        orbit = {tuple(image) for image in (group @ cell).tolist()}
        one = representative[None]
        assert symmetry.unfold(one).tolist() == sorted(map(list, orbit))
        assert symmetry.orbit_size(one).tolist() == [len(orbit)]
        for axis in range(dimension):
            for value in range(-3, 4):
                inside = sum(image[axis] == value for image in orbit)
                assert symmetry.section_size(one, axis, value).tolist() == [inside]


def test_boxes():
    rule = Rule(2, ((2, 0), (-1, 1)), frozenset({1}), ((0, 3), (5, 0)))
    assert rule.box(10) == ((-10, 0), (25, 13))
    assert replace(rule, octant=True).box(10) == ((0, 0), (25, 13))
    assert Rule(1, ((2,), (3,)), frozenset({1}), ((1,),)).box(10) == ((1,), (31,))


def test_parities():
    even = Rule(2, ((1, 1), (2, 0)), frozenset({1}), ((0, 0), (1, 3)))
    assert even.even_sum
    assert not replace(even, seeds=((0, 1),)).even_sum
    assert not replace(even, offsets=((1, 0),)).even_sum


# User-defined automata: from the command line, from Python, in files


_GROW = ("grow", *helpers.ON_NUMPY)
run, facts = partial(helpers.run, *_GROW), partial(helpers.facts, *_GROW)


@pytest.mark.parametrize(
    ("offsets", "seeds", "symmetry"),
    [
        (steps(3, 1, 2), [(0, 0, 0)], Symmetry.CUBE),
        (steps(3, 1, 2), [(1, 0, 0)], Symmetry.NONE),
        (((1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)), [(0, 0, 0)], Symmetry.PERMUTATIONS),
        (((1, 0), (0, 1), (1, 2)), [(0, 0)], Symmetry.NONE),
    ],
)
def test_the_symmetry_is_found(offsets: tuple[tuple[int, ...], ...], seeds: list[tuple[int, ...]], symmetry: Symmetry) -> None:
    births = (1, 2)  # no entry of the catalogue has these
    rule = define(offsets, births, seeds).rule
    assert rule.symmetry is symmetry
    bare = Rule(rule.dimension, rule.offsets, rule.births, rule.seeds)
    assert grow(rule, 9, backend="numpy").births.tolist() == grow(bare, 9, backend="numpy").births.tolist()


def test_far_and_few_offsets_need_no_place_for_every_cell_of_the_box() -> None:
    near, far = (facts("--offsets", f"{step},1;-1,{step}", "--gen", "30") for step in (1000, 2**24))
    assert near["births"] == far["births"]


@given(rules(most=3), st.integers(0, 4))
@settings(deadline=None, max_examples=30)
def test_most_touched_is_a_bound(rule: Rule, generation: int) -> None:
    everywhere = Rule(rule.dimension, rule.offsets, frozenset(range(1, len(rule.offsets) + 1)), rule.seeds)
    assert sum(map(len, literal(everywhere, generation + 1))) <= rule.most_touched(generation)


def test_predicates_are_not_saved(tmp_path: Path) -> None:
    rule = Rule(2, steps(2, 1), ONE, ((0, 0),), universe=lambda cells: cells[:, 0] >= 0)
    save(grow(rule, 9, backend="numpy", cells=True), tmp_path / "a.npz")
    loaded = load(tmp_path / "a.npz")
    assert (loaded.automaton, loaded.rule) == ("own", None)
    assert len(loaded.cells()) == loaded.population


@pytest.mark.parametrize("name", CATALOGUE)
def test_descriptions_come_back(name: str) -> None:
    description = json.loads(json.dumps(describe(CATALOGUE[name].rule)))
    assert from_description(name, description) is CATALOGUE[name]
    assert from_description(name, None) is CATALOGUE[name]
    described = from_description("mine", description)
    assert (described is None) == description["predicates"]
    assert described is None or described.rule == CATALOGUE[name].rule
