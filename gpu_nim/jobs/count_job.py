"""Ranges, reductions and enumerations of a family of sequences, in chunks, in this process or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend, Counting
from gpu_nim.backends.numpy.counting import NumpyCounting
from gpu_nim.backends.selection import select
from gpu_nim.counting.enumeration import Enumeration
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range, with_checked_sum
from gpu_nim.counting.reductions import Reduction, Result, ValueScan, reduce_range, scanned_values
from gpu_nim.jobs.clusters import Cluster
from gpu_nim.model.arrays import U64
from gpu_nim.model.work import OnStep, unreported

_CHUNK = 1 << 22  # values that a worker returns at a time, 32 MiB for each limb: those in transit must fit in memory

Advance = Callable[[int], None]
"""Called with the number of further values or tuples done."""


def _untold(done: int) -> None:
    """Ignore it."""


class CountJob:
    """Work on the values of a family at start, ..., stop - 1, on the workers of a cluster if there is one."""

    def __init__(self, family: Family, start: int, stop: int, backend: Backend, cluster: Cluster | None = None) -> None:
        self.family, self.start, self.stop, self.backend, self.cluster = family, start, stop, backend, cluster

    @cached_property
    def values(self) -> Range:
        """The range, filled by this process."""
        return Range(self.family, self.start, self.stop, self.backend.counting())

    @cached_property
    def enumeration(self) -> Enumeration:
        """The enumeration of all tuples, up to the last index."""
        return Enumeration(self.family, self.stop - 1, self.backend.counting())

    def chunks(self, first: int, advance: Advance = _untold) -> Iterator[U64]:
        """The values from index `first` on; VerificationError at the end where their sum is not the exact one."""
        advance(first - self.start)
        if self.cluster is None:
            parts: Iterable[U64] = (part for _, part in self.values.chunks(first))
        else:
            spans = ((at, min(at + _CHUNK, self.stop)) for at in range(first, self.stop, _CHUNK))
            whole = (self.family, self.start, self.stop, self.backend.name)
            parts = self.cluster.map(fill_chunk, ((*whole, span) for span in spans))
        for part in with_checked_sum(self.family, first, parts):
            advance(len(part))
            yield part

    def scanned(self, reductions: Iterable[Reduction]) -> int:
        """The number of values that these reductions visit."""
        return sum(scanned_values(self.family, self.start, self.stop, reduction) for reduction in reductions)

    def reduce(
        self, reductions: Sequence[Reduction], records: int, advance: Advance = _untold, on_step: OnStep = unreported
    ) -> list[Result]:
        """Each reduction of the range, with at most `records` records; `advance` is called with the number of values visited."""

        def run(scan: ValueScan) -> Iterator[NDArray[np.int64]]:
            whole = (scan.family, scan.start, scan.stop, scan.reduction, self.backend.name)
            return self._done(scan.chunks(), scan.do, reduce_chunk, whole, advance)

        engine = self.backend.counting()
        return reduce_range(self.family, self.start, self.stop, reductions, engine, records=records, run=run, on_step=on_step)

    def enumerate(self, advance: Advance = _untold) -> NDArray[np.int64]:
        """The values at 0, ..., stop - 1 by enumeration; VerificationError where they differ from the formula."""
        trial = self.enumeration
        chunks = trial.chunks()
        share = trial.tuples // (chunks[-1][1] - chunks[0][0])
        whole = (self.family, trial.limit, self.backend.name)
        return trial.combine(self._done(chunks, trial.do, try_chunk, whole, lambda heads: advance(heads * share)))

    def _done(
        self,
        chunks: list[tuple[int, int]],
        here: Callable[[tuple[int, int]], NDArray[np.int64]],
        on_worker: Callable[[Any], NDArray[np.int64]],
        whole: tuple[object, ...],
        advance: Advance,
    ) -> Iterator[NDArray[np.int64]]:
        """The counts of each chunk, in order; a worker gets the whole job with each."""
        parts = map(here, chunks) if self.cluster is None else self.cluster.map(on_worker, [(*whole, chunk) for chunk in chunks])
        for chunk, part in zip(chunks, parts, strict=True):
            advance(chunk[1] - chunk[0])
            yield part


def fill_chunk(job: tuple[Family, int, int, str, tuple[int, int]]) -> U64:
    """The values of a chunk of a range: (family, start and stop of the whole range, backend, chunk)."""
    *whole, chunk = job
    return _range(*whole).values(*chunk)


def reduce_chunk(job: tuple[Family, int, int, Reduction, str, tuple[int, int]]) -> NDArray[np.int64]:
    """The counts of a chunk of a slow reduction: (family, start, stop, reduction, backend, chunk)."""
    family, start, stop, reduction, backend, chunk = job
    return ValueScan(family, start, stop, reduction, _engine(backend)).do(chunk)


def try_chunk(job: tuple[Family, int, str, tuple[int, int]]) -> NDArray[np.int64]:
    """The counts of a chunk of an enumeration: (family, limit, backend, chunk)."""
    family, limit, backend, chunk = job
    return Enumeration(family, limit, _engine(backend)).do(chunk)


@lru_cache(maxsize=2)
def _range(family: Family, start: int, stop: int, backend: str) -> Range:
    return Range(family, start, stop, _engine(backend))


@lru_cache(maxsize=2)
def _engine(backend: str) -> Counting:
    chosen = select(backend)
    # A worker has as many chunks as threads, so the engine uses one thread.
    return NumpyCounting(threads=1) if chosen.name == "numpy" else chosen.counting()
