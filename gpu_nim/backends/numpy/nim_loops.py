"""The loops of three-pile Nim that numba compiles, word by word (see `gpu_nim.backends.numpy.nim`)."""

from typing import Any

import numpy as np

from gpu_nim.backends.numpy.compilation import compiled
from gpu_nim.model.digest import FINALIZER

_FACTORS = tuple((np.uint64(shift), np.uint64(factor)) for shift, factor in FINALIZER)
# The number of the only bit of a word: the word times this number begins with six bits that no other such word's product does.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.zeros(64, np.uint64)
_BIT[(np.uint64(1) << np.arange(64, dtype=np.uint64)) * _SEQUENCE >> np.uint64(58)] = np.arange(64)
_NONE = np.iinfo(np.int64).max  # beyond every index


@compiled
def step(plane: Any, sources: Any, row: int) -> Any:
    """Grow a generation in place, and return the indices of the words that hold newborns, ascending.

    Args:
        plane: the words, shape (rows * row,).
        sources: the indices of those that hold newborns of the generation before, ascending; `plane` is 0 elsewhere.
        row: words in a row.
    """
    before = plane[sources]
    plane[sources] = 0
    found = np.empty(3 * len(sources), np.int64)
    count = stays = carries = falls = 0  # the next word of `before` that stays, that reaches into the next word, that moves down
    while True:
        while carries < len(sources) and not before[carries] >> np.uint64(63):
            carries += 1
        index = sources[stays] if stays < len(sources) else _NONE
        beside = sources[carries] + 1 if carries < len(sources) else _NONE
        below = sources[falls] + row if falls < len(sources) and sources[falls] + row < len(plane) else _NONE
        least = min(index, beside, below)
        if least == _NONE:
            return found[:count].copy()
        stayed = moved = above = np.uint64(0)
        if index == least:
            stayed = before[stays]
            moved = stayed << np.uint64(1)
            stays += 1
        if beside == least:  # never the first word of a row: v <= n lies inside it
            moved |= np.uint64(1)
            carries += 1
        if below == least:
            above = before[falls]
            falls += 1
        # Exactly one of three: an odd number of them, but not all.
        born = (stayed ^ moved ^ above) & ~(stayed & moved & above)
        if born:
            plane[least] = born
            found[count] = least
            count += 1


@compiled
def count(plane: Any, indices: Any, row: int, down: Any, along: Any, rest: Any) -> tuple[int, Any]:
    """Return the number of newborns and their checksum.

    Args:
        plane: as for `step`.
        indices: the indices of the words that hold newborns.
        row: words in a row.
        down: the digest's mix of (u, v) is down u + along v + rest, before it is finalized; uint64.
        along: likewise.
        rest: likewise.
    """
    births, checksum = 0, np.uint64(0)
    for index in indices:
        word = plane[index]
        u = index // row
        base = np.uint64(u) * down + np.uint64((index - u * row) * 64) * along + rest
        while word:
            lowest = word & (~word + np.uint64(1))
            word ^= lowest
            mix = base + _BIT[lowest * _SEQUENCE >> np.uint64(58)] * along
            for shift, factor in _FACTORS:
                mix = (mix ^ mix >> shift) * factor
            checksum += mix
            births += 1
    return births, checksum
