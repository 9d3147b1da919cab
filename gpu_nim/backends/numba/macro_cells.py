"""Macro-cells by loops that numba compiles: a table of rows by a hash of each, and the growth of small blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.numba import LOADED_BYTES, compiled
from gpu_nim.backends.numpy.macro_cells import Budget, MacroCells, Numbers, RowTable
from gpu_nim.model.digest import FINALIZER

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(FINALIZER[0][1])
_AT_ONCE = 1 << 16  # rows that may all be new


class CompiledRowTable(RowTable):
    """`RowTable` by compiled loops: a row is found in a table of hashes, and compared."""

    def __init__(self, width: int, dtype: type[np.integer], budget: Budget) -> None:
        super().__init__(width, dtype, budget)
        self._slots = np.empty(0, np.int32)

    def number(self, rows: NDArray[Any]) -> Numbers:
        numbers = np.empty(len(rows), np.int32)
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            self._reserve(len(part))
            needed = self._size + len(part)
            if 3 * needed > 2 * len(self._slots):
                self._budget.take(-self._slots.nbytes)
                self._slots = np.empty(0, np.int32)  # what it held is entered again
                slots = self._budget.longer(self._slots, 1 << (2 * needed).bit_length(), -1)
                _insert(self._known, self._size, slots)
                self._slots = slots
            self._size = _number(part, self._known, self._size, self._slots, numbers[start : start + len(part)])
        return numbers

    def unknown(self, step: int, numbers: Numbers) -> Numbers:
        found = np.empty(len(numbers), np.int32)
        return found[: _unknown(numbers, self._memo(step), found)].copy()


class CompiledMacroCells(MacroCells):
    """`MacroCells` by compiled loops."""

    loaded_bytes = LOADED_BYTES
    _table = CompiledRowTable

    def _grow(self, now: NDArray[Any], never: NDArray[Any], generations: int) -> None:
        _grow(now, never, self._moves, self._births, generations)


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
def _number(rows: Any, known: Any, size: int, slots: Any, numbers: Any) -> int:
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
def _insert(known: Any, size: int, slots: Any) -> None:
    """Enter the numbers of all known rows into `slots`, which holds -1 alone; arguments as for `_number`."""
    mask = len(slots) - 1
    for i in range(size):
        at = _slot(known[i], mask)
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = i


@compiled
def _unknown(numbers: Any, memo: Any, found: Any) -> int:
    """Write the numbers whose memo is -1, each once, into `found`, set their memo to -2, and return how many they are."""
    count = 0
    for number in numbers:
        if memo[number] == -1:
            memo[number] = -2
            found[count] = number
            count += 1
    return count


@compiled
def _grow(now: Any, never: Any, moves: Any, births: Any, generations: int) -> None:
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
