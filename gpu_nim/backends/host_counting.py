"""Counting on the host with NumPy: ranges as rows times tables.

Tables are small enough for the last-level cache, one thread per core. NumPy releases the interpreter lock inside its loops, so
threads share the work without synchronization: each has its own part of the output and its own scratch block.

Counting: every range of every sequence is cut into blocks of 2^m consecutive indices, and the values of a block are one row vector
times one table (`gpu_nim.counting.blocks`):

    value[h, l] = sum_c rows[h, c] * table[c, l].

All arithmetic is modulo 2^(64 limbs), a ring, so intermediate wrapping is harmless: the caller has proven that the values
themselves fit (`gpu_nim.model.arrays`).

The CUDA backend counts on the host, too, where values have more limbs than its kernels take.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_enumeration import maxima, totals, tried
from gpu_nim.model.arrays import U64, Integers, to_limbs
from gpu_nim.model.process import cores

_CACHE_ENTRIES = 1 << 19  # table entries that stay in the last-level cache: 4 MiB of uint64
_BLOCK_BITS = 17  # beyond this a longer block saves no significant call overhead
_WIDE_BITS = 7  # values of several limbs: table entries of one digit if possible, and many blocks at once
_WIDE_VALUES = 1 << 13  # of these at once: all their digits stay in the second-level cache
_DIGIT, _DIGIT_MASK = 28, (1 << 28) - 1
_MAX_PRODUCTS = 255  # of 56 bits that, with a carry, add up to 64
_THREADED = 1 << 20  # values from which on threads are used
_COUNTED_BITS = 18  # values counted at a time
_CHUNK = 1 << 25


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
    """A table of `dimension` columns, 2^m entries each, the limbs of the values it makes, and, where these are several
    and the sums of products fit a word, its entries by digits of 28 bits.
    """

    columns: Integers
    limbs: int
    digits: list[list[U64]] | None


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

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or cores()

    def chunk_size(self, limbs: int) -> int:
        """Return about how many values are counted, or tuples tried, in at most a second.

        Args:
            limbs: 64-bit words of a value; 1 for tuples.
        """
        return _CHUNK if limbs == 1 else _CHUNK >> 5

    def block_bits(self, dimension: int, limbs: int) -> int:
        """Return m: blocks of 2^m indices are the fastest ones.

        Args:
            dimension: the rows of the table.
            limbs: 64-bit words of a value.
        """
        most = _BLOCK_BITS if limbs == 1 else _WIDE_BITS
        return max(4, min(most, _CACHE_ENTRIES.bit_length() - 1 - (dimension - 1).bit_length()))

    def table(self, columns: Integers, limbs: int) -> Any:
        """Return a table as the engine stores it.

        Args:
            columns: shape (dimension, 2^m), uint64 for limbs = 1 and object otherwise.
            limbs: 64-bit words of a value.
        """
        if limbs == 1:
            return HostTable(columns, limbs, None)
        digits = [_digits(column) for column in columns]
        return HostTable(columns, limbs, digits if sum(map(len, digits)) <= _MAX_PRODUCTS else None)

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
        length = table.columns.shape[1]
        blocks = -(-(skip + len(out)) // length)
        per_thread = -(-blocks // self.threads)

        def work(first: int) -> None:
            start = max(0, first * length - skip)
            stop = min(len(out), (first + per_thread) * length - skip)
            _fill(table, rows[first:], skip + start - first * length, out[start:stop])

        firsts = range(0, blocks, max(1, per_thread))
        if len(firsts) <= 1 or len(out) < _THREADED:
            _fill(table, rows, skip, out)
            return
        from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, firsts))

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
            total += int(values.sum(dtype=np.uint64)) if table.limbs == 1 else sum(values.tolist())
            counts += _lengths(values, len(counts))
        return Lengths(total & ((1 << 64 * table.limbs) - 1), counts)

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Return how many of the values leave each residue of a modulus of at least 1, shape (modulus,); else as for `values`."""
        counts = np.zeros(modulus, np.int64)
        for values in self._chunks(table, rows, skip, size):
            remainders = (values % (np.uint64(modulus) if table.limbs == 1 else modulus)).astype(np.int64)
            np.add.at(counts, remainders, 1)  # bincount would walk over all classes for each chunk
        return counts

    def _chunks(self, table: HostTable, rows: Integers, skip: int, size: int) -> Iterator[Integers]:
        length = table.columns.shape[1]
        chunk = max(length, 1 << _COUNTED_BITS) if table.limbs == 1 else length
        scratch = np.empty(min(size, chunk), np.uint64 if table.limbs == 1 else object)
        for _, count, block, offset in _stretches(length, skip, size, chunk // length):
            _multiply(table.columns, rows[block:], offset, scratch[:count])
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
        return tried(piles, limit, first, stop, totals, self.threads)

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by their largest pile, by trying the same (k-1)-tuples; as for `try_totals`, n being that pile."""
        return tried(piles, limit, first, stop, maxima, self.threads)


def _fill(table: HostTable, rows: Integers, skip: int, out: U64) -> None:
    if table.limbs == 1:
        _multiply(table.columns, rows, skip, out)
    elif table.digits is not None:
        _fill_by_digits(table.digits, table.limbs, rows, skip, out)
    else:
        length = table.columns.shape[1]
        wide = np.empty(length, object)
        for at, size, block, offset in _stretches(length, skip, len(out), 1):
            _multiply(table.columns, rows[block:], offset, wide[:size])
            out[at : at + size] = to_limbs(wide[:size], table.limbs)


def _fill_by_digits(columns: list[list[U64]], limbs: int, rows: Integers, skip: int, out: U64) -> None:
    """Write values of several limbs, by digits of 28 bits."""
    length = max(len(digit) for column in columns for digit in column)
    blocks = max(1, _WIDE_VALUES // length)
    for at, size, block, offset in _stretches(length, skip, len(out), blocks):
        here = rows[block : block + -(-(offset + size) // length)]
        sums = [np.zeros((len(here), length), np.uint64) for _ in range(-(-64 * limbs // _DIGIT))]
        product: Any = np.empty_like(sums[0])
        for c, column in enumerate(columns):
            for i, row_digit in enumerate(_digits(here[:, c])):
                for j, column_digit in enumerate(column):
                    # Values fit their limbs, so everything beyond the last sum is zero.
                    if i + j < len(sums):
                        np.multiply(row_digit[:, None], column_digit, out=product)
                        np.add(sums[i + j], product, out=sums[i + j])
        _carry(sums, offset, out[at : at + size])


def _digits(values: Integers) -> list[U64]:
    """Python integers by their digits of 28 bits, lowest first, in as many arrays as the longest of them needs."""
    longest = max(int(value).bit_length() for value in values)
    return [((values >> shift) & _DIGIT_MASK).astype(np.uint64) for shift in range(0, longest, _DIGIT)]


def _carry(sums: list[U64], offset: int, out: U64) -> None:
    """Add up sums[i] 2^(28 i) into limbs, beginning at value `offset` of the sums."""
    out[:] = 0
    carry: Any = np.uint64(0)
    for i, total in enumerate(sums):
        digit = total.ravel()[offset : offset + len(out)] + carry
        carry = digit >> np.uint64(_DIGIT)
        digit &= np.uint64(_DIGIT_MASK)
        limb, shift = divmod(_DIGIT * i, 64)
        out[:, limb] |= digit << np.uint64(shift)
        if shift > 64 - _DIGIT and limb + 1 < out.shape[1]:
            out[:, limb + 1] |= digit >> np.uint64(64 - shift)


def _stretches(length: int, skip: int, size: int, blocks: int) -> Iterator[tuple[int, int, int, int]]:
    """Divide values `skip` to `skip + size - 1` into chunks of blocks: (first index, size, first block, values of it to skip)."""
    at = 0
    while at < size:
        block, offset = divmod(skip + at, length)
        part = min(blocks * length - offset, size - at)
        yield at, part, block, offset
        at += part


def _multiply(columns: Integers, rows: Integers, skip: int, out: Integers) -> None:
    """Write values `skip` to `skip + len(out) - 1` of rows times columns, one block after the other."""
    dimension, length = columns.shape
    room: Any = np.empty(length, columns.dtype)
    for at, size, block, offset in _stretches(length, skip, len(out), 1):
        piece, scratch = out[at : at + size], room[:size]
        row = rows[block]
        used = [c for c in range(dimension) if row[c]] or [0]
        np.multiply(columns[used[0], offset : offset + size], row[used[0]], out=piece)
        for c in used[1:]:
            np.multiply(columns[c, offset : offset + size], row[c], out=scratch)
            np.add(piece, scratch, out=piece)


def _lengths(values: Integers, size: int) -> NDArray[np.int64]:
    """Count values by their number of binary digits, exactly: a float would round 2^64 - 1 up to 65 digits."""
    if values.dtype == object:
        return np.bincount([value.bit_length() for value in values.tolist()], minlength=size)
    digits = np.zeros(len(values), np.int64)
    rest = values.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        high = rest >= np.uint64(1 << shift)
        digits += high * shift
        rest >>= (high * np.uint64(shift)).astype(np.uint64)
    digits += rest.astype(np.int64)
    return np.bincount(digits, minlength=size)
