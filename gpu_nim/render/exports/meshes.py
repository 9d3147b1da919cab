"""Objects as triangles: all blocks as cubes, hexagons and triangles as prisms, or one watertight object to print."""

from itertools import product
from math import ceil, prod
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.render.geometry import AROUND, SIDES, Blocks, corners_of, first_of_each, outlines, sheared

_HALVES = [0, 1, 2, 0, 2, 3]  # of the corners of a quadrilateral: those of its two triangles
#: Those of each side of a cube, as indices of `CORNERS`, anticlockwise from outside.
_QUADS = np.array([*SIDES.values()], dtype=np.int32) @ (4, 2, 1)
_TRIANGLES = _QUADS[:, _HALVES].reshape(-1, 3).astype(np.int32)

_PARTS = 5  # of a cell, in one of which a printed cube reaches into the next
_OVERLAP = 1 / _PARTS
_NECKS = {"square": 2 * _OVERLAP, "triangular": 3**0.5 * _OVERLAP, "hexagonal": 3**-0.5}  # the thinnest parts of a print, in cells
_NECK = 1.0  # millimetres: what a printed object's thinnest parts should have


class Mesh(NamedTuple):
    """Points float32 (P, 3); faces, indices of three points each, int32 (F, 3); and the block of each face, (F,)."""

    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    blocks: NDArray[np.integer]


def cubes(blocks: Blocks) -> Mesh:
    """Return all blocks as triangles: 8 N points and 12 N faces, in the order of the blocks; hexagons and triangles as prisms."""
    if blocks.tiled:
        return _prisms(blocks, [_PARTS * outlines(blocks)])
    faces = _TRIANGLES + 8 * np.arange(len(blocks), dtype=np.int32)[:, None, None]
    return Mesh(_placed(corners_of(blocks).reshape(-1, 3), blocks), faces.reshape(-1, 3), np.arange(len(blocks)).repeat(12))


def _corners(blocks: Blocks) -> NDArray[np.int64]:
    """Return the corners of blocks, (N, K, 3), or of hexagons and triangles those of their `outlines`."""
    return outlines(blocks) if blocks.tiled else corners_of(blocks)


def _placed(points: NDArray[np.integer], blocks: Blocks, unit: int = 1) -> NDArray[np.float32]:
    """Return where points (..., 3) of a lattice, so many times their coordinates, are drawn."""
    floats = exact_floats(points, blocks.name) / np.float32(unit)
    return floats if blocks.lattice == "square" else sheared(floats)


