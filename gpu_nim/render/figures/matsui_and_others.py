"""The figures of Matsui, Yamauchi, Inoue and Tomari, "Variants of the Game of Nim that have Inequalities as Conditions".

Graphs 4.1 to 4.3 are one object that is turned about one line, until it is seen along the first axis as Sierpinski's gasket.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.inequality import parse_game, sheared
from gpu_nim.render.annotations import on_picture
from gpu_nim.render.axes import box_of, draw_axes
from gpu_nim.render.bars import SWEET, draw_bar, sheet_of_bars
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.drawing import Drawing, sheet
from gpu_nim.render.figures import figure
from gpu_nim.render.geometry import Blocks, visible
from gpu_nim.render.shading import Shader
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import Theme, hexadecimal
from gpu_nim.render.views import Camera, View

_PILES = (3, 6, 4)  # of Graphs 2.1 to 2.3
_SIZE = 127  # x, z <= this
#: Along the first axis, the gasket standing upright: z - x to the right, y downwards.
_ALONG = View((1, 0, 0), up=(0, -1, 0), parallel=True)

#: Degrees from there, of the three graphs.
_TURNED = (56.0, 28.0, 0.0)

#: The line that the object is turned about: to the right, up and toward the eye.
_LINE = (0.35, 1.0, 0.0)

_FINE = 3  # pixels a point, by which it is found which polygons are in sight
_WIDTH, _HEIGHT, _CLEAR = 720, 460, 44.0  # points: of the picture, and of the space around the object


def chocolate_graph(a: Fraction, size: int) -> Blocks:
    """Return the P-positions of a y <= x + z as in [V]'s pictures: (x, y, z) at (x, y, z - x)."""
    blocks = blocks_of(f"chocolate:a={a},size={size}")
    return replace(blocks, corners=sheared(blocks.corners).astype(np.int32), coordinates=("x", "y", "z − x"))


def turned(degrees: float) -> NDArray[np.float64]:
    """Return the unit vectors right, up and toward the eye, (3, 3), that far from the view along the first axis."""
    x, y, z = np.array(_LINE) / np.linalg.norm(_LINE)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.asarray((np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross) @ _ALONG.basis())


def graph_camera(blocks: Blocks, degrees: float) -> Camera:
    """Return the parallel camera of a graph: all are on one scale, on which each fits."""
    corners = box_of(blocks).corners()
    middle = corners.mean(axis=0)
    reach = np.max([np.abs((corners - middle) @ turned(part).T).max(axis=0) for part in _TURNED], axis=0)
    scale = max(reach[0] / (_WIDTH / 2 - _CLEAR) * _HEIGHT / 2, reach[1] / (_HEIGHT / 2 - _CLEAR) * _HEIGHT / 2)
    basis = turned(degrees)
    return Camera(middle + basis[2] * (reach[2] + scale) * 2, basis, float(scale), True)


def _graph(theme: Theme, degrees: float, caption: str) -> Drawing:
    """Draw the object as polygons, the far ones first, with its axes."""
    blocks = chocolate_graph(Fraction(3), _SIZE)
    camera = graph_camera(blocks, degrees)
    shader = Shader(blocks, base_colours(blocks, "rank", theme), theme, fine=True)
    drawing = sheet(theme, _WIDTH, _HEIGHT, caption)
    parts = []
    for (_, _, which), (quads, colours) in zip(visible(blocks, camera), shader.quads(camera), strict=True):
        far = camera.distance(blocks.centres()[which])
        parts.append((camera.on_picture(quads, _WIDTH, _HEIGHT), colours.mean(axis=1) / 255, far))
    seen, shades, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(far, kind="stable")[::-1]
    polygons = seen[order, :, :2]
    drawn = _in_sight(polygons, theme)
    drawing.polygons(polygons[drawn], shades[order][drawn])
    draw_axes(box_of(blocks), on_picture(camera, _WIDTH, _HEIGHT), drawing, 20.0)
    return drawing


