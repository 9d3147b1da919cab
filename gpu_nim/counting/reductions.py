"""Exact reductions over ranges far too long to visit: sum, extremes, records, histogram, residues.

Everything here rests on aligned blocks of indices. Sums, extremes and records need a few hundred digit operations whatever the
range. Residues and histograms read the index from its lowest digit up and keep, for all 2^t strings of t digits at once, how many
lead to each state of a small automaton; where too many states arise (exact histograms of D_k, k >= 4; residues of large moduli),
the range is gone through value by value, and `scanned_values` says so before it starts.
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
from gpu_nim.counting.blocks import ClosedBlocks
from gpu_nim.counting.families import Counts, dyadic_blocks
from gpu_nim.counting.ranges import Range, limbs_needed
from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import UsageError, VerificationError
from gpu_nim.model.limbs import to_integers
from gpu_nim.model.progress import OnStep, unseen

NAMES = ("sum", "max", "argmax", "min", "argmin", "histogram", "residues:M", "records")
MAX_RECORDS = 1000

_MAX_STATES = 1 << 18  # automaton states kept at once: some tens of MiB, some seconds a range
_MAX_MODULUS = 1 << 26  # one bin a residue: 512 MiB
_MAX_NODES = 100_000  # blocks looked into for a histogram before value by value is cheaper
_MAX_PIECES = 1 << 16
_CLOSE = 8  # places between records that are looked for together
_MAX_TOGETHER = 1 << 14  # values among which records are looked for at once


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
    """What a reduction gives, and how many values had to be visited for it, 0 where the digits alone decide.

    `value` is an integer for sum, max, argmax, min and argmin; for histogram {binary digits: values with so many}, for
    residues {residue: values}, both without zeros; for records a list of (index, value), where `complete` says whether
    they are all there.
    """

    reduction: Reduction
    value: Any
    scanned: int = 0
    complete: bool = True


def reduce_range(
    counts: Counts,
    start: int,
    stop: int,
    reductions: Sequence[Reduction],
    engine: Counting,
    *,
    records: int = MAX_RECORDS,
    run: Callable[[ValueScan], Iterable[NDArray[np.int64]]] | None = None,
    on_step: OnStep = unseen,
) -> list[Result]:
    """Return each reduction of the values at start, ..., stop - 1, exact, in the order asked for.

    `run` does the pieces of a slow job, by default one after the other here; `on_step` is told how many records are found. The
    sum of a histogram's values is held against the exact one; VerificationError if they differ.

    >>> from gpu_nim.backends.numpy.counting import NumpyCounting
    >>> wanted = [Reduction.parse(name) for name in ("sum", "argmax", "residues:4")]
    >>> [result.value for result in reduce_range(Counts("D", 3), 0, 10**12, wanted, NumpyCounting())]
    [731502852159281469325312, 549755813887, {1: 500000000000, 3: 500000000000}]
    """
    return [_reduce(counts, start, stop, reduction, engine, records, run or run_here, on_step) for reduction in reductions]


def _reduce(
    counts: Counts,
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
            return Result(reduction, counts.sum(start, stop))
        case "max":
            return Result(reduction, counts.maximum(start, stop))
        case "min":
            return Result(reduction, counts.minimum(start, stop))
        case "argmax":
            return Result(reduction, counts.first_at_least(counts.maximum(start, stop), start, stop))
        case "argmin":
            return Result(reduction, counts.first_at_most(counts.minimum(start, stop), start, stop))
        case "records":
            found = record_values(counts, start, stop, records + 1, on_step)
            return Result(reduction, found[:records], complete=len(found) <= records)
    job = ValueScan(counts, start, stop, reduction, engine)
    exact = _by_digits(counts, start, stop, reduction)
    if exact is not None:
        return Result(reduction, exact)
    return Result(reduction, job.combine(run(job)), scanned=stop - start)


def scanned_values(counts: Counts, start: int, stop: int, reduction: Reduction) -> int:
    """How many values `reduce_range` will visit for this reduction: 0, or all of them.

    >>> scanned_values(Counts("D", 4), 0, 10**12, Reduction("histogram"))
    1000000000000
    """
    if reduction.name not in ("histogram", "residues") or _by_digits(counts, start, stop, reduction) is not None:
        return 0
    return stop - start


def _by_digits(counts: Counts, start: int, stop: int, reduction: Reduction) -> dict[int, int] | None:
    if reduction.name == "histogram":
        return length_counts(counts, start, stop)
    return residue_counts(counts, start, stop, reduction.modulus)


@dataclass(frozen=True)
class ValueScan:
    """A histogram or residues gone through value by value: pieces that can be done anywhere, in any order, again if lost."""

    counts: Counts
    start: int
    stop: int
    reduction: Reduction
    engine: Counting

    def pieces(self, size: int | None = None) -> list[tuple[int, int]]:
        """The (first, stop) of each piece, of at least `size` values and not more pieces than anyone can list."""
        size = size or self.engine.chunk_size(limbs_needed(self.counts, self.start, self.stop))
        size = max(size, -(-(self.stop - self.start) // _MAX_PIECES))
        return [(first, min(first + size, self.stop)) for first in range(self.start, self.stop, size)]

    def do(self, piece: tuple[int, int]) -> NDArray[np.int64]:
        """The counts of one piece, held against the exact sum of its values where that is cheap."""
        values = Range(self.counts, *piece, self.engine)
        if self.reduction.name == "residues":
            return values.residues(*piece, self.reduction.modulus)
        survey = values.survey(*piece)
        expected = self.counts.sum(*piece) & ((1 << 64 * values.limbs) - 1)
        if survey.total != expected:
            raise VerificationError(f"{self.counts} sums to {survey.total} over {piece[0]}:{piece[1]}, not to {expected}")
        return survey.lengths

    def combine(self, parts: Iterable[NDArray[np.int64]]) -> dict[int, int]:
        """The sum of the pieces' counts, zeros left out."""
        totals: dict[int, int] = {}
        for part in parts:
            for key in np.flatnonzero(part).tolist():
                totals[key] = totals.get(key, 0) + int(part[key])
        return dict(sorted(totals.items()))


