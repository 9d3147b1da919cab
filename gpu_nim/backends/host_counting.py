"""Counting on the host with NumPy: ranges as rows times tables.

Tables are small enough for the last-level cache, one thread per core. NumPy releases the interpreter lock inside its loops, so
threads share the work without synchronization: each has its own part of the output and its own scratch block.

Counting: every range of every sequence is cut into blocks of 2^m consecutive indices, and the values of a block are one row vector
times one table (`gpu_nim.counting.digit_matrices`):

    value[h, l] = sum_c rows[h, c] * table[c, l].

All arithmetic is modulo 2^(64 limbs), a ring, so intermediate wrapping is harmless: the caller has proven that the values
themselves fit (`gpu_nim.model.arrays`).

The CUDA backend counts on the host, too, where values have more limbs than its kernels take.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import U64, Integers, Ints, sum_of, to_limbs
from gpu_nim.model.work import cores

T = TypeVar("T")
_CACHE_ENTRIES = 1 << 19  # table entries that stay in the last-level cache: 4 MiB of uint64
_BLOCK_BITS = 17  # beyond this a longer block saves no significant call overhead
_WIDE_BITS = range(8, 15)  # values of several limbs: blocks that are longer than 2^7 multiply each limb of a row whole
_MAX_HIGH = 1 << 50  # so that roundings of it, of one 2^53rd each, stay small
_ROUND = 1.5 * 2.0**52  # the unit of the last place of a double near it is 1
_COUNTED_BITS = 18  # values counted at a time
_CHUNK = 1 << 25
_TUPLES = 1 << 15  # tuples whose sums, nim-sums and maxima are computed once and reused


class Lengths(NamedTuple):
    """How long the values of consecutive indices are, and their sum, by which they are checked.

    Attributes:
        total: the sum modulo 2^(64 limbs).
        counts: shape (64 limbs + 1,); entry i is the number of values with i binary digits.
    """

    total: int
    counts: NDArray[np.int64]


class Rows(Protocol):
    """A sequence cut into blocks, as far as an engine needs to know it: the source of a range's rows."""

    dimension: int

    def columns(self, bits: int, limbs: int) -> Integers:
        """Return the table of blocks of 2^bits indices, shape (dimension, 2^bits).

        Args:
            bits: a block holds 2^bits indices.
            limbs: 64-bit words of a value.
        """

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the rows of blocks `first` to `stop - 1`, shape (blocks, dimension).

        Args:
            first: the first block.
            stop: the block after the last.
            bits: a block holds 2^bits indices.
            limbs: 64-bit words of a value.
        """

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices that take the row of a block of 2^bits indices to those of the 2^inner-blocks in it.

        Args:
            bits: m of the outer blocks, of 2^m indices.
            inner: m of the inner blocks.
            limbs: 64-bit words of a value.

        Returns:
            Shape (2^(bits - inner), dimension, dimension): row j of the inner blocks is the outer row times matrix j.
        """


class HostTable(NamedTuple):
    """A table of 2^m entries a column.

    Attributes:
        columns: uint64, shape (dimension, 2^m), of several limbs (dimension words, 2^m) with the words of each column in order.
        limbs: those of the values it makes.
        peaks: the largest entry of each column, Python integers, for several limbs.
        doubles: the columns, rounded, for several limbs.
        parts: into how many parts a limb of a row is cut, for several limbs.
    """

    columns: U64
    limbs: int
    peaks: Integers
    doubles: NDArray[np.float64]
    parts: int


