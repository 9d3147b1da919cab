"""What the compiled loops of exactly-one growth read: the bricks, and what a newborn touches, as tables.

The touches of a newborn at one place fall into a few words, each with one mask: edge has 2.75 on average. What those near a wall
touch depend on their class (`gpu_nim.backends.shared.brick_grid`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_nim.backends.shared.brick_grid import bits, packed
from gpu_nim.backends.shared.bricks import COLUMN_BYTES, Bricks
from gpu_nim.model.process import cores

#: The bricks that a list has room for at first.
SLOTS = 1 << 10
_AROUND = 3  # bricks along an axis that the newborns of one touch
_LISTED = 85  # a quarter more than measured of edge and fcc: the bricks with newborns, in shares of a generation of all bricks


class Layout(NamedTuple):
    """Bricks as the loops read them.

    Attributes:
        logs: `BrickGrid.logs`.
        words: 64-bit words of a brick's cells.
        columns: of the column at (x, y) in bricks, with a border of one: the number of its brick z less z; int64 of shape
            (slabs + 2, columns + 2).
        starts: the number of the first brick of each slab, int64 of shape (slabs + 2,).
        shift: a brick's y and z in one number, y << shift | z.
        site: the coordinates of each place in the brick, int64 of shape (places, 3).
        place: the place of each site, uint64 of shape (sites,).
        mixed: the digest's linear mix of each place, uint64 of shape (places,).
        mixing: that of an axis, and of the corner of all bricks; uint64 of shape (4,).
        order: how many cells a newborn far from walls stands for.
    """

    logs: Any
    words: int
    columns: Any
    starts: Any
    shift: int
    site: Any
    place: Any
    mixed: Any
    mixing: Any
    order: int


class Masks(NamedTuple):
    """What newborns far from walls touch in some of three slabs, a bit each: below theirs, theirs, above.

    Attributes:
        first: where the masks of each place begin, by the slabs; uint32 of shape (8, places + 1).
        mask: uint64 of shape (masks,).
        target: its word, counted from the line of the brick at z - 1, above four bits for the brick's x and y, 3 (dx + 1) + dy + 1;
            uint64 of shape (masks,).
        reach: the bricks that each place touches, bit 9 (dx + 1) + 3 (dy + 1) + dz + 1 for each; uint32 of shape (8, places).
        face: the places that touch anything there; all of them with the middle slab and with none, where newborns are counted;
            uint64 of shape (8, words).
    """

    first: Any
    mask: Any
    target: Any
    reach: Any
    face: Any


def required_bytes(bricks: Bricks) -> int:
    """Return the planned bytes of the growth: touched cells, columns, three slabs a thread, lists as large as measured."""
    brick = 8 * bricks.words
    lists = 2 * (brick + 8) * (room(bricks, _LISTED * bricks.count // (bricks.last + 1)) + SLOTS)
    scratch = 3 * (brick + 9) * bricks.largest * cores()
    columns = (8 + COLUMN_BYTES) * (bricks.slabs + 2) * (bricks.wide + 2) + 72 * (bricks.slabs + 2)
    return brick * bricks.count + lists + scratch + columns


def room(bricks: Bricks, listed: int) -> int:
    """Return how many bricks a list needs room for, after one of so many."""
    around: int = _AROUND**bricks.rule.dimension
    return min(bricks.count, listed * around)


def layout(bricks: Bricks) -> Layout:
    """Return the bricks as the loops read them."""
    return Layout(
        logs=bricks.logs,
        words=bricks.words,
        columns=np.ascontiguousarray(bricks.columns[..., 0]),
        starts=bricks.starts,
        shift=bricks.deep.bit_length(),
        site=bricks.site,
        place=bricks.place.reshape(-1).astype(np.uint64),
        mixed=bricks.mixed,
        mixing=bricks.mixing(),
        order=bricks.rule.symmetry.order(bricks.rule.dimension),
    )


def masks(bricks: Bricks) -> Masks:
    """Return what newborns far from walls touch."""
    places = np.arange(len(bricks.site))
    target = bricks.site[:, None] + bricks.embedded(np.array(bricks.rule.offsets, np.int64))
    brick, place = target + bricks.size >> bricks.logs, bricks.place[tuple(np.moveaxis(target & bricks.size - 1, -1, 0))]
    word = (brick[..., 2] * bricks.words + (place >> 6)) << 4 | 3 * brick[..., 0] + brick[..., 1]
    keys, which = np.unique(places[:, None] << 16 | word, return_inverse=True)
    mask = np.zeros(len(keys), np.uint64)
    np.bitwise_or.at(mask, which.reshape(-1), bits(place).reshape(-1))
    slabs = np.arange(8)[:, None]
    chosen = slabs >> (keys & 15) // 3 & 1 != 0
    sides = [sum(0x1FF << 9 * dx for dx in range(3) if some >> dx & 1) for some in range(8)]
    reach = bricks.reach & np.array(sides, np.uint32)[:, None]
    sizes = np.stack([np.bincount(keys[row] >> 16, minlength=len(places)) for row in chosen])
    stops = np.cumsum(sizes).reshape(sizes.shape)
    first = np.column_stack((stops[:, 0] - sizes[:, 0], stops)).astype(np.uint32)
    entries = np.nonzero(chosen)[1]
    face = packed((reach != 0) | (slabs & 2 != 0) | (slabs == 0))
    return Masks(first, mask[entries], (keys[entries] & 0xFFFF).astype(np.uint64), reach, face)
