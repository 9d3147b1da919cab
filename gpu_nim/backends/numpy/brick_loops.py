"""The loops of exactly-one growth that numba compiles, over compact bricks (`gpu_nim.backends.numpy.compact_bricks`).

Layout. Each brick has one line of memory: words D of decided cells, then words O of touched ones, 64 or 128 bytes in all. Beside
them a generation is the list of the bricks that have newborns, slab by slab, and these as words.

Invariant. D = O between generations. Touches by a mask M are D |= O & M, then O |= M: a cell is in O from its first touch on, in D
from its second. So the newborns are O ^ D, and D = O ends the generation.

Bytes. A newborn of edge moves 2.75 masks, into lines that its neighbours in the brick mostly move too; a brick in reach is read and
written once more when its slab is done.

Threads. A run of slabs is one piece of work: `grow` touches in it what the newborns of the run and of both slabs beside it touch
there, slab by slab, and decides the cells of a slab as soon as the one above it is done. Threads take the next run from a counter,
and write nothing else but a part of the new list that they reserve.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.np import arrayobj

from gpu_nim.backends.numpy.compact_bricks import NOWHERE, Layout, Masks, Shares, Walls
from gpu_nim.backends.numpy.compilation import compiled, intrinsic
from gpu_nim.model.digest import FINALIZER

_ONE, _SIX, _THREE = np.uint64(1), np.uint64(6), np.uint32(3)
_ALL = np.uint32((1 << 27) - 1)  # a brick and all around it, as `Masks.reach` has them
_AHEAD = np.uint64(3)  # bricks of a list whose lines are prefetched
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)


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


class Table(NamedTuple):
    """What is known of all cells.

    Attributes:
        lines: D and O of each brick, uint64 of shape (lines * 2 * words,): of all bricks, then for each thread as many as a column
            can have, which stand for columns that a rank does not have.
        listed: whether each brick is touched in this generation, uint8 of shape (lines,).
        spare: the number of the first line of these others, for each thread; int64 of shape (threads,).
    """

    lines: Any
    listed: Any
    spare: Any


class Growth(NamedTuple):
    """A growth.

    Attributes:
        layout: the bricks.
        masks: what newborns touch.
        walls: what those near walls touch.
        owned: the cells that the rank decides.
        table: what is known of all cells.
        found: the bricks touched in three slabs that follow one another, by thread; int64 of shape (threads, 3, bricks).
    """

    layout: Layout
    masks: Masks
    walls: Walls
    owned: Shares
    table: Table
    found: Any


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
def _touch(lines: Any, word: Any, words: Any, mask: Any, again: Any) -> None:
    """Touch the cells of a mask in a word; those in `again` twice."""
    seen = lines[word + words]
    lines[word] |= seen & mask | again
    lines[word + words] = seen | mask


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
def _line(layout: Layout, table: Table, thread: int, x: int, y: int, z: int) -> Any:
    """The number of a brick's line."""
    column = layout.columns[x + 1, y + 1]
    return (column if column != NOWHERE else table.spare[thread]) + z


@compiled
def _locate(layout: Layout, x: int, y: int, z: int) -> Any:
    """The place of a site in its brick."""
    logs = layout.logs
    row = (x & (1 << logs[0]) - 1) << logs[1] | y & (1 << logs[1]) - 1
    return layout.place[row << logs[2] | z & (1 << logs[2]) - 1]


@compiled
def _reflect(layout: Layout, walls: Walls, sides: int, lines: Any, base: Any, distances: Any, place: Any) -> Any:
    """Touch what a newborn near walls touches in some slabs; return the bricks touched, as `Masks.reach` has them."""
    logs, site, reached, words = layout.logs, layout.site[place], np.uint32(0), np.uint64(layout.words)
    kind = _class(layout, walls, *distances, place)
    for touch in walls.touches[walls.first[kind] : walls.first[kind + 1]]:
        x, y, z = site[0] + touch[0], site[1] + touch[1], site[2] + touch[2]
        dx, dy, dz = (x >> logs[0]) + 1, (y >> logs[1]) + 1, (z >> logs[2]) + 1
        if sides >> dx & 1:
            target = _locate(layout, x, y, z)
            mask = _ONE << (target & np.uint64(63))
            word = base[3 * dx + dy] + np.uint64(2 * layout.words * dz) + (target >> _SIX)
            _touch(lines, word, words, mask, mask if touch[3] else np.uint64(0))
            reached |= np.uint32(1 << 9 * dx + 3 * dy + dz)
    return reached


