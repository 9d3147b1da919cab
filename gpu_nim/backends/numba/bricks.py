"""The loops of exactly-one growth that numba compiles, over bricks (`gpu_nim.backends.shared.bricks`).

Layout. The table has the touched cells of each brick, words O of 64 bits, 32 or 64 bytes in all. Beside it a generation is the list
of the bricks that have newborns, slab by slab, and these as words.

Invariant. E has the cells of a slab that were touched once in this generation and never before, and is 0 between generations.
Touches by a mask M are E = E & ~M | M & ~O, then O |= M. So when all touches are done, the newborns are E.

Bytes. A newborn of edge moves 2.75 masks, into words that its neighbours in the brick mostly move too. E is kept for three slabs a
thread, which caches hold; so of each brick in reach 32 bytes are read and written.

Counting. The newborns of a generation are counted when they touch, each being read then anyway: so `grow` returns the births of
the generation that it grows from, and `count` those of the last one.

Threads. A run of slabs is one piece of work: `grow` touches in it what the newborns of the run and of both slabs beside it touch
there, slab by slab, and decides the cells of a slab as soon as the one above it is done. Threads take the next run from a counter,
and write nothing else but a part of the new list that they reserve.

Memory. The loops take none, so that loading them imports nothing of what numba has for arrays.

Tables. The touches of a newborn at one place fall into a few words, each with one mask: edge has 2.75 on average. What those near a
wall touch depends on their class (`gpu_nim.backends.shared.brick_grid`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

from gpu_nim.backends.numba import compiled, intrinsic
from gpu_nim.backends.shared.brick_grid import Walls
from gpu_nim.backends.shared.bricks import FIELD
from gpu_nim.model.digest import FINALIZER

_ONE, _SIX = np.uint64(1), np.uint64(6)
_AHEAD = np.uint64(3)  # bricks of a list whose lines are prefetched
_LOW = (1 << FIELD) - 1
_BESIDE = ((np.indices((3, 3, 3)) - 1).reshape(3, 27).T << [2 * FIELD, FIELD, 0]).sum(axis=1)  # from a brick to those around it
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)


class Layout(NamedTuple):
    """Bricks as the loops read them.

    Attributes:
        logs: `BrickGrid.logs`.
        words: 64-bit words of a brick's cells.
        columns: of the column at (x, y) in bricks, with a border of one: the number of its brick z less z; int64 of shape
            (slabs + 2, columns + 2).
        starts: the number of the first brick of each slab, int64 of shape (slabs + 2,).
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


class List(NamedTuple):
    """Bricks with newborns.

    Attributes:
        bricks: their positions, each in one number (`gpu_nim.backends.shared.bricks`), int64 of shape (slots,).
        born: its newborns, uint64 of shape (slots, words).
        slots: of each slab, with a border of one, the first slot and the slot after the last; int64 of shape (slabs + 2, 2).
    """

    bricks: Any
    born: Any
    slots: Any


class Scratch(NamedTuple):
    """Three slabs that follow one another, of one thread.

    Attributes:
        once: E of each brick, uint64 of shape (3 * bricks * words,).
        touched: whether each brick is touched in this generation, uint8 of shape (3 * bricks,).
        found: those that are, as in a list, int64 of shape (3, bricks).
        counts: how many these are, int64 of shape (3,).
        around: of the columns around a brick, the brick at z - 1: its number here, and its first word in the table and here; uint64
            of shape (3, 9).
    """

    once: Any
    touched: Any
    found: Any
    counts: Any
    around: Any


class BrickGrowth(NamedTuple):
    """A growth.

    Attributes:
        layout: the bricks.
        masks: what newborns touch.
        walls: what those near walls touch.
        table: O of each brick, uint64 of shape (bricks * words,).
    """

    layout: Layout
    masks: Masks
    walls: Walls
    table: Any


@intrinsic
def _lowest(_: Any, word: Any) -> Any:
    """The number of the lowest bit of a word that is not 0."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """A pointer to an element of the first argument, by the second one."""
    return builder.gep(context.make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])


@intrinsic
def _prefetch(_: Any, array: Any, index: Any) -> Any:
    """Prefetch an element of an array, to write."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        void, i32 = ir.VoidType(), ir.IntType(32)
        kind = ir.FunctionType(void, [pointer.type, i32, i32, i32])
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind), [pointer, i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), code


