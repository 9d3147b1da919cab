"""`count`: the short way to the results of a `gpu_nim.jobs.count_job.CountJob`, whose types follow from its arguments."""

from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.counting.reductions import Reduced
from gpu_nim.jobs.count_job import CountJob, DeviceArray, Method, Values, exact_array
from gpu_nim.model.arguments import IntLike
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.oeis.catalogue import resolve

#: Indices, each of which has a value.
Indices: TypeAlias = range | list[int] | tuple[int, ...] | NDArray[np.integer]

_STEP, _STEPS = 1 << 10, 1 << 20  # of ranges: values between are counted faster than as many single ones


class _Options(TypedDict, total=False):
    """Options of every count."""

    piles: IntLike | None
    backend: str | Backend
    scheduler: str | None
    workers: IntLike | None
    progress: OnStep


@overload  # an array of NumPy may also be an index by its type
def count(sequence: str, n: Indices, *, method: Method = "formula", **more: Unpack[_Options]) -> Values: ...  # type: ignore[overload-overlap]
@overload
def count(sequence: str, n: IntLike, **more: Unpack[_Options]) -> int: ...
@overload
def count(sequence: str, n: range, *, device: Literal[True], **more: Unpack[_Options]) -> DeviceArray: ...
@overload
def count(sequence: str, n: range, *, reduce: str, records: IntLike | None = None, **more: Unpack[_Options]) -> Reduced: ...
@overload
def count(
    sequence: str, n: range, *, reduce: list[str] | tuple[str, ...], records: IntLike | None = None, **more: Unpack[_Options]
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