def _prisms(blocks: Blocks, pieces: list[NDArray[np.int64]], *, joined: bool = False) -> Mesh:
    """Return hexagons or triangles as prisms, as high as cells are apart.

    Args:
        blocks: the cells.
        pieces: convex polygons (M, K, 3) in 15 times the coordinates, so many for each cell, in the order of the cells; two do not
            overlap unless they are equal, and are one then.
        joined: whether their union is one surface, instead of one for each.
    """
    corners, triangles, owners, count = [], [], [], 0
    for piece in pieces:
        exact_floats(piece, blocks.name)
        first, size = first_of_each(piece.sum(axis=1)), piece.shape[1]
        fan = [(0, k, k + 1) for k in range(1, size - 1)]
        corners.append(piece[first].reshape(-1, 3))
        triangles.append((count + np.arange(len(corners[-1])).reshape(-1, size)[:, fan]).reshape(-1, 3))
        owners.append((first * len(blocks) // len(piece)).repeat(len(fan)))
        count += len(corners[-1])
    points, base, owner = np.concatenate(corners), np.concatenate(triangles), np.concatenate(owners)
    if joined:
        points, same = np.unique(points, axis=0, return_inverse=True)
        base = same.reshape(-1)[base]  # NumPy 2.0 keeps an axis
    edges, above = base[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), len(points)
    bare = ~np.isin(edges @ (1, above), edges @ (above, 1))  # with nothing on the other side
    (a, b), rim = edges[bare].T, owner.repeat(3)[bare]
    sides = [np.stack([a, b, b + above], axis=1), np.stack([a, b + above, a + above], axis=1)]
    faces = np.concatenate([base[:, ::-1], base + above, *sides]).astype(np.int32)
    placed = _placed(np.concatenate([points, points + np.array([0, 0, 3 * _PARTS])]), blocks, 3 * _PARTS)
    return Mesh(placed, faces, np.concatenate([owner, owner, rim, rim]))


def _joined_triangles(blocks: Blocks) -> list[NDArray[np.int64]]:
    """Return the pieces of triangles that reach into each other: cores, walls across sides, and hexagons around corners.

    As with cubes, no two of them touch in a point alone.
    """
    corners, middle = _PARTS * outlines(blocks), 3 * _PARTS * blocks.corners.astype(np.int64)[:, None]
    following = np.roll(corners, -1, axis=1)
    beyond = corners + following - middle  # the middle of the triangle across the side
    core = corners + (middle - corners) // _PARTS
    across = [corners + (beyond - corners) // _PARTS, following + (beyond - following) // _PARTS]
    walls = np.stack([core, *across, np.roll(core, -1, axis=1)], axis=2)
    return [core, walls.reshape(-1, 4, 3), (corners[:, :, None] + 3 * AROUND).reshape(-1, 6, 3)]


def exact_floats(values: NDArray[np.integer], name: str) -> NDArray[np.float32]:
    """Return integers as the 32-bit floats of meshes; UsageError where they are not exact."""
    floats = values.astype(np.float32)
    if not np.array_equal(floats.astype(np.int64), values):
        raise UsageError(f"{name} has numbers beyond {2**24:,}, which the 32-bit floats of a mesh do not hold exactly")
    return floats


def printable_object(blocks: Blocks) -> Mesh:
    """Return the union of the blocks, each a little larger than itself, as one watertight surface; what two share is the earlier's.

    Every block extends into its neighbours, so that blocks which touched in an edge or a corner are joined.  On the resulting finer
    grid of cores and walls no two parts touch in an edge alone: wherever two are across an edge, one of their blocks extends over
    it.  So each edge of the surface has exactly two triangles.

    >>> from gpu_nim.render.source import blocks_of
    >>> points, faces, _ = printable_object(blocks_of("nim:3"))
    >>> edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    >>> set(np.unique(edges, axis=0, return_counts=True)[1].tolist())
    {2}

    Blocks that do not even touch in a corner remain apart, each piece with its own surface.  Hexagons that touch share a side, so
    that they are not made larger.
    """
    if blocks.tiled:
        pieces = _joined_triangles(blocks) if blocks.lattice == "triangular" else [_PARTS * outlines(blocks)]
        return _prisms(blocks, pieces, joined=True)
    size = blocks.size
    low, _ = blocks.bounds()
    index = (blocks.corners.astype(np.int64) - low) // size
    span = 2 * index.max(axis=0) + 5  # walls have even numbers, cores odd ones; one is free on either side
    steps = np.array([span[1] * span[2], span[2], 1])
    cells = (2 * index[:, None] + 1 + np.array(list(product(range(3), repeat=3)))) @ steps
    parts, first = np.unique(cells, return_index=True)
    quads, owners = [], []
    for (axis, end), corners in SIDES.items():
        beside = parts + end * steps[axis]
        at = np.minimum(np.searchsorted(parts, beside), len(parts) - 1)
        bare = parts[at] != beside
        quads.append(parts[bare, None] + np.array(corners) @ steps)
        owners.append(first[bare] // 27)
    keys, inverse = np.unique(np.concatenate(quads).ravel(), return_inverse=True)
    lines = np.stack([keys // steps[0], keys // steps[1] % span[1], keys % span[2]], axis=1) - 1
    # Line 2k of the finer grid lies before wall k, line 2k + 1 behind it.
    positions = lines // 2 + np.where(lines % 2 == 0, -_OVERLAP, _OVERLAP)
    points = (positions * size + low).astype(np.float32)
    faces = inverse.reshape(-1, 4)[:, _HALVES].reshape(-1, 3).astype(np.int32)
    return Mesh(points if blocks.lattice == "square" else sheared(points), faces, np.concatenate(owners).repeat(2))


def printed_object(blocks: Blocks, size: float) -> Mesh:
    """Return the printable object with that largest measure in millimetres, its least corner at the origin."""
    points, faces, owners = printable_object(blocks)
    low, high = points.min(axis=0), points.max(axis=0)
    return Mesh((points - low) * (np.float32(size) / np.float32((high - low).max())), faces, owners)


def printing_note(blocks: Blocks, size: float) -> str:
    """Return the size, the strength and, as a warning, the number of loose pieces of a print, in words."""
    extent = np.ptp(_placed(_corners(blocks), blocks, 3 if blocks.tiled else 1).reshape(-1, 3), axis=0)
    across = float(extent.max()) / blocks.size + 2 * _OVERLAP * (blocks.lattice != "hexagonal")
    neck = _NECKS[blocks.lattice] * size / across
    weak = f" (at {ceil(_NECK * size / neck):,} mm they have {_NECK:g} mm)" if neck < _NECK else ""
    pieces = _in_pieces(components(blocks), "that do not touch")
    return f"{size:g} mm across, with necks of {neck:.2g} mm{weak}; {pieces}"


def cubes_note(blocks: Blocks) -> str:
    """Return a warning of the pieces that a print of cubes would be in, connected by sides alone, or ""."""
    labels = components(blocks, by="sides")
    return f"{_in_pieces(labels, 'that share no side')}; printable joins those that touch" if labels.any() else ""


def components(blocks: Blocks, by: Literal["corners", "sides"] = "corners") -> NDArray[np.intp]:
    """Return the component of each block, (N,), numbered from 0 in order of their first blocks.

    Args:
        blocks: blocks of one size.
        by: what connects two blocks: a shared side, edge or corner, or a side alone.

    >>> from gpu_nim.render.source import blocks_of
    >>> nim = blocks_of("nim:7")  # its cells share edges alone
    >>> np.unique(components(nim)).size, np.unique(components(nim, by="sides")).size
    (1, 64)
    """
    corners = _corners(blocks)
    shared = (corners - corners.min(axis=(0, 1))) // blocks.size
    if by == "sides":  # a side is the sum of its corners
        shared = shared[:, [(k - 1, k) for k in range(shared.shape[1])] if blocks.tiled else _QUADS].sum(axis=2)
    spans = (shared.max(axis=(0, 1)) + 1).tolist()
    if prod(spans) >= 2**63:
        raise UsageError(f"{blocks.name} is too far flung to find which of its cells hang together")
    keys = np.ravel_multi_index(tuple(shared.reshape(-1, 3).T), spans)
    order = np.argsort(keys)
    owner, same = order // shared.shape[1], np.diff(keys[order]) == 0
    one, other = owner[:-1][same], owner[1:][same]
    label = np.arange(len(blocks))
    while (apart := label[one] != label[other]).any():
        one, other = one[apart], other[apart]
        low, high = np.minimum(label[one], label[other]), np.maximum(label[one], label[other])
        np.minimum.at(label, high, low)
        while (further := label[label] != label).any():
            label[further] = label[label[further]]
    return np.unique(label, return_inverse=True)[1]


def _in_pieces(labels: NDArray[np.intp], apart: str) -> str:
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) == 1:
        return "in one piece"
    return f"warning: in {len(counts):,} pieces {apart}, the largest of {counts.max():,} of {len(labels):,} blocks"
