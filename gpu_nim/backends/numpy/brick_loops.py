"""The loops of exactly-one growth that numba compiles: the algorithm of `cuda/exactly_one.cu`, a brick at a time.

A generation has a list of the bricks in which it can touch anything. Of each the loops gather the newborns around it into a window
of 64 bits a row, the row's own word in the middle and 16 bits of either neighbour. A touch is then one window, moved, and exactly
one of all touches costs three operations for the 32 cells of a row. What lies beyond a mirror is fetched from the rows that stand
for it.

A place in a list is a slot. Each brick of a list has links to the slots, in the list before, of those bricks around it whose
newborns can reach it. Of the 27 bricks around a brick, d = 9 (du + 1) + 3 (dv + 1) + dw + 1 is the one at (du, dv, dw).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.model.digest import FINALIZER

_ROWS = 32
AROUND, ITSELF = 27, 13
MARGIN = 16
"""Bits of a window on either side of its word."""
_TOGETHER = 8  # bricks whose windows are made together: what is stored as words is read as vectors some time later
_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)
# The number of the only bit of a word: the word times this number begins with five bits that no other such word's product does.
_SEQUENCE = 0x077CB531
_BIT = np.zeros(_ROWS, np.int64)
_BIT[[(_SEQUENCE << bit & 0xFFFFFFFF) >> 27 for bit in range(_ROWS)]] = np.arange(_ROWS)


class Shape(NamedTuple):
    """The bricks of a growth and its rule.

    Attributes:
        columns: for each column of bricks, with a border of columns around all: the number of brick w less w, the first w, the last
            w + 1, and the thread that has it, or -1; int32 of shape (columns_u + 2, columns_v + 2, 4).
        logs: the binary logarithms of a brick's rows in u and v.
        reach: how far a newborn touches: rows in u, rows in v, bits.
        packed, folded, signed, spatial: as of `BrickGrid`.
        rows: those whose newborns reach the bricks at each (du, dv), a bit each; int64 of shape (9,).
        gathered: how many rows of the bricks around a brick lie in its windows; int64 of shape (27,).
        sources: their numbers in their bricks; uint64 of shape (27, 32).
        targets: their numbers in the window; uint64 of shape (27, 32).
        shifts: by which the window of each row is shifted for each distance of touches in w; uint64 of shape (distances, rows).
        touches: for each offset, where the rows that touch begin among those of all distances, and of zeros to fill up; int64 of
            shape (fours of offsets, 4).
        mixing: the digest's linear mix of a cell in u, v and w, and that of the corner; uint64.
    """

    columns: Any
    logs: tuple[int, int]
    reach: tuple[int, int, int]
    packed: int
    folded: bool
    signed: bool
    spatial: bool
    rows: Any
    gathered: Any
    sources: Any
    targets: Any
    shifts: Any
    touches: Any
    mixing: Any


class Lists(NamedTuple):
    """Two lists of bricks in turn, by slot: that of the last generation done and that of the next.

    Attributes:
        places: the (u, v, w) of bricks, counted in bricks, and their numbers; int32 of shape (slots, 4).
        newborn: the rows of newborns; uint32 of shape (32 slots,).
        reached: the bricks around each that its newborns reach, a bit each; int32 of shape (slots,).
    """

    places: Any
    newborn: Any
    reached: Any


@compiled
def link(shape: Shape, old: Lists, parts: Any, new: Lists, links: Any, linked: Any, index: Any, thread: int, first: int) -> int:
    """List the bricks of a thread that the newborns of the last list reach, and link them to these; return how many there are.

    Args:
        shape: the bricks.
        old: the last list.
        parts: its slots, from and to, shape (parts, 2).
        new: the list to make.
        links: of its slots, int32 of shape (slots, 27).
        linked: which of them there are, a bit each; int32 of shape (slots,).
        index: the slot of each brick in the new list, plus one; 0 of all of the thread's.
        thread: the thread.
        first: the first slot that the thread may use.
    """
    columns, places = shape.columns, new.places
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
                        linked[at] = 0
                    back = AROUND - 1 - (3 * side + dw + 1)
                    links[at, back] = slot
                    linked[at] |= 1 << back
    return count


@compiled
def _parity(shape: Shape, u: int, v: int) -> int:
    return (u if shape.folded else u + v) & shape.packed


@compiled
def _fold(shape: Shape, u: int, v: int, w: int, signs: bool) -> tuple[int, int, int]:
    """Take a cell to its representative by reflections, in w = 0 too with `signs`."""
    while True:
        if u < 0:
            u, v = -u, v + u
        elif v < 0:
            u, v, w = u + v * shape.spatial, -v, w + v
        elif signs and w < 0:
            v, w = v + 2 * w, -w
        else:
            return u, v, w


@compiled
def _beside(shape: Shape, u: int, v: int) -> int:
    """Which of the bricks around a brick, with dw = 0, has the row (u, v), counted from its first row; -1 where none has."""
    du, dv = u >> shape.logs[0], v >> shape.logs[1]
    return -1 if du < -1 or du > 1 or dv < -1 or dv > 1 else ITSELF + 9 * du + 3 * dv


@compiled
def _row(shape: Shape, u: int, v: int) -> int:
    return (u & (1 << shape.logs[0]) - 1) << shape.logs[1] | v & (1 << shape.logs[1]) - 1


@compiled
def _word(links: Any, linked: int, newborn: Any, d: int, row: int) -> Any:
    return np.uint64(newborn[links[d] * _ROWS + row]) if linked >> d & 1 else np.uint64(0)


@compiled
def _mirrored(shape: Shape, place: Any, links: Any, linked: int, newborn: Any, windows: Any) -> None:
    """Gather the windows of a brick beside a mirror."""
    first_u, first_v = place[0] << shape.logs[0], place[1] << shape.logs[1]
    reach_u, reach_v, reach_w = shape.reach
    width = (1 << shape.logs[1]) + 2 * reach_v
    for number in range(len(windows)):
        u, v, moved = first_u + number // width - reach_u, first_v + number % width - reach_v, 0
        if shape.folded and (u < 0 or v < 0):
            parity = _parity(shape, u, v)
            u, v, moved = _fold(shape, u, v, 0, False)
            moved = (parity + moved - _parity(shape, u, v)) >> shape.packed
        d, row = _beside(shape, u - first_u, v - first_v), _row(shape, u, v)
        # Images of cells that touch the brick lie beside it: nothing is asked of others.
        if d < 0:
            continue
        here, shift = _word(links, linked, newborn, d, row), np.uint64(MARGIN + moved)
        lower = (here << np.uint64(32) | _word(links, linked, newborn, d - 1, row)) >> shift & np.uint64(0xFFFFFFFF)
        window = (_word(links, linked, newborn, d + 1, row) << np.uint64(32) | here) >> shift << np.uint64(32) | lower
        if shape.signed and place[2] == 0:
            for k in range(moved - reach_w, 0):  # cells beyond the mirror w = 0, one by one
                x, y, z = _fold(shape, u, v, (k << shape.packed) + _parity(shape, u, v), True)
                bit, image = z - _parity(shape, x, y) >> shape.packed, _beside(shape, x - first_u, y - first_v)
                if image >= 0 and bit < 64:
                    word = _word(links, linked, newborn, image + (bit >> 5), _row(shape, x, y))
                    window |= (word >> np.uint64(bit & 31) & np.uint64(1)) << np.uint64(k - moved + MARGIN)
        windows[number] = window


@compiled
def _gathered(shape: Shape, links: Any, linked: int, newborn: Any, windows: Any) -> None:
    """Gather the windows of a brick."""
    for d in range(AROUND):
        if linked >> d & 1:
            first, rows, targets = np.uint64(links[d]) * np.uint64(_ROWS), shape.sources[d], shape.targets[d]
            right, left = np.uint64(32 - MARGIN if d % 3 == 0 else 0), np.uint64(0 if d % 3 == 0 else MARGIN + 32 * (d % 3 - 1))
            for i in range(shape.gathered[d]):
                windows[targets[i]] |= np.uint64(newborn[first + rows[i]]) >> right << left


@compiled
def _orbit(shape: Shape, u: int, v: int, bottom: bool) -> int:
    """How many cells a representative in row (u, v) stands for, at w = 0 or anywhere above."""
    if not shape.folded:
        return 1
    walls = (v == 0) + (shape.spatial and u == 0)
    arrangements = (6 if walls == 0 else 3 if walls == 1 else 1) if shape.spatial else 2 - walls
    if not shape.signed:
        return arrangements
    # Coordinates that are not 0: all of them, or those above w, which are v + w and, in space, u + v + w.
    return arrangements << ((v != 0) + (shape.spatial and u + v != 0) if bottom else 2 + shape.spatial)


@compiled
def settle(shape: Shape, lists: Lists, start: int, stop: int, section: int, level: int) -> tuple[int, Any, int]:
    """Find which bricks the newborns of some slots reach, and count them.

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
    log_v = shape.logs[1]
    low = np.uint32((1 << shape.reach[2]) - 1)
    high = np.uint32(0xFFFFFFFF ^ 0xFFFFFFFF >> shape.reach[2])
    stride = shape.mixing[2] << np.uint64(shape.packed)
    births, checksum, found = 0, np.uint64(0), 0
    for slot in range(start, stop):
        place = lists.places[slot]
        words = lists.newborn[slot * _ROWS : (slot + 1) * _ROWS]
        any_, below, above = 0, 0, 0
        for row in range(_ROWS):
            word = words[row]
            if word == 0:
                continue
            any_ |= 1 << row
            below |= ((word & low) != 0) << row
            above |= ((word & high) != 0) << row
            u, v = (place[0] << shape.logs[0]) + (row >> log_v), (place[1] << log_v) + (row & (1 << log_v) - 1)
            w = (place[2] << 5 + shape.packed) + _parity(shape, u, v)
            mixed = (
                shape.mixing[3] + np.uint64(u) * shape.mixing[0] + np.uint64(v) * shape.mixing[1] + np.uint64(w) * shape.mixing[2]
            )
            above_all = _orbit(shape, u, v, False)
            left = np.uint32(word)
            while left:
                only = np.uint32(left & (~left + np.uint32(1)))
                left ^= only
                bit = _BIT[np.uint32(only * np.uint32(_SEQUENCE)) >> np.uint32(27)]
                size = _orbit(shape, u, v, True) if w == 0 and bit == 0 else above_all
                births += size
                mix = mixed + stride * np.uint64(bit)
                for shift, factor in _FACTORS:
                    mix = (mix ^ mix >> shift) * factor
                checksum += np.uint64(size) * mix
                if section:
                    height = w + (bit << shape.packed)
                    if section == 8:
                        found += size * ((height == level) + (v + height == level) + (shape.spatial and u + v + height == level))
                    else:
                        found += (u if section == 1 else v if section == 2 else height) == level
        reached = 0
        if any_:
            for side in range(9):
                rows = shape.rows[side]
                reached |= (((below & rows) != 0) | ((any_ & rows) != 0) << 1 | ((above & rows) != 0) << 2) << 3 * side
        lists.reached[slot] = reached
    return births, checksum, found


