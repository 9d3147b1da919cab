"""A count over a range: values in parts, in this process or on the workers of a cluster, reductions, and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend, select
from gpu_nim.counting.families import FAMILIES
from gpu_nim.counting.ranges import CHUNK, Enumeration, Range, TermRange, seconds_for
from gpu_nim.counting.reductions import MAX_RECORDS, Reduced, Reduction, Result, ValueScan, reduce_range, scans
from gpu_nim.jobs.clusters import Cluster, cluster
from gpu_nim.model.arguments import IntLike, argument, check_options, given_fields, integer, items, short_repr, size_text
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.model.shown import Plan, Shown
from gpu_nim.model.work import MOST_PROCESSES, OnStep, duration, host_memory, no_progress, require_memory
from gpu_nim.oeis.catalogue import OeisEntry
from gpu_nim.storage.tables import check_table, endings, save_sequence

#: Exact values: int64, or Python integers where those do not fit.
Values: TypeAlias = NDArray[np.int64] | NDArray[np.object_]

Method: TypeAlias = Literal["formula", "enumerate"]

_OF_FAMILIES = ("reduce", "method", "device", "scheduler", "workers")
_EXCLUDES = {
    "reduce": ("device", "method", "out"),
    "device": ("method", "scheduler", "workers", "out"),
    "scheduler": ("workers",),
}
_LONG = 1 << 32  # values


class DeviceArray(Protocol):
    """An array of a backend's own: CuPy's on CUDA, NumPy's on NumPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of entries along each axis."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


