"""Exact reductions over ranges that are too long to visit: sum, extremes, records, histogram, residues.

All of them use aligned blocks of indices. Sums, extremes and records need a few hundred digit operations for any range. Residues
and histograms read the index from its lowest digit up and count, for all 2^t strings of t digits at once, how many lead to each
state of a small automaton; if there are too many states (exact histograms of D_k, k >= 4; residues of large moduli), every value of
the range is visited, by a `ValueScan`, and `scans` returns these in advance.

`REDUCTIONS` is the catalogue: a new reduction is one entry of it, which the command line takes, lists and prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.digit_matrices import Matrix, dyadic_blocks
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.model.arguments import short_repr
from gpu_nim.model.arrays import Integers, distinct_rows, to_integers
from gpu_nim.model.errors import UsageError, VerificationError, close
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import OnStep, no_progress

#: The most records that are listed by default.
MAX_RECORDS = 1000
_MAX_STATES = 1 << 18  # automaton states kept at once: some seconds a range
_MAX_MODULUS = 1 << 26  # one bin a residue: 512 MiB
_MAX_CHUNKS = 1 << 16
_CLOSE = 8  # indices between records that are searched together
_MAX_TOGETHER = 1 << 14  # values that are searched for records at once

#: The value of a reduction: a value or an index, the number of values by class, or records.
Reduced: TypeAlias = int | dict[int, int] | list[tuple[int, int]]


@dataclass(frozen=True)
class ReductionEntry:
    """A reduction of the catalogue.

    Args:
        name: its name in `gpunim count --reduce`.
        summary: what it gives, for help.
        gives: what its value is: a value of the sequence or a sum of them; an index; records; or the numbers of values by class.
        find: `find(family, start, stop, modulus, records, progress)` returns it without visiting the values; None where that is not
            possible. The modulus is 0 for reductions without one, `records` the most records to find.
        scan: `scan(family, values, chunk, modulus)` returns the numbers of values by class of a chunk, by visiting them; None for a
            reduction that `find` always finds.
        takes_modulus: whether it is written NAME:M.
        describe: the words for a class in tables.
    """

    name: str
    summary: str
    gives: Literal["value", "index", "records", "counts"]
    find: Callable[[Family, int, int, int, int, OnStep], Any]
    scan: Callable[[Family, Range, tuple[int, int], int], NDArray[np.int64]] | None = None
    takes_modulus: bool = False
    describe: Callable[[int], str] = str

    @property
    def written(self) -> str:
        """How it is written on the command line."""
        return f"{self.name}:M" if self.takes_modulus else self.name


@dataclass(frozen=True)
class Reduction:
    """One reduction by name; `modulus` for those that take one, 0 for the others.

    >>> Reduction.parse("residues:10")
    Reduction(name='residues', modulus=10)
    """

    name: str
    modulus: int = 0

    @classmethod
    def parse(cls, text: object) -> Reduction:
        """The reduction that `text` names; UsageError otherwise."""
        name, _, modulus = text.strip().partition(":") if isinstance(text, str) else ("", "", "")
        entry = REDUCTIONS.get(name)
        if entry is None or (modulus and not entry.takes_modulus):
            known = ", ".join(each.written for each in REDUCTIONS.values())
            raise UsageError(f"reduce must be among {known}, got {short_repr(text)}{close(name, REDUCTIONS)}")
        if not entry.takes_modulus:
            return cls(name)
        if re.fullmatch(r"[0-9]+", modulus) and 1 <= int(modulus) <= _MAX_MODULUS:
            return cls(name, int(modulus))
        raise UsageError(f"reduce needs {entry.written} with M from 1 to {_MAX_MODULUS}, got {text!r}")

    @property
    def entry(self) -> ReductionEntry:
        """Its entry of the catalogue."""
        return REDUCTIONS[self.name]

    def __str__(self) -> str:
        return f"{self.name}:{self.modulus}" if self.modulus else self.name


@dataclass(frozen=True)
class Result:
    """The value of a reduction.

    `value` is what the entry's `gives` says: an integer for a value or index, {class: number of values} without zeros for counts,
    a list of (index, value) for records, with `complete` if it has all of them.
    """

    reduction: Reduction
    value: Reduced
    complete: bool = True

    def shifted(self, by: int) -> Result:
        """The result with another numbering of the indices, for an OEIS entry of another offset.

        >>> Result(Reduction("argmax"), 7).shifted(1).value, Result(Reduction("max"), 27).shifted(1).value
        (8, 27)
        """
        value: Any = self.value
        match self.reduction.entry.gives:
            case "index":
                value += by
            case "records":
                value = [(n + by, each) for n, each in value]
        return replace(self, value=value)


def reduce_range(
    values: Range,
    reductions: Sequence[Reduction],
    *,
    records: int = MAX_RECORDS,
    run: Callable[[ValueScan], Iterable[NDArray[np.int64]]] | None = None,
    progress: OnStep = no_progress,
) -> list[Result]:
    """Return each reduction of the values of a range, exact, in the given order.

    `run` processes the chunks of a slow job, by default one after the other in this process; `progress` is called with the number
    of records found. The sum of a histogram's values is compared with the exact one; VerificationError if they differ.

    >>> from gpu_nim.backends.host_counting import HostCounting
    >>> from gpu_nim.counting.families import ByTotal
    >>> wanted = [Reduction.parse(name) for name in ("sum", "argmax", "residues:4")]
    >>> [result.value for result in reduce_range(Range(ByTotal(3), 0, 10**12, HostCounting()), wanted)]
    [731502852159281469325312, 549755813887, {1: 500000000000, 3: 500000000000}]
    """
    results = []
    for reduction in reductions:
        found = reduction.entry.find(values.family, values.start, values.stop, reduction.modulus, records, progress)
        if found is None:
            scan = ValueScan(values.family, values.start, values.stop, reduction, values.engine)
            parts = map(scan.do, scan.chunks()) if run is None else run(scan)
            results.append(Result(reduction, scan.combine(parts)))
        elif reduction.entry.gives == "records":
            results.append(Result(reduction, found[:records], complete=len(found) <= records))
        else:
            results.append(Result(reduction, found))
    return results


@dataclass(frozen=True)
class ValueScan:
    """A histogram or residues by visiting every value: in chunks that any process can do, in any order, and repeat if lost."""

    family: Family
    start: int
    stop: int
    reduction: Reduction
    engine: HostCounting

    def chunks(self, size: int | None = None) -> list[tuple[int, int]]:
        """The (first, stop) of each chunk, of at least `size` values, with a bounded number of chunks."""
        size = size or self.engine.chunk_size(Range(self.family, self.start, self.stop, self.engine).limbs)
        size = max(size, -(-(self.stop - self.start) // _MAX_CHUNKS))
        return [(first, min(first + size, self.stop)) for first in range(self.start, self.stop, size)]

    def do(self, chunk: tuple[int, int]) -> NDArray[np.int64]:
        """The counts of one chunk, compared with the exact sum of its values where that is cheap."""
        scan = self.reduction.entry.scan
        assert scan is not None
        return scan(self.family, Range(self.family, *chunk, self.engine), chunk, self.reduction.modulus)

    @property
    def counts_memory(self) -> int:
        """The bytes of the counts of a chunk and of all before."""
        return 16 * self.reduction.modulus

    def combine(self, parts: Iterable[NDArray[np.int64]]) -> dict[int, int]:
        """The sum of the chunks' counts, without zeros."""
        totals = np.zeros(0, np.int64)
        for part in parts:
            if len(totals) < len(part):  # of longer values
                totals = np.pad(totals, (0, len(part) - len(totals)))
            totals[: len(part)] += part
            del part  # before the next one
        classes = np.flatnonzero(totals)
        return _listed(classes, totals[classes])


