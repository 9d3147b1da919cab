"""Trees of shared blocks on a page: the rows of the tree, which the browser descends for each ray.

A tree of the plane is only sent where the symmetries of its rule do not repeat it. They map cells to cells, not blocks to blocks:
the browser maps a cell first. Of its images it takes the one at which a linear form is greatest, and blocks without such a cell
are left out. Each row has the part of its cells that are alive, which shows what is smaller than a pixel. Colours are those of the
largest coordinate, as the generations of single cells are not known, or of that part.
"""

from dataclasses import replace
from itertools import count, product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import TreeScene
from gpu_nim.render.geometry import generations_unknown, middles, sheared
from gpu_nim.render.growth_sources import ParsedSource, TreeSource, alike
from gpu_nim.render.look import Look
from gpu_nim.render.page.scenes import PageScene, compressed, in_themes, packed, texts_of

LIMIT = 225_000
"""The most bytes of a tree, 300 kB as text; of a larger one the least blocks are left out."""

_SHOWN = 1 << 17  # blocks that frame the object
_NEAR = 40  # cells from the middle to the border of what a page opens with where all of it would show no cells
_FORM = np.array([3, 1])  # not the same at any two images of a cell, but for those on the borders between them
_INSIDE = np.iinfo(np.int64).max  # of blocks all of whose cells are the ones taken


def tree_page(source: ParsedSource, look: Look) -> PageScene | None:
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
        data = packed(numbers, (np.arange(len(numbers)),), [len(numbers)]), compressed(tones)
        if sum(map(len, data)) <= LIMIT * 4 // 3 and numbers.max() < 65534:
            break
    slanted = source.lattice != "square"
    corner = np.pad(np.array(scene.corner, float), (0, 3 - scene.dimension))[None].astype(np.float32)
    corner = sheared(corner) if slanted else corner
    farthest = int(np.abs(blocks.extent()).max())
    bucket = max(farthest.bit_length() - 8, 0)
    shades = np.minimum(np.arange(256) / (farthest >> bucket if outward else 255), 1)
    palette = np.concatenate([each.drawn_theme.map(shades) for each in in_themes(look)], axis=1)
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
    palettes = texts_of(np.rint(palette * 255).astype(np.uint8))
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
