"""The loops of exactly-one growth that numba compiles, over compact bricks (`gpu_nim.backends.numpy.compact_bricks`).

Layout. Each brick has one line of memory: words D of decided cells, then words O of touched ones, 64 or 128 bytes in all. Beside them
a generation is the list of the bricks that have newborns, slab by slab, and these as words.

Invariant. D = O between generations. Touches by a mask M are D |= O & M, then O |= M: a cell is in O from its first touch on, in D
from its second. So the newborns are O ^ D, and D = O ends the generation.

Bytes. A newborn of edge moves 2.75 masks, into lines that its neighbours in the brick mostly move too; a brick in reach is read and
written once more when its slab is done.

Threads. A slab is one piece of work: `grow` touches in it what the newborns of it and of both slabs beside it touch there, and at once
decides its cells. Threads take the next slab from a counter, and write nothing else but a part of the new list that they reserve.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gpu_nim.backends.numpy.compact_bricks import NOWHERE, Layout, Masks, Shares, Walls
from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.model.digest import FINALIZER

_ONE, _SIX, _THREE = np.uint64(1), np.uint64(6), np.uint32(3)
_AHEAD = 3  # bricks of a list whose lines are prefetched
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)
#: Of the counters that threads share: the next slab, and the next free slot of the new list.
SLAB, SLOT = 0, 1


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


@intrinsic  # type: ignore[untyped-decorator]
def _lowest(_: Any, word: Any) -> Any:
    """The number of the lowest bit of a word that is not 0."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, index: Any) -> Any:
    """Prefetch an element of an array, to write."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
        void, i32 = ir.VoidType(), ir.IntType(32)
        kind = ir.FunctionType(void, [pointer.type, i32, i32, i32])
        builder.call(builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind), [pointer, i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), code


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_add(_: Any, array: Any, index: Any, value: Any) -> Any:
    """Add to an element of an array of int64, atomically, and return what it was."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.gep(make_array(signature.args[0])(context, builder, arguments[0]).data, [arguments[1]])
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
def _class(layout: Layout, walls: Walls, u: int, v: int, w: int, place: int) -> int:
    """The class of a cell at some place of a brick at these distances."""
    limits, along = walls.limits, walls.along[place]
    kind = min((u << layout.logs[0]) + along[0], limits[0])
    kind = kind * (limits[1] + 1) + min((v << layout.logs[0]) + along[1], limits[1])
    return kind * (limits[2] + 1) + min((w << layout.logs[2]) + along[2], limits[2])


@compiled
def _reflect(layout: Layout, walls: Walls, kind: int, lines: Any, base: Any, at: Any, y: int, z: int, slab: int) -> Any:
    """Touch what a newborn of this class touches in a slab; return the bricks touched, as `Masks.reach` has them."""
    logs, size_y, size_z = layout.logs, 1 << layout.logs[1], 1 << layout.logs[2]
    words, reached = np.uint64(layout.words), np.uint32(0)
    for touch in walls.touches[walls.first[kind] : walls.first[kind + 1]]:
        to_x, to_y, to_z = at[0] + touch[0], at[1] + touch[1], at[2] + touch[2]
        if to_x >> logs[0] != slab:
            continue
        dy, dz = (to_y >> logs[1]) - y + 1, (to_z >> logs[2]) - z + 1
        site = (to_x & (1 << logs[0]) - 1) << logs[1] + logs[2] | (to_y & size_y - 1) << logs[2] | to_z & size_z - 1
        place = layout.place[site]
        mask = _ONE << (place & np.uint64(63))
        word = np.uint64(base[dy] + 2 * layout.words * dz) + (place >> _SIX)
        _touch(lines, word, words, mask, mask if touch[3] else np.uint64(0))
        reached |= np.uint32(1 << 3 * dy + dz)
    return reached