@intrinsic
def _fetch_add(_: Any, array: Any, index: Any, value: Any) -> Any:
    """Add to an element of an array of int64, atomically, and return what it was."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(array, types.uint64, types.int64), code


@compiled
def _apart(walls: Walls, x: int, y: int, z: int) -> tuple[int, int, int]:
    """The distances of a brick from the walls, in bricks."""
    corner, across = walls.corner, walls.across
    u = corner[0] + across[0, 0] * x + across[0, 1] * y + across[0, 2] * z
    v = corner[1] + across[1, 0] * x + across[1, 1] * y + across[1, 2] * z
    w = corner[2] + across[2, 0] * x + across[2, 1] * y + across[2, 2] * z
    return u, v, w


@compiled
def _near(walls: Walls, u: int, v: int, w: int, word: int) -> Any:
    """The cells of a word that are near a wall, in a brick at these distances."""
    last, near = walls.last, walls.near
    return near[0, min(u, last[0]), word] | near[1, min(v, last[1]), word] | near[2, min(w, last[2]), word]


@compiled
def _class(layout: Layout, walls: Walls, u: int, v: int, w: int, place: int) -> Any:
    """The class of a cell at some place of a brick at these distances."""
    limits, along = walls.limits, walls.along[place]
    kind = min((u << layout.logs[0]) + along[0], limits[0])
    kind = kind * (limits[1] + 1) + min((v << layout.logs[0]) + along[1], limits[1])
    return kind * (limits[2] + 1) + min((w << layout.logs[2]) + along[2], limits[2])


@compiled
def _touch(table: Any, once: Any, word: Any, scratch: Any, mask: Any) -> None:
    """Touch the cells of a mask in a word of the table, and of E."""
    seen = table[word]
    once[scratch] = once[scratch] & ~mask | mask & ~seen
    table[word] = seen | mask


@compiled
def _reflect(growth: BrickGrowth, scratch: Scratch, sides: int, kind: int, place: Any) -> Any:
    """Touch what a newborn near walls, of some class, touches in some slabs; return the bricks, as `Masks.reach` has them."""
    layout, walls, reached = growth.layout, growth.walls, np.uint32(0)
    logs, site = layout.logs, layout.site[place]
    for touch in walls.touches[walls.first[kind] : walls.first[kind + 1]]:
        x, y, z = site[0] + touch[0], site[1] + touch[1], site[2] + touch[2]
        dx, dy, dz = (x >> logs[0]) + 1, (y >> logs[1]) + 1, (z >> logs[2]) + 1
        if sides >> dx & 1:
            row = (x & (1 << logs[0]) - 1) << logs[1] | y & (1 << logs[1]) - 1
            target = layout.place[row << logs[2] | z & (1 << logs[2]) - 1]
            column, word = np.uint64(3 * dx + dy), np.uint64(layout.words * dz) + (target >> _SIX)
            for _ in range(touch[3]):
                bit = _ONE << (target & np.uint64(63))
                _touch(growth.table, scratch.once, scratch.around[1, column] + word, scratch.around[2, column] + word, bit)
            reached |= np.uint32(1 << 9 * dx + 3 * dy + dz)
    return reached


@compiled
def _push(growth: BrickGrowth, old: List, slab: int, sides: int, scratch: Scratch) -> tuple[int, Any]:
    """Touch what the newborns of a slab touch in some slabs, a bit each: below it, itself, above; list the bricks touched.

    Return the births, orbit by orbit, and their checksum: of all newborns of the slab where it touches itself or nothing, otherwise
    only of those that touch.
    """
    layout, masks, walls, table = growth.layout, growth.masks, growth.walls, growth.table
    words, columns, last = np.uint64(layout.words), layout.columns, walls.last
    mixing, births, checksum = layout.mixing, 0, np.uint64(0)
    first, reach, face = masks.first[sides], masks.reach[sides], masks.face[sides]
    once, touched, found, counts, around = scratch
    stop = np.uint64(old.slots[slab + 1, 1])
    for slot in range(np.uint64(old.slots[slab + 1, 0]), stop):
        some = np.uint64(0)
        for k in range(words):
            some |= old.born[slot, k] & face[k]
        if not some:
            continue
        if slot + _AHEAD < stop:
            ahead = old.bricks[slot + _AHEAD]
            for dx, dy in ((0, 1), (1, 0), (1, 1), (1, 2), (2, 1)):
                column = columns[np.uint64(slab + dx), np.uint64((ahead >> FIELD & _LOW) + dy)]
                _prefetch(table, np.uint64(column + (ahead & _LOW)) * words)
        brick = old.bricks[slot]
        y, z = brick >> FIELD & _LOW, brick & _LOW
        for dx in range(3):
            for dy in range(3):
                number, column = columns[np.uint64(slab + dx), np.uint64(y + dy)] + z - 1, np.uint64(3 * dx + dy)
                around[0, column] = np.uint64(number + (slab + dx) % 3 * found.shape[1] - layout.starts[slab + dx])
                around[1, column], around[2, column] = np.uint64(number) * words, around[0, column] * words
        u, v, w = _apart(walls, slab, y, z)
        beside = u < last[0] or v < last[1] or w < last[2]
        corner = mixing[3] + np.uint64(slab << layout.logs[0]) * mixing[0]
        corner += np.uint64(y << layout.logs[1]) * mixing[1] + np.uint64(z << layout.logs[2]) * mixing[2]
        far, total, reached = 0, np.uint64(0), np.uint32(0)
        for k in range(words):
            left = old.born[slot, k] & face[k]
            if beside and left:
                walled = left & _near(walls, u, v, w, k)
                left ^= walled
                while walled:
                    place = k << _SIX | _lowest(walled)
                    walled &= walled - _ONE
                    kind = _class(layout, walls, u, v, w, place)
                    births += walls.orbit[kind]
                    checksum += finalized(corner + layout.mixed[place]) * np.uint64(walls.orbit[kind])
                    reached |= _reflect(growth, scratch, sides, kind, place)
            while left:
                place = k << _SIX | _lowest(left)
                left &= left - _ONE
                far += 1
                total += finalized(corner + layout.mixed[place])
                reached |= reach[place]
                for entry in range(np.uint64(first[place]), np.uint64(first[place + _ONE])):
                    target = masks.target[entry]
                    column, word = target & np.uint64(15), target >> np.uint64(4)
                    _touch(table, once, around[1, column] + word, around[2, column] + word, masks.mask[entry])
        births += far * layout.order
        checksum += total * np.uint64(layout.order)
        while reached:
            bit = _lowest(np.uint64(reached))
            reached &= reached - np.uint32(1)
            side = bit // np.uint64(3)
            number = around[0, side] + bit - np.uint64(3) * side
            if not touched[number]:
                touched[number] = 1
                into = (np.uint64(slab) + bit // np.uint64(9)) % np.uint64(3)
                found[into, counts[into]] = brick + _BESIDE[bit]
                counts[into] += 1
    return births, checksum


@compiled
def _settle(growth: BrickGrowth, slab: int, scratch: Scratch, new: List, slot: int) -> int:
    """List the bricks with newborns in a slab from a slot on; return the slot after these."""
    layout, words, into = growth.layout, np.uint64(growth.layout.words), (slab + 1) % 3
    apart = into * scratch.found.shape[1] - layout.starts[slab + 1]
    for brick in scratch.found[into, : scratch.counts[into]]:
        number = np.uint64(layout.columns[slab + 1, (brick >> FIELD & _LOW) + 1] + (brick & _LOW) + apart)
        scratch.touched[number] = 0
        some = np.uint64(0)
        for k in range(words):
            born = scratch.once[number * words + k]
            scratch.once[number * words + k] = 0
            new.born[slot, k] = born
            some |= born
        new.bricks[slot] = brick
        slot += some != 0
    scratch.counts[into] = 0
    return slot


@compiled
def count(growth: BrickGrowth, last: List, scratch: Scratch) -> tuple[int, Any]:
    """Return the births of all slabs of a list, orbit by orbit, and their checksum."""
    births, checksum = 0, np.uint64(0)
    for slab in range(len(last.slots) - 2):
        some, mixed = _push(growth, last, slab, 0, scratch)
        births += some
        checksum += mixed
    return births, checksum


@compiled
def finalized(mix: Any) -> Any:
    """The digest's finalizer."""
    for shift, factor in _FACTORS:
        mix = (mix ^ mix >> shift) * factor
    return mix


