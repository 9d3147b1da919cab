"""Counting P-positions of Nim: exact values of any size, ranges, reductions, and the OEIS entries that hold them.

A `CountJob` is a count with its options: it refuses those that contradict each other, estimates the cost of the work, counts in
parts, in this process or on the workers of a cluster, and writes and draws what it has counted. `count` is the short way to its
results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend, select
from gpu_nim.counting.enumeration import Enumeration
from gpu_nim.counting.families import FAMILIES
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range, limbs_needed, seconds_for, seconds_for_value, with_checked_sum
from gpu_nim.counting.reductions import MAX_RECORDS, Reduced, Reduction, Result, ValueScan, reduce_range, scans
from gpu_nim.jobs.clusters import Cluster, cluster
from gpu_nim.model.arguments import IntLike, argument, check_options, given_fields, integer, items, short_repr, size_text
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notebook_repr import Plan
from gpu_nim.model.process import host_memory, require_memory
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import MOST_PROCESSES, OnStep, duration, no_progress
from gpu_nim.oeis.catalogue import resolve
from gpu_nim.storage.tables import check_table, endings, save_sequence

#: Exact values: int64, or Python integers where those do not fit.
Values: TypeAlias = NDArray[np.int64] | NDArray[np.object_]

Method: TypeAlias = Literal["formula", "enumerate"]
#: A chunk of work for a worker: the class of the whole work, its arguments but for the engine, the backend, and the chunk.
Task: TypeAlias = tuple[Callable[..., "Work"], tuple[Any, ...], str, tuple[int, int]]

Work: TypeAlias = Range | ValueScan | Enumeration

_OF_FAMILIES = ("reduce", "method", "device", "scheduler", "workers")
_EXCLUDES = {
    "reduce": ("device", "method", "out"),
    "device": ("method", "scheduler", "workers", "out"),
    "scheduler": ("workers",),
}
_STEP, _STEPS = 1 << 10, 1 << 20  # of ranges: values between are counted faster than as many single ones
_CHUNK = 1 << 22  # values that a worker returns at a time, 32 MiB for each limb: those in transit must fit in memory
_LONG, _SECONDS = 1 << 32, 10  # values, about so many seconds
_SHORT = 32  # binary digits of an index whose value takes a second at most
_TERMS = 1 << 10  # of an entry without a formula that are put together, at most


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


def count(
    sequence: str,
    n: IntLike | range | list[int] | tuple[int, ...] | NDArray[np.integer],
    *,
    piles: IntLike | None = None,
    reduce: str | list[str] | tuple[str, ...] | None = None,
    records: IntLike | None = None,
    method: Method = "formula",
    backend: str | Backend = "auto",
    device: bool = False,
    scheduler: str | None = None,
    workers: IntLike | None = None,
    progress: OnStep = no_progress,
) -> Any:
    """Count P-positions: one value, those at several indices or over a range of consecutive ones, or reductions of a range.

    `gpu_nim.jobs.CountJob` also writes files, draws, and estimates the cost before.

    Args:
        sequence: the name of a family of `gpu_nim.counting.families`, such as "D" for k piles of total 2n [NF, section 3], or
            an A-number, indexed as the OEIS does.
        n: an index, an array or a list of indices, or a range of them, with `reduce` and `device` of step 1 and not empty.
        piles: k, 1 to 1000, with a family.
        reduce: the name of a reduction of `gpu_nim.counting.REDUCTIONS`, or a list of names. Most are fast over any range; a
            histogram and residues may have to visit every value.
        records: the most records to list, by default 1000; they are the first ones.
        method: "formula", or "enumerate" to check every tuple of piles and compare with the formula.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object.
        device: leave the values of a range on the device, for other libraries.
        scheduler: distribute the work to the workers of the Dask scheduler at this address.
        workers: distribute the work to this many processes, one per GPU if there are GPUs.
        progress: called with what is counted, how much of it is done, and the total.

    Returns:
        For an integer n a Python integer; for a range an array of shape (len(n),), for an array one of its shape: int64 where the
        values fit, else of dtype object holding Python integers.

        With `reduce`: for "sum", "max" and "min" an integer, for "argmax" and "argmin" the first such index, for "histogram" and
        "residues:M" the number of values by their binary digits or their remainder, for "records" the pairs (n, value). For a list
        of names, a dict by name.

        With `device` an array of the backend's own: on CUDA a CuPy array, which has `__cuda_array_interface__` and DLPack, on NumPy
        a NumPy array, which has DLPack. Its shape is (len(n),) where a bound proven first shows that all values fit 64 bits, and
        else (len(n), limbs), with the limbs of a value, digits to the base 2^64, least significant first; its dtype is int64 where
        the bound is below 2^63, else uint64.

    Raises:
        UsageError: an argument is wrong or contradicts another.
        BackendError: the backend cannot run here.
        InsufficientMemoryError: the values would not fit; raised before anything is counted.
        VerificationError: the enumeration, or a sum of values, differs from the formula.

    >>> count("D", 10**18 + 12345, piles=3)
    205891132094649
    >>> count("A237711", range(7))
    array([ 1,  6,  7, 36, 13, 42, 43])
    >>> count("D", range(0, 10, 2), piles=3)
    array([1, 3, 3, 9, 3])
    >>> count("D", [7, 10**18], piles=4)
    array([216, 3628465226700691027994058511879351057], dtype=object)
    >>> count("D", range(10**12), piles=3, reduce="max")  # 3^39
    4052555153018976267
    >>> count("D", range(10**6), piles=3, reduce=["argmax", "residues:4"])
    {'argmax': 524287, 'residues:4': {1: 500000, 3: 500000}}
    >>> count("D", range(10**18, 10**18 + 2), piles=4, backend="numpy", device=True).shape  # two limbs each
    (2, 2)
    """
    where: dict[str, Any] = {"backend": backend, "scheduler": scheduler, "workers": workers}

    def make(n: IntLike | range) -> CountJob:
        return CountJob(sequence, n, piles=piles, reduce=reduce, records=records, method=method, device=device, **where)

    if isinstance(n, range) and reduce is None and not device and (n.step != 1 or not n):
        if n and (abs(n.step) <= _STEP or (n[-1] - n[0]) // n.step > _STEPS):
            low, high = sorted((n[0], n[-1]))
            between: Any = _in_range(make(range(low, high + 1)), progress)
            return _exact(between[:: n.step].tolist())
        resolve(sequence, piles)  # which is refused for an empty range, too
        n = [*n]
    if isinstance(n, range):
        return _in_range(make(n), progress)
    if isinstance(n, list | tuple | np.ndarray):
        return _at_each(make, np.array(n, object), progress)
    return make(integer("n", n)).value(progress)


def count_at(sequence: str, n: IntLike, *, progress: OnStep = no_progress, **options: Any) -> int:
    """Return the value at an index, as `count` does, which has the same arguments.

    >>> count_at("D", 10**18 + 12345, piles=3)
    205891132094649
    """
    return CountJob(sequence, integer("n", n), **options).value(progress)


def count_range(
    sequence: str, n: range, *, progress: OnStep = no_progress, **options: Any
) -> Values | DeviceArray | Reduced | dict[str, Reduced]:
    """Return the values over a range of indices, or reductions of it, as `count` does, which has the same arguments.

    >>> count_range("D", range(10**12), piles=3, reduce="max")
    4052555153018976267
    """
    if not isinstance(n, range):
        raise UsageError(f"n must be a range of indices, got {short_repr(n)}")
    return _in_range(CountJob(sequence, n, **options), progress)


def _in_range(job: CountJob, progress: OnStep) -> Values | DeviceArray | Reduced | dict[str, Reduced]:
    with job.open():
        if job.reduce is not None:
            results = {str(result.reduction): result.value for result in job.reductions(progress)}
            return results.popitem()[1] if isinstance(job.reduce, str) else results
        return job.device_values() if job.device else job.values(progress)


def _at_each(make: Callable[..., CountJob], indices: NDArray[np.object_], progress: OnStep) -> Values:
    """Return the values at an array of indices; those of an entry without a family in one run over the terms between them."""
    jobs = [make(index) for index in indices.flat]
    if jobs and jobs[0].entry.family is None:
        wanted = [job.indices.start for job in jobs]
        values = make(range(min(wanted), max(wanted) + 1)).values(progress)[[n - min(wanted) for n in wanted]].tolist()
    else:
        values = [job.value(progress) for job in jobs]
    return _exact(values).reshape(indices.shape)


def _exact(values: list[int]) -> Values:
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


@dataclass(eq=False)
class CountJob:
    """A count with its options, which are refused here where they contradict each other.

    The count of a range is done in the block of `open`, which has the file, its name and the workers.

    Args:
        sequence: as for `gpu_nim.count`, like the following ones.
        n: an index or a range.
        piles: the number of piles.
        reduce: the name of a reduction, or a list of names.
        records: the most records to list.
        method: "formula" or "enumerate".
        backend: where to count.
        device: whether the values stay on the device.
        scheduler: the address of a Dask scheduler.
        workers: a number of processes.
        out: a file for the values of a range, of a format of `gpu_nim.storage.tables`.

    Raises:
        UsageError: an argument is wrong or contradicts another.
        BackendError: the backend cannot run here.

    >>> print(CountJob("D", range(10**9), piles=4, reduce="sum").plan())
    0 values to visit, at least about 0.0 seconds of one process with ...
    >>> CountJob("D", 5, piles=4, workers=2)
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: workers is for a range of D, A, d or a or of an entry that equals one, got D at 5
    """

    sequence: str
    n: IntLike | range
    _: KW_ONLY
    piles: IntLike | None = None
    reduce: str | Iterable[str] | None = None
    records: IntLike | None = None
    method: Method = "formula"
    backend: str | Backend = "auto"
    device: bool = False
    scheduler: str | None = None
    workers: IntLike | None = None
    out: Path | None = None

    def __post_init__(self) -> None:
        self.entry = resolve(self.sequence, self.piles)
        self.name = self.sequence if self.sequence in FAMILIES else self.entry.name
        self.is_index = not isinstance(self.n, range)
        self.indices = self.n if isinstance(self.n, range) else range(index := integer("n", self.n), index + 1)
        self.out = None if self.out is None else Path(self.out)
        names = [] if self.reduce is None else [self.reduce] if isinstance(self.reduce, str) else self.reduce
        self._wanted = [Reduction.parse(name) for name in items("reduce", names, "reductions")]
        self._check(given_fields(self))
        self._cluster: Cluster | None = None

    def _check(self, given: dict[str, Any]) -> None:
        """Raise UsageError where an option that was given is wrong, or not for this count."""
        if self.indices.step != 1 or not self.indices:
            raise UsageError(f"n must be an integer or a range of step 1, not empty, got {short_repr(self.n)}")
        self.entry.check_index(self.indices.start, "n")
        if "backend" in given:
            check_backend(self.backend)
        if self.method not in ("formula", "enumerate"):
            raise UsageError(f"method must be formula or enumerate, got {short_repr(self.method)}")
        for name, most in (("records", None), ("workers", MOST_PROCESSES)):
            if name in given:
                integer(name, given[name], 1, most)
        for name in given:
            if self.is_index and name == "out":
                raise UsageError(f"{name} is for a range, got {self._described}")
            if (self.is_index or self.entry.family is None) and name in _OF_FAMILIES:
                raise self._not_of_family(name)
        check_options(given, _EXCLUDES, {})
        if "records" in given and all(each.entry.gives != "records" for each in self._wanted):
            raise UsageError(f"records is for {argument('reduce')} with records, got {self.records}")

    def _not_of_family(self, name: str) -> UsageError:
        wanted = f"{argument(name)} is for a range of {one_of(FAMILIES)} or of an entry that equals one"
        return UsageError(f"{wanted}, got {self._described if self.is_index else self.entry.name}")

    @property
    def _described(self) -> str:
        return f"{self.name} at {short_repr(self.indices.start)}"

    @property
    def size(self) -> int:
        """The number of values, of any size."""
        return self.indices.stop - self.indices.start  # len() is refused beyond 63 bits

    @property
    def family(self) -> Family:
        """The family that the entry equals; UsageError where there is none."""
        if self.entry.family is None:
            raise UsageError(f"{self.entry.name} is none of {one_of(FAMILIES)}")
        return self.entry.family

    @property
    def facts(self) -> dict[str, Any]:
        """What the values are of: the sequence, the number of piles, and the index or the range."""
        piles = self.entry.family and self.entry.family.piles
        where = {"n": self.indices.start} if self.is_index else {"start": self.indices.start, "stop": self.indices.stop}
        return {"sequence": self.name, "piles": piles, **where}

    @cached_property
    def _backend(self) -> Backend:
        return select(self.backend)

    @property
    def _span(self) -> tuple[Family, int, int]:
        """The family, and the range in its indices."""
        return self.family, self.indices.start - self.entry.shift, self.indices.stop - self.entry.shift

    @cached_property
    def _range(self) -> Range:
        return Range(*self._span, self._backend.counting())

    @cached_property
    def _enumeration(self) -> Enumeration:
        family, _, stop = self._span
        return Enumeration(family, stop - 1, self._backend.counting())

    @property
    def limbs(self) -> int:
        """How many 64-bit numbers hold a value; 1 for Python integers of any size."""
        return 1 if self.entry.family is None else limbs_needed(*self._span)

    @property
    def digits(self) -> int:
        """How many decimal digits the largest value has; 0 where that is not known before it is counted."""
        return 0 if self.entry.family is None else len(str(self.family.maximum(*self._span[1:])))

    @cached_property
    def _seconds(self) -> float:
        """About how long the value at the index takes."""
        return seconds_for_value(*self._span[:2])

    @property
    def visited(self) -> int:
        """How many values the reductions have to visit."""
        return self.size * len(self._scans)

    @cached_property
    def _scans(self) -> list[ValueScan]:
        return scans(*self._span, self._wanted, self._backend.counting())

    @property
    def is_long(self) -> bool:
        """Whether the work may take so long that one wants to read its plan."""
        if self.is_index:
            if self.entry.family is None or self._span[1].bit_length() <= _SHORT:
                return False
            fits = self.family.value_memory(self._span[1]) <= host_memory()
            return fits and self._seconds >= _SECONDS  # what does not fit is refused
        if self.reduce is not None:
            return self.visited > 0
        return self.method == "enumerate" or (self.entry.family is not None and self.size >= _LONG)

    def plan(self) -> Plan:
        """Return the cost of the work, without doing it.

        Raises:
            UsageError: it is known for ranges of families alone.
        """
        if self.entry.family is None:
            raise self._not_of_family("plan")
        if self.is_index:
            size, time = self.entry.family.most_digits(self._span[1]), duration(self._seconds)
            costs: dict[str, float] = {"digits": size, "seconds": self._seconds}
            return Plan(self.facts, costs, f"a value of at most {size:,} digits, {time} of one process")
        if self.out is not None:
            check_table(self.out)
        if self.method == "enumerate":
            tuples = self._enumeration.tuples
            return Plan(self.facts, {"tuples": tuples}, f"{tuples:,} tuples to check")
        scanned = self.size if self.reduce is None else self.visited
        seconds = seconds_for(self._range, scanned) if scanned else 0.0
        time = f"{duration(seconds)} of one process with {self._backend.counting().name}"
        if self.reduce is not None:
            memory = max((self._range.table_memory() + scan.counts_memory for scan in self._scans), default=0)
            costs = {"values": scanned, "seconds": seconds, "memory": memory}
            words = f"{scanned:,} values to visit, at least {time}"
            return Plan(self.facts, costs, f"{words}, {size_text(memory, up=True)} of tables and counts" if memory else words)
        size, memory = 8 * self.limbs * scanned, self._range.planned_memory()
        words = f"{scanned:,} values of {8 * self.limbs} bytes, {size_text(size, up=True)} in all, {time}, writing not counted"
        costs = {"values": scanned, "bytes": size, "seconds": seconds, "memory": memory}
        return Plan(self.facts, costs, f"{words}, {size_text(memory, up=True)} of memory at a time")

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

    def value(self, progress: OnStep = no_progress) -> int:
        """Return the value at an index.

        Args:
            progress: called for progress.
        """
        if self.entry.family is None:
            return self.entry.term(self.indices.start, progress)
        family, index, _ = self._span
        require_memory(family.value_memory(index), host_memory(), f"{self._described} of {family.piles:,} piles")
        return family.value(index, progress)

    def reductions(self, progress: OnStep = no_progress) -> list[Result]:
        """Return the reductions, each with its value, in the order in which they were given.

        Args:
            progress: called for progress.
        """

        def run(scan: ValueScan) -> Iterator[NDArray[np.int64]]:
            whole = scan.family, scan.start, scan.stop, scan.reduction
            return self._done(scan, whole, "values", 1, progress)

        most = MAX_RECORDS if self.records is None else integer("records", self.records)
        engine = self._backend.counting()
        found = reduce_range(*self._span, self._wanted, engine, records=most, run=run, progress=progress)
        return [result.shifted(self.entry.shift) for result in found]

    def device_values(self) -> DeviceArray:
        """Return the values of the range in an array of the backend's own."""
        values = self._range.device_values()
        small: DeviceArray = values.view(np.int64) if self.family.bound(*self._span[1:]) < 1 << 63 else values
        return small

    def values(self, progress: OnStep = no_progress) -> Values:
        """Return the values of the range in an array.

        Args:
            progress: called for progress.
        """
        require_memory(8 * self.limbs * self.size, host_memory(), f"{short_repr(self.size)} values of {self.entry.name}")
        if self.entry.family is not None and self.method == "formula" and self._cluster is None:
            values = self._range.values()
        else:
            shape = (self.size,) if self.limbs == 1 else (self.size, self.limbs)
            values = np.empty(shape, object if self.entry.family is None else np.uint64)
            for n, part in self.parts(progress):
                values[n - self.indices.start :][: len(part)] = part
        if values.shape == (self.size,) and values.dtype == np.uint64 and values.view(np.int64).min() >= 0:
            return values.view(np.int64)
        return _exact(to_integers(values))

    def write(self, progress: OnStep = no_progress) -> None:
        """Write the values to the file.

        Args:
            progress: called for progress.
        """
        assert self.out is not None
        parts: Iterable[tuple[int, Any]] = self.parts(progress)
        largest = 0 if self.entry.family is None else self.family.bound(*self._span[1:])
        if self.entry.family is None and self.out.suffix not in endings(any_size=True):  # the largest is known when all are
            values = self.values(progress)
            parts, largest = [(self.indices.start, values)], int(values.max())
        save_sequence(self.out, parts, self.facts, largest)

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
        start = n = self.indices.start
        for part in self._parts(progress):
            yield n, part
            n += len(part)
            if self.method == "formula":
                progress("values", n - start, self.size)

    def _parts(self, progress: OnStep) -> Iterator[NDArray[Any]]:
        if self.entry.family is None:
            terms, size = self.entry.terms(self.indices.start, self.indices.stop, progress), 1
            while part := list(islice(terms, size)):
                yield np.array(part, object)
                size = min(2 * size, _TERMS)  # the first ones at once, where each takes long
            return
        family, start, stop = self._span
        if self.method == "enumerate":
            trial = self._enumeration
            scale = trial.tuples // trial.chunks()[-1][1]
            counted = trial.combine(self._done(trial, (family, trial.limit), "tuples", scale, progress))
            yield counted[start:].astype(np.uint64)
            return
        if self._cluster is None:
            parts: Iterable[NDArray[np.uint64]] = (part for _, part in self._range.chunks())
        else:
            chunks = ((at, min(at + _CHUNK, stop)) for at in range(start, stop, _CHUNK))
            parts = self._cluster.map(do_chunk, ((Range, (family, start, stop), self._backend.name, chunk) for chunk in chunks))
        yield from with_checked_sum(family, start, parts)

    def _done(
        self, work: ValueScan | Enumeration, whole: tuple[Any, ...], unit: str, scale: int, progress: OnStep
    ) -> Iterator[NDArray[np.int64]]:
        """The counts of each chunk, in order.

        `whole` are the arguments of the work, and the chunk (first, stop) is (stop - first) `scale` units of it.
        """
        chunks = work.chunks()
        tasks = ((type(work), whole, self._backend.name, chunk) for chunk in chunks)
        parts = map(work.do, chunks) if self._cluster is None else self._cluster.map(do_chunk, tasks)
        for (_, stop), part in zip(chunks, parts, strict=True):
            progress(unit, scale * (stop - chunks[0][0]), scale * (chunks[-1][1] - chunks[0][0]))
            yield part


def do_chunk(task: Task) -> NDArray[Any]:
    """Do a chunk of work on a worker."""
    kind, whole, backend, chunk = task
    return _work(kind, whole, backend).do(chunk)


@lru_cache(maxsize=2)
def _work(kind: Callable[..., Work], whole: tuple[Any, ...], backend: str) -> Work:
    chosen = select(backend)
    # A worker has as many chunks as threads, so the engine uses one thread.
    engine: HostCounting = HostCounting(threads=1) if chosen.name == "numpy" else chosen.counting()
    return kind(*whole, engine)