@compiled
def _push(
    layout: Layout, masks: Masks, walls: Walls, old: List, table: Table, thread: int, slab: int, side: int, part: int,
    found: Any, count: int, scratch: Any,
) -> int:
    """Touch what newborns of the slab at `slab` + 1 - `side` touch in this one, and list the bricks touched; return how many."""
    words, columns, lines, listed = np.uint64(layout.words), layout.columns, table.lines, table.listed
    line, low = np.uint64(2 * layout.words), (1 << layout.shift) - 1
    first, reach, face = masks.first[side], masks.reach[side], masks.face[side]
    source = slab + 1 - side
    numbers, base, at = scratch
    last = walls.last
    start, stop = old.slots[part, source + 1, 0], old.slots[part, source + 1, 1]
    for slot in range(start, stop):
        some = np.uint64(0)
        for k in range(words):
            some |= old.born[slot, k] & face[k]
        if some == 0:
            continue
        if slot + _AHEAD < stop:
            ahead = old.bricks[slot + _AHEAD]
            for dy in range(3):
                number = np.uint64(columns[slab + 1, (ahead >> layout.shift) + dy, 0] + (ahead & low))
                _prefetch(lines, number * line)
        y, z = old.bricks[slot] >> layout.shift, old.bricks[slot] & low
        for dy in range(3):
            number = columns[slab + 1, y + dy, 0]
            numbers[dy] = (number if number != NOWHERE else table.spare[thread]) + z - 1
            base[dy] = numbers[dy] * np.int64(line)
        u, v, w = _apart(walls, source, y, z)
        beside = u < last[0] or v < last[1] or w < last[2]
        reached = np.uint32(0)
        for k in range(words):
            left = old.born[slot, k] & face[k]
            if beside and left:
                near = left & _near(walls, u, v, w, k)
                left ^= near
                while near:
                    place = k << _SIX | _lowest(near)
                    near &= near - _ONE
                    for axis, corner in enumerate((source, y, z)):
                        at[axis] = (corner << layout.logs[axis]) + layout.site[place, axis]
                    kind = _class(layout, walls, u, v, w, place)
                    reached |= _reflect(layout, walls, kind, lines, base, at, y, z, slab)
            while left:
                place = k << _SIX | _lowest(left)
                left &= left - _ONE
                reached |= reach[place]
                for entry in range(np.uint64(first[place]), np.uint64(first[place + _ONE])):
                    target = masks.target[entry]
                    _touch(lines, np.uint64(base[target & np.uint64(3)]) + (target >> np.uint64(2)), words, masks.mask[entry], np.uint64(0))
        while reached:
            bit = np.int64(_lowest(np.uint64(reached)))
            reached &= reached - np.uint32(1)
            dy, dz = bit // 3, bit % 3
            number = numbers[dy] + dz
            if not listed[number]:
                listed[number] = 1
                found[count] = (y + dy - 1) << layout.shift | z + dz - 1
                count += 1
    return count


@compiled
def _settle(layout: Layout, owned: Shares, table: Table, thread: int, slab: int, found: Any, count: int, new: List, slot: int) -> int:
    """Decide the cells of the bricks found, and list those with newborns from a slot on; return the slot after these."""
    words, columns, lines, low = layout.words, layout.columns, table.lines, (1 << layout.shift) - 1
    for brick in found[:count]:
        y, z = brick >> layout.shift, brick & low
        column = columns[slab + 1, y + 1, 0]
        number = (column if column != NOWHERE else table.spare[thread]) + z
        table.listed[number] = 0
        line = np.uint64(2 * number * words)
        own = owned.masks[slab * owned.axis[0] + y * owned.axis[1] + z * owned.axis[2] - owned.least]
        some = np.uint64(0)
        for k in range(np.uint64(words)):
            touched = lines[line + np.uint64(words) + k]
            born = (lines[line + k] ^ touched) & own[k]
            lines[line + k] = touched
            new.born[slot, k] = born
            some |= born
        new.bricks[slot] = brick
        slot += some != 0
    return slot


@compiled
def count(layout: Layout, walls: Walls, lists: List, slab: int) -> tuple[int, Any]:
    """Count the newborns of a slab, orbit by orbit, and add up their checksum."""
    last, mixing, low = walls.last, layout.mixing, (1 << layout.shift) - 1
    births, checksum = 0, np.uint64(0)
    for slot in range(lists.slots[0, slab + 1, 0], lists.slots[0, slab + 1, 1]):
        y, z = lists.bricks[slot] >> layout.shift, lists.bricks[slot] & low
        u, v, w = _apart(walls, slab, y, z)
        beside = u < last[0] or v < last[1] or w < last[2]
        corner = mixing[3] + np.uint64(slab << layout.logs[0]) * mixing[0]
        corner += np.uint64(y << layout.logs[1]) * mixing[1] + np.uint64(z << layout.logs[2]) * mixing[2]
        far, total = 0, np.uint64(0)
        for k in range(np.uint64(layout.words)):
            left = lists.born[slot, k]
            near = left & _near(walls, u, v, w, k) if beside else np.uint64(0)
            left ^= near
            while left:
                total += _finalized(corner + layout.mixed[k << _SIX | _lowest(left)])
                left &= left - _ONE
                far += 1
            while near:
                place = k << _SIX | _lowest(near)
                near &= near - _ONE
                size = walls.orbit[_class(layout, walls, u, v, w, place)]
                births += size
                checksum += _finalized(corner + layout.mixed[place]) * np.uint64(size)
        births += far * layout.order
        checksum += total * np.uint64(layout.order)
    return births, checksum


@compiled
def _finalized(mix: Any) -> Any:
    """The digest's finalizer."""
    for shift, factor in _FACTORS:
        mix = (mix ^ mix >> shift) * factor
    return mix


