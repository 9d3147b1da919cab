"""Three-pile Nim on NumPy: bit-packed planes of which only the words that hold a newborn are visited.

Layout.  Generation n is the set of newborns (a, b, c) with a + b + c = 2n, and no coordinate of them passes n.  Write
u = n - a, v = n - b; then c = u + v, and the rule of [B], "born when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) is
alive", says that (u, v) is born at n when exactly one of

    (u, v), (u, v - 1), (u - 1, v)

was born at n - 1: the three parents have kept their place, moved along the row and moved down a column.  So one plane serves all
generations, nothing in it ever moves, and a generation is one update in place.  Rows are u; bit v of a row is bit v % 64 of its
word v // 64.

Work.  A word changes only if it, the word before it or the word above it holds a newborn.  The active words are kept as a
sorted list: about three words are read for each of them, and one is written.  Generation n has 3^wt(n) newborns (wt: the number
of 1s in n's binary digits) and about a word for every eleven of them, so this beats both the whole plane, most of which is
empty, and a list of cells.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Batch, Section, State, count_in_section
from gpu_nim.backends.shared.engines import GrowthEngine
from gpu_nim.model.digest import finalize, nim_plane_mix
from gpu_nim.model.rule import NIM, Cells

_WORD_BYTES, _NEWBORNS_A_WORD = 110, 11  # of the arrays of a step, for a word that holds newborns
_WORDS = 1 << 12  # words unpacked at a time, or up to twice as many: 256 KB of bytes, a core's second-level cache
_ONE, _TOP, _BELOW_TOP = np.uint64(1), np.uint64(63), np.uint64(2**63 - 1)
#: Some of the words of a generation that hold newborns: its number in a batch, their indices, ascending, and the words.
Part: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.uint64]]


def required_bytes(last: int) -> int:
    """Return the planned bytes of memory for growing to generation `last`.

    >>> required_bytes(1024) < 1e6
    True
    """
    return 8 * (last + 1) * (last // 64 + 1) + most_words(last) * _WORD_BYTES


def most_words(last: int) -> int:
    """Return about how many words hold newborns in the generation that has most: where n has the most 1s."""
    words: int = 3 ** ((last + 1).bit_length() - 1) // _NEWBORNS_A_WORD
    return words


class NimEngine(GrowthEngine):
    """Three-pile Nim in progress, to at most generation `last`."""

    def __init__(self, last: int, state: State | None = None) -> None:
        super().__init__(NIM, last)
        self._row = last // 64 + 1
        self._allocate()
        self._active, self._words = np.zeros(0, np.int64), np.zeros(0, np.uint64)
        if state is not None:
            self._restore(state)

    def _allocate(self) -> None:
        self._plane = np.zeros((self.last + 1) * self._row, np.uint64)

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, a step a generation."""
        self._check(to, section)
        first = self.generation + 1
        reports = np.zeros((to - self.generation, 3), np.uint64)
        grown: list[Cells] = []
        for parts in self._parts(len(reports)):
            newborns = self._count(parts, first, reports, cells, section)
            if cells:
                grown.append(newborns)
        return self._summed(reports, grown if cells else None, section)

    def state(self) -> State:
        """Return the newborns' words: their positions as (row u, word) pairs and their bits."""
        return {
            "generation": np.array(self.generation, np.int64),
            "places": np.stack(np.divmod(self._active, self._row), axis=1),
            "words": self._words,
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        u, word = state["places"].astype(np.int64).T
        indices = u * self._row + word
        order = np.argsort(indices)
        self._set(indices[order], state["words"].astype(np.uint64)[order])

    def _set(self, active: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        self._active, self._words, self._plane[active] = active, words, words

    def _step(self) -> None:
        self.generation += 1
        if self.generation == 0:
            self._set(np.zeros(1, np.int64), np.ones(1, np.uint64))
        else:
            self._active, self._words = self._grown()

    def _grown(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Grow a generation, and return the indices of the words that hold newborns, and these words."""
        plane, active, row = self._plane, self._active, self._row
        # Bit v = 63 of a word reaches the next word.  Neither that nor the row below leaves the plane: u, v <= n <= last.
        touched = np.concatenate((active, active[self._words > _BELOW_TOP] + 1, active + row))
        touched.sort(kind="stable")  # a merge of sorted runs
        first = np.ones(len(touched), np.bool_)
        np.not_equal(touched[1:], touched[:-1], out=first[1:])
        touched = touched[first]
        stayed, above = plane[touched], plane[touched - row]
        # What would come from outside of the plane, or from the row before, is 0: there u or v is `last`.
        moved = stayed << _ONE | plane[touched - 1] >> _TOP
        # Exactly one of three: an odd number of them, but not all.
        born = (stayed ^ moved ^ above) & ~(stayed & moved & above)
        plane[touched] = born
        newborn = born != 0
        return touched[newborn], born[newborn]

    def _parts(self, steps: int) -> Iterator[list[Part]]:
        """Grow so many generations, and yield their words in parts, as many together as are counted at once."""
        parts: list[Part] = []
        size = 0
        for step in range(steps):
            self._step()
            # From the last word to the first, since (a, b) rises as (u, v) falls.
            for stop in range(len(self._active), 0, -_WORDS):
                start = max(0, stop - _WORDS)
                parts.append((step, self._active[start:stop], self._words[start:stop]))
                size += stop - start
                if size >= _WORDS:
                    yield parts
                    parts, size = [], 0
        if parts:
            yield parts

    def _count(
        self, parts: list[Part], first: int, reports: NDArray[np.uint64], wanted: bool, section: Section | None
    ) -> NDArray[np.int32]:
        """Add what parts hold to the reports of their generations, from `first` on; return the newborns where they are wanted."""
        down, along, up = map(np.uint64, nim_plane_mix())
        parts = parts[::-1]
        sizes = np.array([len(words) for *_, words in parts])
        steps = np.array([step for step, *_ in parts])
        n = np.repeat(steps + first, sizes)
        indices, words = (np.concatenate([part[which] for part in parts]) for which in (1, 2))
        count = np.bitwise_count(words)
        bit = (np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)) & 63).astype(np.uint64)
        u, word = np.divmod(indices, self._row)
        base = u.astype(np.uint64) * down + (word.astype(np.uint64) << np.uint64(6)) * along + n.astype(np.uint64) * up
        births = np.add.reduceat(count, np.cumsum(sizes) - sizes, dtype=np.int64)
        mixes = finalize(np.repeat(base, count) + bit * along)
        np.add.at(reports[:, 0], steps, births.astype(np.uint64))
        np.add.at(reports[:, 1], steps, np.add.reduceat(mixes, np.cumsum(births) - births))
        if not wanted and section is None:
            return np.zeros((0, 3), np.int32)
        u, v, n = (np.repeat(each.astype(np.int32), count) for each in (u, word << 6, n))
        v += bit.astype(np.int32)
        cells = np.stack((n - u, n - v, u + v), axis=1)[::-1]
        if section is not None:
            counted = count_in_section(cells, births[::-1].astype(np.uint64), section)
            np.add.at(reports[:, 2], steps[::-1], counted)
        return cells