class HostCounting:
    """Counting on the host, and the base of engines on a device. A table is opaque: each stores it where it needs it.

    >>> engine = HostCounting(threads=1)
    >>> table = engine.table(np.array([[1, 3, 3, 9]], np.uint64), 1)
    >>> out = np.empty(6, np.uint64)
    >>> engine.fill(table, np.array([[1], [3]], np.uint64), 1, out)
    >>> out.tolist()
    [3, 3, 9, 3, 9, 9]
    >>> engine.try_maxima(3, 5, 0, 6).tolist()
    [1, 3, 3, 9, 3, 9]
    """

    name = "numpy"
    threaded_from = 1 << 20  # values
    wide_values = 1 << 16  # of several limbs at once: calls take little time, and a part of the last-level cache is enough

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or cores()

    def chunk_size(self, limbs: int) -> int:
        """Return about how many values are counted, or tuples tried, in at most a second.

        Args:
            limbs: 64-bit words of a value; 1 for tuples.
        """
        return _CHUNK if limbs == 1 else _CHUNK >> 5

    def block_bits(self, source: Rows, limbs: int, size: int) -> int:
        """Return m: blocks of 2^m indices are the fastest ones.

        Args:
            source: the sequence.
            limbs: 64-bit words of a value.
            size: the number of values.
        """
        if limbs == 1:
            return max(4, min(_BLOCK_BITS, _CACHE_ENTRIES.bit_length() - 1 - (source.dimension - 1).bit_length()))
        # Tables and rows are made of Python integers: there are about as many of either.
        shorter = _WIDE_BITS[: max(0, size.bit_length() // 2 - 7)]
        return max(takewhile(lambda bits: _wide(source.columns(bits, limbs), limbs).parts == 1, shorter), default=7)

    def table(self, columns: Integers, limbs: int) -> Any:
        """Return a table as the engine stores it.

        Args:
            columns: shape (dimension, 2^m), uint64 for limbs = 1 and object otherwise.
            limbs: 64-bit words of a value.
        """
        return _wide(columns, limbs) if limbs > 1 else HostTable(columns, 1, columns[:0], columns[:0].astype(np.float64), 1)

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> Any:
        """Return the rows of blocks `first` to `stop - 1` as `fill`, `lengths` and `residues` take them.

        These take plain rows, too: shape (blocks, dimension), in the table's type.

        Args:
            source: the sequence.
            first: the first block.
            stop: the block after the last.
            bits: a block holds 2^bits indices.
            limbs: 64-bit words of a value.
        """
        return source.rows(first, stop, bits, limbs)

    def fill(self, table: Any, rows: Any, skip: int, out: U64) -> None:
        """Write values `skip` to `skip + len(out) - 1` of some blocks.

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value written, counted from the first block's first.
            out: an array of the host, of shape (n,) for limbs = 1 and (n, limbs) otherwise.
        """
        if len(out) < self.threaded_from:
            _fill(table, rows, skip, out, self.wide_values)
            return
        length = table.columns.shape[1]

        def work(part: tuple[int, int, int, int]) -> None:
            at, size, block, offset = part
            _fill(table, rows[block:], offset, out[at : at + size], self.wide_values)

        self._shared(work, _stretches(length, skip, len(out), -(-(skip + len(out)) // (length * self.threads))))

    def values(self, table: Any, rows: Any, skip: int, size: int) -> Any:
        """Return values `skip` to `skip + size - 1` of some blocks as a new array of the engine's own device.

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value, counted from the first block's first.
            size: the number of values.

        Returns:
            uint64, of shape (size,) for limbs = 1 and (size, limbs) otherwise, least significant first.
        """
        out = np.empty((size,) if table.limbs == 1 else (size, table.limbs), np.uint64)
        self.fill(table, rows, skip, out)
        return out

    def lengths(self, table: Any, rows: Any, skip: int, size: int) -> Lengths:
        """Return how many of the values have each length, without storing the values; arguments as for `values`."""
        total, counts = 0, np.zeros(64 * table.limbs + 1, np.int64)
        for values in self._chunks(table, rows, skip, size):
            total += sum_of(values)
            counts += np.bincount(_lengths(values), minlength=len(counts))
        return Lengths(total & ((1 << 64 * table.limbs) - 1), counts)

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Return how many of the values leave each residue of a modulus of at least 1, shape (modulus,); else as for `values`."""
        counts, word = np.zeros(modulus, np.int64), np.uint64((1 << 64) % modulus)
        for values in self._chunks(table, rows, skip, size):
            remainders: Any = np.uint64(0)
            for limb in values.reshape(len(values), -1).T[::-1]:
                remainders = (remainders * word + limb % np.uint64(modulus)) % np.uint64(modulus)
            np.add.at(counts, remainders.astype(np.int64), 1)  # bincount would walk over all classes for each chunk
        return counts

    def _chunks(self, table: HostTable, rows: Integers, skip: int, size: int) -> Iterator[U64]:
        length = table.columns.shape[1]
        chunk = max(length, 1 << _COUNTED_BITS)
        scratch = np.empty((min(size, chunk), table.limbs)[: table.limbs], np.uint64)
        for _, count, block, offset in _stretches(length, skip, size, chunk // length):
            _fill(table, rows[block:], offset, scratch[:count], self.wide_values)
            yield scratch[:count]

    def try_totals(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by total, by trying (k-1)-tuples.

        The last pile is the nim-sum of a tuple. No pile of a P-position of total 2n exceeds n, so first = 0 and stop = limit + 1
        find all of them.

        Args:
            piles: k.
            limit: the largest entry of a tuple.
            first: the least first entry.
            stop: every first entry is below this.

        Returns:
            Shape (limit + 1,); entry n is the number of P-positions found with total 2n.
        """
        return self._tried(piles, limit, first, stop, _totals)

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by their largest pile, by trying the same (k-1)-tuples; as for `try_totals`, n being that pile."""
        return self._tried(piles, limit, first, stop, _maxima)

    def _tried(
        self, piles: int, limit: int, first: int, stop: int, histogram: Callable[[Ints, Ints, int], Ints]
    ) -> NDArray[np.int64]:
        side, free = limit + 1, piles - 1
        laid = min(1, max(0, free - 1))  # of the last piles, whose tuples are the same for every first entry
        while laid < free - 1 and side ** (laid + 1) <= _TUPLES >> 3:
            laid += 1
        tails, heads = _tuples(0, side**laid, laid, limit), side ** max(0, free - laid - 1)
        some = max(1, _TUPLES // side**laid)
        begin, end = (first * heads, stop * heads) if free else (0, 1)

        def work(start: int) -> Ints:
            return histogram(tails, _tuples(start, min(start + some, end), free - laid, limit), limit)

        return sum(self._shared(work, range(begin, end, some)), np.zeros(side, np.int64))

    def _shared(self, work: Callable[[T], Any], parts: Iterable[T]) -> list[Any]:
        """Return the work on each part, which threads share."""
        from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, parts))


def _wide(columns: Integers, limbs: int) -> HostTable:
    """A table for values of several limbs."""
    columns = columns & ((1 << 64 * limbs) - 1)
    peaks = columns.max(axis=1)
    count = max(1, -(-int(peaks.max()).bit_length() // 64))
    words = to_limbs(columns, count).transpose(0, 2, 1).reshape(-1, columns.shape[1])
    largest = (len(words) + 8) * sum(words.max(axis=1).tolist())
    parts = next(parts for parts in (1, 2, 4, 8) if largest << 64 // parts < _MAX_HIGH << 64)
    return HostTable(words, limbs, peaks, words.astype(np.float64), parts)


def _fill(table: HostTable, rows: Integers, skip: int, out: U64, wide_values: int) -> None:
    """Write values `skip` to `skip + len(out) - 1`; of several limbs as many as the bound on some thousand values says.

    A limb of the rows, or a part of each limb, times the table, with what is left over from the limb before, is p. The limb of the
    values is p modulo 2^64, and p / 2^64 - (p modulo 2^64) / 2^64 is left over. That is an integer below `_MAX_HIGH`, and so found
    by rounding: p / 2^64 is added up in doubles, with fewer roundings than the table has columns and 8, and `table.parts` is such
    that they add up to less than a quarter.
    """
    columns, limbs, peaks, doubles, parts = table
    if limbs == 1:
        _multiply(columns, rows, skip, out)
        return
    length, count, part_bits = columns.shape[1], len(columns) // len(peaks), 64 // parts
    rows = rows[: -(-(skip + len(out)) // length)] & ((1 << 64 * limbs) - 1)
    bounds, words = rows @ peaks, np.zeros((*rows.shape, count - 1 + limbs), np.uint64)
    words[:, :, count - 1 :] = to_limbs(rows, limbs)
    for at, size, block, offset in _stretches(length, skip, len(out), max(1, wide_values // length)):
        here = words[block : block + -(-(offset + size) // length)]
        needed = min(limbs, -(-int(bounds[block : block + len(here)].max()).bit_length() // 64))
        values = out[at : at + size]
        values[:, needed:] = 0
        left: list[Any] = [np.uint64(0)] * parts
        spilled: list[Any] = [np.uint64(0)] * parts
        for limb in range(needed):
            row = here[:, :, limb : limb + count][:, :, ::-1].reshape(len(here), -1)
            for i in range(parts):
                shift = np.uint64(part_bits * i)
                part = row >> shift & np.uint64((1 << part_bits) - 1)
                low = np.einsum("bd,dl->bl", part, columns)
                if limb:
                    low += left[i]
                if limb + 1 < needed:
                    left[i] = _high(np.einsum("bd,dl->bl", part * 2.0**-64, doubles), low)
                if i == 0:
                    total, carry = low, np.uint64(0)
                else:
                    for term in (low << shift, spilled[i]):
                        total = total + term
                        carry = carry + (total < term)
                    spilled[i] = low >> np.uint64(64) - shift
            spilled[-1] = spilled[-1] + carry
            values[:, limb] = total.ravel()[offset : offset + size]


def _high(near: NDArray[np.float64], low: U64) -> U64:
    """Return the integers nearest to near - low / 2^64, at least 0 and below 2^51."""
    fraction = low >> np.uint64(12)
    fraction |= np.float64(1).view(np.uint64)
    near -= fraction.view(np.float64)  # 1 + low / 2^64
    near += 1 + _ROUND
    high: U64 = near.view(np.uint64)
    return np.subtract(high, np.float64(_ROUND).view(np.uint64), out=high)


def _stretches(length: int, skip: int, size: int, blocks: int) -> Iterator[tuple[int, int, int, int]]:
    """Divide values `skip` to `skip + size - 1` into chunks of blocks: (first index, size, first block, values of it to skip)."""
    at = 0
    while at < size:
        block, offset = divmod(skip + at, length)
        part = min(blocks * length - offset, size - at)
        yield at, part, block, offset
        at += part


def _multiply(columns: U64, rows: U64, skip: int, out: U64) -> None:
    """Write values `skip` to `skip + len(out) - 1` of rows times columns, one block after the other."""
    dimension, length = columns.shape
    room: Any = np.empty(length, np.uint64)
    for at, size, block, offset in _stretches(length, skip, len(out), 1):
        piece, scratch = out[at : at + size], room[:size]
        row = rows[block]
        used = [c for c in range(dimension) if row[c]] or [0]
        np.multiply(columns[used[0], offset : offset + size], row[used[0]], out=piece)
        for c in used[1:]:
            np.multiply(columns[c, offset : offset + size], row[c], out=scratch)
            np.add(piece, scratch, out=piece)


def _lengths(values: U64) -> NDArray[np.int64]:
    """The numbers of binary digits, exactly: the second digit is cleared, so that no double is rounded up to the next length."""
    lengths = np.zeros(len(values), np.int64)
    for i, limb in enumerate(values.reshape(len(values), -1).T):
        exponents = (limb & ~(limb >> np.uint64(1))).astype(np.float64).view(np.int64) >> 52
        np.copyto(lengths, exponents + (64 * i - 1022), where=limb > 0)
    return lengths


def _tuples(first: int, stop: int, piles: int, limit: int) -> Ints:
    """The totals, nim-sums and largest piles, shape (3, stop - first), of tuples of piles up to a limit, the first one slowest."""
    number, found = np.arange(first, stop), np.zeros((3, stop - first), np.int64)
    for _ in range(piles):
        number, pile = np.divmod(number, limit + 1)
        for row, combine in zip(found, (np.add, np.bitwise_xor, np.maximum), strict=True):
            combine(row, pile, out=row)
    return found


def _totals(tails: Ints, heads: Ints, limit: int) -> Ints:
    """How many P-positions have each total 2n, n <= limit: heads and tails are their free piles."""
    sums = np.bitwise_xor.outer(heads[1], tails[1])
    sums += tails[0]
    sums += heads[0][:, None]
    counts = np.bincount(sums.ravel(), minlength=2 * limit + 2)
    # Totals of P-positions are even: an odd one would be a defect here, and must not be dropped by the stride.
    assert not counts[1::2].any()
    return counts[: 2 * limit + 1 : 2]


def _maxima(tails: Ints, heads: Ints, limit: int) -> Ints:
    """How many P-positions have each largest pile n <= limit: heads and tails are their free piles."""
    largest = np.bitwise_xor.outer(heads[1], tails[1])
    np.maximum(largest, tails[2], out=largest)
    np.maximum(largest, heads[2][:, None], out=largest)
    return np.bincount(largest.ravel(), minlength=limit + 1)[: limit + 1]