def scans(values: Range, wanted: Iterable[Reduction]) -> list[ValueScan]:
    """Return the scans of the reductions for which `reduce_range` visits every value.

    >>> from gpu_nim.counting.families import ByTotal
    >>> wanted = [Reduction("sum"), Reduction("histogram")]
    >>> [str(scan.reduction) for scan in scans(Range(ByTotal(4), 0, 10**12, HostCounting()), wanted)]
    ['histogram']
    """
    span = values.family, values.start, values.stop
    return [
        ValueScan(*span, each, values.engine)
        for each in wanted
        if each.entry.scan is not None and each.entry.find(*span, each.modulus, 0, no_progress) is None
    ]


def _listed(classes: NDArray[np.int64], counts: Integers) -> dict[int, int]:
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def record_values(family: Family, start: int, stop: int, most: int, progress: OnStep = no_progress) -> list[tuple[int, int]]:
    """The first `most` indices of the range with a value larger than all before them in it, with these values.

    `progress` is called with the number of them found.

    >>> from gpu_nim.counting.families import ByTotal
    >>> record_values(ByTotal(4), 0, 10**12, 5)
    [(0, 1), (1, 6), (2, 7), (3, 36), (5, 42)]
    """
    found: list[tuple[int, int]] = []
    at: int | None = start
    size = 1
    while at is not None and len(found) < most:
        progress("record", len(found), most)
        # Where records are dense, compute all values of a range; where they are rare, find the next one by the digits.
        end = min(stop, at + size)
        values = [family.value(at)] if size == 1 else to_integers(Range(family, at, end, HostCounting(threads=1)).values())
        for n, value in enumerate(values, at):
            if not found or value > found[-1][1]:
                found.append((n, value))
        at = family.first_at_least(found[-1][1] + 1, end, stop) if end < stop else None
        if at is not None:
            size = min(2 * size, _MAX_TOGETHER) if at - found[-1][0] <= _CLOSE else 1
    return found[:most]


