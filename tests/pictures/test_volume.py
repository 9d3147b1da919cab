"""Volumes: the glass against the cells on each ray, grids of points for plotters, and opacities."""

from itertools import product

import numpy as np
import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.model.errors import UsageError
from gpu_nim.render import opengl
from gpu_nim.render.image import render
from gpu_nim.render.look import OPACITIES, Look
from gpu_nim.render.notebook import add_volume, volume_grid
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import Glass
from gpu_nim.render.views import Camera, View
from tests.render_files import blocks_at, needs_opengl


def through(cells, start, way):
    """The cells that a ray passes through, the nearest first, slab by slab; none where it passes an edge or not much of a cell."""
    ends = (np.stack([cells, cells + 1]) - start) / way
    enters, leaves = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
    if (np.abs(leaves - enters) < 0.05).any():
        return None
    met = np.flatnonzero(enters < leaves)
    return met[np.argsort(enters[met])]


@needs_opengl
@pytest.mark.parametrize("parallel", [True, False])
def test_each_cell_on_a_ray_absorbs_its_part_of_what_comes_from_behind(parallel):
    random = np.random.default_rng(5)
    cells = np.argwhere(random.random((5, 5, 5)) < 0.4)
    blocks = blocks_at(cells, random.integers(0, 9, len(cells)))
    look, size = Look(quality="draft"), 48
    glass = Glass(blocks, np.ones((len(cells), 3), np.float32), look)
    ink = random.integers(0, 256, (len(cells), 3))
    basis = View((3, 1.2, -0.7)).basis()
    camera = Camera(np.full(3, 2.5) + 12 * basis[2], basis, 3.5 if parallel else 0.3, parallel)
    (points, colours), owners = glass.quads(camera)
    colours[..., :3] = ink[owners, None]
    drawn = opengl.Canvas(size, size).draw([(points, colours)], camera).astype(float)
    seen = 0
    for row, column in product(range(0, size, 3), repeat=2):
        aside = ((column + 0.5) / size * 2 - 1) * basis[0] + (1 - (row + 0.5) / size * 2) * basis[1]
        start, way = (camera.eye + camera.scale * aside, -basis[2]) if parallel else (camera.eye, camera.scale * aside - basis[2])
        met = through(cells, start, way)
        if met is not None and len(met):
            expected = np.zeros(4)
            for cell in met[::-1]:
                absorbed = 1 - np.exp(-glass.depths[cell])
                expected += absorbed * (np.array([*ink[cell], 255]) - expected)
            assert np.abs(drawn[row, column] - expected).max() < 4
            seen = max(seen, len(met))
    assert seen > 3


@needs_opengl
def test_a_plotters_volume_lets_through_as_much_light_as_its_cells():
    pv = pytest.importorskip("pyvista")
    blocks, look = blocks_at([*product(range(10), range(10), range(4))]), Look(opacity="generation")
    plotter = pv.Plotter(off_screen=True, window_size=[32, 32])
    add_volume(plotter, blocks, show_scalar_bar=False)
    plotter.camera = opengl.pyvista_camera(
        Camera(np.array([5.0, 5, 30]), View((0, 0, 1), up=(0, 1, 0)).basis(), 2.0, True), np.zeros(3)
    )
    seen = plotter.screenshot(transparent_background=True, return_img=True)[16, 16, 3]
    depth = Glass(blocks, look.colours_of(blocks), look).depths[0]
    assert abs(float(seen) - 255 * (1 - np.exp(-4 * depth))) < 8
    plotter.close()


def test_a_grid_of_points_absorbs_what_its_cells_do():
    """A cell of side 1 in a point of side s takes s^2 times less of it."""
    pytest.importorskip("pyvista")
    look = Look()
    for far, spacing in ((255, 1), (400, 2), (999, 4)):
        blocks = blocks_at([[0, 0, 0], [1, 1, 0], [0, 1, 1], [far, 9, 9], [far, 5, 7]])
        grid, reach = volume_grid(blocks, look)
        assert grid.spacing == (spacing,) * 3
        absorbed = -np.log1p(-np.minimum(grid.point_data["colour"][:, 3] / 255, 0.9999)) * spacing**3 / reach
        assert absorbed.sum() == pytest.approx(Glass(blocks, look.colours_of(blocks), look).depths.sum(), rel=0.05)


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
    assert all(0 < entry.of(blocks_at([[0, 0, 0]]))[0] < 1 for name, entry in OPACITIES.items() if name != "delay")


@needs_opengl
def test_an_opacity_reads_what_an_object_has():
    with pytest.raises(UsageError, match="nim-p needs single cells where coordinates are negative, and fcc:15 is drawn as"):
        render(blocks_of("fcc:15", limit=200), style="volume", opacity="nim-p", resolution=(32, 24))
    with pytest.raises(UsageError, match="opacity delay needs single cells that grew by a rule of offsets, got edge:15"):
        render(blocks_of("edge:15", limit=200), style="volume", opacity="delay", resolution=(32, 24))
