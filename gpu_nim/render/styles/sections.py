"""Sections: an object cut at 0, the powers of two and one below them, the sections side by side."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.render.annotations import Annotations
from gpu_nim.render.axes import CoordinateBox, Projection, box_of, draw_axes, reach
from gpu_nim.render.colourings import legend_of
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.geometry import Blocks, sparse
from gpu_nim.render.look import Look
from gpu_nim.render.style import STYLES, LaidOutStyle
from gpu_nim.render.words import number, unit

_MOST = 12
_FEWEST = 16  # a section with fewer cells than this part of the fullest one is left out
_NARROWEST = 2.0  # pixels of a cell of a sparse section
_FLAT = np.array([1, 1, 0])


@STYLES.add
class Sections(LaidOutStyle):
    """Up to a dozen sections of an object in space."""

    name = "sections"
    summary = "sections at powers of two and one below, side by side"
    engines: ClassVar = ("numpy",)
    refuses = frozenset(("view", "cut", "opacity", "quality"))
    draws_flat = False

    @classmethod
    def lay_out(cls, blocks: Blocks, base: NDArray[np.float32], look: Look) -> Image.Image:
        """Return the sections on one picture, as large as fits, each with its height."""
        annotations, scale, places = cls._placed(blocks, base, look)
        canvas = annotations.sheet()
        wide, deep = (max(1, round(side * scale)) for side in np.ptp(blocks.bounds(), axis=0)[:2].tolist())
        for z, (left, upper) in places.items():
            few = sparse(blocks, int(np.count_nonzero(blocks.corners[:, 2] == z)))
            pixels = section(blocks, base, z, max(_NARROWEST / scale / blocks.size, 1.0) if few else 1.0)
            factor = -(-wide // pixels.shape[1])  # whole pixels first, so that cells stay square, then down to size
            grown = pixels.repeat(factor, axis=0).repeat(factor, axis=1)
            tile = Image.fromarray(grown, "RGBA").convert("RGBa").resize((wide, deep), Image.Resampling.BOX).convert("RGBA")
            canvas.alpha_composite(tile, (left, upper))
        return annotations.finished(canvas)

    @classmethod
    def draw(cls, blocks: Blocks, base: NDArray[np.float32], look: Look) -> Drawing:
        """Return the sections as a drawing."""
        annotations, scale, places = cls._placed(blocks, base, look)
        drawing = annotations.plain()
        for z, (left, upper) in places.items():
            here = blocks.corners[:, 2] == z
            seen = _on_section(box_of(blocks), left, upper, scale)(blocks.corners[here])
            drawing.polygons(seen[:, None] + scale * blocks.size * np.array([[0, 0], [1, 0], [1, -1], [0, -1]]), base[here])
        drawing.add(annotations.words)
        return drawing

    @classmethod
    def _placed(
        cls, blocks: Blocks, base: NDArray[np.float32], look: Look
    ) -> tuple[Annotations, float, dict[int, tuple[int, int]]]:
        """The annotations with the words of all sections, the pixels of a cell, and the upper left corner of each height's."""
        u = unit(*look.resolution)
        annotations = Annotations(look, legend_of(blocks, base, look.colour) if look.legend else None)
        _, top, right, bottom = annotations.space
        top += (20 if look.title else 40) * u
        low, high = blocks.bounds()
        wide, deep = (high - low)[:2].tolist()
        label, gap = 1.7 * annotations.size, 28 * u
        box = replace(box_of(blocks), names=blocks.coordinates[:2])
        beside, below = reach(box, annotations.size) if look.axes else (0.0, 0.0)
        layers = len(section_heights(blocks))

        def room(columns: int, rows: int) -> tuple[float, float]:
            return (right - gap) / columns - gap - beside, (bottom - top - gap) / rows - gap - label - below

        def covered(layout: tuple[int, int]) -> float:
            w, h = room(*layout)
            return float(len(section_heights(blocks, layout[0] * layout[1])) * max(min(w / wide, h / deep), 0) ** 2)

        fitting = [(c, r) for c in range(1, _MOST + 1) for r in range(1, _MOST + 1) if min(6, layers) <= c * r <= _MOST]
        columns, rows = max(fitting, key=covered)
        cell_w, cell_h = room(columns, rows)
        heights = section_heights(blocks, columns * rows)
        scale = max(min(cell_w / wide, cell_h / deep), 1 / max(wide, deep))
        foot = (cell_h - deep * scale) / 2
        drawn_w = max(1, round(wide * scale))
        places = {}
        for k, z in enumerate(heights):
            row, column = divmod(k, columns)
            in_row = min(columns, len(heights) - row * columns)
            left = right / 2 + (column - in_row / 2) * (cell_w + gap + beside) + beside + (cell_w + gap - drawn_w) / 2
            upper = top + row * (cell_h + gap + label + below) + label + foot
            places[z] = round(left), round(upper)
            annotations.words.label(
                f"{blocks.coordinates[2]} = {number(z)}", (left, upper - 0.3 * annotations.size), annotations.size, "left"
            )
            if look.axes:
                level = replace(box, low=box.low * _FLAT, high=box.high * _FLAT)
                draw_axes(level, _on_section(box, *places[z], scale), annotations.words, annotations.size)
        return annotations, scale, places


