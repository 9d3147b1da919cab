"""What the ranks of exactly-one growth send to each other before a generation: newborns within reach of each other, by brick.

A part, what one rank sends to another, is uint32: the number of its entries, these, and words. An entry is the position of a brick
in two numbers, the rows of the brick that are sent, a bit each, and where their words begin. One without entries is empty. The
kernels of `cuda/exactly_one.cu` write and read the same, so that ranks with and without a GPU share a growth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Bytes
from gpu_nim.backends.shared.bricks import ENTRY, FIELD, ROWS, Bricks

_ROW_BITS = np.uint32(1) << np.arange(ROWS, dtype=np.uint32)


def pack(bricks: Bricks, positions: NDArray[np.integer], newborn: NDArray[np.uint32]) -> list[Bytes]:
    """Return what each rank is sent of the newborns of a rank.

    Args:
        bricks: those of the rank.
        positions: the bricks with newborns, counted in bricks, shape (N, 3).
        newborn: their rows, shape (N, 32).
    """
    axis = bricks.axis
    near = bricks.borders[positions[:, axis]] > 0
    positions, newborn = positions[near].astype(np.uint64), newborn[near]
    packed = positions[:, 0] << np.uint64(2 * FIELD) | positions[:, 1] << np.uint64(FIELD) | positions[:, 2]
    owners = np.pad(bricks.owners, 1, constant_values=bricks.rank)
    below, above = owners[positions[:, axis]], owners[positions[:, axis] + np.uint64(2)]
    across = np.arange(ROWS) >> bricks.log_v if bricks.spatial else np.arange(ROWS)
    low, high = across < bricks.reach[axis], across >= bricks.size[axis] - bricks.reach[axis]
    parts = [np.zeros(0, np.uint8) for _ in range(bricks.ranks)]
    for rank in {*below.tolist(), *above.tolist()} - {bricks.rank}:
        sent = (newborn != 0) & ((below == rank)[:, None] & low | (above == rank)[:, None] & high)
        some = np.flatnonzero(sent.any(axis=1))
        sent, counts = sent[some], sent[some].sum(axis=1, dtype=np.uint64)
        halves = packed[some] & np.uint64(2**32 - 1), packed[some] >> np.uint64(32)
        entries = np.stack((*halves, sent @ _ROW_BITS, np.cumsum(counts) - counts), axis=1)
        if len(some):
            parts[rank] = np.concatenate(([len(some)], entries.reshape(-1), newborn[some][sent])).astype(np.uint32).view(np.uint8)
    return parts


def unpack(received: Sequence[Bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the positions of the bricks in what all ranks sent, shape (N, 3), and their rows, shape (N, 32)."""
    positions, rows = [np.zeros((0, 3), np.int64)], [np.zeros((0, ROWS), np.uint32)]
    for part in received:
        if not len(part):
            continue
        entries, words = np.split(part.view(np.uint32)[1:], [ENTRY * int(part[:4].view(np.uint32)[0])])
        entries = entries.reshape(-1, ENTRY).astype(np.int64)
        entries = entries[np.argsort(entries[:, 3])]  # in the order of their words: a GPU writes both in any order
        packed = entries[:, 1] << 32 | entries[:, 0]
        positions.append(np.stack([packed >> bits & (1 << FIELD) - 1 for bits in (2 * FIELD, FIELD, 0)], axis=1))
        filled = np.zeros((len(entries), ROWS), np.uint32)
        filled[entries[:, 2:3] >> np.arange(ROWS) & 1 != 0] = words
        rows.append(filled)
    return np.concatenate(positions), np.concatenate(rows)
