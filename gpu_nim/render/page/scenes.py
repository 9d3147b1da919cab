"""What a page draws: Nim without data, or an object as a grid of generations.

The P-positions of Nim need no data: (a, b, c) is one iff its nim-sum is 0, its generation is then a|b|c, and both hold for cubes of
side 2^k as well. A page of `nim:2^60` is as small as one of `nim:7`, as long as its colours follow from the generation.

A grid has the index of its generation for each cell of the object's box, or 65535 where there is none: 16 bits a cell, which gzip
reduces to 3 MB for `edge:255`. In the browser it becomes a 3D texture, and the least of each 2 x 2 x 2 the next coarser one.
"""

import gzip
from base64 import b64encode
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import NimScene
from gpu_nim.render.colourings import Bar, legend_of
from gpu_nim.render.defined_scenes import nims_level, population
from gpu_nim.render.geometry import SPACE, Blocks, coarsen, generations_between, generations_note, no_cells
from gpu_nim.render.growth_sources import NimSource, ParsedSource
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.source import SweepSource, blocks_of
from gpu_nim.render.themes import THEMES

_COLOURED = 1 << 18  # P-positions, of whose generations the colours of Nim are taken
_GENERATIONS = 65534  # 16 bits, without two values: for no cell
TEXELS = 5 << 22  # a box of 256^3 cells with some more; at most 80 MB of the graphics card's memory
SIDE = 2048  # the largest 3D texture of almost every graphics card
_MOST_VALUES = 32  # of a sweep
_SWATCHES = 8  # values of a legend at most
_LEVELS = 6  # a ray passes empty cubes of 2^5 cells at once


@dataclass(frozen=True)
class PageScene:
    """An object as the page draws it.

    Attributes:
        blocks: the object, or a coarser one that has its colours, outline and views.
        data: what the page reads.
        palettes: its colours in each of `THEMES`, as text.
        population: the number of cells drawn.
        drawn: the number of cubes drawn.
        opening: points that frame the part that the page opens with, or None for all of it.
    """

    blocks: Blocks
    data: dict[str, Any]
    palettes: list[str]
    population: int
    drawn: int
    opening: list[list[float]] | None = None


def nim_scene(source: ParsedSource, look: Look) -> PageScene | None:
    """Return Nim without data, or None for another source, or for a look that does not follow from the generation alone.

    Raises:
        UsageError: there is no such generation.
    """
    if not isinstance(source, NimSource) or look.cut != "none":
        return None
    last, name = source.scene.last, source.name
    level = nims_level(last, _COLOURED)
    first, stop = look.generations or (0, last + 1)
    coarse = replace(source, name=f"{source.automaton.name}:{last >> level}", generation=last >> level)
    blocks = replace(blocks_of(coarse, colour=look.colour), name=name)
    if first > last:
        raise no_cells(name, first, stop, last)
    last = min(last, stop - 1)
    if look.generations:
        blocks = generations_between(blocks, first >> level, (last >> level) + 1)
        blocks = replace(blocks, note=generations_note(first, last + 1))
    palette, indices = _palette(blocks, look, int(blocks.generations.max()) + 1, blocks.generations)
    if indices is not None:
        return None
    cells = population(NimScene(last, first))
    data = {"kind": "nim", "first": str(first), "last": str(last), "bucket": level, "axes": blocks.coordinates}
    data |= {"hull": (blocks.hull().astype(np.float64) * (1 << level)).tolist()}
    return PageScene(blocks, data, texts_of(palette), cells, cells)


