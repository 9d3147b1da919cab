"""Values at consecutive indices: exact, in chunks, on either backend, by formulas or by enumeration."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_counting import HostCounting, Lengths
from gpu_nim.counting.family import Family, check_range
from gpu_nim.model.arrays import U64, sum_of, to_limbs
from gpu_nim.model.errors import UsageError, VerificationError
from gpu_nim.model.work import OnStep, host_memory, no_progress, require_memory

#: Values in a chunk of a stream: 32 MiB of uint64.
CHUNK = 1 << 22

_TOGETHER = 1 << 10  # terms of a `TermRange` in a chunk, at most
_SAMPLE = 1 << 18
_LEADING, _SAMPLED = 4, 0.2  # binary digits of the first index that is tried, and seconds of the last one
_BYTES_A_VALUE = 80  # of a few counts of an enumeration at once, and of Python's numbers to compare
_BYTES_A_CHUNK = 150
_STEEPEST = 1 + math.log2(3)  # power of the digits: a product of long integers for each of them, as Python multiplies


@dataclass(eq=False)
class Range:
    """The values of a sequence at start, ..., stop - 1, filled in on demand by a counting engine.

    `limbs` is the number of 64-bit words of a value: 1 if `bound`, which is proven in advance, fits 64 bits, more otherwise. With
    one limb values are uint64 of shape (n,), else uint64 of shape (n, limbs), least significant first
    (`gpu_nim.model.arrays.to_integers` makes integers of either).

    >>> from gpu_nim.backends.host_counting import HostCounting
    >>> from gpu_nim.counting.families import ByMaximum, UpToMaximum
    >>> Range(ByMaximum(3), 2**40, 2**40 + 3, HostCounting()).values().tolist()
    [3, 9, 15]
    >>> [Range(UpToMaximum(3), 0, stop, HostCounting()).limbs for stop in (2**32 - 1, 2**32)]
    [1, 2]
    """

    family: Family
    start: int
    stop: int
    engine: HostCounting

    def __post_init__(self) -> None:
        self.start, self.stop = check_range(self.start, self.stop)
        self._blocks = self.family.blocks()

    @property
    def size(self) -> int:
        """The number of values, of any size."""
        return self.stop - self.start

    @cached_property
    def bound(self) -> int:
        """A number that no value exceeds."""
        return self.family.bound(self.start, self.stop)

    @cached_property
    def limbs(self) -> int:
        """How many 64-bit words a value has."""
        return max(1, -(-self.bound.bit_length() // 64))

    @property
    def digits(self) -> int:
        """How many decimal digits the largest value has."""
        return len(str(self.family.maximum(self.start, self.stop)))

    def shape(self, size: int) -> tuple[int, ...]:
        """The shape of an array of `size` values."""
        return (size,) if self.limbs == 1 else (size, self.limbs)

    def fill(self, first: int, out: U64) -> None:
        """Write the values at first, ..., first + len(out) - 1 to `out`, of shape `self.shape(len(out))`."""
        if not self.family.by_blocks:
            out[:] = to_limbs([self.family.value(n) for n in range(first, first + len(out))], self.limbs).reshape(out.shape)
            return
        self.engine.fill(*self._factors(first, len(out)), out)

    def values(self, first: int | None = None, stop: int | None = None) -> U64:
        """The values at first, ..., stop - 1, by default the whole range, in a new array."""
        first = self.start if first is None else first
        size = (self.stop if stop is None else stop) - first
        out = np.empty(self.shape(size), np.uint64)
        self.fill(first, out)
        return out

    def do(self, chunk: tuple[int, int]) -> U64:
        """The values of one chunk (first, stop)."""
        return self.values(*chunk)

    def device_values(self) -> Any:
        """The values of the whole range in a new array of the engine's device, of shape `self.shape(self.size)`.

        It is int64 where the bound is below 2^63, else uint64.
        """
        values = self.engine.values(*self._factors(self.start, self.size), self.size)
        return values.view(np.int64) if self.bound < 1 << 63 else values

    def chunks(self, size: int = CHUNK) -> Iterator[U64]:
        """The values of the range in chunks; each array is overwritten by the next chunk."""
        first = self.start
        buffer = np.empty(self.shape(min(size, self.stop - first)), np.uint64)
        while first < self.stop:
            part = buffer[: self.stop - first]
            self.fill(first, part)
            yield part
            first += len(part)

    def parts(self, _: OnStep = no_progress) -> Iterator[U64]:
        """The chunks, whose sum is compared with the exact one."""
        return self.checked(self.chunks())

    def checked(self, parts: Iterable[U64]) -> Iterator[U64]:
        """Yield parts of the values, which begin at `start`, and compare their sum with the exact one at the end.

        The exact sum is computed from the digits of two indices (D sums to A, d to a), independently of the parts. Raises
        VerificationError where they differ.
        """
        total, at = 0, self.start
        for part in parts:
            total += sum_of(part)
            at += len(part)
            yield part
        if at > self.start and total != (expected := self.family.sum(self.start, at)):
            raise VerificationError(f"{self.family} sums to {total} over {self.start}:{at}, expected {expected}")

    def planned_memory(self) -> int:
        """The bytes of the engine's memory for the table, and for the rows and the values of a chunk.

        >>> from gpu_nim.backends.host_counting import HostCounting
        >>> from gpu_nim.counting.families import ByTotal
        >>> Range(ByTotal(4), 0, 10**12, HostCounting()).planned_memory() < 1e8
        True
        """
        return self.table_memory() + 8 * self.limbs * min(CHUNK, self.size)

    def table_memory(self) -> int:
        """The bytes of the engine's memory for the table, and for the rows of a chunk, of which no values are kept."""
        length = 1 << self._bits
        return 8 * self.limbs * self._blocks.dimension * (length + min(CHUNK, self.size) // length + 2)

    def lengths(self, first: int, stop: int) -> Lengths:
        """How many of the values at first, ..., stop - 1 have each length, one by one."""
        return self.engine.lengths(*self._factors(first, stop - first), stop - first)

    def residues(self, first: int, stop: int, modulus: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Count the residues of the values at first, ..., stop - 1, one by one."""
        return self.engine.residues(*self._factors(first, stop - first), stop - first, modulus)

    @cached_property
    def _bits(self) -> int:
        # A table longer than the range would take longer than the range.
        return max(1, min(self.engine.block_bits(self._blocks, self.limbs, self.size), self.size.bit_length() - 4))

    @cached_property
    def _table(self) -> Any:
        return self.engine.table(self._blocks.columns(self._bits, self.limbs), self.limbs)

    def _factors(self, first: int, size: int) -> tuple[Any, Any, int]:
        """The table and the rows whose products have `size` values from `first` on, and how many come before these."""
        bits, limbs = self._bits, self.limbs
        high = first >> bits
        rows = self.engine.rows(self._blocks, high, ((first + size - 1) >> bits) + 1, bits, limbs)
        return self._table, rows, first - (high << bits)


@dataclass(eq=False)
class TermRange:
    """What a `Range` gives, of `size` terms that are yielded one after the other: Python integers, whose bound is not known.

    >>> [part.tolist() for part in TermRange(lambda _: iter(range(5)), 5).parts()]
    [[0], [1, 2], [3, 4]]
    """

    terms: Callable[[OnStep], Iterator[int]]
    size: int
    bound, limbs, digits = None, 1, 0

    def parts(self, progress: OnStep = no_progress) -> Iterator[NDArray[np.object_]]:
        """The terms in parts, the first ones at once, since each may take long."""
        terms, size = self.terms(progress), 1
        while part := [*islice(terms, size)]:
            yield np.array(part, object)
            size = min(2 * size, _TOGETHER)


@dataclass(frozen=True)
class Enumeration:
    """The enumeration of D_k(0..limit), or d_k(0..limit), or their partial sums A_k and a_k: every (k-1)-tuple and its nim-sum.

    This verifies the formulas exhaustively within its range. It uses only Bouton's theorem: the last pile of a P-position is the
    nim-sum of the others [NF, Corollary 5].

    >>> from gpu_nim.backends.host_counting import HostCounting
    >>> from gpu_nim.counting.families import ByTotal
    >>> trial = Enumeration(ByTotal(3), 7, HostCounting())
    >>> trial.tuples, trial.combine([trial.do(chunk) for chunk in trial.chunks()]).tolist()
    (64, [1, 3, 3, 9, 3, 9, 9, 27])
    """

    family: Family
    limit: int
    engine: HostCounting

    def __post_init__(self) -> None:
        if self.family.enumerated_by is None:
            raise UsageError(f"{self.family} is no count of P-positions by total or by largest pile: it cannot be enumerated")
        if self.tuples >= 1 << 63:
            raise UsageError(f"enumerating {self.family} to {self.limit} checks {self.tuples:.1e} tuples: give a smaller range")

    @property
    def tuples(self) -> int:
        """The number of tuples."""
        return int((self.limit + 1) ** (self.family.piles - 1))

    def chunks(self) -> list[tuple[int, int]]:
        """The tuples by their first entry, in chunks (first, stop) of a second or so; InsufficientMemoryError for too many."""
        if self.family.piles == 1:
            return [(0, 1)]
        step = max(1, min(self.limit + 1, self.engine.chunk_size(1) * (self.limit + 1) // self.tuples))
        needed = _BYTES_A_VALUE * (self.limit + 1) + _BYTES_A_CHUNK * -(-(self.limit + 1) // step)
        require_memory(needed, host_memory(), f"trying {self.tuples:,} tuples", "a smaller range takes less")
        return [(first, min(first + step, self.limit + 1)) for first in range(0, self.limit + 1, step)]

    def do(self, chunk: tuple[int, int]) -> NDArray[np.int64]:
        """The counts of one chunk of tuples; shape (limit + 1,)."""
        attempt = self.engine.try_totals if self.family.enumerated_by == "total" else self.engine.try_maxima
        return attempt(self.family.piles, self.limit, *chunk)

    def add(self, parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Add up the chunks; partial sums for families that are cumulative. Shape (limit + 1,)."""
        counted: NDArray[np.int64] = sum(parts, np.zeros(self.limit + 1, np.int64))
        return np.cumsum(counted) if self.family.cumulative else counted

    def combine(self, parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Add up the chunks; VerificationError where they differ from the formulas."""
        counted = self.add(parts)
        for n, value in enumerate(counted.tolist()):
            if value != self.family.value(n):
                raise VerificationError(
                    f"trying every tuple gives {self.family}({n}) = {value}, the formula {self.family.value(n)}"
                )
        return counted


def seconds_for_value(family: Family, n: int) -> float:
    """About how long the value at n takes, from those at its leading digits; 0 where that is a matter of seconds.

    >>> from gpu_nim.counting.families import UpToMaximum
    >>> seconds_for_value(UpToMaximum(3), 10**18), seconds_for_value(UpToMaximum(1000), 10**100_000) > 100
    (0.0, True)
    """
    length, bits, taken = n.bit_length(), _LEADING, [0.0]
    family.value(1)  # loads what it needs
    while taken[-1] < _SAMPLED:
        if 4 * bits > length:
            return 0.0
        began = time.process_time()
        family.value(n >> length - bits)
        taken.append(time.process_time() - began)
        bits *= 2
    power = math.log2(taken[-1] / max(taken[-2], _SAMPLED / 8))
    return taken[-1] * math.pow(2 * length / bits, min(max(1.0, power), _STEEPEST))


def seconds_for(values: Range, size: int) -> float:
    """About how long `size` values of a range take on its engine, from a sample of them."""
    sample = min(values.size, _SAMPLE)
    values.values(values.start, values.start + min(sample, 2))  # the table
    began = time.perf_counter()
    values.values(values.start, values.start + sample)
    return (time.perf_counter() - began) * size / sample
