"""What a page draws: Nim without data, an object as a grid of generations, or a tree of shared blocks.

The P-positions of Nim need no data: (a, b, c) is one iff its nim-sum is 0, its generation is then a|b|c, and both hold for cubes of
side 2^k as well. A page of `nim:2^60` is as small as one of `nim:7`, as long as its colours follow from the generation.

A grid has the index of its generation for each cell of the object's box, or 65535 where there is none: 16 bits a cell, which gzip
reduces to 3 MB for `edge:255`. In the browser it becomes a 3D texture, and the least of each 2 x 2 x 2 the next coarser one.

A tree is its rows, which the browser descends for each ray. One of the plane is only sent where the symmetries of its rule do not
repeat it. They map cells to cells, not blocks to blocks: the browser maps a cell first. Of its images it takes the one at which a
linear form is greatest, and blocks without such a cell are left out. Each row has the part of its cells that are alive, which shows
what is smaller than a pixel. Colours are those of the largest coordinate, as the generations of single cells are not known, or of
that part.
"""

import gzip
from base64 import b64encode
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product
from math import ceil, floor, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import NimScene, TreeScene
from gpu_nim.render.colourings import Bar, legend_of
from gpu_nim.render.defined_scenes import nims_level, population
from gpu_nim.render.geometry import (
    SPACE,
    Blocks,
    coarsen,
    generations_between,
    generations_note,
    generations_unknown,
    middles,
    no_cells,
    sheared,
)
from gpu_nim.render.growth_sources import NimSource, ParsedSource, TreeSource, alike
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
#: The most bytes of a tree, 300 kB as text; of a larger one the least blocks are left out.
LIMIT = 225_000
_SHOWN = 1 << 17  # blocks that frame the object
_NEAR = 40  # cells from the middle to the border of what a page opens with where all of it would show no cells
_FORM = np.array([3, 1])  # not the same at any two images of a cell, but for those on the borders between them
_INSIDE = np.iinfo(np.int64).max  # of blocks all of whose cells are the ones taken


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
    palettes, indices = _palettes(blocks, look, int(blocks.generations.max()) + 1, blocks.generations)
    if indices is not None:
        return None
    cells = population(NimScene(last, first))
    data = {"kind": "nim", "first": str(first), "last": str(last), "bucket": level, "axes": blocks.coordinates}
    data |= {"hull": (blocks.hull().astype(np.float64) * (1 << level)).tolist()}
    return PageScene(blocks, data, palettes, cells, cells)


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
    generations, ranks = np.unique(blocks.generations, return_inverse=True)
    if len(generations) > _GENERATIONS:
        raise UsageError(f"{blocks.name} has {len(generations):,} generations with cells, and a page holds up to {_GENERATIONS:,}")
    palettes, indices = _palettes(blocks, look, len(generations), ranks)
    at = tuple((blocks.corners // side - low)[:, ::-1].T)
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
        "grid": _packed(ranks, at, shape),
        "coloured": indices is not None,
        "axes": blocks.coordinates if blocks.cells is None else SPACE,
    }
    if indices is not None:
        data |= {"colourIndices": _packed(indices, at, shape), "legend": _legend(blocks, look)}
    return PageScene(blocks, data, palettes, blocks.population, len(blocks))


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
            "grid": _packed(np.searchsorted(born, blocks.generations), tuple((blocks.corners - low)[:, ::-1].T), shape.tolist()),
            "shown": np.searchsorted(np.sort(blocks.generations), born, side="right").tolist(),
        }
        for blocks in each
    ]
    same = {key: value for key, value in scene.data.items() if key not in frames[0]}
    data = {**same, "sweep": {"name": source.parameter, "values": [*values], "frames": frames}}
    return replace(scene, blocks=alone, data=data)


