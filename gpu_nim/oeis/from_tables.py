"""Families of sequences as one table, the sequence of k piles in row k, read by antidiagonals; the OEIS has single rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from math import isqrt

from gpu_nim.counting.families import ByTotal, UpToMaximum
from gpu_nim.counting.family import Family
from gpu_nim.oeis.entry import OeisEntry

TABLES: dict[str, type[Family]] = {"nim-by-total-table": ByTotal, "nim-up-to-maximum-table": UpToMaximum}
"""The families that are tables, by the name of the entry."""


def table_entries() -> dict[str, OeisEntry]:
    """Return the entries of tables, by name.

    >>> list(table_entries()["nim-up-to-maximum-table"].terms(1, 11))  # 1; 1, 1; 1, 2, 1; 1, 3, 4, 1
    [1, 1, 1, 1, 2, 1, 1, 3, 4, 1]
    """
    return {
        name: OeisEntry(name, f"{family.summary.format(piles='k')}, by antidiagonals, k >= 1", 1, partial(_antidiagonals, family))
        for name, family in TABLES.items()
    }


def _antidiagonals(family: type[Family], start: int, stop: int | None) -> Iterator[int]:
    """T(1,0); T(1,1), T(2,0); T(1,2), T(2,1), T(3,0); ... for T(k,n), the value of k piles at n."""
    for index in count(start) if stop is None else range(start, stop):
        length = (isqrt(8 * index - 7) + 1) // 2  # of the antidiagonal
        piles = index - length * (length - 1) // 2
        yield family(piles).value(length - piles)
