"""The figures of the papers: each is a function of a theme, registered in `FIGURES` under the name after `figure:`.

They are drawn in vectors, for .pdf and .svg, and rasterised for other files.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import ancestry
from gpu_nim.counting.families import ByMaximum
from gpu_nim.games.inequality import parse_game, sheared
from gpu_nim.model.files import call
from gpu_nim.model.registry import Registry
from gpu_nim.render.annotations import LegendBox, on_picture
from gpu_nim.render.axes import CoordinateBox, box_of, draw_axes
from gpu_nim.render.bars import SWEET, draw_bar, sheet_of_bars
from gpu_nim.render.colourings import Bar, base_colours
from gpu_nim.render.drawing import SUFFIXES, Drawing, beside, sheet
from gpu_nim.render.geometry import Blocks, visible
from gpu_nim.render.shading import Shader
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, Colour, Theme, hexadecimal, one_colour, to_linear
from gpu_nim.render.views import Camera, View, from_angles


@dataclass(frozen=True)
class Figure:
    """A figure.

    Args:
        name: its name, after `figure:`.
        summary: what it shows, in a line.
        drawing: draws it under a theme.
    """

    name: str
    summary: str
    drawing: Callable[[Theme], Drawing]


FIGURES = Registry[Figure]("figure")


def figure(name: str, summary: str) -> Callable[[Callable[[Theme], Drawing]], Callable[[Theme], Drawing]]:
    """Return a decorator that registers a function of a theme as a figure.

    Args:
        name: as for `Figure`.
        summary: as for `Figure`.
    """
    return FIGURES.decorator(lambda drawing: Figure(name, summary, drawing))


def figure_options(name: str, suffix: str) -> tuple[str, frozenset[str]]:
    """Return the name of a figure in messages, for a file of that ending, and the options that it takes."""
    return f"figure:{name} as {suffix}", frozenset(("theme",) if suffix in SUFFIXES else ("theme", "resolution"))


def draw_figure(name: str, theme: str = "paper") -> Drawing:
    """Return a figure as a drawing in vectors.

    Args:
        name: a name of `FIGURES`.
        theme: a name of `gpu_nim.render.themes.THEMES`.

    Raises:
        UsageError: a name is unknown.
        InsufficientMemoryError: it would not fit.

    >>> b"generations 0 to 6" in draw_figure("NF1").document(".svg")
    True
    """
    figure, colours = FIGURES.find(name), THEMES.find(theme)
    drawing = figure.drawing(colours)
    drawing.call = call("draw_figure", name, theme)
    return drawing


# Khovanova and Xiong, "Nim Fractals".

_GENERATIONS = 6
#: Azimuth and elevation from which no cell of the first generations of Nim is before another or before an edge.
_FACING = (285.0, 14.0)

_LABEL = 17.0  # points: the size of the coordinates
_ROWS = 5  # of 1, 2, 4, 8 and 16 numbers, as in the paper


def _grown(automaton: str) -> tuple[NDArray[np.integer], NDArray[np.integer], list[tuple[int, int]]]:
    """Return the cells of an automaton's first generations, their generations, and the edges (parent, child) between them."""
    growth = GrowthProcess(automaton, _GENERATIONS, "numpy").growth()
    born = np.repeat(np.arange(_GENERATIONS + 1), growth.births)
    parents = np.concatenate([parents for _, parents in ancestry(find(automaton).rule, enumerate(growth))]).tolist()
    return growth.cells(), born, [(parent, child) for child, parent in enumerate(parents) if parent >= 0]


