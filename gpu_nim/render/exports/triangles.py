"""Bodies as triangles: all blocks as cubes, or one watertight body to print."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.render.geometry import SIDES, Blocks, pieces

_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.int32)
# The two triangles of each side, as corners above, anticlockwise from outside.
_TRIANGLES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ],
    dtype=np.int32,
)
_OVERLAP = 0.2  # of a cell: how far a printed cube reaches into the next
_NECK = 1.0  # millimetres: what a printed body's thinnest parts should have


@dataclass(frozen=True)
class Mesh:
    """Points float32 (P, 3); faces, indices of three points each, int32 (F, 3); the colour of each point, sRGB uint8 (P, 3), or
    None; and its facts by name, int32 (P,).
    """

    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    colours: NDArray[np.uint8] | None = None
    facts: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)


def cubes(blocks: Blocks) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return all blocks as triangles: points float32 (8 N, 3), and faces, indices of three points each, int32 (12 N, 3)."""
    points = (blocks.corners.astype(np.int64)[:, None] + _CORNERS * blocks.sizes[:, None, None]).reshape(-1, 3)
    faces = _TRIANGLES + 8 * np.arange(len(blocks), dtype=np.int32)[:, None, None]
    return exact_floats(points, blocks.name), faces.reshape(-1, 3)


def exact_floats(values: NDArray[np.integer], name: str) -> NDArray[np.float32]:
    """Return integers as the 32-bit floats of meshes; UsageError where they are not exact."""
    floats = values.astype(np.float32)
    if not np.array_equal(floats.astype(np.int64), values):
        raise UsageError(f"{name} has numbers beyond {2**24:,}, which the 32-bit floats of a mesh do not hold exactly")
    return floats


def printable_body(blocks: Blocks) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return the union of the blocks, each a little larger than itself, as one watertight surface: points and faces.

    Every block extends into its neighbours, so that blocks which touched in an edge or a corner are joined.  On the resulting finer
    grid of cores and walls no two parts touch in an edge alone: wherever two are across an edge, one of their blocks extends over
    it.  So each edge of the surface has exactly two triangles.

    >>> from gpu_nim.render.source import blocks_of
    >>> points, faces = printable_body(blocks_of("nim:3"))
    >>> edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    >>> set(np.unique(edges, axis=0, return_counts=True)[1].tolist())
    {2}

    Raises UsageError where the blocks are not connected, not even by corners.
    """
    found = pieces(blocks)
    if len(found) > 1:
        raise UsageError(
            f"{blocks.name} cannot be printed as one body: it falls into {len(found):,} pieces that do not touch, the largest "
            f"of {found[0]:,} of {len(blocks):,} blocks"
        )
    size = int(blocks.sizes.max())
    low, _ = blocks.bounds()
    index = (blocks.corners.astype(np.int64) - low) // size
    span = 2 * index.max(axis=0) + 5  # walls have even numbers, cores odd ones; one is free on either side
    steps = np.array([span[1] * span[2], span[2], 1])
    parts = (2 * index[:, None] + 1 + np.array([[x, y, z] for x in range(3) for y in range(3) for z in range(3)])) @ steps
    parts = np.unique(parts)
    quads = []
    for axis, end in SIDES:
        beside = parts + end * steps[axis]
        at = np.minimum(np.searchsorted(parts, beside), len(parts) - 1)
        bare = parts[parts[at] != beside]
        quads.append(bare[:, None] + _CORNERS[_side_corners(axis, end)] @ steps)
    keys, inverse = np.unique(np.concatenate(quads).ravel(), return_inverse=True)
    lines = np.stack([keys // steps[0], keys // steps[1] % span[1], keys % span[2]], axis=1) - 1
    # Line 2k of the finer grid lies before wall k, line 2k + 1 behind it.
    places = lines // 2 + np.where(lines % 2 == 0, -_OVERLAP, _OVERLAP)
    points = (places * size + low).astype(np.float32)
    return points, inverse.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32)


def _side_corners(axis: int, end: int) -> list[int]:
    """Return the corners of a side of a cube in `_CORNERS`, anticlockwise from outside."""
    first, second = _TRIANGLES[2 * SIDES.index((axis, end)) : 2 * SIDES.index((axis, end)) + 2].tolist()
    return [*first, second[2]]


def strength(blocks: Blocks) -> str:
    """Return the scale at which a printable body must be printed to be strong enough."""
    low, high = blocks.bounds()
    across = float((high - low).max() / blocks.sizes.max()) * _NECK / (2 * _OVERLAP)
    return f"in one piece, with necks of {2 * _OVERLAP:g} blocks: print it {across:,.0f} mm across for necks of {_NECK:g} mm"
