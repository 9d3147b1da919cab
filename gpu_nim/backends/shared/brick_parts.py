"""What the ranks of exactly-one growth send to each other before a generation: newborns within reach of each other, by brick.

A part, what one rank sends to another, is uint64: of each brick its position in one number, and its words. The kernels of
`cuda/exactly_one.cu` write and read the same, so that ranks with and without a GPU share a growth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Bytes
from gpu_nim.backends.shared.bricks import FIELD, Bricks, packed

_FIELDS = np.array([2 * FIELD, FIELD, 0], np.uint64)


def numbered(positions: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return positions of bricks, shape (N, 3), in one number each.

    >>> numbered(np.array([[1, 0, 3]])).tolist() == [(1 << 42) + 3]
    True
    """
    numbers: NDArray[np.uint64] = np.bitwise_or.reduce(positions.astype(np.uint64) << _FIELDS, axis=1)
    return numbers


def positions(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the positions in numbers, shape (N, 3): the inverse of `numbered`."""
    return (numbers[:, None] >> _FIELDS & np.uint64((1 << FIELD) - 1)).astype(np.int64)


def within_reach(bricks: Bricks) -> NDArray[np.uint64]:
    """Return the places of a brick whose newborns touch cells of the slab below, and of that above, shape (2, words)."""
    x, reach = bricks.site[:, 0], bricks.rule.reach
    return packed(np.stack((x < reach, x >= bricks.size[0] - reach)))


def pack(bricks: Bricks, found: NDArray[np.integer], newborn: NDArray[np.uint64]) -> list[Bytes]:
    """Return what each rank is sent of the newborns of a rank.

    Args:
        bricks: those of the rank.
        found: the bricks with newborns, counted in bricks, shape (N, 3).
        newborn: their words, shape (N, words).
    """
    owners, slab = np.pad(bricks.owners, 1, constant_values=bricks.rank), found[:, 0]
    beside, faces = (owners[slab], owners[slab + 2]), within_reach(bricks)
    parts = [np.zeros(0, np.uint8) for _ in range(bricks.ranks)]
    for rank in {*beside[0].tolist(), *beside[1].tolist()} - {bricks.rank}:
        sent = np.zeros_like(newborn)
        for owner, face in zip(beside, faces, strict=True):
            sent |= np.where((owner == rank)[:, None], newborn & face, np.uint64(0))
        some = np.flatnonzero(sent.any(axis=1))
        parts[rank] = np.column_stack((numbered(found[some]), sent[some])).reshape(-1).view(np.uint8)
    return parts


def unpack(bricks: Bricks, received: Sequence[Bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the positions of the bricks in what all ranks sent, shape (N, 3), and their words, shape (N, words)."""
    entries = np.concatenate([part.view(np.uint64) for part in received]).reshape(-1, 1 + bricks.words)
    return positions(entries[:, 0]), entries[:, 1:]
