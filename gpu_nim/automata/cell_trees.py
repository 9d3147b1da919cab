"""Sets of cells as trees in which equal blocks are stored once, and the hash by which such sets are compared."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.rule import Cells
from gpu_nim.model.tracing import TreeScene


def tree_of_rows(words: NDArray[np.uint64], rows: Sequence[NDArray[np.integer]], corner: tuple[int, ...]) -> TreeScene:
    """Return a tree of blocks that may have equals, and of which the last row of the last level is the whole.

    Args:
        words: the blocks of 64 cells.
        rows: of each level, the indices of the halves in the one below.
        corner: the least coordinates of the whole.
    """
    leaves, which = np.unique(np.append(words, np.uint64(0)), return_inverse=True)
    levels = []
    for level in rows:
        halves = which[level]
        distinct, which = np.unique(np.append(halves, np.zeros_like(halves[:1]), axis=0), axis=0, return_inverse=True)
        which = which.reshape(-1)  # NumPy 2.0 keeps an axis
        levels.append(distinct.astype(np.int32))
    return TreeScene(leaves, tuple(levels), int(which[-2]), corner)


def tree_of(cells: Cells, *, centred: bool) -> TreeScene:
    """Return cells of the plane or of space as a tree.

    Args:
        cells: shape (N, 2) or (N, 3), N at least 1.
        centred: whether the origin is the middle of the tree; else it is its corner, and no coordinate is negative.

    >>> tree_of(np.array([[0, 0], [3, 9]]), centred=False).population
    2
    """
    plane = cells.shape[1] == 2
    side, levels = 8 if plane else 4, 1
    while (side << levels - centred) <= max(int(cells.max()), -int(cells.min()) - 1):
        levels += 1
    corner = -(side << levels - 1) if centred else 0
    coordinates = (cells[:, ::-1] if plane else cells).astype(np.int64) - corner
    blocks, which = np.unique(coordinates // side, axis=0, return_inverse=True)
    bits = np.zeros(len(cells), np.uint64)
    for axis in range(coordinates.shape[1]):
        bits = bits * np.uint64(side) + (coordinates[:, axis] % side).astype(np.uint64)
    words = np.zeros(len(blocks) + 1, np.uint64)  # the last is empty
    np.bitwise_or.at(words, which.reshape(-1), np.uint64(1) << bits)
    rows = []
    for _ in range(levels):
        halves = np.zeros(len(blocks), np.int64)
        for axis in range(blocks.shape[1]):
            halves = 2 * halves + blocks[:, axis] % 2
        above, which = np.unique(blocks // 2, axis=0, return_inverse=True)
        row = np.full((len(above) + 1, 1 << blocks.shape[1]), len(blocks))
        row[which.reshape(-1), halves] = np.arange(len(blocks))
        rows.append(row)
        blocks = above
    rows[-1] = rows[-1][:1]
    return tree_of_rows(words, rows, (corner,) * cells.shape[1])


def canonical_hash(tree: TreeScene) -> str:
    """Return the hash of a set of cells, whatever the size of the tree that holds it.

    The hash of a leaf is the SHA-256 of its 8 bytes, least significant first, that of a block the SHA-256 of the hashes of its
    halves in their order. A tree round the origin is hashed as its halves, which touch at the origin, and one that begins there as
    one part: while in all parts nothing lives but in the halves next to the origin, these take their places. The canonical hash is
    the SHA-256 of the number of levels above the leaves, 8 bytes, and of the hashes of the parts.

    Args:
        tree: its corner is the origin, or minus half of its side along each axis.

    >>> canonical_hash(tree_of(np.array([[0, 0]]), centred=True))[:16]
    '3c7453962722a8a2'
    """
    level, parts, nearest = len(tree.levels), [tree.root], [0]
    if any(tree.corner):
        level, parts = level - 1, tree.levels[-1][tree.root].tolist()
        nearest = list(range(len(parts)))[::-1]
    while level:
        rows = tree.levels[level - 1][parts]
        near = rows[np.arange(len(parts)), nearest]
        if np.count_nonzero(rows) != np.count_nonzero(near):
            break
        level, parts = level - 1, near.tolist()
    needed = [np.array(parts)]
    for rows in tree.levels[:level][::-1]:
        needed.append(np.unique(rows[needed[-1]]))
    hashes = {int(n): hashlib.sha256(tree.leaves[n].astype("<u8").tobytes()).digest() for n in needed[-1]}
    for rows, some in zip(tree.levels[:level], needed[-2::-1], strict=True):
        hashes = {n: hashlib.sha256(b"".join(map(hashes.__getitem__, rows[n].tolist()))).digest() for n in some.tolist()}
    return hashlib.sha256(level.to_bytes(8, "little") + b"".join(hashes[part] for part in parts)).hexdigest()
