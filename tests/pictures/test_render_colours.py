"""Colours show Grundy values, branches and P-positions, each distinctly, and stand out from the background of their theme."""

import numpy as np
import pytest

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.games.solve import solve
from gpu_nim.jobs.grow_job import grow
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.geometry import coarsen
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES
from gpu_nim.storage.save_load import save

DARK = THEMES["dark"]
DISTINCT = 0.1  # in Oklab, in which distances are perceptual


def linear(srgb):
    """Linear light of sRGB values, by IEC 61966-2-1."""
    values = np.asarray(srgb, float)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(srgb):
    """Lightness, green to red and blue to yellow: https://bottosson.github.io/posts/oklab."""
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
    to_cones.append([0.0883024619, 0.2817188376, 0.6299787005])
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
    to_lab.append([0.0259040371, 0.7827717662, -0.8086757660])
    return np.cbrt(linear(srgb) @ np.array(to_cones).T) @ np.array(to_lab).T


def closest(colours):
    """The least distance between two of the colours, in Oklab."""
    seen = oklab(colours)
    return (np.linalg.norm(seen[:, None] - seen, axis=2) + 9 * np.eye(len(seen))).min()


def least_contrast(theme, room=0.0):
    """The least contrast by WCAG 2 of a colour of a theme with its background, from bottom to top, in the light of a room."""
    named = [theme.text, theme.muted, theme.dim, theme.pick, *theme.categories]
    backgrounds = np.linspace(theme.bottom, theme.top, 9)[:, None]
    one, other = (
        linear((1 - 2.5 * room) * np.asarray(colours) + room) @ (0.2126, 0.7152, 0.0722) + 0.05
        for colours in (np.concatenate([named, theme.map(np.linspace(0, 1, 256))]), backgrounds)
    )
    return np.maximum(one / other, other / one).min()


def test_only_the_projector_theme_has_a_contrast_of_3_in_a_bright_room():
    """In which sRGB values are halved and raised by a fifth."""
    found = {name: least_contrast(theme, room=0.2) for name, theme in THEMES.items()}
    assert found.pop("projector") >= 3 > max(found.values())


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_colours_of_a_theme_stand_out_and_the_lightness_of_its_map_is_linear(theme):
    assert least_contrast(theme) >= 3
    colours = oklab(theme.map(np.linspace(0, 1, 33)))
    steps = np.diff(colours[:, 0])
    assert steps.min() > 0.7 * steps.mean()
    assert steps.max() < 1.5 * steps.mean()
    assert np.linalg.norm(colours[-1] - colours[0]) > 0.4


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_colours_of_branches_can_be_told_apart(theme):
    assert len(theme.categories) == 30  # the seed and as many as there are neighbours, 26, at most, and more
    assert closest([theme.top, *theme.categories]) >= DISTINCT
    assert closest([theme.bottom, *theme.categories]) >= DISTINCT
    assert closest([theme.pick, theme.dim]) >= DISTINCT


@pytest.mark.parametrize("name", ["nim-3", *(name for name, found in CATALOGUE.items() if found.rule.exactly_one)])
def test_no_two_branches_share_a_colour(name):
    blocks = blocks_of(f"{name}:4", colour="branch")
    colours = base_colours(blocks, "branch", DARK)
    pairs = np.unique(np.column_stack([blocks.values["branch"], colours]), axis=0)
    assert len(pairs) == len(np.unique(blocks.values["branch"])) == len(np.unique(colours, axis=0))


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
