"""Three-pile Nim, merged from the list of words with newborns, without a plane, by loops that numba compiles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Batch, Section
from gpu_nim.backends.numba.bricks import finalized
from gpu_nim.backends.numba.compilation import compiled
from gpu_nim.backends.numpy.nim import NimEngine
from gpu_nim.model.digest import nim_plane_mix

# The number of the only bit of a word: the word times this number begins with six bits that no other such word's product does.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.zeros(64, np.uint64)
_BIT[(np.uint64(1) << np.arange(64, dtype=np.uint64)) * _SEQUENCE >> np.uint64(58)] = np.arange(64)
# The digest's mix of (u, v) in generation n, before it is finalized, is _DOWN u + _ALONG v + _UP n.
_DOWN, _ALONG, _UP = map(np.uint64, nim_plane_mix())
_NONE = np.iinfo(np.int64).max  # beyond every index


class CompiledNimEngine(NimEngine):
    """`NimEngine` by compiled loops.

    >>> CompiledNimEngine(6).advance(6).births.tolist()
    [1, 3, 3, 9, 3, 9, 9]
    """

    def _allocate(self) -> None:
        pass

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        if cells or section is not None:
            return super().advance(to, cells=cells, section=section)
        self._check(to, section)
        reports = np.zeros((to - self.generation, 3), np.uint64)
        for report in reports:
            self._step()
            report[:2] = count(self._active, self._words, self._row, self.generation)
        return self._summed(reports, None, None)

    def _set(self, active: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        self._active, self._words = active, words

    def _grown(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        grown: tuple[NDArray[np.int64], NDArray[np.uint64]] = step(self._active, self._words, self._row)
        return grown


@compiled
def step(sources: Any, words: Any, row: int) -> tuple[Any, Any]:
    """Grow a generation, and return the indices of the words that hold newborns, ascending, and these words.

    Three lists are merged, without a branch that depends on them: the words that stay, those that reach into the next word, and
    those that move down.

    Args:
        sources: the indices of the words that hold newborns of the generation before, ascending.
        words: these words.
        row: words in a row.
    """
    size, none = len(sources), np.uint64(0)
    before = np.zeros(size + 1, np.uint64)
    staying, carried, falling = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    stays = carries = falls = count = 0
    for source in range(size):
        index, word = sources[source], words[source]
        before[source], staying[source], carried[carries], falling[source] = word, index, index + 1, index + row
        carries += word >> np.uint64(63) != none
    staying[size] = carried[carries] = falling[size] = _NONE
    found, born = np.empty(3 * size + 1, np.int64), np.empty(3 * size + 1, np.uint64)
    carries = 0
    while True:
        index, beside, below = staying[stays], carried[carries], falling[falls]
        least = min(index, beside, below)
        if least == _NONE:
            return found[:count].copy(), born[:count].copy()
        stayed, above = before[stays], before[falls]
        stayed, above = stayed if index == least else none, above if below == least else none
        # Never into the first word of a row: v <= n lies inside it.
        moved = stayed << np.uint64(1) | np.uint64(beside == least)
        stays += index == least
        carries += beside == least
        falls += below == least
        # Exactly one of three: an odd number of them, but not all.
        found[count], born[count] = least, (stayed ^ moved ^ above) & ~(stayed & moved & above)
        count += born[count] != none


@compiled
def count(indices: Any, words: Any, row: int, n: int) -> tuple[int, Any]:
    """Return the number of newborns and their checksum.

    Args:
        indices: the indices of the words that hold newborns.
        words: these words.
        row: words in a row.
        n: the generation.
    """
    births, checksum = 0, np.uint64(0)
    for i in range(len(indices)):
        index, word = indices[i], words[i]
        u = index // row
        base = np.uint64(u) * _DOWN + np.uint64((index - u * row) * 64) * _ALONG + np.uint64(n) * _UP
        while word:
            lowest = word & (~word + np.uint64(1))
            word ^= lowest
            mix = base + _BIT[lowest * _SEQUENCE >> np.uint64(58)] * _ALONG
            checksum += finalized(mix)
            births += 1
    return births, checksum