def run_here(job: ValueScan) -> Iterator[NDArray[np.int64]]:
    """Do the pieces of a job one after the other in this process."""
    return map(job.do, job.pieces())


def record_values(counts: Counts, start: int, stop: int, most: int, on_step: OnStep = unseen) -> list[tuple[int, int]]:
    """The first `most` indices of the range with a value larger than all before them in it, with these values.

    `on_step` is told how many of them are found.

    >>> record_values(Counts("D", 4), 0, 10**12, 5)
    [(0, 1), (1, 6), (2, 7), (3, 36), (5, 42)]
    """
    found: list[tuple[int, int]] = []
    at: int | None = start
    size = 1
    while at is not None and len(found) < most:
        on_step("record", len(found), most)
        # Where records are dense, values are had by the range; where they are rare, the digits tell the next one.
        end = min(stop, at + size)
        values = [counts.value(at)] if size == 1 else to_integers(Range(counts, at, end, NumpyCounting(threads=1)).values())
        for n, value in enumerate(values, at):
            if not found or value > found[-1][1]:
                found.append((n, value))
        at = counts.first_at_least(found[-1][1] + 1, end, stop) if end < stop else None
        if at is not None:
            size = min(2 * size, _MAX_TOGETHER) if at - found[-1][0] <= _CLOSE else 1
    return found[:most]


@lru_cache(maxsize=16)
def length_counts(counts: Counts, start: int, stop: int) -> dict[int, int] | None:
    """How many values of the range have how many binary digits; None where only visiting every one could tell.

    >>> length_counts(Counts("D", 3), 0, 8)
    {1: 1, 2: 3, 4: 3, 5: 1}
    """
    if counts.cumulative:
        return _lengths_of_rising(counts, start, stop)
    if counts.letter == "d":
        return _lengths_by_blocks(counts, start, stop)
    if counts.piles > 3:
        return None
    product = counts.product
    assert product is not None
    totals: dict[int, int] = {}
    # For k <= 3 rows and states are single numbers, and the product of t factors takes at most t + 1 values.
    for high, bits in dyadic_blocks(start, stop):
        distribution = {1: 1}
        for _ in range(bits):
            following: dict[int, int] = {}
            for row, count in distribution.items():
                for digit in (0, 1):
                    (image,) = product.step_row((row,), digit)
                    following[image] = following.get(image, 0) + count
            distribution = following
        (state,) = product.state(high)
        for row, count in distribution.items():
            length = (row * state).bit_length()
            totals[length] = totals.get(length, 0) + count
    return dict(sorted(totals.items()))


