r"""Grundy values of games whose moves break heaps, without every option of every heap.

A heap that may be left as two heaps has n / 2 options, one that may be left as three n^2 / 12.

**Two heaps: sparse space** (Berlekamp, Conway and Guy, *Winning Ways*, chapter 4). Fix a mask and call a value rare where it has
an even number of binary 1s in the mask, else common. The nim-sum of two rare or two common values is rare, of a rare and a common
one common. So a common value is left only by breaking off a rare heap, or by one heap: the few rare heaps give the least common
value that is not left, and the heap has it unless a smaller rare value is not left either, which a scan of the other options,
until all of these are met, decides. That is exact for every mask; it is fast for one with few rare heaps, which most octal games
have.

**Three heaps:** with each smallest heap, the nim-sums of its value with those of the two others, in one step.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError

Flags = NDArray[np.bool_]

#: Bits of a digit: the heap may be left as so many heaps.
ONE, TWO, THREE = 2, 4, 8

_MASK_BITS = 12  # of the values that a mask is chosen for
_MOST_OF_THREE = 1 << 14  # heaps that may be left as three: ten minutes, and their cube
_FIRST_SCAN = 64  # options looked at first for rare values


def pair_values(values: Ints, total: int, unequal: bool = False, start: int = 1, most: int | None = None) -> Ints:
    """The nim-sums of the values of two heaps, not empty, of `total` in all; repetitions allowed.

    Only those with a smaller heap of `start` to `start + most - 1`, if given.

    >>> pair_values(np.arange(9), 6).tolist(), pair_values(np.arange(9), 6, unequal=True).tolist()
    ([4, 6, 0], [4, 6])
    """
    last = (total - unequal) // 2
    if most is not None:
        last = min(last, start + most - 1)
    if last < start:
        return np.empty(0, dtype=np.int64)
    return values[start : last + 1] ^ values[total - last : total - start + 1][::-1]


def extended(digits: Sequence[int], unequal: bool, known: Ints, count: int) -> Ints:
    """The Grundy values of the heaps of 0 to count - 1 counters, int64 (count,), from the first of them.

    Args:
        digits: digit i says what a move that takes i counters may leave: bit 0 nothing, bit k one to three heaps.
        unequal: whether two heaps must differ.
        known: the values of the smallest heaps, (m,), of which the mask of sparse space is chosen.
        count: the number of values.

    Raises:
        UsageError: there are too many, of heaps that may be left as three.

    >>> extended((0, 7, 7), False, np.empty(0, dtype=np.int64), 12).tolist()  # Kayles
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    values = np.zeros(count, dtype=np.int64)
    values[: len(known)] = known[:count]
    start = min(max(1, len(known)), count)  # no heap at all has the value 0
    if any(digit & THREE for digit in digits):
        if count > _MOST_OF_THREE:
            raise UsageError(f"heaps that may be left as three are solved up to {_MOST_OF_THREE - 1:,} counters, got {count - 1:,}")
        _with_triples(digits, values, start)
    else:
        _by_sparse_space(digits, unequal, values, start)
    return values


def sparse_mask(values: Ints) -> int:
    """The mask for which the fewest of the values are rare; all higher bits are set, so that larger values can be common.

    >>> kayles = extended((0, 7, 7), False, np.empty(0, dtype=np.int64), 256)
    >>> mask = sparse_mask(kayles)
    >>> sum((int(value) & mask).bit_count() % 2 == 0 for value in kayles)  # of 256
    10
    """
    bits = min(int(values.max(initial=1)).bit_length(), _MASK_BITS)
    sums = np.bincount(values[values < 1 << bits], minlength=1 << bits)
    for bit in range(bits):  # the Walsh-Hadamard transform: how many values are rare, less how many are common
        even, odd = sums.reshape(-1, 2, 1 << bit).transpose(1, 0, 2)
        sums = np.stack((even + odd, even - odd), axis=1).reshape(-1)
    return int(sums[1:].argmin()) + 1 | -1 << bits


def _of_one(digits: Sequence[int], values: Ints, n: int) -> list[Ints]:
    """The values of the options that leave one heap or none."""
    found = [np.empty(0, dtype=np.int64)]
    for take, digit in enumerate(digits[: n + 1]):
        if take and digit & (ONE if take < n else 1):
            found.append(values[n - take : n - take + 1])
    return found


def _by_sparse_space(digits: Sequence[int], unequal: bool, values: Ints, start: int) -> None:
    """Fill values[start:], in place."""
    count = len(values)
    mask = sparse_mask(values[:start])
    takes = [take for take, digit in enumerate(digits) if digit & TWO]
    width = 2 << int(values[:start].max(initial=1)).bit_length()  # twice as many as nim-sums can be
    common = _common(mask, width)
    rare = np.empty(count, dtype=np.int64)
    here = 1 + np.flatnonzero(~common[values[1:start]])
    rares = len(here)
    rare[:rares] = here
    for n in range(start, count):
        found = np.zeros(width, dtype=np.bool_)
        for one in _of_one(digits, values, n):
            found[one] = True
        for take in takes:
            left = n - take
            parts = rare[: bisect_left(rare, left, hi=rares)]
            if unequal and not left % 2:
                parts = parts[parts != left // 2]
            found[values[parts] ^ values[left - parts]] = True
        # Every common value that some option leaves is found.
        value = int((common & ~found).argmax())
        missing = np.flatnonzero(~found[:value] & ~common[:value])
        if len(missing):
            value = _least_not_left(values, [n - take for take in takes], unequal, found, missing, value)
        values[n] = value
        if 2 * value >= width:
            width *= 2
            common = _common(mask, width)
        if not common[value]:
            rare[rares] = n
            rares += 1


def _least_not_left(values: Ints, lefts: list[int], unequal: bool, found: Flags, missing: Ints, otherwise: int) -> int:
    """The least of the missing values that no two heaps of these totals have, or else the other value; those met are marked."""
    for left in lefts:
        start, size = 1, _FIRST_SCAN
        while start <= left // 2:
            found[pair_values(values, left, unequal, start, size)] = True
            missing = missing[~found[missing]]
            if not len(missing):
                return otherwise
            start, size = start + size, 4 * size
    return int(missing[0])


def _common(mask: int, width: int) -> Flags:
    """Whether each value below `width` has an odd number of 1s in the mask."""
    return np.asarray(np.bitwise_count(np.arange(width) & mask) % 2 == 1)


def _with_triples(digits: Sequence[int], values: Ints, start: int) -> None:
    """Fill values[start:], in place."""
    width = 2 << int(values[:start].max(initial=1)).bit_length()  # more than nim-sums can be
    for n in range(start, len(values)):
        found = np.zeros(width, dtype=np.bool_)
        for one in _of_one(digits, values, n):
            found[one] = True
        for take, digit in enumerate(digits[: n + 1]):
            if digit & TWO:
                found[pair_values(values, n - take)] = True
            for least in range(1, (n - take) // 3 + 1) if digit & THREE else ():
                found[values[least] ^ pair_values(values, n - take - least, start=least)] = True
        values[n] = value = int(found.argmin())
        width = max(width, 2 << value.bit_length())