def exact_array(values: list[int]) -> Values:
    """Return integers in an array: int64 where they fit."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


def refused(name: str, got: str) -> UsageError:
    """Return the error for an option that is for other counts."""
    ranges = "a range" if name in ("out", "records") else f"a range of {one_of(FAMILIES)} or of an entry that equals one"
    return UsageError(f"{argument(name)} is for {ranges}, got {got}")


@dataclass(eq=False, repr=False)
class RangeCount(Shown):
    """A count over a range; see `CountJob`. It is done in the block of `open`, which has the file, its name and the workers."""

    entry: OeisEntry
    n: range
    _: KW_ONLY
    reduce: str | Iterable[str] | None = None
    records: IntLike | None = None
    method: Method = "formula"
    backend: str | Backend = "auto"
    device: bool = False
    scheduler: str | None = None
    workers: IntLike | None = None
    out: Path | None = None

    def __post_init__(self) -> None:
        self.facts = {**self.entry.facts, "start": self.n.start, "stop": self.n.stop}
        self.size = self.n.stop - self.n.start  # len() is refused beyond 63 bits
        self.out = None if self.out is None else Path(self.out)
        names = [] if self.reduce is None else [self.reduce] if isinstance(self.reduce, str) else self.reduce
        self._wanted = [Reduction.parse(name) for name in items("reduce", names, "reductions")]
        self._cluster: Cluster | None = None
        self._check(given_fields(self))

    def _check(self, given: dict[str, Any]) -> None:
        """Raise UsageError where an option that was given is wrong, or not for this count."""
        if self.n.step != 1 or not self.n:
            raise UsageError(f"n must be an integer or a range of step 1, not empty, got {short_repr(self.n)}")
        self.entry.check_index(self.n.start, "n")
        check_backend(self.backend)
        if self.method not in ("formula", "enumerate"):
            raise UsageError(f"method must be formula or enumerate, got {short_repr(self.method)}")
        for name, most in (("records", None), ("workers", MOST_PROCESSES)):
            if name in given:
                integer(name, given[name], 1, most)
        if self.entry.family is None and (wrong := next(filter(_OF_FAMILIES.__contains__, given), None)):
            raise refused(wrong, self.entry.name)
        check_options(given, _EXCLUDES, {})
        if "records" in given and all(each.entry.gives != "records" for each in self._wanted):
            raise UsageError(f"records is for {argument('reduce')} with records, got {self.records}")

    @cached_property
    def _backend(self) -> Backend:
        return select(self.backend)

    @cached_property
    def source(self) -> Range | TermRange:
        """The values, with their bound, limbs and digits where these are known before they are counted."""
        family, start, stop = self.entry.family, self.n.start, self.n.stop
        if family is None:
            return TermRange(partial(self.entry.terms, start, stop), self.size)
        return Range(family, start - self.entry.shift, stop - self.entry.shift, self._backend.counting())

    @property
    def _range(self) -> Range:
        assert isinstance(self.source, Range)  # other options were refused
        return self.source

    @cached_property
    def _enumeration(self) -> Enumeration:
        return Enumeration(self._range.family, self._range.stop - 1, self._range.engine)

    @cached_property
    def _scans(self) -> list[ValueScan]:
        return scans(self._range, self._wanted)

    @property
    def is_long(self) -> bool:
        """Whether the work may take so long that one wants to read its plan."""
        if self.reduce is not None:
            return bool(self._scans)
        return self.method == "enumerate" or (self.entry.family is not None and self.size >= _LONG)

    def plan(self) -> Plan:
        """Return the cost of the work, without doing it.

        Raises:
            UsageError: it is known for families alone.
        """
        if self.entry.family is None:
            raise refused("plan", self.entry.name)
        if self.out is not None:
            check_table(self.out)
        if self.method == "enumerate":
            tuples = self._enumeration.tuples
            return Plan(self.facts, {"tuples": tuples}, f"{tuples:,} tuples to check")
        values = self._range
        scanned = self.size * (1 if self.reduce is None else len(self._scans))
        seconds = seconds_for(values, scanned) if scanned else 0.0
        time = f"{duration(seconds)} of one process with {values.engine.name}"
        costs: dict[str, Any] = {"values": scanned, "seconds": seconds}
        if self.reduce is not None:
            memory = max((values.table_memory() + scan.counts_memory for scan in self._scans), default=0)
            words = f"{scanned:,} values to visit, at least {time}"
            kept = f", {size_text(memory, up=True)} of tables and counts" if memory else ""
        else:
            costs["bytes"], memory = 8 * values.limbs * scanned, values.planned_memory()
            words = f"{scanned:,} values of {8 * values.limbs} bytes, {size_text(costs['bytes'], up=True)} in all, {time}"
            kept = f", writing not counted, {size_text(memory, up=True)} of memory at a time"
        return Plan(self.facts, costs | {"memory": memory}, words + kept)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Check the file, and start or connect to the workers, for the duration of the block.

        Raises:
            UsageError: the file cannot hold the values.
            FileError: the file cannot be written.
            BackendError: there are no workers.
        """
        with ExitStack() as held:
            if self.out is not None:
                check_table(self.out)
            if self.scheduler is not None or self.workers is not None:
                self._cluster = held.enter_context(cluster(self.scheduler, self.workers, gpus=self._backend.name == "cuda"))
            yield

    def result(self, progress: OnStep = no_progress) -> Values | DeviceArray | Reduced | dict[str, Reduced]:
        """Return what `gpu_nim.count` returns.

        Args:
            progress: called for progress.
        """
        with self.open():
            if self.reduce is not None:
                results = {str(result.reduction): result.value for result in self.reductions(progress)}
                return results.popitem()[1] if isinstance(self.reduce, str) else results
            return self._range.device_values() if self.device else self.values(progress)

    def reductions(self, progress: OnStep = no_progress) -> list[Result]:
        """Return the reductions, each with its value, in the order in which they were given.

        Args:
            progress: called for progress.
        """
        most = MAX_RECORDS if self.records is None else integer("records", self.records)
        run = partial(self._done, unit="values", scale=1, progress=progress)
        found = reduce_range(self._range, self._wanted, records=most, run=run, progress=progress)
        return [result.shifted(self.entry.shift) for result in found]

    def values(self, progress: OnStep = no_progress) -> Values:
        """Return the values of the range in an array.

        Args:
            progress: called for progress.
        """
        source = self.source
        require_memory(8 * source.limbs * self.size, host_memory(), f"{short_repr(self.size)} values of {self.entry.name}")
        if isinstance(source, Range) and self.method == "formula" and self._cluster is None:
            values: NDArray[Any] = source.values()
        else:
            shape = (self.size,) if source.limbs == 1 else (self.size, source.limbs)
            values = np.empty(shape, object if source.bound is None else np.uint64)
            for n, part in self.parts(progress):
                values[n - self.n.start :][: len(part)] = part
        if values.shape == (self.size,) and values.dtype == np.uint64 and values.view(np.int64).min() >= 0:
            return values.view(np.int64)
        return exact_array(to_integers(values))

    def write(self, progress: OnStep = no_progress) -> None:
        """Write the values to the file.

        Args:
            progress: called for progress.
        """
        assert self.out is not None
        parts: Iterable[tuple[int, Any]] = self.parts(progress)
        largest = self.source.bound
        if largest is None and self.out.suffix not in endings(any_size=True):  # it is known when all are
            values = self.values(progress)
            parts, largest = [(self.n.start, values)], int(values.max())
        save_sequence(self.out, parts, self.facts, largest or 0)

    def parts(self, progress: OnStep = no_progress) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the values of the range, in parts.

        A part is an index and an array of the values from there on, which the next one may overwrite. Arrays have the shape (m,),
        or (m, limbs) where values may need more than 64 bits, least significant first; those of entries without a family hold
        Python integers.

        Args:
            progress: called for progress.

        Raises:
            VerificationError: the sum of the values is not the exact one, or the enumeration differs from the formula.
        """
        if self.method == "enumerate":
            trial = self._enumeration
            scale = trial.tuples // trial.chunks()[-1][1]
            counted = trial.combine(self._done(trial, unit="tuples", scale=scale, progress=progress))
            yield self.n.start, counted[self._range.start :].astype(np.uint64)
            return
        if self._cluster is None:
            parts: Iterator[NDArray[Any]] = self.source.parts(progress)
        else:
            values, stop = self._range, self._range.stop
            chunks = ((first, min(first + CHUNK, stop)) for first in range(values.start, stop, CHUNK))
            parts = values.checked(self._cluster.do(values, chunks, self._backend.name))
        n = self.n.start
        for part in parts:
            yield n, part
            n += len(part)
            progress("values", n - self.n.start, self.size)

    def _done(self, work: ValueScan | Enumeration, *, unit: str, scale: int, progress: OnStep) -> Iterator[NDArray[np.int64]]:
        """The counts of each chunk, in order; the chunk (first, stop) is (stop - first) `scale` units of the work."""
        chunks = work.chunks()
        parts = map(work.do, chunks) if self._cluster is None else self._cluster.do(work, chunks, self._backend.name)
        for (_, stop), part in zip(chunks, parts, strict=True):
            progress(unit, scale * (stop - chunks[0][0]), scale * (chunks[-1][1] - chunks[0][0]))
            yield part