def _lengths_of_rising(counts: Counts, start: int, stop: int) -> dict[int, int]:
    totals: dict[int, int] = {}
    at = start
    while at < stop:
        length = counts.value(at).bit_length()
        following = counts.first_at_least(1 << length, at, stop)
        totals[length] = (stop if following is None else following) - at
        at = stop if following is None else following
    return totals


def _lengths_by_blocks(counts: Counts, start: int, stop: int) -> dict[int, int] | None:
    totals: dict[int, int] = {}
    waiting = list(dyadic_blocks(start, stop))
    for _ in range(_MAX_NODES):
        if not waiting:
            return dict(sorted(totals.items()))
        high, bits = waiting.pop()
        least = counts.block_minimum(high, bits).bit_length()
        if least == counts.block_maximum(high, bits).bit_length():
            totals[least] = totals.get(least, 0) + (1 << bits)
        else:
            waiting += [(2 * high, bits - 1), (2 * high + 1, bits - 1)]
    return None


@lru_cache(maxsize=16)  # asked twice: what will it cost, and what is it
def residue_counts(counts: Counts, start: int, stop: int, modulus: int) -> dict[int, int] | None:
    """How many values of the range leave which remainder; None where the automaton would have too many states.

    >>> residue_counts(Counts("D", 4), 0, 10**12, 3)
    {0: 500000000000, 1: 500000000000}
    """
    automaton = _ClosedResidues(counts, modulus) if counts.product is None else _DigitResidues(counts, modulus)
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
    """The distinct rows, and which of them each row is. Rows of residues that fit one number are sorted as one."""
    width = states.shape[1]
    if modulus**width >= 1 << 63:
        distinct, inverse = np.unique(states, axis=0, return_inverse=True)
        return distinct, inverse.ravel()
    places = np.array([modulus**i for i in range(width)], np.int64)
    _, index, inverse = np.unique(states @ places, return_index=True, return_inverse=True)
    return states[index], inverse


class _DigitResidues:
    """Rows modulo M: the automaton of D and A. A state is the row of the digits read so far, shape (states, dimension)."""

    def __init__(self, counts: Counts, modulus: int) -> None:
        product = counts.product
        assert product is not None
        self._product, self._modulus = product, modulus
        size = product.dimension
        # [digit][i, j] = w[2j + digit - i] mod M, so that rows are multiplied from the left.
        self._matrices = [
            np.array([[product.weight(2 * j + digit - i) % modulus for j in range(size)] for i in range(size)], np.int64)
            for digit in (0, 1)
        ]
        self.first = np.array([product.first_state], np.int64) % modulus

    def step(self, states: NDArray[np.int64], bit: int, digit: int) -> NDArray[np.int64]:
        return self._times(states, self._matrices[digit])

    def finish(self, states: NDArray[np.int64], bits: int, high: int) -> NDArray[np.int64]:
        state = np.array([[x % self._modulus] for x in self._product.state(high)], np.int64)
        return self._times(states, state)[:, 0]

    def _times(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        # One column at a time, reduced at once: products stay below M^2 <= 2^52.
        result = np.zeros((len(left), right.shape[1]), np.int64)
        for i in range(right.shape[0]):
            result += left[:, i : i + 1] * right[i] % self._modulus
        return result % self._modulus


class _ClosedResidues:
    """The automaton of d and a modulo M. A state is (n, value at n) for the digits n read so far."""

    def __init__(self, counts: Counts, modulus: int) -> None:
        self._even = counts.piles % 2 == 0
        self._modulus = modulus
        self._blocks = ClosedBlocks(counts.piles, not counts.cumulative)
        self.first = np.array([[0, 1]], np.int64) % modulus

    def step(self, states: NDArray[np.int64], bit: int, digit: int) -> NDArray[np.int64]:
        if not digit:
            return states
        modulus = self._modulus
        c = (states[:, 0] + 1) % modulus
        value = np.zeros(len(states), np.int64)
        for coefficient in reversed(self._blocks.polynomial(bit)):
            value = (value * c + coefficient % modulus) % modulus
        if self._even:
            value = (value + states[:, 1]) % modulus
        return np.stack([(states[:, 0] + pow(2, bit, modulus)) % modulus, value], axis=1)

    def finish(self, states: NDArray[np.int64], bits: int, high: int) -> NDArray[np.int64]:
        for bit in range(high.bit_length()):
            states = self.step(states, bits + bit, high >> bit & 1)
        return states[:, 1]