@compiled
def grow(shape: Shape, old: Lists, new: Lists, links: Any, linked: Any, index: Any, touched: Any, start: int, stop: int) -> None:
    """Find the newborns of some slots of the new list, mark what they touch, and empty the index.

    Args:
        shape: the bricks.
        old: the last list.
        new: the new list.
        links: as for `link`.
        linked: as for `link`.
        index: as for `link`.
        touched: the rows of cells that were touched, of all bricks; uint32 of shape (32 bricks,).
        start: the first slot.
        stop: the slot after the last.
    """
    size_u, size_v = 1 << shape.logs[0], 1 << shape.logs[1]
    width = size_v + 2 * shape.reach[1]
    rows, span = shape.shifts.shape[1], -(-((size_u - 1) * width + size_v) // 16) * 16
    kinds = len(shape.shifts)
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
            if (shape.folded and ((shape.spatial and place[0] == 0) or place[1] == 0)) or (shape.signed and place[2] == 0):
                _mirrored(shape, place, links[slot], linked[slot], old.newborn, windows[i])
            else:
                _gathered(shape, links[slot], linked[slot], old.newborn, windows[i])
        for i in range(count):
            window = windows[i]
            for kind in range(kinds):
                shifts, shifted = shape.shifts[kind], moved[i, kind * rows : (kind + 1) * rows]
                for row in range(rows):
                    shifted[row] = np.uint32(window[row] >> shifts[row])
        once[:] = 0
        twice[:] = 0
        for i in range(count):
            some, seen, again = moved[i], once[i], twice[i]
            for four in range(len(shape.touches)):
                a, b, c, d = shape.touches[four]
                of_a, of_b, of_c, of_d = some[a : a + span], some[b : b + span], some[c : c + span], some[d : d + span]
                for row in range(span):
                    first_two, last_two = of_a[row] | of_b[row], of_c[row] | of_d[row]
                    both = of_a[row] & of_b[row] | of_c[row] & of_d[row] | first_two & last_two
                    again[row] |= both | seen[row] & (first_two | last_two)
                    seen[row] |= first_two | last_two
        for i in range(count):
            at, to = new.places[begin + i, 3] * _ROWS, (begin + i) * _ROWS
            for u in range(size_u):
                closed = touched[at + u * size_v : at + (u + 1) * size_v]
                born = new.newborn[to + u * size_v : to + (u + 1) * size_v]
                seen, again = once[i, u * width : u * width + size_v], twice[i, u * width : u * width + size_v]
                for v in range(size_v):
                    born[v] = seen[v] & ~(again[v] | closed[v])
                    closed[v] |= seen[v]
