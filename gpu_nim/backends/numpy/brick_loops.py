"""The loops of exactly-one growth that numba compiles: the algorithm of `cuda/exactly_one.cu`, a brick at a time.

A generation has a list of the bricks in which it can touch anything. Of each the loops gather the newborns around it into windows
(`gpu_nim.backends.numpy.brick_windows`). A touch is then one window, moved, and exactly one of all touches costs three operations
for the 32 cells of a row.

A place in a list is a slot. Each brick of a list has links to the slots, in the list before, of those bricks around it whose
newborns can reach it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_nim.backends.numpy.brick_windows import AROUND, MARGIN, Windows
from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.backends.shared.bricks import ROWS
from gpu_nim.model.digest import FINALIZER

_TOGETHER = 8  # bricks whose windows are made together: what is stored as words is read as vectors some time later
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)
# The number of the only bit of a word: the word times this number begins with five bits that no other such word's product does.
_SEQUENCE = 0x077CB531
_BIT = np.zeros(32, np.int64)
_BIT[[(_SEQUENCE << bit & 0xFFFFFFFF) >> 27 for bit in range(32)]] = np.arange(32)


class Shape(NamedTuple):
    """The bricks of a growth and its rule.

    Attributes:
        columns: for each column of bricks, with a border of columns around all: the number of brick w less w, the first w, the last
            w + 1, and the thread that has it, or -1; int32 of shape (columns_u + 2, columns_v + 2, 4).
        windows: what a brick reads around it.
        rows: those whose newborns reach the bricks at each (du, dv), a bit each; int64 of shape (9,).
        low, high: the bits of a word whose newborns reach the bricks below and above.
        logs: the binary logarithms of a brick's rows in u and v.
        packed, spatial: as of `BrickGrid`.
        parity_of_v: whether v counts for the parity of w.
        orbits: how many cells a newborn stands for, by whether its u, v and w are not 0; int64 of shape (2, 2, 2).
        mixing: the digest's linear mix of a cell in u, v and w, and that of the corner; uint64.
    """

    columns: Any
    windows: Windows
    rows: Any
    low: Any
    high: Any
    logs: tuple[int, int]
    packed: int
    parity_of_v: int
    spatial: bool
    orbits: Any
    mixing: Any


class List(NamedTuple):
    """A list of bricks, by slot. The last slot has no newborns: it stands for all bricks that are not in the list.

    Attributes:
        places: the (u, v, w) of bricks, counted in bricks, and their numbers; int32 of shape (slots, 4).
        newborn: the rows of newborns; uint32 of shape (slots, 32).
        reached: the bricks around each that its newborns reach, a bit each; int32 of shape (slots,).
    """

    places: Any
    newborn: Any
    reached: Any


@compiled
def link(shape: Shape, old: List, parts: Any, new: List, links: Any, index: Any, thread: int, first: int) -> int:
    """List the bricks of a thread that the newborns of the last list reach, and link them to these; return how many there are.

    Args:
        shape: the bricks.
        old: the last list.
        parts: its slots, from and to, shape (parts, 2).
        new: the list to make.
        links: for each of its bricks the slots, in the last list, of those around it; int32 of shape (slots, 27).
        index: the slot of each brick in the new list, plus one; 0 of all of the thread's.
        thread: the thread.
        first: the first slot that the thread may use.
    """
    columns, places, nowhere = shape.columns, new.places, len(links) - 1
    count = 0
    for part in range(len(parts)):
        for slot in range(parts[part, 0], parts[part, 1]):
            reached = old.reached[slot]
            if reached == 0:
                continue
            u, v, w = old.places[slot, 0], old.places[slot, 1], old.places[slot, 2]
            for side in range(9):
                some = reached >> 3 * side & 7
                if some == 0:
                    continue
                beside_u, beside_v = u + side // 3 - 1, v + side % 3 - 1
                column = columns[beside_u + 1, beside_v + 1]
                if column[3] != thread:
                    continue
                for dw in range(-1, 2):
                    if not some >> dw + 1 & 1 or w + dw < column[1] or w + dw >= column[2]:
                        continue
                    brick = column[0] + w + dw
                    at = index[brick] - 1
                    if at < 0:
                        at = first + count
                        count += 1
                        index[brick] = at + 1
                        places[at, 0], places[at, 1], places[at, 2], places[at, 3] = beside_u, beside_v, w + dw, brick
                        for d in range(AROUND):
                            links[at, d] = nowhere
                    links[at, AROUND - 1 - (3 * side + dw + 1)] = slot
    return count


@compiled
def _gathered(shape: Shape, old: List, around: Any, windows: Any) -> None:
    """Gather the windows of a brick beside no mirror."""
    nowhere = len(old.newborn) - 1
    for d in range(AROUND):
        if around[d] != nowhere:
            words, rows, targets = old.newborn[around[d]], shape.windows.sources[d // 3], shape.windows.targets[d // 3]
            right, left = np.uint64(32 - MARGIN if d % 3 == 0 else 0), np.uint64(0 if d % 3 == 0 else MARGIN + 32 * (d % 3 - 1))
            for i in range(shape.windows.gathered[d // 3]):
                windows[targets[i]] |= np.uint64(words[rows[i]]) >> right << left


@compiled
def _mirrored(shape: Shape, kind: int, old: List, around: Any, windows: Any) -> None:
    """Gather the windows of a brick beside a mirror, of this class."""
    tables = shape.windows
    for number in range(len(windows)):
        d, row = tables.side[kind, number], tables.row[kind, number]
        if d >= 0:
            here, shift = np.uint64(old.newborn[around[d], row]), np.uint64(MARGIN + tables.moved[kind, number])
            lower = (here << np.uint64(32) | np.uint64(old.newborn[around[d - 1], row])) >> shift
            windows[number] = lower | np.uint64(old.newborn[around[d + 1], row]) << np.uint64(64) - shift
    for cell in tables.cells[tables.first[kind] : tables.first[kind + 1]]:
        born = np.uint64(old.newborn[around[cell[2]], cell[3]]) >> np.uint64(cell[4]) & np.uint64(1)
        windows[cell[0]] |= born << np.uint64(cell[1])


@compiled
def grow(shape: Shape, old: List, new: List, links: Any, index: Any, touched: Any, start: int, stop: int) -> None:
    """Find the newborns of some slots of the new list, mark what they touch, and empty the index.

    Args:
        shape: the bricks.
        old: the last list.
        new: the new list.
        links: as for `link`.
        index: as for `link`.
        touched: the rows of cells that were touched, of all bricks; uint32 of shape (bricks, 32).
        start: the first slot.
        stop: the slot after the last.
    """
    size_u, size_v = 1 << shape.logs[0], 1 << shape.logs[1]
    shifts, width, last = shape.windows.shifts, shape.windows.width, shape.windows.last
    rows, span = shifts.shape[1], -(-((size_u - 1) * width + size_v) // 16) * 16
    kinds, interior = len(shifts), len(shape.windows.side) - 1
    # Four touches at once, of which the last may be rows of zeros.
    touches = np.full((-(-len(shape.windows.touches) // 4), 4), kinds * rows)
    for number, touch in enumerate(shape.windows.touches):
        touches[number // 4, number % 4] = touch
    windows = np.empty((_TOGETHER, rows), np.uint64)
    moved = np.zeros((_TOGETHER, (kinds + 1) * rows + span), np.uint32)
    once, twice = np.empty((_TOGETHER, span), np.uint32), np.empty((_TOGETHER, span), np.uint32)
    for begin in range(start, stop, _TOGETHER):
        count = min(_TOGETHER, stop - begin)
        windows[:] = 0
        for i in range(count):
            slot = begin + i
            place = new.places[slot]
            index[place[3]] = 0
            kind = (min(place[0], last[0]) * (last[1] + 1) + min(place[1], last[1])) * (last[2] + 1) + min(place[2], last[2])
            if kind == interior:
                _gathered(shape, old, links[slot], windows[i])
            else:
                _mirrored(shape, kind, old, links[slot], windows[i])
        for i in range(count):
            window = windows[i]
            for kind in range(kinds):
                bits, shifted = shifts[kind], moved[i, kind * rows : (kind + 1) * rows]
                for row in range(rows):
                    shifted[row] = np.uint32(window[row] >> bits[row])
        once[:] = 0
        twice[:] = 0
        for i in range(count):
            some, seen, again = moved[i], once[i], twice[i]
            for four in range(len(touches)):
                a, b, c, d = touches[four]
                of_a, of_b, of_c, of_d = some[a : a + span], some[b : b + span], some[c : c + span], some[d : d + span]
                for row in range(span):
                    first_two, last_two = of_a[row] | of_b[row], of_c[row] | of_d[row]
                    both = of_a[row] & of_b[row] | of_c[row] & of_d[row] | first_two & last_two
                    again[row] |= both | seen[row] & (first_two | last_two)
                    seen[row] |= first_two | last_two
        for i in range(count):
            brick = new.places[begin + i, 3]
            for u in range(size_u):
                closed = touched[brick, u * size_v : (u + 1) * size_v]
                born = new.newborn[begin + i, u * size_v : (u + 1) * size_v]
                seen, again = once[i, u * width : u * width + size_v], twice[i, u * width : u * width + size_v]
                for v in range(size_v):
                    born[v] = seen[v] & ~(again[v] | closed[v])
                    closed[v] |= seen[v]


@compiled
def count(shape: Shape, lists: List, start: int, stop: int, section: int, level: int) -> tuple[int, Any, int]:
    """Count the newborns of some slots, and find which bricks they reach.

    Args:
        shape: the bricks.
        lists: the list.
        start: the first slot.
        stop: the slot after the last.
        section: what to count, as `Bricks.section` says; 0 for nothing.
        level: at which level.

    Returns:
        Births, orbit by orbit; their checksum; those in the section.
    """
    log_u, log_v = shape.logs
    stride = shape.mixing[2] << np.uint64(shape.packed)
    births, checksum, found = 0, np.uint64(0), 0
    for slot in range(start, stop):
        place, words = lists.places[slot], lists.newborn[slot]
        any_, below, above = 0, 0, 0
        for row in range(ROWS):
            word = words[row]
            if word == 0:
                continue
            any_ |= 1 << row
            below |= ((word & shape.low) != 0) << row
            above |= ((word & shape.high) != 0) << row
            u, v = (place[0] << log_u) + (row >> log_v), (place[1] << log_v) + (row & (1 << log_v) - 1)
            w = (place[2] << 5 + shape.packed) + (u + v * shape.parity_of_v & shape.packed)
            mixed = (
                shape.mixing[3] + np.uint64(u) * shape.mixing[0] + np.uint64(v) * shape.mixing[1] + np.uint64(w) * shape.mixing[2]
            )
            sizes = shape.orbits[int(u != 0), int(v != 0)]
            left = np.uint32(word)
            while left:
                only = np.uint32(left & (~left + np.uint32(1)))
                left ^= only
                bit = _BIT[np.uint32(only * np.uint32(_SEQUENCE)) >> np.uint32(27)]
                height = w + (bit << shape.packed)
                size = sizes[int(height != 0)]
                births += size
                mix = mixed + stride * np.uint64(bit)
                for shift, factor in _FACTORS:
                    mix = (mix ^ mix >> shift) * factor
                checksum += np.uint64(size) * mix
                if section == 8:
                    found += size * ((height == level) + (v + height == level) + (shape.spatial and u + v + height == level))
                elif section:
                    found += size * ((u if section == 1 else v if section == 2 else height) == level)
        reached = 0
        if any_:
            for side in range(9):
                rows = shape.rows[side]
                reached |= (((below & rows) != 0) | ((any_ & rows) != 0) << 1 | ((above & rows) != 0) << 2) << 3 * side
        lists.reached[slot] = reached
    return births, checksum, found
