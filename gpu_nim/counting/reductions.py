"""Exact reductions over ranges that are too long to visit: sum, extremes, records, histogram, residues.

All of them use aligned blocks of indices. Sums, extremes and records need a few hundred digit operations for any range. Residues
and histograms read the index from its lowest digit up and count, for all 2^t strings of t digits at once, how many lead to each
state of a small automaton; if there are too many states (exact histograms of D_k, k >= 4; residues of large moduli), every value of
the range is visited, and `scanned_values` returns their number in advance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Counting
from gpu_nim.backends.numpy.counting import NumpyCounting
from gpu_nim.counting.blocks import dyadic_blocks
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range, limbs_needed
from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import UsageError, VerificationError
from gpu_nim.model.limbs import to_integers
from gpu_nim.model.progress import OnStep, unseen

NAMES = ("sum", "max", "argmax", "min", "argmin", "histogram", "residues:M", "records")
MAX_RECORDS = 1000

_MAX_STATES = 1 << 18  # automaton states kept at once: some tens of MiB, some seconds a range
_MAX_MODULUS = 1 << 26  # one bin a residue: 512 MiB
_MAX_CHUNKS = 1 << 16
_CLOSE = 8  # places between records that are searched together
_MAX_TOGETHER = 1 << 14  # values that are searched for records at once


@dataclass(frozen=True)
class Reduction:
    """One reduction by name; `modulus` for residues, 0 for the others.

    >>> Reduction.parse("residues:10")
    Reduction(name='residues', modulus=10)
    """

    name: str
    modulus: int = 0

    @classmethod
    def parse(cls, text: str) -> Reduction:
        """The reduction that `text` names; UsageError otherwise."""
        if not isinstance(text, str):
            raise UsageError(f"reduce must be among {', '.join(NAMES)}, got {shown(text)}")
        name, _, modulus = text.strip().partition(":")
        if name == "residues" and re.fullmatch(r"[0-9]+", modulus) and 1 <= int(modulus) <= _MAX_MODULUS:
            return cls(name, int(modulus))
        if name == "residues":
            raise UsageError(f"reduce needs residues:M with M from 1 to {_MAX_MODULUS}, got {text!r}")
        if modulus or name not in {known for known in NAMES if ":" not in known}:
            raise UsageError(f"reduce must be among {', '.join(NAMES)}, got {text!r}")
        return cls(name)

    def __str__(self) -> str:
        return f"{self.name}:{self.modulus}" if self.modulus else self.name


@dataclass(frozen=True)
class Result:
    """The value of a reduction, and how many values were visited for it, 0 if it was computed from digits alone.

    `value` is an integer for sum, max, argmax, min and argmin; for histogram {binary digits: number of values}, for residues
    {residue: number of values}, both without zeros; for records a list of (index, value), with `complete` if it has all of them.
    """

    reduction: Reduction
    value: Any
    scanned: int = 0
    complete: bool = True


def reduce_range(
    family: Family,
    start: int,
    stop: int,
    reductions: Sequence[Reduction],
    engine: Counting,
    *,
    records: int = MAX_RECORDS,
    run: Callable[[ValueScan], Iterable[NDArray[np.int64]]] | None = None,
    on_step: OnStep = unseen,
) -> list[Result]:
    """Return each reduction of the values at start, ..., stop - 1, exact, in the given order.

    `run` processes the chunks of a slow job, by default one after the other in this process; `on_step` is called with the number of
    records found. The sum of a histogram's values is compared with the exact one; VerificationError if they differ.

    >>> from gpu_nim.backends.numpy.counting import NumpyCounting
    >>> from gpu_nim.counting.families import ByTotal
    >>> wanted = [Reduction.parse(name) for name in ("sum", "argmax", "residues:4")]
    >>> [result.value for result in reduce_range(ByTotal(3), 0, 10**12, wanted, NumpyCounting())]
    [731502852159281469325312, 549755813887, {1: 500000000000, 3: 500000000000}]
    """
    return [_reduce(family, start, stop, reduction, engine, records, run or run_here, on_step) for reduction in reductions]


def _reduce(
    family: Family,
    start: int,
    stop: int,
    reduction: Reduction,
    engine: Counting,
    records: int,
    run: Callable[[ValueScan], Iterable[NDArray[np.int64]]],
    on_step: OnStep,
) -> Result:
    match reduction.name:
        case "sum":
            return Result(reduction, family.sum(start, stop))
        case "max":
            return Result(reduction, family.maximum(start, stop))
        case "min":
            return Result(reduction, family.minimum(start, stop))
        case "argmax":
            return Result(reduction, family.first_at_least(family.maximum(start, stop), start, stop))
        case "argmin":
            return Result(reduction, family.first_at_most(family.minimum(start, stop), start, stop))
        case "records":
            found = record_values(family, start, stop, records + 1, on_step)
            return Result(reduction, found[:records], complete=len(found) <= records)
    job = ValueScan(family, start, stop, reduction, engine)
    exact = _by_digits(family, start, stop, reduction)
    if exact is not None:
        return Result(reduction, exact)
    return Result(reduction, job.combine(run(job)), scanned=stop - start)


def scanned_values(family: Family, start: int, stop: int, reduction: Reduction) -> int:
    """How many values `reduce_range` will visit for this reduction: 0, or all of them.

    >>> from gpu_nim.counting.families import ByTotal
    >>> scanned_values(ByTotal(4), 0, 10**12, Reduction("histogram"))
    1000000000000
    """
    if reduction.name not in ("histogram", "residues") or _by_digits(family, start, stop, reduction) is not None:
        return 0
    return stop - start


def _by_digits(family: Family, start: int, stop: int, reduction: Reduction) -> dict[int, int] | None:
    if reduction.name == "histogram":
        return length_counts(family, start, stop)
    return residue_counts(family, start, stop, reduction.modulus)


@dataclass(frozen=True)
class ValueScan:
    """A histogram or residues by visiting every value: in chunks that any process can do, in any order, and repeat if lost."""

    family: Family
    start: int
    stop: int
    reduction: Reduction
    engine: Counting

    def chunks(self, size: int | None = None) -> list[tuple[int, int]]:
        """The (first, stop) of each chunk, of at least `size` values, with a bounded number of chunks."""
        size = size or self.engine.chunk_size(limbs_needed(self.family, self.start, self.stop))
        size = max(size, -(-(self.stop - self.start) // _MAX_CHUNKS))
        return [(first, min(first + size, self.stop)) for first in range(self.start, self.stop, size)]

    def do(self, chunk: tuple[int, int]) -> NDArray[np.int64]:
        """The counts of one chunk, compared with the exact sum of its values where that is cheap."""
        values = Range(self.family, *chunk, self.engine)
        if self.reduction.name == "residues":
            return values.residues(*chunk, self.reduction.modulus)
        survey = values.survey(*chunk)
        expected = self.family.sum(*chunk) & ((1 << 64 * values.limbs) - 1)
        if survey.total != expected:
            raise VerificationError(f"{self.family} sums to {survey.total} over {chunk[0]}:{chunk[1]}, expected {expected}")
        return survey.lengths

    def combine(self, parts: Iterable[NDArray[np.int64]]) -> dict[int, int]:
        """The sum of the chunks' counts, without zeros."""
        totals: dict[int, int] = {}
        for part in parts:
            for key in np.flatnonzero(part).tolist():
                totals[key] = totals.get(key, 0) + int(part[key])
        return dict(sorted(totals.items()))