def tree_scene(source: ParsedSource, look: Look) -> PageScene | None:
    """Return a tree as rows, or None for another source.

    Raises:
        UsageError: it is cut, or these colours or generations are not known.
    """
    if not isinstance(source, TreeSource):
        return None
    flat = source.dimension == 2
    if look.colour not in (None, "density"):
        raise UsageError(f"colour must be density for a page of {source.name}, which is held in macro-cells, got {look.colour!r}")
    if look.generations is not None:
        raise generations_unknown(source.name)
    if look.cut != "none" or (flat and look.view is not None):
        raise UsageError(f"a page of {source.name} is neither cut nor seen from elsewhere than above")
    scene, blocks, outward = source.tree, source.blocks(_SHOWN, "density"), not flat or look.colour is None
    maps = symmetries(source.automaton.rule) if source.automaton and flat else np.zeros((0, 2, 2), int)
    for least in count():
        rows = sent_rows(scene, maps, least)
        numbers = np.concatenate([halves.ravel() for halves, _ in rows])
        tones = np.concatenate([tone for _, tone in rows])
        data = _packed(numbers, (np.arange(len(numbers)),), [len(numbers)]), _compressed(tones)
        if sum(map(len, data)) <= LIMIT * 4 // 3 and numbers.max() < 65534:
            break
    slanted = source.lattice != "square"
    corner = np.pad(np.array(scene.corner, float), (0, 3 - scene.dimension))[None].astype(np.float32)
    corner = sheared(corner) if slanted else corner
    farthest = int(np.abs(blocks.extent()).max())
    bucket = max(farthest.bit_length() - 8, 0)
    shades = np.minimum(np.arange(256) / (farthest >> bucket if outward else 255), 1)
    palettes = [_text(_bytes(each.drawn_theme.map(shades))) for each in _in_themes(look)]
    facts = {
        "kind": "tree",
        "flat": flat,
        "slanted": slanted,
        "outward": outward,
        "rows": data[0],
        "tones": data[1],
        "counts": [len(tone) for _, tone in rows],
        "least": least,
        "level": scene.height,
        "corner": [str(x) for x in (*scene.corner, 0)[:3]],
        "maps": maps.reshape(-1).tolist(),
        "bucket": bucket,
        "generation": str(source.generation),
        "population": str(scene.population),
        "hull": (blocks.hull().astype(np.float64) - corner).tolist(),
        "axes": blocks.coordinates,
    }
    coarse = f"drawn to {'squares' if flat else 'cubes'} of {1 << least:,} cells a side" if least else ""
    near = None
    if alike(blocks):
        near = [[sign * _NEAR - float(low) for low in corner[0]] for sign in (-1, 1)]
        blocks = replace(source.blocks(_SHOWN, "density", box=np.array([[-2 * _NEAR] * 2, [2 * _NEAR] * 2])), limits=None)
        blocks = blocks.take(np.linalg.norm(middles(blocks), axis=1) < _NEAR)
    return PageScene(replace(blocks, note=coarse), facts, palettes, scene.population, scene.population, near)


def symmetries(rule: Rule) -> NDArray[np.int64]:
    """Return the linear maps of the plane that map a growth from (0, 0) to itself, (n, 2, 2), where its rule is offsets alone."""
    matrices = np.array(list(product((-1, 0, 1), repeat=4))).reshape(-1, 2, 2)
    alone = rule.touches is None and rule.universe is None and not rule.octant and rule.seeds == ((0, 0),)
    offsets = np.array(rule.offsets)
    same = [sorted((offsets @ matrix.T).tolist()) == sorted(offsets.tolist()) for matrix in matrices]
    return matrices[np.array(same) & alone]


