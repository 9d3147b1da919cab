"""User-defined automata: from the command line, from Python, in files, and invalid ones."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import grow, load, save
from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.user_defined import define, describe, from_description
from gpu_nim.model.rule import Rule, Symmetry
from tests import helpers
from tests.lattices import ONE, literal, rules, steps

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
