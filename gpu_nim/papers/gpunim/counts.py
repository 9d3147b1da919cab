"""Counts of P-positions by formula, by blocks and by reductions, compared with enumeration and with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from gpu_nim.backends.selection import select
from gpu_nim.counting import closed_forms
from gpu_nim.counting.families import FAMILIES, ByMaximum, ByTotal, UpToMaximum, UpToTotal, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.counting.reductions import Reduction, reduce_range
from gpu_nim.model.arrays import to_integers
from gpu_nim.papers.by_definition import a_by_digits, counts, d_by_digits, max_index
from gpu_nim.papers.catalogue import SOURCES, Cases, Entry, Reach
from gpu_nim.papers.nim_fractals.section_2_and_3 import formulas
from gpu_nim.papers.nim_fractals.section_5_5_more_piles import by_recursion

GPUNIM = SOURCES["gpunim"]
_ENUMERATED = [name for name, family in FAMILIES.items() if family.enumerated_by]
_OTHER_WAYS: dict[type[Family], Callable[[int, int], int]] = {
    ByTotal: partial(by_recursion, "D"),
    UpToTotal: partial(by_recursion, "A"),
    ByMaximum: d_by_digits,
    UpToMaximum: a_by_digits,
}

_PILES = (1, 2, 3, 4, 5, 6, 7)
_POWERS = (2, 3, 4, 5)  # D_6(3) = 226 = 15^2 + 1: from six piles on, four pairs of 1s in the units also make a total of 6
_INDICES = 64  # of each sequence that are usually compared with enumeration
_LONG = (10**18 + 12345, 2**70 - 1, 2**200 + 2**131 + 77)  # beyond any enumeration: two independent methods must agree


@Entry(GPUNIM, "gpunim-counts", reach=Reach(_INDICES, 1024, 66))
def formulas_of_counts(upto: int) -> Cases:
    """D_k, A_k, d_k and a_k by formula, and their sums, equal the enumeration"""
    yield f"n up to {upto}, fewer for many piles"
    for k in _PILES:
        last = max_index(k, upto)
        for name in _ENUMERATED:
            known, family = counts(name, k, last), find_family(name, k)
            yield f"{name}_{k} by formula up to {last}", [family.value(n) for n in range(last + 1)], [*known]
            sums = [family.sum(0, n + 1) for n in range(last + 1)]
            yield f"the sums of {name}_{k} up to {last}", sums, np.cumsum(known).tolist()
            extremes = family.maximum(0, last + 1), family.minimum(last // 2, last + 1)
            yield f"the extremes of {name}_{k} up to {last}", extremes, (max(known), min(known[last // 2 :]))
        for kind, other in _OTHER_WAYS.items():
            found = [other(k, n) for n in range(last + 1)]
            yield f"{kind(k)} in another way up to {last}", found, [*counts(kind.name, k, last)]


@Entry(GPUNIM, "gpunim-long-indices", reach=Reach())
def long_indices(upto: int) -> Cases:
    """Counts at long indices equal the recursions, and the count digit by digit"""
    yield "n up to 1,400 binary digits"
    for n in (10**40, 2**1400 // 3 + 5**90):  # the second is summed by blocks of its digits
        for k in (2, 4, 12):
            yield f"a_{k}({n})", closed_forms.a(k, n), a_by_digits(k, n)
            yield f"d_{k}({n})", closed_forms.d(k, n), d_by_digits(k, n)
    for k in (2, 3, 4, 5, 7, 8, 40):  # a_40 takes another way than a_8
        for n in _LONG if k < 40 else _LONG[:1]:
            for family, other in _OTHER_WAYS.items():
                yield f"{family(k)}({n})", family(k).value(n), other(k, n)
            for summed in FAMILIES.values():
                values = [summed(k).value(n + i) for i in range(3)]
                yield f"the sum of {summed(k)} from {n} on", summed(k).sum(n, n + 3), sum(values)
    for k in range(2, 6):
        for start, stop in ((0, 9), (3, 40)):
            stated = sum(a_by_digits(k, n) for n in range(start, stop))
            yield f"a_{k}({start}) + ... + a_{k}({stop - 1})", find_family("a", k).sum(start, stop), stated


@Entry(GPUNIM, "gpunim-tables", reach=Reach(_INDICES, 1024, 4))
def tables(upto: int) -> Cases:
    """Tables of counts, filled block by block, equal the enumeration"""
    yield f"n up to {upto}, and from {len(_LONG)} long indices on"
    engine = select("auto").counting()
    for k in _PILES:
        last = max_index(k, upto)
        for name in _ENUMERATED:
            for start in (0, last // 3):
                found = to_integers(Range(find_family(name, k), start, last + 1, engine).values())
                yield f"the table of {name}_{k} from {start} to {last}", found, [*counts(name, k, last)[start:]]
    for n in _LONG:
        found = to_integers(Range(find_family("D", 4), n, n + 40, engine).values())
        yield f"the table of D_4 from {n}", found, [by_recursion("D", 4, n + i) for i in range(40)]


@Entry(GPUNIM, "gpunim-reductions", reach=Reach(_INDICES, 1024, 4))
def reductions(upto: int) -> Cases:
    """Sums, extremes, records, lengths and residues of ranges equal those of the enumerated counts"""
    yield f"ranges up to {upto}, fewer for many piles"
    engine = select("auto").counting()
    for k in _PILES:
        last = max_index(k, upto)
        for name in _ENUMERATED:
            for start in (0, last // 3):
                known = counts(name, k, last)[start:]
                stated = {
                    "sum": sum(known),
                    "max": max(known),
                    "argmax": start + known.index(max(known)),
                    "min": min(known),
                    "argmin": start + known.index(min(known)),
                    "records": [(start + i, n) for i, n in enumerate(known) if all(n > before for before in known[:i])],
                    "histogram": dict(sorted(Counter(n.bit_length() for n in known).items())),
                    "residues:10": dict(sorted(Counter(n % 10 for n in known).items())),
                }
                wanted = [*map(Reduction.parse, stated)]
                found = reduce_range(find_family(name, k), start, last + 1, wanted, engine, records=len(known))
                for (what, value), result in zip(stated.items(), found, strict=True):
                    yield f"{what} of {name}_{k} from {start} to {last}", result.value, value


formulas("powers-of-binomials", "D_k(2^m - 1) = C(k,2)^m for k = 2, ..., 5", _POWERS, paper=GPUNIM)
