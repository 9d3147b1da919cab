"""The ranges that `gpunim bench count` times, beside the plain formula in NumPy.

A contender's result is how many values it made, or -1 where those at a few indices are wrong. All write to memory that was written
before.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Contender, Work
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import ByMaximum, ByTotal, UpToMaximum, UpToTotal
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.model.arrays import U64

_SIZE = 1 << 24
_BY_FORMULA = 1 << 22  # the plain formulas are slower: they make a shorter range

_PLAIN = (ByTotal(3), ByTotal(4), UpToMaximum(3), ByMaximum(3))
_RANGES = (*(ByTotal(k) for k in range(3, 8)), UpToTotal(3), UpToMaximum(3), ByMaximum(3), ByMaximum(4))


def works(cuda: Backend | None) -> Iterator[Work]:
    """Give every work: the backends over 64-bit ranges, then with the plain formulas.

    Args:
        cuda: the backend of a GPU; None where there is none.
    """
    backends: list[Backend] = [NumpyBackend(), *([] if cuda is None else [cuda])]
    pieces: list[tuple[Family, int, dict[str, Callable[[int], U64]]]] = [(family, _SIZE, {}) for family in _RANGES]
    pieces += [(family, _BY_FORMULA, {"numpy, plain formula": partial(plain_formula, family)}) for family in _PLAIN]
    for family, most, peers in pieces:
        size = longest(family, most)
        contenders = [_ours(backend, family, size) for backend in backends]
        contenders += [Contender(name, partial(_checked, family, partial(make, size))) for name, make in peers.items()]
        yield Work(f"{family} 0:{size}", tuple(contenders))


def longest(family: Family, size: int, bits: int = 64) -> int:
    """The largest power of two up to `size` below which all values fit so many bits.

    >>> longest(ByTotal(5), 2**24)
    524288
    """
    while family.maximum(0, size) >= 1 << bits:
        size //= 2
    return size


def plain_formula(family: Family, size: int) -> U64:
    """The values below `size` as the paper's formulas read in NumPy, without blocks.

    >>> plain_formula(ByTotal(4), 8).tolist()
    [1, 6, 7, 36, 13, 42, 43, 216]
    """
    if family == ByTotal(3):
        return np.uint64(3) ** np.bitwise_count(np.arange(size, dtype=np.uint64)).astype(np.uint64)
    if isinstance(family, ByTotal):
        values: U64 = doubling(even_binomials(family.piles), size, np)
        return values
    n = np.arange(size, dtype=np.uint64)
    high = np.uint64(1) << np.log2(np.maximum(n, np.uint64(1))).astype(np.uint64)  # exact this far below 2^53
    c = n + np.uint64(1) - high
    values = high * high + np.uint64(3) * c * c if isinstance(family, UpToMaximum) else np.uint64(6) * c - np.uint64(3)
    values[:1] = 1
    return values


def doubling(weights: tuple[int, ...], size: int, xp: Any) -> Any:
    """Return the values below `size` by [NF, Theorem 29] on arrays of `xp`: even and odd indices from the array of half the length.

    >>> doubling(even_binomials(4), 8, np).tolist()
    [1, 6, 7, 36, 13, 42, 43, 216]
    """
    values = xp.ones(1, np.uint64)
    while len(values) < size:
        longer = xp.zeros(2 * len(values), np.uint64)
        for j, weight in enumerate(weights):
            longer[j::2] += np.uint64(weight) * values[: len(longer[j::2])]
        values = longer
    return values[:size]


def _ours(backend: Backend, family: Family, size: int) -> Contender:
    values = Range(family, 0, size, backend.counting())
    out = np.zeros(size, np.uint64)

    def fill() -> U64:
        values.fill(0, out)
        return out

    return Contender(f"gpunim {backend.name}", partial(_checked, family, fill))


def _checked(family: Family, make: Callable[[], U64]) -> int:
    values = make()
    indices = {0, len(values) // 3, len(values) - 1}
    return len(values) if all(int(values[n]) == family.value(n) for n in indices) else -1