@compiled
def deal(own: Any, received: Any, owned: Any, bricks: int, parts: int, runs: Any) -> int:
    """Write runs of slabs that a rank owns, first and stop, and return how many.

    Each has one of so many parts of the listed bricks that are left, or a little more: the last runs are short, and end together.
    """
    dealt, held, share = 0, 0, 0
    for slab in range(len(owned)):
        if owned[slab]:
            if not dealt or held > share or runs[dealt - 1, 1] < slab:
                runs[dealt, 0] = slab
                bricks -= held
                dealt, held, share = dealt + 1, 0, bricks // parts
            for slots in (own, received):
                held += slots[slab + 1, 1] - slots[slab + 1, 0]
            runs[dealt - 1, 1] = slab + 1
    return dealt


@compiled
def grow(growth: BrickGrowth, own: List, received: List, new: List, counters: Any, runs: Any, scratch: Scratch) -> tuple[int, Any]:
    """Grow run after run of slabs, as the counter says, until none is left; return what `count` does of their newborns so far.

    Args:
        growth: the growth.
        own: the last list, of what the rank grew.
        received: that of what it received.
        new: the list to make, with room for the bricks around those of the last ones.
        counters: the next run, and the next free slot, of all threads; int64 of shape (2,).
        runs: the first slab of each run, and the slab after it; int64 of shape (runs, 2).
        scratch: of the thread.
    """
    births, checksum = 0, np.uint64(0)
    while True:
        run = _fetch_add(counters, np.uint64(0), 1)
        if run >= len(runs):
            return births, checksum
        start, stop = runs[run]
        for slab in range(start - 1, stop + 1):
            # Newborns of both slabs beside the run touch in it, too; none of them outside of it.
            sides = 7 & -(1 << max(0, start + 1 - slab)) & (1 << min(3, stop + 1 - slab)) - 1
            for old in (own, received):
                if old.slots[slab + 1, 0] < old.slots[slab + 1, 1]:
                    some, mixed = _push(growth, old, slab, sides, scratch)
                    if start <= slab < stop:
                        births += some
                        checksum += mixed
            found = scratch.counts[slab % 3]
            if found:
                done, slot = slab - 1, _fetch_add(counters, np.uint64(1), found)
                new.slots[slab, 0], new.slots[slab, 1] = slot, _settle(growth, done, scratch, new, slot)