@compiled
def _push(growth: Growth, old: List, part: int, slab: int, sides: int, thread: int, counts: Any) -> None:
    """Touch what the newborns of a slab touch in some slabs, a bit each: below it, itself, above; list the bricks touched."""
    layout, masks, walls, table = growth.layout, growth.masks, growth.walls, growth.table
    words, columns, lines, listed = np.uint64(layout.words), layout.columns, table.lines, table.listed
    step, low, last, spare = np.uint64(2 * layout.words), (1 << layout.shift) - 1, walls.last, table.spare[thread]
    first, reach, face, found = masks.first[sides], masks.reach[sides], masks.face[sides], growth.found[thread]
    numbers, base = np.empty(9, np.uint64), np.empty(9, np.uint64)
    stop = np.uint64(old.slots[part, slab + 1, 1])
    for slot in range(np.uint64(old.slots[part, slab + 1, 0]), stop):
        if slot + _AHEAD < stop:
            ahead = old.bricks[slot + _AHEAD]
            for dx, dy in ((0, 1), (1, 0), (1, 1), (1, 2), (2, 1)):
                column = columns[np.uint64(slab + dx), np.uint64((ahead >> layout.shift) + dy)]
                _prefetch(lines, np.uint64(column + (ahead & low)) * step)
        y, z = old.bricks[slot] >> layout.shift, old.bricks[slot] & low
        for dx in range(3):
            for dy in range(3):
                number = columns[np.uint64(slab + dx), np.uint64(y + dy)]
                number = np.uint64((number if number != NOWHERE else spare) + z - 1)
                numbers[np.uint64(3 * dx + dy)], base[np.uint64(3 * dx + dy)] = number, number * step
        distances = u, v, w = _apart(walls, slab, y, z)
        beside = u < last[0] or v < last[1] or w < last[2]
        reached = np.uint32(0)
        for k in range(words):
            left = old.born[slot, k] & face[k]
            if beside and left:
                near = left & _near(walls, u, v, w, k)
                left ^= near
                while near:
                    reached |= _reflect(layout, walls, sides, lines, base, distances, k << _SIX | _lowest(near))
                    near &= near - _ONE
            while left:
                place = k << _SIX | _lowest(left)
                left &= left - _ONE
                reached |= reach[place]
                for entry in range(np.uint64(first[place]), np.uint64(first[place + _ONE])):
                    target = masks.target[entry]
                    word, mask = base[target & np.uint64(15)] + (target >> np.uint64(4)), masks.mask[entry]
                    seen = lines[word + words]
                    lines[word] |= seen & mask
                    lines[word + words] = seen | mask
        while reached:
            bit = _lowest(np.uint64(reached))
            reached &= reached - np.uint32(1)
            side = bit // np.uint64(3)
            number = numbers[side] + bit - np.uint64(3) * side
            if not listed[number]:
                listed[number] = 1
                dx, dy, dz = side // np.uint64(3), side % np.uint64(3), bit % np.uint64(3)
                into = (np.uint64(slab) + dx) % np.uint64(3)
                found[into, counts[into]] = (y + np.int64(dy) - 1) << layout.shift | z + np.int64(dz) - 1
                counts[into] += 1


@compiled
def _settle(growth: Growth, slab: int, thread: int, found: Any, new: List, slot: int) -> int:
    """Decide the cells of the bricks found in a slab, and list those with newborns from a slot on; return the slot after these."""
    layout, owned, lines = growth.layout, growth.owned, growth.table.lines
    words = np.uint64(layout.words)
    for brick in found:
        y, z = brick >> layout.shift, brick & (1 << layout.shift) - 1
        number = _line(layout, growth.table, thread, slab, y, z)
        growth.table.listed[number] = 0
        line = np.uint64(2 * number) * words
        own = owned.masks[slab * owned.axis[0] + y * owned.axis[1] + z * owned.axis[2] - owned.least]
        some = np.uint64(0)
        for k in range(words):
            touched = lines[line + words + k]
            born = (lines[line + k] ^ touched) & own[k]
            lines[line + k] = touched
            new.born[slot, k] = born
            some |= born
        new.bricks[slot] = brick
        slot += some != 0
    return slot