@figure("NF1", "Khovanova and Xiong, Figure 1: the Ulam-Warburton automaton without its south branch")
def _nf1(theme: Theme) -> Drawing:
    cells, born, edges = _grown("ulam-warburton-3")
    margin, scale = 36.0, 48.0
    low, high = cells.min(axis=0), cells.max(axis=0)
    width, height = (scale * (high - low) + 2 * margin).tolist()
    drawing = sheet(theme, width, height, "The Ulam-Warburton automaton without its south branch, generations 0 to 6")
    positions = ((cells - low) * [scale, -scale] + [margin, height - margin]).tolist()
    for parent, child in edges:
        drawing.line(positions[parent], positions[child], theme.muted, 2.4)
    for position, generation in zip(positions, born.tolist(), strict=True):
        drawing.disc(position, 8.0, _colour(theme, generation / _GENERATIONS))
    return drawing


@figure("NF2", "Khovanova and Xiong, Figure 2: the evolution of Nim, in space, with the coordinates of each position")
def _nf2(theme: Theme) -> Drawing:
    cells, born, edges = _grown("nim")
    basis, scale, edge = from_angles(*_FACING).basis(), 100.0, 70.0
    lowest, highest = (np.asarray(ends, dtype=np.int64) for ends in (cells.min(axis=0), cells.max(axis=0)))
    box = CoordinateBox(lowest, highest, ("a", "b", "c"), np.eye(3), size=0)
    corners = box.corners() @ basis[:2].T
    low, high = corners.min(axis=0), corners.max(axis=0)
    width, height = (scale * (high - low) + [2 * edge + 110, 2 * edge]).tolist()
    drawing = sheet(theme, width, height, "Three-pile Nim after 6 generations: each P-position (a, b, c), joined to its parent")

    def project(points: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray((points @ basis[:2].T - [low[0], high[1]]) * [scale, -scale] + edge)

    positions, depth = project(cells.astype(np.float64)), cells @ basis[2]
    near = (depth - depth.min()) / np.ptp(depth)
    order = np.argsort(depth, kind="stable").tolist()  # far ones first, each with the edge to its parent
    parents = {child: parent for parent, child in edges}
    for k in order:
        if k in parents:
            start, end = positions[parents[k]].tolist(), positions[k].tolist()
            drawing.line(start, end, theme.muted, 1.5 + 1.5 * float(near[k]))
            drawing.keep_off(start, end)
    for k in order:
        radius = 6.5 + 3.0 * float(near[k])
        x, y = positions[k].tolist()
        drawing.disc((x, y), radius, _colour(theme, born[k] / _GENERATIONS))
        drawing.taken.append((x - radius, y - radius, x + radius, y + radius))
    draw_axes(box, project, drawing, 22.0)
    shades = theme.map(np.arange(_GENERATIONS + 1) / _GENERATIONS)
    legend = LegendBox(Bar("generation", tuple(range(_GENERATIONS + 1)), shades), _LABEL, 0.6 * height, beside=True)
    legend.draw(drawing, width - legend.width - 20, 20)
    for k in order[::-1]:
        _label(drawing, positions[k], "({}, {}, {})".format(*cells[k].tolist()))
    return drawing


def _label(drawing: Drawing, at: NDArray[np.floating], text: str) -> None:
    """Write a text as near to a disc as it is apart from all else."""
    turns = np.radians([-30, 30, 210, 150, 90, 270, 0, 180, 60, 120, 240, 300])
    for distance, turn in product((0.8, 1.1, 1.5, 2.0, 2.6), turns):
        outward = np.array([np.cos(turn), np.sin(turn)])
        if drawing.label(text, beside(text, at + distance * _LABEL * outward, outward, _LABEL), _LABEL):
            return


@figure("d3", "Khovanova and Xiong, section 4.1: d_3(n) in rows of 1, 2, 4, 8... numbers")
def _d3(theme: Theme) -> Drawing:
    counts = ByMaximum(3)
    cell, line, left, size = 62.0, 58.0, 212.0, 24.0
    longest = 2 ** (_ROWS - 1)
    width, height = left + longest * cell + 30.0, (_ROWS + 2) * line + 30
    caption = "d₃(n), the number of P-positions of Nim whose largest pile is n: each row of 2ᵇ begins the next one"
    drawing = sheet(theme, width, height, caption)
    rows = [range(1), *(range(2**b, 2 ** (b + 1)) for b in range(_ROWS))]
    largest = counts.value(2**_ROWS - 1)
    for row, numbers in enumerate(rows):
        top = 20 + row * line
        label = f"n = {numbers[0]}" + (f" … {numbers[-1]}" if len(numbers) > 1 else "")
        drawing.words(label, (left - 20, top + 0.65 * line), 20.0, theme.muted, "right")
        for k, n in enumerate(numbers):
            value = counts.value(n)
            x, shade = left + cell * k, _colour(theme, value / largest)
            right, bottom = x + 0.97 * cell, top + 0.97 * line
            drawing.polygons([[(x, top), (right, top), (right, bottom), (x, bottom)]], [shade])
            drawing.words(str(value), (x + cell / 2, top + 0.65 * line), size, _on(shade), "center")
    foot = 20 + (len(rows) + 0.65) * line
    drawing.words("A016945: 6c − 3", (left - 20, foot), 20.0, anchor="right")
    for c in range(1, longest + 1):
        drawing.words(f"{6 * c - 3}", (left + cell * (c - 0.5), foot), 20.0, theme.muted, "center")
    return drawing


def _colour(theme: Theme, value: float) -> Colour:
    """Return the colour of a value from 0 to 1."""
    return one_colour(theme.map(np.array(value)))


def _on(shade: Colour) -> Colour:
    """Return black or white, whichever can be read on a colour."""
    return (1.0, 1.0, 1.0) if to_linear(np.array(shade)) @ (0.2126, 0.7152, 0.0722) < 0.18 else (0.0, 0.0, 0.0)


# Matsui, Yamauchi, Inoue and Tomari, "Variants of the Game of Nim that have Inequalities as Conditions". Graphs 4.1 to 4.3 are one
# object that is turned about one line, until it is seen along the first axis as Sierpinski's gasket.

_PILES = (3, 6, 4)  # of Graphs 2.1 to 2.3
_SIZE = 127  # x, z <= this
_GRAPH = "P-positions of 3y ≤ x + z at (x, y, z − x)"
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


def _bar(game: str, position: tuple[int, ...], **parameters: Any) -> Callable[[Theme], Drawing]:
    """Return what draws a position as a bar."""
    return lambda theme: draw_bar(game, position, theme=theme.name, **parameters)


figure("V3.1", "Graph 3.1: a chocolate that is cut in six directions, at {2,1,2,1,2,1}")(_bar("chocolate6", (2, 1, 2, 1, 2, 1)))
figure("V3.2", "Graph 3.2: the chocolate y <= x + z at {4,6,2}")(_bar("chocolate", (4, 6, 2), a=1))
figure("V3.3", "Graph 3.3: the chocolate 3y <= x + z at {4,2,2}, since {4,6,2} is none of its positions")(
    _bar("chocolate", (4, 2, 2), a=3)
)


@figure("V4.1", "Matsui and others, Graph 4.1: P-positions of 3y <= x + z, from a general direction")
def _v41(theme: Theme) -> Drawing:
    return _graph(theme, _TURNED[0], f"{_GRAPH}, for x and z up to {_SIZE}")


@figure("V4.2", "Graph 4.2: the same, turned half of the way to the gasket")
def _v42(theme: Theme) -> Drawing:
    return _graph(theme, _TURNED[1], f"{_GRAPH}, {_TURNED[1]:.0f}° from the view along the x axis")


@figure("V4.3", "Graph 4.3: the same, turned until it is seen along the first axis, Sierpinski's gasket")
def _v43(theme: Theme) -> Drawing:
    blocks = chocolate_graph(Fraction(3), _SIZE)
    points = len(np.unique(blocks.corners[:, 1:], axis=0))
    return _graph(theme, _TURNED[2], f"{len(blocks):,} {_GRAPH}, along the x axis: {points:,} points")