def _in_sight(polygons: NDArray[np.floating], theme: Theme) -> NDArray[np.bool_]:
    """Return which of polygons (N, 4, 2), the far ones first, the others do not hide: those that have pixels of their colour."""
    numbers = np.arange(len(polygons))
    drawing = Drawing(theme, _WIDTH, _HEIGHT)
    drawing.polygons(polygons, np.stack([numbers & 255, numbers >> 8 & 255, numbers >> 16], axis=1) / 255, sharp=True)
    pixels = np.ascontiguousarray(drawing.pixels(_FINE)).view("<u4")  # red, green, blue, alpha
    found = np.zeros(len(polygons), dtype=np.bool_)
    found[pixels[pixels >> 24 > 0] & 0xFFFFFF] = True
    return found


@figure("V2.1", "Matsui and others, Graph 2.1: three piles of Nim, the position {3,6,4}")
def _v21(theme: Theme) -> Drawing:
    drawing = sheet(theme, _WIDTH, 320, "Nim at (3, 6, 4)")
    for pile, (name, count) in enumerate(zip("xyz", _PILES, strict=True)):
        across = _WIDTH / 2 + 130 * (pile - 1)
        for counter in range(count):
            drawing.disc((across, 262 - 42 * counter), 18, hexadecimal(SWEET))
        drawing.words(f"{name} = {count}", (across, 308), 20, anchor="center")
    return drawing


@figure("V2.2", "Graph 2.2: the same as a chocolate that is cut in three directions")
def _v22(theme: Theme) -> Drawing:
    return sheet_of_bars(theme, "A chocolate that is Nim at (3, 6, 4)", [(parse_game("x; y; z"), _PILES)])


@figure("V2.3", "Graph 2.3: the same as three chocolates, each cut in one direction")
def _v23(theme: Theme) -> Drawing:
    bars = [(parse_game(name), (count,)) for name, count in zip("xyz", _PILES, strict=True)]
    return sheet_of_bars(theme, "Three chocolates that are Nim at (3, 6, 4)", bars)


@figure("V3.1", "Graph 3.1: a chocolate that is cut in six directions, at {2,1,2,1,2,1}")
def _v31(theme: Theme) -> Drawing:
    return draw_bar("chocolate6", (2, 1, 2, 1, 2, 1), theme=theme.name)


@figure("V3.2", "Graph 3.2: the chocolate y <= x + z at {4,6,2}")
def _v32(theme: Theme) -> Drawing:
    return draw_bar("chocolate", (4, 6, 2), a=1, theme=theme.name)


@figure("V3.3", "Graph 3.3: the chocolate 3y <= x + z at {4,2,2}, since {4,6,2} is none of its positions")
def _v33(theme: Theme) -> Drawing:
    return draw_bar("chocolate", (4, 2, 2), a=3, theme=theme.name)


@figure("V4.1", "Matsui and others, Graph 4.1: P-positions of 3y <= x + z, from a general direction")
def _v41(theme: Theme) -> Drawing:
    return _graph(theme, _TURNED[0], f"P-positions of 3y ≤ x + z at (x, y, z − x), for x and z up to {_SIZE}")


@figure("V4.2", "Graph 4.2: the same, turned half of the way to the gasket")
def _v42(theme: Theme) -> Drawing:
    return _graph(
        theme, _TURNED[1], f"P-positions of 3y ≤ x + z at (x, y, z − x), {_TURNED[1]:.0f}° from the view along the x axis"
    )


@figure("V4.3", "Graph 4.3: the same, turned until it is seen along the first axis, Sierpinski's gasket")
def _v43(theme: Theme) -> Drawing:
    blocks = chocolate_graph(Fraction(3), _SIZE)
    points = len(np.unique(blocks.corners[:, 1:], axis=0))
    caption = f"{len(blocks):,} P-positions of 3y ≤ x + z at (x, y, z − x), along the x axis: {points:,} points"
    return _graph(theme, _TURNED[2], caption)