@compiled
def count(growth: Growth, lists: List, start: int, stop: int) -> tuple[int, Any, int]:
    """Count the newborns of some slabs, orbit by orbit, their checksum, and how many bricks those of each brick reach, at most."""
    layout, walls, reach = growth.layout, growth.walls, growth.masks.reach[7]
    last, mixing, low = walls.last, layout.mixing, (1 << layout.shift) - 1
    births, checksum, room = 0, np.uint64(0), 0
    for slab in range(start, stop):
        for slot in range(lists.slots[0, slab + 1, 0], lists.slots[0, slab + 1, 1]):
            y, z = lists.bricks[slot] >> layout.shift, lists.bricks[slot] & low
            u, v, w = _apart(walls, slab, y, z)
            beside = u < last[0] or v < last[1] or w < last[2]
            corner = mixing[3] + np.uint64(slab << layout.logs[0]) * mixing[0]
            corner += np.uint64(y << layout.logs[1]) * mixing[1] + np.uint64(z << layout.logs[2]) * mixing[2]
            far, total, reached = 0, np.uint64(0), np.uint32(0)
            for k in range(np.uint64(layout.words)):
                left = lists.born[slot, k]
                near = left & _near(walls, u, v, w, k) if beside else np.uint64(0)
                left ^= near
                while left:
                    place = k << _SIX | _lowest(left)
                    total += _finalized(corner + layout.mixed[place])
                    reached |= reach[place]
                    left &= left - _ONE
                    far += 1
                reached |= _ALL if near else np.uint32(0)
                while near:
                    place = k << _SIX | _lowest(near)
                    near &= near - _ONE
                    size = walls.orbit[_class(layout, walls, u, v, w, place)]
                    births += size
                    checksum += _finalized(corner + layout.mixed[place]) * np.uint64(size)
            births += far * layout.order
            checksum += total * np.uint64(layout.order)
            while reached:
                room += 1
                reached &= reached - np.uint32(1)
    return births, checksum, room


@compiled
def _finalized(mix: Any) -> Any:
    """The digest's finalizer."""
    for shift, factor in _FACTORS:
        mix = (mix ^ mix >> shift) * factor
    return mix


@compiled
def grow(growth: Growth, old: List, new: List, counters: Any, width: int, thread: int) -> tuple[int, Any, int]:
    """Grow run after run of slabs, as the counter says, until none is left; return what `count` does.

    Args:
        growth: the growth.
        old: the last list.
        new: the list to make, with room for the bricks that the newborns can reach.
        counters: the next slab, and the next free slot, of all threads; int64 of shape (2,).
        width: the slabs of a run.
        thread: the thread.
    """
    births, checksum, room = 0, np.uint64(0), 0
    slabs, counts = len(growth.layout.columns) - 2, np.zeros(3, np.int64)
    while True:
        start = _fetch_add(counters, np.uint64(0), width)
        if start >= slabs:
            return births, checksum, room
        stop = min(start + width, slabs)
        for slab in range(start - 1, stop + 1):
            # Newborns of both slabs beside the run touch in it, too; none of them outside of it.
            sides = 7 & -(1 << max(0, start + 1 - slab)) & (1 << min(3, stop + 1 - slab)) - 1
            for part in range(2):
                if old.slots[part, slab + 1, 0] < old.slots[part, slab + 1, 1]:
                    _push(growth, old, part, slab, sides, thread, counts)
            done = slab - 1
            of_done = (done + 1) % 3
            if counts[of_done]:
                slot = _fetch_add(counters, np.uint64(1), counts[of_done])
                found = growth.found[thread, of_done, : counts[of_done]]
                new.slots[0, slab, 0], new.slots[0, slab, 1] = slot, _settle(growth, done, thread, found, new, slot)
                counts[of_done] = 0
                some, mixed, reached = count(growth, new, done, slab)
                births += some
                checksum += mixed
                room += reached


@compiled
def exchange_rows(growth: Growth, rows: Any, corners: Any, site: Any, back: bool) -> None:
    """Read the touched cells of bricks of `gpu_nim.backends.shared.bricks`, or put them back.

    Args:
        growth: the growth.
        rows: of these bricks; uint32 of shape (n, 32).
        corners: the first site of each, from the corner of all compact bricks; int64 of shape (n, 3).
        site: where each cell is from there, row after row; int64 of shape (1024, 3).
        back: whether to put them back.
    """
    layout, lines, logs, columns = growth.layout, growth.table.lines, growth.layout.logs, growth.layout.columns
    for i in range(len(rows)):
        for cell in range(len(site)):
            x, y, z = corners[i, 0] + site[cell, 0], corners[i, 1] + site[cell, 1], corners[i, 2] + site[cell, 2]
            at_x, at_y, at_z = x >> logs[0], y >> logs[1], z >> logs[2]
            if not (0 <= at_x < len(columns) - 2 and 0 <= at_y < columns.shape[1] - 2):
                continue
            if not layout.heights[at_x + 1, at_y + 1, 0] <= at_z < layout.heights[at_x + 1, at_y + 1, 1]:
                continue
            place = _locate(layout, x, y, z)
            word = np.uint64(_line(layout, growth.table, 0, at_x, at_y, at_z) * 2 * layout.words) + (place >> _SIX)
            if not back:
                rows[i, cell >> 5] |= np.uint32(lines[word] >> (place & np.uint64(63)) & _ONE) << np.uint32(cell & 31)
            elif rows[i, cell >> 5] >> np.uint32(cell & 31) & np.uint32(1):
                _touch(lines, word, np.uint64(layout.words), _ONE << (place & np.uint64(63)), _ONE << (place & np.uint64(63)))