@compiled
def arrange(part: Any, into: List) -> None:
    """List the bricks that a rank received, slab by slab, in an empty list with room for them."""
    slots = into.slots
    for row in range(len(part)):
        slots[(part[row, 0] >> 2 * FIELD) + 1, 1] += 1
    stop = 0
    for slab in range(len(slots)):
        start, stop = stop, stop + slots[slab, 1]
        slots[slab, 0] = slots[slab, 1] = start
    for row in range(len(part)):
        own = np.int64(part[row, 0] >> 2 * FIELD) + 1
        slot = slots[own, 1]
        slots[own, 1] += 1
        into.bricks[slot] = part[row, 0]
        for k in range(into.born.shape[1]):
            into.born[slot, k] = part[row, 1 + k]


@compiled
def select(last: List, faces: Any, part: Any) -> int:
    """Write the newborns at some places of each slab, as ranks send them; return of how many bricks.

    Args:
        last: the list.
        faces: the places, uint64 of shape (slabs, words).
        part: uint64 of shape (bricks, 1 + words).
    """
    filled, words = 0, faces.shape[1]
    for slab in range(len(faces)):
        # The first word has places of the lowest x, and the last one of the highest.
        chosen = faces[slab, 0] | faces[slab, words - 1]
        for slot in range(last.slots[slab + 1, 0], last.slots[slab + 1, 1] if chosen else 0):
            some = np.uint64(0)
            for k in range(words):
                touching = last.born[slot, k] & faces[slab, k]
                part[filled, 1 + k] = touching
                some |= touching
            part[filled, 0] = last.bricks[slot]
            filled += some != 0
    return filled
