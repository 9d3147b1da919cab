"""The figures of Khovanova and Xiong, "Nim Fractals", and the numbers of its section 4.1."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import ancestry
from gpu_nim.counting.families import ByMaximum
from gpu_nim.render.annotations import LegendBox
from gpu_nim.render.axes import CoordinateBox, draw_axes
from gpu_nim.render.colourings import Bar
from gpu_nim.render.drawing import Drawing, beside, sheet
from gpu_nim.render.figures import figure
from gpu_nim.render.themes import Colour, Theme, one_colour, to_linear
from gpu_nim.render.views import from_angles

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