def section_heights(blocks: Blocks, most: int = _MOST) -> list[int]:
    """Return up to `most` heights z of sections: the one nearest 0, and the greatest powers of two and one below them.

    Those with few cells are left out, and of an object that is as full below z = 0 as above those below.

    >>> from gpu_nim.render.source import blocks_of
    >>> section_heights(blocks_of("nim:15"), 6), section_heights(blocks_of("fcc:20"))
    ([0, 3, 4, 7, 8, 15], [0, 1, 2, 3, 4, 7, 8, 15, 16])
    """
    size = blocks.size
    heights, counts = np.unique(blocks.corners[:, 2], return_counts=True)
    nearest, reach = int(heights[np.abs(heights).argmin()]), int(np.abs(heights).max()) + size
    if np.array_equal(heights, -heights[::-1]) and np.array_equal(counts, counts[::-1]):
        heights, counts = heights[heights >= 0], counts[heights >= 0]
    full = {*heights[counts * _FEWEST >= counts.max()].tolist()}
    powers = (sign * ((1 << m) - less) for m in reversed(range(reach.bit_length())) for less in (0, 1) for sign in (1, -1))
    return sorted([z for z in dict.fromkeys([nearest, *(value // size * size for value in powers)]) if z in full][:most])


def section(blocks: Blocks, colours: NDArray[np.float32], height: int, shrunk: float = 1.0) -> NDArray[np.uint8]:
    """Return a section as pixels, uint8 (y, x, 4) with the greatest y first and alpha 0 where nothing is.

    Args:
        blocks: the object.
        colours: the colours of the blocks, sRGB (N, 3).
        height: that of the section.
        shrunk: how many blocks are along a pixel, 1 or more.
    """
    size = blocks.size * shrunk
    low, high = blocks.bounds()
    width, depth = np.ceil((high - low)[:2] / size).astype(int).tolist()
    picture = np.zeros((depth, width, 4), dtype=np.uint8)
    here = blocks.corners[:, 2] == height
    x, y = ((blocks.corners[here, :2] - low[:2]) / size).astype(int).T
    picture[depth - 1 - y, x, :3] = np.rint(colours[here] * 255)
    picture[depth - 1 - y, x, 3] = 255
    return picture


def _on_section(box: CoordinateBox, left: int, upper: int, scale: float) -> Projection:
    """Return where points (x, y, 0) are on a section."""
    low, high = box.low, box.high + box.size
    return lambda points: np.column_stack([left + (points[:, 0] - low[0]) * scale, upper + (high[1] - points[:, 1]) * scale])
