"""Counting P-positions of Nim: exact values of any size, ranges, reductions, and the OEIS entries that hold them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Literal, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend, select
from gpu_nim.counting.families import FAMILIES
from gpu_nim.counting.limits import MAX_RECORDS
from gpu_nim.counting.ranges import limbs_needed
from gpu_nim.counting.reductions import Reduced, Reduction
from gpu_nim.jobs.clusters import cluster
from gpu_nim.jobs.count_job import CountJob
from gpu_nim.model.arguments import Whole, integer, items, shown
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.registry import one_of
from gpu_nim.oeis.catalogue import resolve
from gpu_nim.oeis.entry import OeisEntry

__all__ = ["DeviceArray", "Values", "count"]

Values: TypeAlias = NDArray[np.uint64] | NDArray[np.object_]
"""Exact values of a range: uint64, or Python integers where those may not fit."""

Method: TypeAlias = Literal["formula", "enumerate"]
_INTEGER_BYTES = 48  # of a short Python integer in an array: itself, and where it is


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


@overload
def count(sequence: str, n: Whole, *, piles: Whole | None = None, backend: str | Backend = "auto") -> int: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    method: Method = "formula",
    backend: str | Backend = "auto",
    device: Literal[False] = False,
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> Values: ...
@overload
def count(
    sequence: str, n: range, *, piles: Whole | None = None, backend: str | Backend = "auto", device: Literal[True]
) -> DeviceArray: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    reduce: Literal["sum", "max", "argmax", "min", "argmin"],
    backend: str | Backend = "auto",
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> int: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    reduce: Literal["histogram"],
    backend: str | Backend = "auto",
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> dict[int, int]: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    reduce: Literal["records"],
    records: Whole = MAX_RECORDS,
    backend: str | Backend = "auto",
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> list[tuple[int, int]]: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    reduce: str,
    records: Whole = MAX_RECORDS,
    backend: str | Backend = "auto",
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> Reduced: ...
@overload
def count(
    sequence: str,
    n: range,
    *,
    piles: Whole | None = None,
    reduce: list[str] | tuple[str, ...],
    records: Whole = MAX_RECORDS,
    backend: str | Backend = "auto",
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> dict[str, Reduced]: ...
def count(
    sequence: str,
    n: Whole | range,
    *,
    piles: Whole | None = None,
    reduce: str | list[str] | tuple[str, ...] | None = None,
    records: Whole = MAX_RECORDS,
    method: Method = "formula",
    backend: str | Backend = "auto",
    device: bool = False,
    scheduler: str | None = None,
    workers: Whole | None = None,
) -> int | Values | DeviceArray | Reduced | dict[str, Reduced]:
    """Count P-positions: one value, the values over a range of consecutive indices, or reductions of these.

    Args:
        sequence: the name of a family of `gpu_nim.counting.families`, such as "D" for k piles of total 2n [NF, section 3], or
            an A-number, indexed as the OEIS does.
        n: an index, or a range of them with step 1.
        piles: k, 1 to 1000, with a family.
        reduce: the name of a reduction of `gpu_nim.counting.REDUCTIONS`, or a list of names. Most are fast over any range; a
            histogram and residues may have to visit every value.
        records: the most records to list; they are the first ones.
        method: "formula", or "enumerate" to check every tuple of piles and compare with the formula.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object.
        device: leave the values of a range on the device, for other libraries.
        scheduler: distribute the work to the workers of the Dask scheduler at this address.
        workers: distribute the work to this many processes, one per GPU if there are GPUs.

    Returns:
        For an integer n a Python integer; for a range an array of shape (len(n),), uint64 where a bound proven first shows that
        all values fit, else of dtype object holding Python integers.

        With `reduce`: for "sum", "max" and "min" an integer, for "argmax" and "argmin" the first such index, for "histogram" and
        "residues:M" the number of values by their binary digits or their remainder, for "records" the pairs (n, value). For a list
        of names, a dict by name.

        With `device` an array of the backend's own: on CUDA a CuPy array, which has `__cuda_array_interface__` and DLPack, on NumPy
        a NumPy array, which has DLPack. Its dtype is uint64, its shape (len(n),) where all values fit 64 bits, and else
        (len(n), limbs), with the limbs of a value, digits to the base 2^64, least significant first.

    Raises:
        UsageError: an argument is wrong, or values are to stay on the device that are not counted there.
        BackendError: the backend cannot run here.
        InsufficientMemoryError: the values would not fit; raised before anything is counted.
        VerificationError: the enumeration, or a sum of values, differs from the formula.

    >>> count("D", 10**18 + 12345, piles=3)
    205891132094649
    >>> count("A237711", range(7))
    array([ 1,  6,  7, 36, 13, 42, 43], dtype=uint64)
    >>> count("D", range(10**12), piles=3, reduce="max")  # 3^39
    4052555153018976267
    >>> count("D", range(10**6), piles=3, reduce=["argmax", "residues:4"])
    {'argmax': 524287, 'residues:4': {1: 500000, 3: 500000}}
    >>> count("D", range(10**18, 10**18 + 2), piles=4, backend="numpy", device=True).shape  # two limbs each
    (2, 2)
    """
    check_backend(backend)
    entry = resolve(sequence, piles)
    if not isinstance(n, range):
        _require_plain(reduce, method, device, scheduler, workers, f"{sequence} at {shown(n)}")
        n = integer("n", n)
        entry.check_index(n, "n")
        return entry.term(n)
    if n.step != 1 or not n:
        raise UsageError(f"n must be an integer or a range of step 1, not empty, got {shown(n)}")
    entry.check_index(n.start, "n")
    if entry.family is None:
        _require_plain(reduce, method, device, scheduler, workers, entry.name)
        require_memory(_INTEGER_BYTES * _size(n), host_memory(), f"{shown(_size(n))} terms of {entry.name}")
        return np.array(list(entry.terms(n.start, n.stop)), object)
    if method not in ("formula", "enumerate"):
        raise UsageError(f"method must be formula or enumerate, got {shown(method)}")
    chosen = select(backend)
    with ExitStack() as held:
        distributed = None
        if scheduler is not None or workers is not None:
            if device:
                raise UsageError("device must be False with workers or a scheduler, which return the values")
            number = None if workers is None else integer("workers", workers, 1)
            distributed = held.enter_context(cluster(scheduler, number, gpus=chosen.name == "cuda"))
        job = CountJob(entry.family, n.start - entry.shift, n.stop - entry.shift, chosen, distributed)
        if reduce is not None:
            if device or method == "enumerate":
                raise UsageError("reduce must be given without device and method")
            return _reduced(job, entry, reduce, integer("records", records, 1))
        if device:
            if method == "enumerate":
                raise UsageError("device must be False with method 'enumerate'")
            on_device: DeviceArray = job.values.device_values()
            return on_device
        if method == "enumerate":
            return job.enumerate()[job.start :].astype(np.uint64)
        return _values(job, entry)


def _require_plain(reduce: object, method: object, device: object, scheduler: object, workers: object, found: str) -> None:
    """Refuse what is for ranges of families alone."""
    given = {
        "reduce": reduce is not None,
        "method": method != "formula",
        "device": device,
        "scheduler": scheduler is not None,
        "workers": workers is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"{name} is for a range of {one_of(FAMILIES)} or of an entry that equals one, got {found}")


def _size(n: range) -> int:
    return n.stop - n.start  # len() is refused beyond 63 bits


def _reduced(job: CountJob, entry: OeisEntry, names: object, records: int) -> Reduced | dict[str, Reduced]:
    wanted = [Reduction.parse(each) for each in ([names] if isinstance(names, str) else items("reduce", names, "reductions"))]
    results = [result.shifted(entry.shift) for result in job.reduce(wanted, records)]
    return results[0].value if isinstance(names, str) else {str(result.reduction): result.value for result in results}


def _values(job: CountJob, entry: OeisEntry) -> Values:
    assert entry.family is not None
    size, limbs = job.stop - job.start, limbs_needed(entry.family, job.start, job.stop)
    a_value = 8 if limbs == 1 else 16 * limbs + _INTEGER_BYTES
    require_memory(a_value * size, host_memory(), f"{shown(size)} values of {entry.name}")
    if job.cluster is None:
        values = job.values.values()
    else:
        values = np.empty(job.values.shape(size), np.uint64)
        at = 0
        for part in job.chunks(job.start):
            values[at : at + len(part)] = part
            at += len(part)
    return values if values.ndim == 1 else np.array(to_integers(values), object)