@lru_cache(maxsize=16)
def length_counts(family: Family, start: int, stop: int) -> dict[int, int] | None:
    """How many values of the range have each number of binary digits; None where every value has to be visited.

    >>> from gpu_nim.counting.families import ByTotal
    >>> length_counts(ByTotal(3), 0, 8)
    {1: 1, 2: 3, 4: 3, 5: 1}
    """
    return family.bit_lengths(start, stop)


@lru_cache(maxsize=16)  # called twice, for the cost and for the result
def residue_counts(family: Family, start: int, stop: int, modulus: int) -> dict[int, int] | None:
    """How many values of the range leave each remainder; None where the automaton would have too many states.

    >>> from gpu_nim.counting.families import ByTotal
    >>> residue_counts(ByTotal(4), 0, 10**12, 3)
    {0: 500000000000, 1: 500000000000}
    """
    blocks = family.blocks()

    def reduced(numbers: Integers | Matrix) -> NDArray[np.int64]:
        return (np.array(numbers, object) % modulus).astype(np.int64)

    def times(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        result = np.zeros((len(left), right.shape[1]), np.int64)
        for i, row in enumerate(right):  # reduced one by one: products stay below M^2 <= 2^52
            result += left[:, i : i + 1] * row % modulus
        return result % modulus

    highs: dict[int, list[int]] = {}
    for high, bits in dyadic_blocks(start, stop):
        highs.setdefault(bits, []).append(high)
    dtype: Any = np.int64 if stop - start < 1 << 62 else object
    # A state is the column of the digits read so far, the lowest ones, modulo M.
    states, weights = reduced([blocks.last]), np.ones(1, dtype)
    residues, counts = np.zeros(0, np.int64), np.zeros(0, dtype)
    for bits in range(max(highs) + 1):
        for high in highs.get(bits, ()):
            row = reduced(blocks.rows(high, high + 1, bits, limbs=2))
            found = np.concatenate([residues, times(states, row.T).ravel()])
            residues, inverse = np.unique(found, return_inverse=True)
            counts = _grouped(np.concatenate([counts, weights]), inverse, len(residues))
        if bits == max(highs):
            break
        matrices = (blocks.matrix(bits, digit) for digit in (0, 1))
        halves = [states if each is None else times(states, reduced(each).T) for each in matrices]
        states, inverse = distinct_rows(np.concatenate(halves), modulus)
        if len(states) > _MAX_STATES:
            return None
        weights = _grouped(np.concatenate([weights, weights]), inverse, len(states))
    return _listed(residues, counts)


def _grouped(weights: Integers, groups: NDArray[np.intp], count: int) -> Integers:
    """The sum of the weights of each group, exact."""
    sums = np.zeros(count, weights.dtype)
    np.add.at(sums, groups, weights)
    return sums


def _lengths(family: Family, values: Range, chunk: tuple[int, int], modulus: int) -> NDArray[np.int64]:
    """The number of values of each length in binary digits, and the sum of the values compared with the exact one."""
    lengths = values.lengths(*chunk)
    expected = family.sum(*chunk) & ((1 << 64 * values.limbs) - 1)
    if lengths.total != expected:
        raise VerificationError(f"{family} sums to {lengths.total} over {chunk[0]}:{chunk[1]}, expected {expected}")
    return lengths.counts


_REDUCTIONS = (
    ReductionEntry("sum", "the sum", "value", lambda family, start, stop, *_: family.sum(start, stop)),
    ReductionEntry("max", "the largest value", "value", lambda family, start, stop, *_: family.maximum(start, stop)),
    ReductionEntry(
        "argmax",
        "the first index of the largest value",
        "index",
        lambda family, start, stop, *_: family.first_at_least(family.maximum(start, stop), start, stop),
    ),
    ReductionEntry("min", "the smallest value", "value", lambda family, start, stop, *_: family.minimum(start, stop)),
    ReductionEntry(
        "argmin",
        "the first index of the smallest value",
        "index",
        lambda family, start, stop, *_: family.first_at_most(family.minimum(start, stop), start, stop),
    ),
    ReductionEntry(
        "histogram",
        "the number of values by binary digits",
        "counts",
        lambda family, start, stop, *_: length_counts(family, start, stop),
        scan=_lengths,
        describe=lambda digits: "0" if digits == 0 else f"2^{digits - 1} to 2^{digits} - 1",
    ),
    ReductionEntry(
        "residues",
        "the number of values by remainder modulo M",
        "counts",
        lambda family, start, stop, modulus, *_: residue_counts(family, start, stop, modulus),
        scan=lambda _, values, chunk, modulus: values.residues(*chunk, modulus),
        takes_modulus=True,
    ),
    ReductionEntry(
        "records",
        "values larger than all before them in the range",
        "records",
        lambda family, start, stop, _, records, progress: record_values(family, start, stop, records + 1, progress),
    ),
)

REDUCTIONS = Registry[ReductionEntry]("reduction", _REDUCTIONS)
