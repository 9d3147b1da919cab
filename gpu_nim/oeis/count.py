"""Counting P-positions of Nim: exact values of any size, ranges, reductions, and the OEIS entries that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import check_backend, select
from gpu_nim.counting.families import FAMILIES
from gpu_nim.counting.ranges import Range, limbs_needed
from gpu_nim.model.arguments import Whole, integer, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.limbs import to_integers
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.registry import one_of
from gpu_nim.oeis.catalogue import resolve

__all__ = ["count"]

_INTEGER_BYTES = 48  # of a short Python integer in an array: itself, and where it is


def count(
    sequence: str, n: Whole | range, *, piles: Whole | None = None, backend: str | Backend = "auto", device: bool = False
) -> int | NDArray[Any]:
    """Count P-positions: one value, or the values over a range of consecutive indices.

    Args:
        sequence: the name of a family of `gpu_nim.counting.families`, such as "D" for k piles of total 2n [NF, section 3], or
            an A-number, indexed as the OEIS does.
        n: an index, or a range of them with step 1.
        piles: k, 1 to 1000, with a family.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object.
        device: leave the values of a range on the device, for other libraries.

    Returns:
        For an integer n a Python integer; for a range an array of shape (len(n),), uint64 where a bound proven first shows that
        all values fit, else of dtype object holding Python integers.

        With `device` an array of the backend's own: on CUDA a CuPy array, which has `__cuda_array_interface__` and DLPack, on NumPy
        a NumPy array, which has DLPack. Its dtype is uint64, its shape (len(n),) where all values fit 64 bits, and else
        (len(n), limbs), with the limbs of a value, digits to the base 2^64, least significant first.

    Raises:
        UsageError: an argument is wrong, or values are to stay on the device that are not counted there.
        BackendError: the backend cannot run here.
        InsufficientMemoryError: the values would not fit; raised before anything is counted.

    >>> count("D", 10**18 + 12345, piles=3)
    205891132094649
    >>> count("A237711", range(7))
    array([ 1,  6,  7, 36, 13, 42, 43], dtype=uint64)
    >>> count("D", range(10**18, 10**18 + 2), piles=4, backend="numpy", device=True).shape  # two limbs each
    (2, 2)
    """
    check_backend(backend)
    entry = resolve(sequence, piles)
    if device and not (isinstance(n, range) and entry.family):
        raise UsageError(
            f"device must be False but for a range of {one_of(FAMILIES)} or of an entry that equals one, got {sequence}"
        )
    if not isinstance(n, range):
        n = integer("n", n)
        entry.check_index(n, "n")
        return entry.term(n)
    if n.step != 1 or not n:
        raise UsageError(f"n must be an integer or a range of step 1, not empty, got {shown(n)}")
    entry.check_index(n.start, "n")
    size = n.stop - n.start
    if entry.family is None:
        require_memory(_INTEGER_BYTES * size, host_memory(), f"{shown(size)} terms of {entry.name}")
        return np.array(list(entry.terms(n.start, n.stop)), object)
    start, stop = n.start - entry.shift, n.stop - entry.shift
    limbs = limbs_needed(entry.family, start, stop)
    if device:
        on_device: NDArray[Any] = Range(entry.family, start, stop, select(backend).counting()).device_values()
        return on_device
    a_value = 8 if limbs == 1 else 16 * limbs + _INTEGER_BYTES
    require_memory(a_value * size, host_memory(), f"{shown(size)} values of {entry.name}")
    values = Range(entry.family, start, stop, select(backend).counting()).values()
    return values if values.ndim == 1 else np.array(to_integers(values), object)