def sent_rows(scene: TreeScene, maps: NDArray[np.int64], least: int = 0) -> list[tuple[Ints, NDArray[np.uint8]]]:
    """Return the rows of a tree that are sent, level by level from the whole, and the parts of their cells that are alive, to 255.

    A row's halves are numbers of rows in the next level, counted from 1, or 0 for an empty one or one without a cell that is
    taken. In the last level, halves have a side of 2^least and are their parts of cells that are alive.
    """
    forms = _FORM - maps.transpose(0, 2, 1) @ _FORM if len(maps) else np.zeros((0, scene.dimension), np.int64)
    offsets = np.indices((2,) * scene.dimension).reshape(scene.dimension, -1).T
    offsets = offsets[:, ::-1] if scene.dimension == 2 else offsets
    # Of each block, its number, and of each form twice its value at the least corner, in units of the block's side.
    numbers = np.array([scene.root])
    values = np.array([[int(twice) // scene.side for twice in 2 * forms.astype(object) @ np.array(scene.corner, object)]], np.int64)
    found = []
    for level in reversed(range(least, scene.height)):
        tones = _tones(scene, level + 1)[numbers]
        halves = scene.rows(level)[numbers].astype(np.int64)
        inside = values[:, None] == _INSIDE
        values = np.where(inside, 0, 2 * values[:, None] + 2 * (offsets @ forms.T))
        # The least and the greatest value in a block; as doubles, which are near enough where values are large.
        low, high = (
            values / 2 * 2.0**level + np.clip(forms, *ends).sum(axis=1) * (2.0**level - 1) for ends in ((None, 0), (0, None))
        )
        halves[((high < 0) & ~inside).any(axis=2)] = 0
        values[inside | (low >= 0) | (halves == 0)[..., None]] = _INSIDE
        if level == least:
            found.append((np.where(halves, _tones(scene, level)[halves], 0), tones))
            break
        keys = np.concatenate([halves[..., None], values], axis=2).reshape(-1, 1 + len(forms))
        distinct, which = np.unique(keys[keys[:, 0] > 0], axis=0, return_inverse=True)
        rows = np.zeros(halves.size, np.int64)
        rows[keys[:, 0] > 0] = which.reshape(-1) + 1  # NumPy 2.0 keeps an axis
        found.append((rows.reshape(halves.shape), tones))
        numbers, values = distinct[:, 0], distinct[:, 1:]
    return found


def _tones(scene: TreeScene, level: int) -> NDArray[np.uint8]:
    parts = scene.populations(level).astype(np.float64) / 2.0 ** (level * scene.dimension)
    return np.asarray(np.where(parts > 0, np.maximum(np.rint(255 * parts), 1), 0), np.uint8)


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


def _palettes(blocks: Blocks, look: Look, count: int, ranks: NDArray[np.integer]) -> tuple[list[str], NDArray[np.uint16] | None]:
    """Return the colours of ranks below `count`, sRGB, as a text for each theme, or colours and the index of each block's."""
    colours = np.concatenate([colour_bytes(blocks, each) for each in _in_themes(look)], axis=1)
    palette, indices = np.zeros((count, colours.shape[1]), np.uint8), None
    palette[ranks] = colours
    if (palette[ranks] != colours).any():
        palette, which = np.unique(colours, axis=0, return_inverse=True)
        indices = which.reshape(-1).astype(np.uint16)
    return [_text(part) for part in np.split(palette, len(THEMES), axis=1)], indices


def _legend(blocks: Blocks, look: Look) -> dict[str, Any]:
    """Return what colours stand for that do not follow from the generation: names, or some values, with a colour in each theme."""
    legends = [legend_of(blocks, each.colours_of(blocks), look.colour) for each in _in_themes(look)]
    names = [f"{value:,}" for value in legends[0].values] if isinstance(legends[0], Bar) else legends[0].names
    some = np.unique(np.linspace(0, len(names) - 1, _SWATCHES).round().astype(int))
    colours = [_text(_bytes(legend.colours[some])) for legend in legends]
    return {"title": legends[0].title, "names": [names[k] for k in some.tolist()], "colours": colours}


def _in_themes(look: Look) -> list[Look]:
    """Return the look in each of `THEMES`."""
    return [replace(look, theme=name) for name in THEMES]


def colour_bytes(blocks: Blocks, look: Look) -> NDArray[np.uint8]:
    """Return the colour of each block, sRGB (N, 3)."""
    return _bytes(look.colours_of(blocks))


def _bytes(colours: NDArray[np.float32]) -> NDArray[np.uint8]:
    return np.asarray(np.rint(colours * 255), dtype=np.uint8)


def _packed(values: NDArray[np.integer], at: tuple[NDArray[np.intp], ...], shape: list[int]) -> str:
    """Return a grid as text: two planes of bytes, low and high, of each value and 1, or 0 where there is none; compressed."""
    grid = np.zeros(shape[::-1], dtype="<u2")
    grid[at] = values + 1
    return _compressed(grid.reshape(-1, 1).view(np.uint8).T)


def _compressed(values: NDArray[np.generic]) -> str:
    return b64encode(gzip.compress(np.ascontiguousarray(values).data, 6, mtime=0)).decode("ascii")


def _text(values: NDArray[np.uint8]) -> str:
    return b64encode(values.tobytes()).decode("ascii")
