"""Volumes: the medium against sums over cells, the light that passes through its picture, and opacities."""

from itertools import product

import numpy as np
import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.model.errors import UsageError
from gpu_nim.render import opengl
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.opacities import OPACITIES
from gpu_nim.render.opengl import VolumeGrid
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles.volume import Medium
from gpu_nim.render.views import Camera, View
from tests.render_files import needs_opengl

FACE_ON = Camera(np.array([0.0, 0.0, 30.0]), View((0, 0, 1), up=(0, 1, 0)).basis(), 2.0, True)


def of_cells(cells, generations=None):
    cells = np.asarray(cells, np.int32)
    generations = np.zeros(len(cells), np.int32) if generations is None else np.asarray(generations, np.int32)
    return Blocks("cells", cells, generations, len(cells))


def volume_of(blocks, look=None, basis=None):
    return Medium(blocks, np.ones((len(blocks), 3), np.float32), look or Look()).lit(np.eye(3) if basis is None else basis)


def depths(volume):
    """The optical depth across each point."""
    return -np.log1p(-np.minimum(volume.colours[..., 3] / 255.0, 0.9999)) * volume.spacing / volume.reach


@needs_opengl
@pytest.mark.parametrize("opacity", [10, 60, 128, 255])
def test_a_volume_lets_as_much_light_through_as_it_should(opacity):
    colours = np.zeros((10, 10, 8, 4), np.uint8)
    colours[..., 2:6, :] = (200, 100, 50, opacity)
    colours[..., :3] = (200, 100, 50)
    colours[0, 0, 0] = 255  # a volume's most opaque point, off the middle
    drawn = opengl.Canvas(32, 32).draw_volume(VolumeGrid(colours, np.array([-4.5, -4.5, -3.5]), 1.0, 1.4), FACE_ON)
    alpha = 1 - (1 - opacity / 255) ** (4 / 1.4)  # of the four layers of points
    assert np.abs(drawn[16, 16].astype(float) - 255 * alpha * np.array([200 / 255, 100 / 255, 50 / 255, 1])).max() < 8


def test_a_cell_absorbs_the_same_in_points_of_any_size():
    """A cell of side 1 in a point of side s takes s^2 times less of it."""
    nim = blocks_of("nim:31")
    found = {}
    for side in (16, 32, 64, 128):
        volume = volume_of(nim, Look(resolution=(side, side)))
        found[volume.spacing] = float(depths(volume).sum() * volume.spacing**2)
        middles = volume.origin + volume.spacing * np.argwhere(volume.colours[..., 3])
        assert np.allclose(middles.min(axis=0), volume.spacing / 2)
    assert sorted(found) == [0.25, 0.5, 1, 2]
    assert max(found.values()) < 1.05 * min(found.values())


def test_a_lattice_that_fills_a_box_is_an_even_medium():
    cells = np.argwhere(np.indices((24, 24, 24)).sum(axis=0) % 2 == 0)
    for side in (24, 48, 96):
        alpha = volume_of(of_cells(cells), Look(resolution=(side, side))).colours[..., 3].astype(int)
        inside = alpha[tuple(slice(length // 4, -(length // 4)) for length in alpha.shape)]
        assert 0 < inside.min() == inside.max()


def test_the_suns_light_is_dimmed_by_what_is_before_a_point():
    medium = Medium(
        of_cells([*product(range(20), range(20), range(8))]), np.full((3200, 3), 0.3, np.float32), Look(resolution=(32, 32))
    )
    across = medium.depths[10, 10, 4]
    assert np.allclose(medium.shadow(np.array([0, 0, 1.0]))[10, 10, 1:9], across * np.arange(7, -1, -1))
    assert np.allclose(medium.shadow(np.array([0, -1.0, 0]))[10, 1:21, 4], across * np.arange(20))
    slanted = medium.shadow(np.array([0.3, 0, 0.9]) / np.hypot(0.3, 0.9))[10, 10, 1:9]
    assert np.allclose(slanted, across * np.arange(7, -1, -1) * np.hypot(0.3, 0.9) / 0.9, rtol=1e-5)
    single = Medium(of_cells([[4, 4, 8], [0, 0, 0], [9, 9, 0]]), np.ones((3, 3), np.float32), Look(resolution=(32, 32)))
    below = single.shadow(np.array([0.75, 0.5, 1.0]))[:, :, 5]  # 4 cells lower, where the shadow is 3 and 2 aside, and blurred
    assert np.unravel_index(below.argmax(), below.shape) == (2, 3)
    lit = medium.lit(np.eye(3)[[0, 2, 1]]).colours[10, 10, :, 0].astype(int)  # from above, along z
    assert (np.diff(lit[1:9]) >= 0).all()
    assert lit[8] > lit[1] + 20


# Opacities


def reached(rule, generations):
    """The steps from a seed to each cell, by breadth-first search."""
    found = dict.fromkeys(rule.seeds, 0)
    edge = list(found)
    for step in range(1, generations + 1):
        edge = list({tuple(np.add(cell, offset)) for cell in edge for offset in rule.offsets} - found.keys())
        found.update(dict.fromkeys(edge, step))
    return found


def test_opacities_are_those_of_their_definitions():
    blocks = blocks_of("fcc:20")
    found = {name: entry.of(blocks) for name, entry in OPACITIES.items()}
    steps = reached(find("fcc").rule, 20)
    delays = [
        generation - steps[tuple(cell)]
        for cell, generation in zip(blocks.corners.tolist(), blocks.generations.tolist(), strict=True)
    ]
    pairs = {
        "shell": np.isin(blocks.generations, [*range(6), 7, 8, 9, 15, 16, 17]),
        "nim-p": [abs(a) ^ abs(b) ^ abs(c) == 0 for a, b, c in blocks.corners.tolist()],
        "delay": delays,
        "generation": -blocks.generations,
        "depth": -np.linalg.norm(blocks.corners, axis=1).round(6),
    }
    for name, values in pairs.items():
        assert ((found[name] > 0) & (found[name] < 1)).all()
        for value in np.unique(values):
            here, above = (found[name][chosen] for chosen in (np.equal(values, value), np.greater(values, value)))
            assert name == "shell" or np.ptp(here) < 1e-6
            assert not len(above) or here.max() < above.min()
    assert max(delays) > 1
    assert pairs.keys() == found.keys()
    assert all(0 < entry.of(of_cells([[0, 0, 0]]))[0] < 1 for name, entry in OPACITIES.items() if name != "delay")


@needs_opengl
def test_an_opacity_reads_what_an_object_has():
    with pytest.raises(UsageError, match="nim-p needs single cells where coordinates are negative, and fcc:15 is drawn as"):
        render(blocks_of("fcc:15", limit=200), style="volume", opacity="nim-p", resolution=(32, 24))
    with pytest.raises(UsageError, match="opacity delay needs single cells that grew by a rule of offsets, got edge:15"):
        render(blocks_of("edge:15", limit=200), style="volume", opacity="delay", resolution=(32, 24))
