"""Counting P-positions of Nim: exact values of any size, ranges, reductions, and the OEIS entries that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends import select
from gpu_nim.backends.counting import to_integers
from gpu_nim.errors import UsageError
from gpu_nim.sequences.oeis import resolve
from gpu_nim.sequences.ranges import Range

__all__ = ["count"]


def count(sequence: str, n: int | range, *, piles: int | None = None, backend: str = "auto") -> int | NDArray[Any]:
    """Count P-positions: one value, or the values over a range of consecutive indices.

    `sequence` is "D" (k piles, total 2n), "A" (total at most 2n), "d" (largest pile n) or "a" (no pile over n) with
    `piles` = k from 1 to 1000 [NF, section 3], or an A-number, indexed as the OEIS does. For an integer n the value is a
    Python integer; for a range with step 1 an array of shape (len(n),), uint64 where a bound proven first shows that all
    values fit, else of dtype object holding Python integers. Raises UsageError for anything else.

    >>> count("D", 10**18 + 12345, piles=3)
    205891132094649
    >>> count("A237711", range(7))
    array([ 1,  6,  7, 36, 13, 42, 43], dtype=uint64)
    """
    entry = resolve(sequence, piles)
    if isinstance(n, int):
        return entry.term(n)
    if n.step != 1 or not entry.offset <= n.start < n.stop:
        raise UsageError(f"n must be an integer or a range of step 1 from {entry.offset} on, got {n}")
    if entry.counts is None:
        return np.array(list(entry.terms(n.start, n.stop)), object)
    engine = select(backend).counting()
    values = Range(entry.counts, n.start + entry.shift, n.stop + entry.shift, engine).values()
    return values if values.ndim == 1 else np.array(to_integers(values), object)
