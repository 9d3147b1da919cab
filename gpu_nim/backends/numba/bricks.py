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

Tables. The touches of a newborn at one place fall into a few words, each with one mask: edge has 2.75 on average. What those near a
wall touch depends on their class (`gpu_nim.backends.shared.brick_grid`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.np import arrayobj

from gpu_nim.backends.numba.compilation import compiled, intrinsic
from gpu_nim.backends.shared.brick_grid import Walls
from gpu_nim.model.digest import FINALIZER

_ONE, _SIX = np.uint64(1), np.uint64(6)
_AHEAD = np.uint64(3)  # bricks of a list whose lines are prefetched
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)


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


class List(NamedTuple):
    """Bricks with newborns.

    Attributes:
        bricks: the y and z of each, as `Layout.shift` says, int64 of shape (slots,).
        born: its newborns, uint64 of shape (slots, words).
        slots: of each slab, with a border of one, the first slot and the slot after the last: those that the rank grew, and those
            that it received; int64 of shape (2, slabs + 2, 2).
    """

    bricks: Any
    born: Any
    slots: Any


class Scratch(NamedTuple):
    """Three slabs that follow one another, of one thread.

    Attributes:
        once: E of each brick, uint64 of shape (3 * bricks * words,).
        touched: whether each brick is touched in this generation, uint8 of shape (3 * bricks,).
        found: the y and z of those that are, int64 of shape (3, bricks).
        counts: how many these are, int64 of shape (3,).
    """

    once: Any
    touched: Any
    found: Any
    counts: Any


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
    make_array: Any = arrayobj.make_array
    return builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])


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
def _reflect(growth: BrickGrowth, once: Any, sides: int, base: Any, near: Any, kind: int, place: Any) -> Any:
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
                _touch(growth.table, once, base[column] + word, near[column] + word, _ONE << (target & np.uint64(63)))
            reached |= np.uint32(1 << 9 * dx + 3 * dy + dz)
    return reached


@compiled
def _push(growth: BrickGrowth, old: List, part: int, slab: int, sides: int, scratch: Scratch) -> tuple[int, Any]:
    """Touch what the newborns of a slab touch in some slabs, a bit each: below it, itself, above; list the bricks touched.

    Return the births, orbit by orbit, and their checksum: of all newborns of the slab where it touches itself or nothing, otherwise
    only of those that touch.
    """
    layout, masks, walls, table = growth.layout, growth.masks, growth.walls, growth.table
    words, columns, low, last = np.uint64(layout.words), layout.columns, (1 << layout.shift) - 1, walls.last
    mixing, births, checksum = layout.mixing, 0, np.uint64(0)
    first, reach, face = masks.first[sides], masks.reach[sides], masks.face[sides]
    once, touched, found, counts = scratch.once, scratch.touched, scratch.found, scratch.counts
    numbers, base, near = np.empty(9, np.uint64), np.empty(9, np.uint64), np.empty(9, np.uint64)
    # From the number of a brick in the table to that in the scratch.
    apart = np.array([(slab + dx) % 3 * found.shape[1] - layout.starts[slab + dx] for dx in range(3)])
    stop = np.uint64(old.slots[part, slab + 1, 1])
    for slot in range(np.uint64(old.slots[part, slab + 1, 0]), stop):
        some = np.uint64(0)
        for k in range(words):
            some |= old.born[slot, k] & face[k]
        if not some:
            continue
        if slot + _AHEAD < stop:
            ahead = old.bricks[slot + _AHEAD]
            for dx, dy in ((0, 1), (1, 0), (1, 1), (1, 2), (2, 1)):
                column = columns[np.uint64(slab + dx), np.uint64((ahead >> layout.shift) + dy)]
                _prefetch(table, np.uint64(column + (ahead & low)) * words)
        y, z = old.bricks[slot] >> layout.shift, old.bricks[slot] & low
        for dx in range(3):
            for dy in range(3):
                number, column = columns[np.uint64(slab + dx), np.uint64(y + dy)] + z - 1, np.uint64(3 * dx + dy)
                numbers[column] = np.uint64(number + apart[dx])
                base[column], near[column] = np.uint64(number) * words, numbers[column] * words
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
                    reached |= _reflect(growth, once, sides, base, near, kind, place)
            while left:
                place = k << _SIX | _lowest(left)
                left &= left - _ONE
                far += 1
                total += finalized(corner + layout.mixed[place])
                reached |= reach[place]
                for entry in range(np.uint64(first[place]), np.uint64(first[place + _ONE])):
                    target = masks.target[entry]
                    column, word = target & np.uint64(15), target >> np.uint64(4)
                    _touch(table, once, base[column] + word, near[column] + word, masks.mask[entry])
        births += far * layout.order
        checksum += total * np.uint64(layout.order)
        while reached:
            bit = _lowest(np.uint64(reached))
            reached &= reached - np.uint32(1)
            side = bit // np.uint64(3)
            number = numbers[side] + bit - np.uint64(3) * side
            if not touched[number]:
                touched[number] = 1
                dx, dy, dz = side // np.uint64(3), side % np.uint64(3), bit % np.uint64(3)
                into = (np.uint64(slab) + dx) % np.uint64(3)
                found[into, counts[into]] = (y + np.int64(dy) - 1) << layout.shift | z + np.int64(dz) - 1
                counts[into] += 1
    return births, checksum


@compiled
def _settle(growth: BrickGrowth, slab: int, scratch: Scratch, new: List, slot: int) -> int:
    """List the bricks with newborns in a slab from a slot on; return the slot after these."""
    layout, words, into = growth.layout, np.uint64(growth.layout.words), (slab + 1) % 3
    apart = into * scratch.found.shape[1] - layout.starts[slab + 1]
    for brick in scratch.found[into, : scratch.counts[into]]:
        y, z = brick >> layout.shift, brick & (1 << layout.shift) - 1
        number = np.uint64(layout.columns[slab + 1, y + 1] + z + apart)
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
    for slab in range(last.slots.shape[1] - 2):
        some, mixed = _push(growth, last, 0, slab, 0, scratch)
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
def deal(slots: Any, owned: Any, share: int) -> Any:
    """Return runs of slabs that a rank owns, first and stop, shape (runs, 2), which hold more than a share of the listed bricks."""
    runs, dealt, held = np.empty((len(owned), 2), np.int64), 0, 0
    for slab in range(len(owned)):
        if owned[slab]:
            if not dealt or held > share or runs[dealt - 1, 1] < slab:
                runs[dealt, 0] = slab
                dealt, held = dealt + 1, 0
            for part in range(2):
                held += slots[part, slab + 1, 1] - slots[part, slab + 1, 0]
            runs[dealt - 1, 1] = slab + 1
    return runs[:dealt]


@compiled
def grow(growth: BrickGrowth, old: List, new: List, counters: Any, runs: Any, scratch: Scratch) -> tuple[int, Any]:
    """Grow run after run of slabs, as the counter says, until none is left; return what `count` does of their newborns so far.

    Args:
        growth: the growth.
        old: the last list.
        new: the list to make, with room for the bricks around those of the last one.
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
            for part in range(2):
                if old.slots[part, slab + 1, 0] < old.slots[part, slab + 1, 1]:
                    some, mixed = _push(growth, old, part, slab, sides, scratch)
                    if start <= slab < stop:
                        births += some
                        checksum += mixed
            found = scratch.counts[slab % 3]
            if found:
                done, slot = slab - 1, _fetch_add(counters, np.uint64(1), found)
                new.slots[0, slab, 0], new.slots[0, slab, 1] = slot, _settle(growth, done, scratch, new, slot)
