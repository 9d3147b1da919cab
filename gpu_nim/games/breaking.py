"""Grundy values of games whose moves break heaps, without every option of every heap.

A heap that may be left as two heaps has n / 2 options, one that may be left as three n^2 / 12.

**Two heaps: sparse space** (Berlekamp, Conway and Guy, *Winning Ways*, chapter 4). Fix a mask and call a value rare where it has
an even number of binary 1s in the mask, else common. The nim-sum of two rare or two common values is rare, of a rare and a common
one common. So a common value is left only by breaking off a rare heap, or by one heap: the few rare heaps give the least common
value that is not left, and the heap has it unless a smaller rare value is not left either, which a scan of the other options,
until all of these are met, decides. That is exact for every mask; it is fast for one with few rare heaps, which most octal games
have.

**Three heaps: a table of pairs.** Row m has the values of two heaps of m in all. A value is left by three heaps if the row of what
a smallest heap leaves over has its nim-sum with that heap's value, and most values are met after a few smallest heaps.

**Arithmetic periods** of games that leave up to three heaps, G(n + p) = G(n) + s for all n >= n0, are proved from finitely many
values. Conditions of this kind are Austin's (Siegel, *Combinatorial Game Theory*, chapter IV) and Howse and Nowakowski's,
Periodicity and arithmetic-periodicity in hexadecimal games, Theoretical Computer Science 313 (2004); those here are simpler to
check.

**Theorem.** Let s be a power of two, G = s H + F with 0 <= F < s, n0 >= 1, t the largest number that a move takes, K >= 1, and N
>= 3 (n0 + 2p - 1) + t with G(m + p) = G(m) + s for n0 <= m <= N - p. Call heaps from n0 + p on large. The height of an option is
the sum of the H of its heaps; but two small heaps beside a large one count with the nim-sum of their H. Suppose that

1. for N - p < n <= N, every option of n whose values F have the nim-sum F(n) has a height that is less than H(n), or has another
   parity;
2. for N - p < n <= N, every v with K s <= v < G(n) is the nim-sum of an option of n with a heap a >= n0, where the nim-sum of H
   over the other heaps is 0;
3. for N - 2p < n <= N, every v < (K + 1) s is the nim-sum of an option of n of three heaps a, b, c with b, c >= n0 and H(b) =
   H(c), and a >= n0 where v >= K s; or, for v < s, of two such heaps b, c.

Then G(m + p) = G(m) + s for all m >= n0.

The proof is in docs/theory/heap-games.md.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints

Flags = NDArray[np.bool_]

#: Bits of a digit: the heap may be left as so many heaps.
ONE, TWO, THREE = 2, 4, 8

_MASK_BITS = 12  # of the values that a mask is chosen for
_FIRST_SCAN = 64  # options looked at first for rare values
_LOOKED_UP = 16  # values, and smallest heaps, that are looked up together
_AT_ONCE = 8192  # look-ups in one array


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
        InsufficientMemoryError: they would not fit.

    >>> extended((0, 7, 7), False, np.empty(0, dtype=np.int64), 12).tolist()  # Kayles
    [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    """
    values = np.zeros(count, dtype=np.int64)
    values[: len(known)] = known[:count]
    start = min(max(1, len(known)), count)  # no heap at all has the value 0
    if any(digit & THREE for digit in digits):
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
    count = len(values)
    largest = int(values[:start].max(initial=1))
    width = 1 << largest.bit_length()  # more than any nim-sum
    pairs = np.zeros((count, width), dtype=np.bool_)
    for total in range(2, start):
        pairs[total, pair_values(values, total)] = True
    twos = [take for take, digit in enumerate(digits) if digit & TWO]
    threes = [take for take, digit in enumerate(digits) if digit & THREE]
    # In any order but by size, which leaves similar values one after the other.
    smallest = 1 + np.random.default_rng(0).permutation(count // 3)
    for n in range(start, count):
        pairs[n, pair_values(values, n)] = True
        found = np.zeros(width + 1, dtype=np.bool_)
        for one in _of_one(digits, values, n):
            found[one] = True
        for take in twos:
            if take <= n:
                found[:width] |= pairs[n - take]
        lefts = [(n - take, smallest[smallest <= (n - take) // 3]) for take in threes]
        values[n] = value = _least_without_triple(pairs, values, lefts, found, int(values[:n].max(initial=0)))
        if value >= width:
            wider = np.zeros((count, 2 * width), dtype=np.bool_)
            wider[:, :width] = pairs
            width, pairs = 2 * width, wider


def _least_without_triple(pairs: Flags, values: Ints, lefts: list[tuple[int, Ints]], found: Flags, guess: int) -> int:
    """The least value that is not found, and that no three heaps have: those of each total, with these smallest heaps.

    `guess` is about the value.
    """
    missing = np.flatnonzero(~found)  # the last one is more than any nim-sum
    most = len(missing) - 1
    start, stop = 0, bisect_right(missing, guess, hi=most)
    while start < most:
        here = missing[start:stop]
        for left, least in lefts:
            first = 0
            while first < len(least) and len(here):
                parts = least[first : first + max(_LOOKED_UP, _AT_ONCE // len(here)), None]
                here = here[~pairs[left - parts, values[parts] ^ here].any(axis=0)]
                first += len(parts)
        if len(here):
            return int(here[0])
        start, stop = stop, min(stop + _LOOKED_UP, most)
    return int(missing[most])


_MULTIPLES = (1, 2, 4)  # of a period, which may satisfy the conditions where it does not
_PERIODS_MORE = 8  # there are more options for larger N
_MOST = 1 << 26  # pairs of heaps and look-ups of a proof
_NONE = -(1 << 40)  # less than any sum


def is_proved(digits: Sequence[int], values: Ints, preperiod: int, period: int, saltus: int) -> bool:
    """Whether the values prove that G(n + period) = G(n) + saltus for all n >= preperiod.

    Args:
        digits: as for `extended`.
        values: the Grundy values of the heaps of 0, 1, ... counters, with G(n + period) = G(n) + saltus from `preperiod` on.
        preperiod: n0.
        period: p.
        saltus: s, greater than 0; None is proved but for a power of two.

    >>> digits = (0, 8)  # take one counter and leave three heaps
    >>> values = extended(digits, False, np.empty(0, dtype=np.int64), 80)
    >>> is_proved(digits, values, 1, 3, 1), is_proved(digits, values[:19], 1, 3, 1)
    (True, False)
    """
    if saltus & (saltus - 1):
        return False
    return any(_satisfies(digits, values, max(1, preperiod), k * period, k * saltus) for k in _MULTIPLES)


def _satisfies(digits: Sequence[int], values: Ints, start: int, period: int, saltus: int) -> bool:
    """Whether the theorem's conditions hold for an N of a few periods more than the least."""
    least = 3 * (start + 2 * period - 1) + len(digits) - 1
    levels = 1 + int(values[: start + period].max()) // saltus  # K, beyond what the irregular heaps have
    last = min(least + (levels + _PERIODS_MORE) * period, len(values) - 1)
    if last < least or last * last + 3 * period * last * saltus * len(digits) > _MOST:
        return False
    options = _Options(digits, values[: last + 1], start, period, saltus, levels)
    window = range(last - 2 * period + 1, last + 1)
    return all(
        options.leave_low_values(n) and (n <= last - period or (options.leave_all_less(n) and not options.may_leave_value(n)))
        for n in window
    )


class _Options:
    """What options leave, by pairs of heaps: tables with a row for each total of a pair.

    `most`     int64 (N + 1, s, 2): the largest height of the pairs with this nim-sum of F and this parity, as beside a large heap
    `level`    bool (N + 1, s): whether some pair with this nim-sum of F has the same H twice
    `late`     bool (N + 1, s): whether some pair of heaps >= n0 does
    """

    def __init__(self, digits: Sequence[int], values: Ints, start: int, period: int, saltus: int, levels: int) -> None:
        self._takes = {bit: [take for take, digit in enumerate(digits) if digit & bit] for bit in (ONE, TWO, THREE)}
        self._values, self._start, self._large = values, start, start + period
        self._saltus, self._levels = saltus, levels
        self._high, self._low = values // saltus, values % saltus
        self._most = np.full((len(values), saltus, 2), _NONE)
        self._level = np.zeros((len(values), saltus), dtype=np.bool_)
        self._late = self._level.copy()
        for total in range(2, len(values)):
            one = np.arange(1, total // 2 + 1)
            low, first, second = self._low[one] ^ self._low[total - one], self._high[one], self._high[total - one]
            height = np.where(total - one < self._large, first ^ second, first + second)
            np.maximum.at(self._most[total], (low, height % 2), height)
            level = first == second
            self._level[total, low[level]] = True
            self._late[total, low[level & (one >= start)]] = True

    def may_leave_value(self, n: int) -> bool:
        """Whether an option contradicts condition 1."""
        high, low = int(self._high[n]), int(self._low[n])
        for take in self._takes[ONE]:
            above = int(self._high[n - take]) - high
            if self._low[n - take] == low and above >= 0 and above % 2 == 0:
                return True
        if any(self._most[n - take, low, high % 2] >= high for take in self._takes[TWO]):
            return True
        for take in self._takes[THREE]:
            one = np.arange(self._large, n - take - 1)
            rest = self._most[n - take - one, low ^ self._low[one], (high - self._high[one]) % 2]
            if np.any(rest + self._high[one] >= high):
                return True
        return False

    def leave_all_less(self, n: int) -> bool:
        """Condition 2."""
        reached = np.zeros(2 * int(self._values.max()) + 2 * self._saltus, dtype=np.bool_)
        for take in self._takes[ONE]:
            reached[self._values[n - take]] |= n - take >= self._start
        for take in self._takes[TWO]:
            one = np.arange(self._start, n - take)
            one = one[self._high[n - take - one] == 0]
            reached[self._values[one] ^ self._values[n - take - one]] = True
        for take in self._takes[THREE]:
            one = np.arange(self._start, n - take - 1)
            which, low = np.nonzero(self._level[n - take - one])
            reached[self._values[one[which]] ^ low] = True
        return bool(reached[self._levels * self._saltus : self._values[n]].all())

    def leave_low_values(self, n: int) -> bool:
        """Condition 3."""
        reached = np.zeros((self._levels + 1, self._saltus), dtype=np.bool_)
        for take in self._takes[TWO]:
            reached[0] |= self._late[n - take]
        for take in self._takes[THREE]:
            one = np.arange(1, n - take - 1)
            high = self._high[one]
            one = one[(high < self._levels) | ((high == self._levels) & (one >= self._start))]
            which, low = np.nonzero(self._late[n - take - one])
            reached[self._high[one[which]], self._low[one[which]] ^ low] = True
        return bool(reached.all())
