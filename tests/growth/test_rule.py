"""Symmetries fold, unfold and count; boxes and parities of rules; automata that users define."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpu_nim import grow, load, save
from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.user_defined import define, describe, from_description
from gpu_nim.model.rule import Rule, Symmetry
from tests import helpers
from tests.lattices import ONE, literal, rules, steps

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