@compiled
def grow(
    layout: Layout, masks: Masks, walls: Walls, owned: Shares, old: List, new: List, table: Table, counters: Any, found: Any,
    pending: Any, thread: int,
) -> tuple[int, Any, bool]:
    """Grow slab after slab, as the counter says, until none is left or the new list has no room.

    Args:
        layout: the bricks.
        masks: what newborns touch.
        walls: what those near walls touch.
        owned: the cells that the rank decides.
        old: the last list.
        new: the list to make.
        table: what is known of all cells.
        counters: of all threads; int64 of shape (2,).
        found: the bricks that a slab's newborns touch, by thread; int64 of shape (threads, bricks).
        pending: a slab whose bricks are found, not decided, or -1, and how many these are, by thread; int64 of shape (threads, 2).
        thread: the thread.

    Returns:
        Births, their checksum, and whether there was room for all.
    """
    births, checksum = 0, np.uint64(0)
    slabs, bricks, scratch = len(layout.columns) - 2, found[thread], np.empty((3, 3), np.int64)
    while True:
        slab, touched = pending[thread]
        if slab < 0:
            slab, touched = _fetch_add(counters, np.uint64(SLAB), 1), 0
            if slab >= slabs:
                return births, checksum, True
            for side in range(3):
                for part in range(2):
                    if old.slots[part, slab + 2 - side, 0] < old.slots[part, slab + 2 - side, 1]:
                        touched = _push(layout, masks, walls, old, table, thread, slab, side, part, bricks, touched, scratch)
            if touched == 0:
                continue
        slot = _fetch_add(counters, np.uint64(SLOT), touched)
        if slot + touched > len(new.bricks):
            pending[thread, 0], pending[thread, 1] = slab, touched
            return births, checksum, False
        pending[thread, 0] = -1
        new.slots[0, slab + 1, 0] = slot
        new.slots[0, slab + 1, 1] = _settle(layout, owned, table, thread, slab, bricks, touched, new, slot)
        some, mixed = count(layout, walls, new, slab)
        births += some
        checksum += mixed


@compiled
def section(layout: Layout, walls: Walls, lists: List, axes: Any, level: Any) -> int:
    """Count, orbit by orbit, how often newborns have a coordinate at a level.

    Args:
        layout: the bricks.
        walls: for the classes.
        lists: the newborns.
        axes: whether each axis counts, shape (3,).
        level: from the corner of all bricks, along each axis; int64 of shape (3,).
    """
    found, low = 0, (1 << layout.shift) - 1
    for slab in range(len(layout.columns) - 2):
        for slot in range(lists.slots[0, slab + 1, 0], lists.slots[0, slab + 1, 1]):
            y, z = lists.bricks[slot] >> layout.shift, lists.bricks[slot] & low
            u, v, w = _apart(walls, slab, y, z)
            for axis, corner in enumerate((slab, y, z)):
                within = level[axis] - (corner << layout.logs[axis])
                if not axes[axis] or within < 0 or within >> layout.logs[axis]:
                    continue
                for k in range(np.uint64(layout.words)):
                    left = lists.born[slot, k]
                    while left:
                        place = k << _SIX | _lowest(left)
                        left &= left - _ONE
                        if layout.site[place, axis] == within:
                            found += walls.orbit[_class(layout, walls, u, v, w, place)]
    return found


@compiled
def exchange_rows(layout: Layout, table: Table, rows: Any, corners: Any, site: Any, back: bool) -> None:
    """Read the touched cells of bricks of `gpu_nim.backends.shared.bricks`, or put them back.

    Args:
        layout: the compact bricks.
        table: what is known of all cells.
        rows: of these bricks; uint32 of shape (n, 32).
        corners: the first site of each, from the corner of all compact bricks; int64 of shape (n, 3).
        site: where each cell is from there, row after row; int64 of shape (1024, 3).
        back: whether to put them back.
    """
    columns, logs = layout.columns, layout.logs
    for i in range(len(rows)):
        for cell in range(len(site)):
            if back and not rows[i, cell >> 5] >> np.uint32(cell & 31) & np.uint32(1):
                continue
            x, y, z = corners[i, 0] + site[cell, 0], corners[i, 1] + site[cell, 1], corners[i, 2] + site[cell, 2]
            at_x, at_y, at_z = x >> logs[0], y >> logs[1], z >> logs[2]
            if not (0 <= at_x < len(columns) - 2 and 0 <= at_y < columns.shape[1] - 2):
                continue
            column = columns[at_x + 1, at_y + 1]
            if at_z < column[1] or at_z >= column[2]:
                continue
            sites_y, sites_z = 1 << logs[1], 1 << logs[2]
            x, y, z = x & (1 << logs[0]) - 1, y & sites_y - 1, z & sites_z - 1
            place = layout.place[(x << logs[1] | y) << logs[2] | z]
            mask = _ONE << (place & np.uint64(63))
            word = np.uint64((column[0] + at_z) * 2 * layout.words) + (place >> _SIX)
            if back:
                table.lines[word] |= mask
                table.lines[word + np.uint64(layout.words)] |= mask
            elif table.lines[word] & mask:
                rows[i, cell >> 5] |= np.uint32(1) << np.uint32(cell & 31)
