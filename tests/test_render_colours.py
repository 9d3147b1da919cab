"""Colours show Grundy values, branches and P-positions, each distinctly."""

import numpy as np
import pytest

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.games.solve import solve
from gpu_nim.jobs.growth import grow
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.geometry import coarsen
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import DISTINCT, THEMES, distinct_colours, to_oklab
from gpu_nim.storage.save_load import save

DARK = THEMES["dark"]


def closest(colours):
    """The least distance between two of the colours, in Oklab."""
    seen = to_oklab(np.asarray(colours))
    return (np.linalg.norm(seen[:, None] - seen, axis=2) + 9 * np.eye(len(seen))).min()


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_colours_of_many_things_can_be_told_apart(theme):
    for count in (1, 7, 8, 12, 26, 50):
        colours = [theme.bottom, theme.top, theme.categories[0], *distinct_colours(theme, count)]
        assert len(colours) == 3 + count
        assert closest(colours[1:]) >= DISTINCT * 0.999


def test_oklab_is_as_published():
    # The primaries, as CSS Color 4 gives them.
    red, green, blue = to_oklab(np.eye(3))
    assert red.round(3).tolist() == [0.628, 0.225, 0.126]
    assert green.round(3).tolist() == [0.866, -0.234, 0.179]
    assert blue.round(3).tolist() == [0.452, -0.032, -0.312]


@pytest.mark.parametrize("name", ["nim-3", *(name for name, found in CATALOGUE.items() if found.rule.exactly_one)])
def test_no_two_branches_share_a_colour(name):
    blocks = blocks_of(f"{name}:4", colour="branch")
    colours = base_colours(blocks, "branch", DARK)
    pairs = np.unique(np.column_stack([blocks.values["branch"], colours]), axis=0)
    assert len(pairs) == len(np.unique(blocks.values["branch"])) == len(np.unique(colours, axis=0))
    assert len(pairs) == 1 or closest(pairs[:, 1:]) >= DISTINCT * 0.999


def test_a_file_of_outcomes_alone_has_no_colours_of_grundy_values(tmp_path):
    save(solve("nim", 7, piles=2), tmp_path / "a.npz")
    with pytest.raises(UsageError, match=r"needs a game solved for Grundy values, and a\.npz holds outcomes alone"):
        prepare(str(tmp_path / "a.npz"), Look(colour="grundy"))


def test_the_grundy_values_of_a_file_are_its_colours(tmp_path):
    save(solve("nim", 7, piles=2, grundy=True), tmp_path / "a.npz")
    blocks = prepare(str(tmp_path / "a.npz"), Look(colour="grundy"))
    assert len(blocks) == 64
    shown = base_colours(blocks, "grundy", DARK)
    for cell, colour in zip(blocks.corners.tolist(), shown, strict=True):
        assert np.array_equal(colour, DARK.map(np.array([(cell[0] ^ cell[1]) / 7]))[0])
    assert len(np.unique(shown, axis=0)) == 8
    assert len(prepare(str(tmp_path / "a.npz"), Look())) == 8  # the P-positions


def test_branches_of_an_automaton_of_ones_own(tmp_path):
    save(grow(Rule(2, ((1, 0), (0, 1)), frozenset({1}), ((0, 0),)), 3, cells=True), tmp_path / "a.npz")
    blocks = blocks_of(str(tmp_path / "a.npz"), colour="branch")
    assert blocks.values["branch"][:3].tolist() == [0, 1, 2]
    assert set(blocks.values["branch"].tolist()) == {0, 1, 2}


def test_branches_of_a_file_without_a_rule_are_refused(tmp_path):
    rule = Rule(2, ((1, 0), (0, 1)), frozenset({1}), ((0, 0),), universe=lambda cells: cells[:, 0] < 9)
    save(grow(rule, 3, cells=True), tmp_path / "a.npz")
    with pytest.raises(UsageError, match=r"the branch of each cell needs a rule of offsets, and a\.npz grew by predicates"):
        blocks_of(str(tmp_path / "a.npz"), colour="branch")


@pytest.mark.parametrize("source", ["fcc:20", "edge:20"])
def test_p_positions_are_picked_out_in_every_octant(source):
    """They are the cells that generation n has of total 2n: the growth itself says which, whatever the nim-sum."""
    blocks = blocks_of(source)
    totals = np.abs(blocks.corners.astype(int)).sum(axis=1)
    picked = (base_colours(blocks, "nim-p", DARK) == np.array(DARK.pick, np.float32)).all(axis=1)
    assert np.array_equal(picked, totals == 2 * blocks.generations)
    assert 0 < picked.sum() < len(picked)


def test_coarse_blocks_without_signs_hold_p_positions_where_their_corners_are_some():
    octant = coarsen(blocks_of("edge:8"), 2)
    picked = (base_colours(octant, "nim-p", DARK) == np.array(DARK.pick, np.float32)).all(axis=1)
    assert np.array_equal(picked, np.bitwise_xor.reduce(octant.corners // 2, axis=1) == 0)
