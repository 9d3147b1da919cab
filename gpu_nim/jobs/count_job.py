"""Counting P-positions of Nim: exact values of any size, ranges, reductions, and the OEIS entries that hold them.

A `ValueCount` is a count at an index, a `gpu_nim.jobs.count_range.RangeCount` one over a range. Both refuse options that contradict
each other, and estimate the cost of the work. `count` is the short way to their results.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend
from gpu_nim.counting.ranges import seconds_for_value
from gpu_nim.counting.reductions import Reduced
from gpu_nim.jobs.count_range import DeviceArray, Method, RangeCount, Values, exact_array, refused
from gpu_nim.model.arguments import IntLike, given_options, integer, short_repr
from gpu_nim.model.shown import Plan, Shown
from gpu_nim.model.work import OnStep, duration, host_memory, no_progress, require_memory
from gpu_nim.oeis.catalogue import OeisEntry, resolve

#: Indices, each of which has a value.
Indices: TypeAlias = range | list[int] | tuple[int, ...] | NDArray[np.integer]

_SECONDS, _SHORT = 10, 32  # of work that is long; binary digits of an index whose value takes a second at most
_STEP, _STEPS = 1 << 10, 1 << 20  # of ranges: values between are counted faster than as many single ones


class _Where(TypedDict, total=False):
    """Options of every count."""

    piles: IntLike | None
    backend: str | Backend
    scheduler: str | None
    workers: IntLike | None
    progress: OnStep


@overload  # an array of NumPy may also be an index by its type
def count(sequence: str, n: Indices, *, method: Method = "formula", **more: Unpack[_Where]) -> Values: ...  # type: ignore[overload-overlap]
@overload
def count(sequence: str, n: IntLike, **more: Unpack[_Where]) -> int: ...
@overload
def count(sequence: str, n: range, *, device: Literal[True], **more: Unpack[_Where]) -> DeviceArray: ...
@overload
def count(sequence: str, n: range, *, reduce: str, records: IntLike | None = None, **more: Unpack[_Where]) -> Reduced: ...
@overload
def count(
    sequence: str, n: range, *, reduce: list[str] | tuple[str, ...], records: IntLike | None = None, **more: Unpack[_Where]
) -> dict[str, Reduced]: ...
def count(
    sequence: str,
    n: IntLike | Indices,
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

    `gpu_nim.jobs.CountJob` also writes files, and estimates the cost before.

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

    def make(n: Any) -> Any:
        return CountJob(sequence, n, piles=piles, reduce=reduce, records=records, method=method, device=device, **where)

    if isinstance(n, range) and reduce is None and not device and (n.step != 1 or not n):
        if n and (abs(n.step) <= _STEP or (n[-1] - n[0]) // n.step > _STEPS):
            low, high = sorted((n[0], n[-1]))
            return exact_array(make(range(low, high + 1)).result(progress)[:: n.step].tolist())
        n = [*n]
    if not isinstance(n, list | tuple | np.ndarray):
        return make(n).result(progress)
    indices = np.array(n, object)
    jobs = [make(index) for index in indices.flat]
    if resolve(sequence, piles).family is None and jobs:  # in one run over the terms between
        wanted = [job.n for job in jobs]
        values = make(range(min(wanted), max(wanted) + 1)).values(progress)[[n - min(wanted) for n in wanted]].tolist()
    else:
        values = [job.result(progress) for job in jobs]
    return exact_array(values).reshape(indices.shape)


@overload
def CountJob(sequence: str, n: range, *, piles: IntLike | None = None, **options: Any) -> RangeCount: ...
@overload
def CountJob(sequence: str, n: IntLike, *, piles: IntLike | None = None, **options: Any) -> ValueCount: ...
def CountJob(sequence: str, n: IntLike | range, *, piles: IntLike | None = None, **options: Any) -> RangeCount | ValueCount:
    """Return a count with its options: a `RangeCount` of a range, a `ValueCount` of an index.

    Args:
        sequence: as for `gpu_nim.count`, like the options.
        n: an index or a range.
        piles: the number of piles of a family.
        options: as for `gpu_nim.count`, without progress; and `out`, a file for the values of a range, of a format of
            `gpu_nim.storage.tables`.

    Raises:
        UsageError: an argument is wrong or contradicts another.
        BackendError: the backend cannot run here.

    >>> print(CountJob("D", range(10**9), piles=4, reduce="sum").plan())
    0 values to visit, at least about 0.0 seconds of one process with ...
    >>> CountJob("D", 5, piles=4, workers=2)
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: workers is for a range of D, A, d or a or of an entry that equals one, got D at 5
    """
    entry = resolve(sequence, piles)
    return RangeCount(entry, n, **options) if isinstance(n, range) else ValueCount(entry, integer("n", n), **options)


class ValueCount(Shown):
    """A count at an index; see `CountJob`."""

    def __init__(self, entry: OeisEntry, n: int, backend: str | Backend = "auto", **options: Any) -> None:
        entry.check_index(n, "n")
        self.entry, self.n, self._index = entry, n, n - entry.shift
        self.facts = {**entry.facts, "n": n}
        self._what = f"{self.facts['sequence']} at {short_repr(n)}"
        check_backend(backend)
        for name in given_options(options):
            if options[name] != "formula":
                raise refused(name, self._what)

    @property
    def is_long(self) -> bool:
        """Whether the work may take so long that one wants to read its plan."""
        family = self.entry.family
        if family is None or self._index.bit_length() <= _SHORT or family.value_memory(self._index) > host_memory():
            return False  # what does not fit is refused
        return seconds_for_value(family, self._index) >= _SECONDS

    def plan(self) -> Plan:
        """Return the cost of the work, without doing it.

        Raises:
            UsageError: it is known for families alone.
        """
        family = self.entry.family
        if family is None:
            raise refused("plan", self._what)
        size, seconds = family.most_digits(self._index), seconds_for_value(family, self._index)
        words = f"a value of at most {size:,} digits, {duration(seconds)} of one process"
        return Plan(self.facts, {"digits": size, "seconds": seconds}, words)

    def result(self, progress: OnStep = no_progress) -> int:
        """Return the value, as `gpu_nim.count` does.

        Args:
            progress: called for progress.
        """
        family = self.entry.family
        if family is None:
            return self.entry.term(self.n, progress)
        require_memory(family.value_memory(self._index), host_memory(), f"{self._what} of {family.piles:,} piles")
        return family.value(self._index, progress)
