"""The loops of macro-cells that numba compiles (see `gpu_nim.backends.numpy.row_tables` and `macro_cells`)."""

from typing import Any

import numpy as np

from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.model.digest import FINALIZER

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(FINALIZER[0][1])


@compiled
def _slot(row: Any, mask: int) -> Any:
    """Where the search for a row begins, in a table of mask + 1 slots."""
    mixed = np.uint64(0)
    for value in row:
        mixed = (mixed ^ np.uint64(value)) * _SEED
        mixed ^= mixed >> np.uint64(29)
    mixed *= _FACTOR
    return np.int64(mixed >> np.uint64(24)) & mask


@compiled
def number(rows: Any, known: Any, size: int, slots: Any, numbers: Any) -> int:
    """Write the number of each row into `numbers`, append those that are new to `known`, and return how many are known then.

    Args:
        rows: shape (n, width).
        known: the distinct rows, with room for n more.
        size: how many there are.
        slots: their numbers by a hash of the row, or -1; its length is a power of two, at least a third of it free.
        numbers: int32, shape (n,).
    """
    mask = len(slots) - 1
    width = rows.shape[1]
    for i in range(len(rows)):
        at = _slot(rows[i], mask)
        while True:
            found = slots[at]
            if found < 0:
                for j in range(width):
                    known[size, j] = rows[i, j]
                slots[at] = found = size
                size += 1
                break
            same = True
            for j in range(width):
                same &= known[found, j] == rows[i, j]
            if same:
                break
            at = (at + 1) & mask
        numbers[i] = found
    return size


@compiled
def insert(known: Any, size: int, slots: Any) -> None:
    """Enter the numbers of all known rows into `slots`, which holds -1 alone; arguments as for `number`."""
    mask = len(slots) - 1
    for i in range(size):
        at = _slot(known[i], mask)
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = i


@compiled
def unknown(numbers: Any, memo: Any, found: Any) -> int:
    """Write the numbers whose memo is -1, each once, into `found`, set their memo to -2, and return how many they are."""
    count = 0
    for number in numbers:
        if memo[number] == -1:
            memo[number] = -2
            found[count] = number
            count += 1
    return count


@compiled
def grow(now: Any, never: Any, moves: Any, births: Any, generations: int) -> None:
    """Grow blocks in place; each layer of a block is one word.

    Args:
        now: the cells alive, shape (n, layers).
        never: the cells outside of the universe, same shape.
        moves: of each offset, by how many layers and by how many bits it leads, shape (offsets, 2).
        births: the numbers of touches on which a cell is born, ascending.
        generations: how many.
    """
    blocks, layers = now.shape
    places = 0
    while births[-1] >> places:
        places += 1
    digits = np.empty((places + 1, layers), now.dtype)  # of the numbers of touches; the last says that there are more
    for block in range(blocks):
        for _ in range(generations):
            digits[:] = 0
            for k in range(len(moves)):
                by, bits = moves[k]
                for layer in range(max(0, -by), layers - max(0, by)):
                    word = now[block, layer]
                    carry = word << now.dtype.type(bits) if bits >= 0 else word >> now.dtype.type(-bits)
                    for place in range(places):
                        digit = digits[place, layer + by]
                        digits[place, layer + by] = digit ^ carry
                        carry &= digit
                    digits[places, layer + by] |= carry
            for layer in range(layers):
                born = now[block, layer] & now.dtype.type(0)
                for count in births:
                    exactly = ~(never[block, layer] | digits[places, layer])
                    for place in range(places):
                        exactly &= digits[place, layer] if count >> place & 1 else ~digits[place, layer]
                    born |= exactly
                now[block, layer] |= born
