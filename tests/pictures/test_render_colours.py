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
from gpu_nim.render.shading import SideLight, ThreePointLighting
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, to_linear, to_srgb
from gpu_nim.render.views import Camera
from gpu_nim.storage.save_load import save

DARK = THEMES["dark"]
DISTINCT = 0.1  # in Oklab, in which distances are perceptual

# What eyes without one kind of cones see of linear light (Machado, Oliveira and Fernandes 2009, severity 1).
EYES = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


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


def cielab(srgb, eyes="normal"):
    """What some eyes see of sRGB values, in CIELAB under D65 (CIE 15)."""
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    x, y, z = (np.clip(linear(srgb) @ np.transpose(EYES[eyes]), 0, 1) @ to_xyz.T / to_xyz.sum(axis=1)).T
    x, y, z = (np.where(part > (6 / 29) ** 3, np.cbrt(part), part * (29 / 6) ** 2 / 3 + 4 / 29) for part in (x, y, z))
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def closest(colours, seen_in=oklab, **how):
    """The least distance between two of the colours, by default in Oklab."""
    seen = seen_in(colours, **how)
    return (np.linalg.norm(seen[:, None] - seen, axis=2) + 999 * np.eye(len(seen))).min()


def contrast(*colours, room=0.0):
    """The least contrast by WCAG 2 of the first colours with the others, in the light of a room."""
    one, other = (linear((1 - 2.5 * room) * np.asarray(each) + room) @ (0.2126, 0.7152, 0.0722) + 0.05 for each in colours)
    return np.maximum(one / other, other / one).min()


def least_contrast(theme, room=0.0):
    """The least contrast of a colour of a theme with its background, from bottom to top."""
    named = [theme.text, theme.muted, theme.dim, theme.pick, *theme.categories]
    backgrounds = np.linspace(theme.bottom, theme.top, 9)[:, None]
    return contrast(np.concatenate([named, theme.map(np.linspace(0, 1, 256))]), backgrounds, room=room)


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
    for eyes in EYES:
        assert closest(theme.categories[:13], cielab, eyes=eyes) >= 15, eyes  # the seed and the 12 neighbours of fcc
        assert closest([theme.pick, theme.dim], cielab, eyes=eyes) >= 15, eyes
    assert contrast(theme.pick, theme.dim) >= 3


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_no_colour_of_a_map_is_black_where_no_light_falls(theme):
    """Deep in a cut, on a side that faces downwards and sees no sky."""
    below = SideLight(theme, ThreePointLighting.of(np.eye(3)), Camera(np.zeros(3), np.eye(3), 1.0, True), 1, -1)
    colours = to_linear(theme.map(np.linspace(0, 1, 256)))
    assert to_srgb(below.reflected(colours, np.zeros(256, np.float32), None)).max(axis=1).min() > 16 / 255


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