def grid_scene(blocks: Blocks, look: Look) -> PageScene:
    """Return an object as a grid.

    Raises:
        UsageError: it has too many generations, or cells that are not on a lattice.
        InsufficientMemoryError: there is too little memory to make it.
    """
    if blocks.unit > 1:
        raise UsageError(f"a page needs cells on a lattice, and those of {blocks.name} are projected between its points")
    blocks = _fitting(blocks)
    side = blocks.size
    low, last = blocks.corners.min(axis=0) // side, blocks.corners.max(axis=0) // side
    extent = last - low + 1
    unit = 1 << (_LEVELS - 1)  # each level halves the shape exactly, but for axes of one cell
    shape = [1 if length == 1 else -(-length // unit) * unit for length in extent.tolist()]
    index = blocks.corners // side
    index -= low
    generations, ranks = np.unique(blocks.generations, return_inverse=True)
    if len(generations) > _GENERATIONS:
        raise UsageError(f"{blocks.name} has {len(generations):,} generations with cells, and a page holds up to {_GENERATIONS:,}")
    palette, indices = _palette(blocks, look, len(generations), ranks)
    at = tuple(index[:, ::-1].T)
    data: dict[str, Any] = {
        "kind": "grid",
        "hull": ((blocks.hull() - low.astype(np.float64) * side) / side).tolist(),
        "generations": generations.tolist(),
        "shown": np.searchsorted(np.sort(blocks.generations), generations, side="right").tolist(),
        "unit": "cells" if side == 1 else "blocks",
        "low": (low * side).tolist(),
        "side": side,
        "extent": extent.tolist(),
        "shape": shape,
        "levels": min(_LEVELS, max(shape).bit_length()),
        "coordinates": len(blocks.coordinates) if blocks.cells is None else 0,
        "steps": _steps(blocks.rule) if blocks.rule and side == 1 and blocks.cells is None else [],
        "grid": packed(ranks, at, shape),
        "coloured": indices is not None,
        "axes": blocks.coordinates if blocks.cells is None else SPACE,
    }
    if indices is not None:
        data |= {"colourIndices": packed(indices, at, shape), "legend": _legend(blocks, look)}
    return PageScene(blocks, data, texts_of(palette), blocks.population, len(blocks))


def sweep_scene(source: ParsedSource, look: Look) -> PageScene | None:
    """Return a game at each whole value of a parameter's range, in one scale of colours; None for another source.

    Raises:
        UsageError: there are too many values or cells, or it is cut, or not coloured by generation.
    """
    if not isinstance(source, SweepSource):
        return None
    name, first, last = source.name, ceil(source.first), floor(source.last)
    if not 1 <= last - first < _MOST_VALUES:
        raise UsageError(f"a page takes 2 to {_MOST_VALUES} whole values of a parameter, PARAMETER=FIRST..LAST, got {name!r}")
    values = range(first, last + 1)
    each = [prepare(source.at(Fraction(value)), look) for value in values]
    alone = replace(each[0], name=name, flat=all(blocks.flat for blocks in each))
    corners, generations = (np.concatenate([getattr(blocks, key) for blocks in each]) for key in ("corners", "generations"))
    largest, count = max(blocks.size for blocks in each), sum(map(len, each))
    whole = replace(alone, corners=corners, generations=generations, size=largest, population=count, values={})
    scene = grid_scene(whole, look)
    if scene.data["side"] > 1 or scene.data["coloured"] or look.cut != "none":
        raise UsageError(f"{name} has a page without cut, coloured by generation, in a box of at most {TEXELS:,} cells")
    born, low, shape = (np.array(scene.data[key]) for key in ("generations", "low", "shape"))
    frames = [
        {
            "grid": packed(np.searchsorted(born, blocks.generations), tuple((blocks.corners - low)[:, ::-1].T), shape.tolist()),
            "shown": np.searchsorted(np.sort(blocks.generations), born, side="right").tolist(),
        }
        for blocks in each
    ]
    same = {key: value for key, value in scene.data.items() if key not in frames[0]}
    data = {**same, "sweep": {"name": source.parameter, "values": [*values], "frames": frames}}
    return replace(scene, blocks=alone, data=data)


def _steps(rule: Rule) -> list[list[int]]:
    """Return the steps from a parent to its children, where each cell but the seeds has one parent; else none."""
    alone = rule.exactly_one and rule.touches is None
    return [[*step, *[0] * (3 - len(step))] for step in rule.offsets] if alone else []


def _fitting(blocks: Blocks) -> Blocks:
    """Return the blocks in one size in which their box fits the page."""
    (low, high), size = blocks.bounds(), blocks.size
    while max(extent := (-(-high // size) - low // size).tolist()) > SIDE or prod(extent) > TEXELS:
        size *= 2
    return blocks if blocks.size == size else coarsen(blocks, size)


def _palette(
    blocks: Blocks, look: Look, count: int, ranks: NDArray[np.integer]
) -> tuple[NDArray[np.uint8], NDArray[np.uint16] | None]:
    """Return the colours of ranks below `count`, sRGB (count, 3 for each theme), or colours and the index of each block's."""
    colours = np.concatenate([colour_bytes(blocks, each) for each in in_themes(look)], axis=1)
    palette = np.zeros((count, colours.shape[1]), np.uint8)
    palette[ranks] = colours
    if (palette[ranks] == colours).all():
        return palette, None
    distinct, indices = np.unique(colours, axis=0, return_inverse=True)
    return distinct, indices.reshape(-1).astype(np.uint16)


def _legend(blocks: Blocks, look: Look) -> dict[str, Any]:
    """Return what colours stand for that do not follow from the generation: names, or some values, with a colour in each theme."""
    legends = [legend_of(blocks, each.colours_of(blocks), look.colour) for each in in_themes(look)]
    names = [f"{value:,}" for value in legends[0].values] if isinstance(legends[0], Bar) else legends[0].names
    some = np.unique(np.linspace(0, len(names) - 1, _SWATCHES).round().astype(int))
    colours = np.concatenate([legend.colours[some] for legend in legends], axis=1)
    return {
        "title": legends[0].title,
        "names": [names[k] for k in some.tolist()],
        "colours": texts_of(np.rint(colours * 255).astype(np.uint8)),
    }


def in_themes(look: Look) -> list[Look]:
    """Return the look in each of `THEMES`."""
    return [replace(look, theme=name) for name in THEMES]


def colour_bytes(blocks: Blocks, look: Look) -> NDArray[np.uint8]:
    """Return the colour of each block, sRGB (N, 3)."""
    return np.asarray(np.rint(look.colours_of(blocks) * 255), dtype=np.uint8)


def packed(values: NDArray[np.integer], at: tuple[NDArray[np.intp], ...], shape: list[int]) -> str:
    """Return a grid as text: two planes of bytes, low and high, of each value and 1, or 0 where there is none; compressed."""
    grid = np.zeros(shape[::-1], dtype=np.uint16)
    grid[at] = values + 1
    planes = np.concatenate([(grid & 255).astype(np.uint8).reshape(-1), (grid >> 8).astype(np.uint8).reshape(-1)])
    return compressed(planes)


def compressed(values: NDArray[np.generic]) -> str:
    return b64encode(gzip.compress(np.ascontiguousarray(values).data, 6, mtime=0)).decode("ascii")


def texts_of(palette: NDArray[np.uint8]) -> list[str]:
    """Return a palette (count, 3 for each theme) as a text for each theme."""
    return [
        b64encode(np.ascontiguousarray(colours).tobytes()).decode("ascii") for colours in np.split(palette, len(THEMES), axis=1)
    ]