def run_here(job: ValueScan) -> Iterator[NDArray[np.int64]]:
    """Process the chunks of a job one after the other in this process."""
    return map(job.do, job.chunks())


def record_values(family: Family, start: int, stop: int, most: int, on_step: OnStep = unseen) -> list[tuple[int, int]]:
    """The first `most` indices of the range with a value larger than all before them in it, with these values.

    `on_step` is called with the number of them found.

    >>> from gpu_nim.counting.families import ByTotal
    >>> record_values(ByTotal(4), 0, 10**12, 5)
    [(0, 1), (1, 6), (2, 7), (3, 36), (5, 42)]
    """
    found: list[tuple[int, int]] = []
    at: int | None = start
    size = 1
    while at is not None and len(found) < most:
        on_step("record", len(found), most)
        # Where records are dense, compute all values of a range; where they are rare, find the next one by the digits.
        end = min(stop, at + size)
        values = [family.value(at)] if size == 1 else to_integers(Range(family, at, end, NumpyCounting(threads=1)).values())
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
    automaton = family.residue_automaton(modulus)
    if automaton is None:
        return None
    blocks: dict[int, list[int]] = {}
    for high, bits in dyadic_blocks(start, stop):
        blocks.setdefault(bits, []).append(high)
    dtype: Any = np.int64 if stop - start < 1 << 62 else object
    states, weights = automaton.first, np.ones(1, dtype)
    totals: dict[int, int] = {}
    for bits in range(max(blocks) + 1):
        for high in blocks.get(bits, ()):
            residues = automaton.finish(states, bits, high)
            distinct, inverse = np.unique(residues, return_inverse=True)
            sums = np.zeros(len(distinct), dtype)
            np.add.at(sums, inverse, weights)
            for residue, count in zip(distinct.tolist(), sums.tolist(), strict=True):
                totals[residue] = totals.get(residue, 0) + count
        if bits == max(blocks):
            break
        both = np.concatenate([automaton.step(states, bits, 0), automaton.step(states, bits, 1)])
        states, inverse = _distinct(both, modulus)
        if len(states) > _MAX_STATES:
            return None
        merged = np.zeros(len(states), dtype)
        np.add.at(merged, inverse, np.concatenate([weights, weights]))
        weights = merged
    return dict(sorted(totals.items()))


def _distinct(states: NDArray[np.int64], modulus: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct rows, and the index of each row among them. Rows of residues that fit one number are sorted as one."""
    width = states.shape[1]
    if modulus**width >= 1 << 63:
        distinct, inverse = np.unique(states, axis=0, return_inverse=True)
        return distinct, inverse.ravel()
    places = np.array([modulus**i for i in range(width)], np.int64)
    _, index, inverse = np.unique(states @ places, return_index=True, return_inverse=True)
    return states[index], inverse
