"""Growth by loops that numba compiles.

Exactly-one growth takes all cores, a bit a cell (`gpu_nim.backends.numba.bricks`). Three-pile Nim is merged from the list of words
with newborns, without a plane.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import ALONE, Batch, Communicator, Section, State
from gpu_nim.backends.numba import compiled, room
from gpu_nim.backends.numba.bricks import BrickGrowth, Layout, List, Masks, Scratch, arrange, count, deal, finalized, grow, select
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.numpy.nim import NimEngine
from gpu_nim.backends.shared.brick_grid import bits, packed, unpacked, walls
from gpu_nim.backends.shared.bricks import Bricks, Part, exchange, pack, positions
from gpu_nim.model.arrays import Ints
from gpu_nim.model.digest import nim_plane_mix
from gpu_nim.model.rule import Cells

_FEW = 1 << 8  # bricks that one thread grows sooner than several do
_APART = 32  # words, of which no line of cache is shared
# The number of the only bit of a word: the word times this number begins with six bits that no other such word's product does.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_BIT = np.zeros(64, np.uint64)
_BIT[(np.uint64(1) << np.arange(64, dtype=np.uint64)) * _SEQUENCE >> np.uint64(58)] = np.arange(64)
# The digest's mix of (u, v) in generation n, before it is finalized, is _DOWN u + _ALONG v + _UP n.
_DOWN, _ALONG, _UP = map(np.uint64, nim_plane_mix())
_NONE = np.iinfo(np.int64).max  # beyond every index


class CompiledEngine(ExactlyOneEngine):
    """`ExactlyOneEngine` by compiled loops.

    >>> from gpu_nim.model.rule import Rule, Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> CompiledEngine(Bricks(square, 10)).advance(6).births.tolist()  # A147582
    [1, 4, 4, 12, 4, 12, 12]
    """

    def __init__(self, bricks: Bricks, state: State | None = None, ranks: Communicator = ALONE, threads: int = 1) -> None:
        self._threads = threads
        super().__init__(bricks, state, ranks)

    def _allocate(self) -> None:
        bricks = self._bricks
        table = np.zeros((bricks.count, bricks.words), np.uint64)
        self._growth = BrickGrowth(layout(bricks), masks(bricks), walls(bricks, 1), table.reshape(-1))
        self._touched = table
        self._scratches = [self._scratch() for _ in range(self._threads)]
        self._next = self._list(0)
        self._runs = np.empty((bricks.slabs, 2), np.int64)
        self._pool = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None

    def _scratch(self) -> Scratch:
        bricks, words = self._bricks.largest, self._bricks.words
        once, touched = np.zeros(3 * bricks * words, np.uint64), np.zeros(3 * bricks, np.uint8)
        # Threads write the last two all the time, so that no two share a line of cache.
        counts, around = np.zeros(_APART, np.int64)[:3], np.empty((_APART, 9), np.uint64)[:3]
        return Scratch(once, touched, np.empty((3, bricks), np.int64), counts, around)

    def _list(self, slots: int) -> List:
        words, slabs = self._bricks.words, self._bricks.slabs
        return List(np.empty(slots, np.int64), np.empty((slots, words), np.uint64), np.zeros((slabs + 2, 2), np.int64))

    def _words(self, numbers: range) -> NDArray[np.uint64]:
        return self._touched[numbers.start : numbers.stop]

    def _put_back(self, numbers: Ints, words: NDArray[np.uint64]) -> None:
        self._touched[numbers] |= words

    def _set_newborns(self, representatives: Cells) -> None:
        found, words = self._bricks.words_of(self._own(representatives))
        self._put_back(self._bricks.number(found), words)
        self._last, self._received = self._list_of(pack(found, words)), self._list_of(pack(found[:0], words[:0]))

    def _list_of(self, part: Part) -> List:
        made = self._list(len(part))
        arrange(part, made)
        return made

    def _part(self, faces: NDArray[np.uint64]) -> Part:
        part = np.empty((int(np.diff(self._last.slots).sum()), 1 + self._bricks.words), np.uint64)
        return part[: select(self._last, faces, part)]

    def _step(self) -> tuple[int, int]:
        if self._ranks.size > 1:
            self._received = self._list_of(exchange(self._bricks, self._ranks, self._part))
        own, received = self._last, self._received
        bricks = len(received.bricks) + int(np.diff(own.slots).sum())
        if room(self._bricks, bricks) > len(self._next.bricks):
            self._next = self._list(room(self._bricks, bricks + bricks // 4))
        self._next.slots[:] = 0
        threads = len(self._scratches) if bricks >= _FEW else 1
        counters = np.zeros(2, np.int64)
        runs = self._runs[: deal(own.slots, received.slots, self._bricks.owned, bricks, 3 * threads // 2, self._runs)]

        def grown(thread: int) -> tuple[int, int]:
            counts: tuple[int, int] = grow(self._growth, own, received, self._next, counters, runs, self._scratches[thread])
            return counts

        others = [self._pool.submit(grown, thread) for thread in range(1, threads)] if self._pool else []
        counted = [grown(0), *(other.result() for other in others)]
        self._last, self._next = self._next, own
        if self.rule.universe is not None:
            self._leave_out()
        return sum(births for births, _ in counted), sum(int(checksum) for _, checksum in counted) % 2**64

    def _listed(self) -> tuple[Ints, Ints]:
        """The bricks with newborns that the rank grew, and their slots."""
        first, stop = self._last.slots.T
        slots = np.repeat(stop - np.cumsum(stop - first), stop - first) + np.arange((stop - first).sum())
        return positions(self._last.bricks[slots].view(np.uint64)), slots

    def _leave_out(self) -> None:
        """Leave out newborns outside of the universe."""
        found, slots = self._listed()
        index, places = np.nonzero(unpacked(self._last.born[slots]))
        outside = ~self.rule.inside(self._bricks.cells(found[index], places))
        slots, places = slots[index[outside]], places[outside]
        np.bitwise_xor.at(self._last.born, (slots, places >> 6), bits(places))

    @property
    def newborns(self) -> Cells:
        found, slots = self._listed()
        return self._bricks.cells_of(found, self._last.born[slots])

    def _count_and_checksum(self) -> tuple[int, int]:
        births, checksum = count(self._growth, self._last, self._scratches[0])
        return births, int(checksum)

    def _section(self, axis: int, value: int) -> int:
        bricks = self._bricks
        found, slots = self._listed()
        brick = (abs(value) if bricks.signed else value) - bricks.origin >> bricks.logs
        # Cells of these bricks, or of their orbits, can have this coordinate.
        axes = bricks.axes if bricks.folded else [bricks.axes[axis]]
        some = (found == brick)[:, axes].any(axis=1)
        cells = bricks.cells_of(found[some], self._last.born[slots[some]])
        return int(self.rule.symmetry.section_size(cells, axis, value).sum())


def layout(bricks: Bricks) -> Layout:
    """Return the bricks as the loops read them."""
    return Layout(
        logs=bricks.logs,
        words=bricks.words,
        columns=np.ascontiguousarray(bricks.columns[..., 0]),
        starts=bricks.starts,
        site=bricks.site,
        place=bricks.place.reshape(-1).astype(np.uint64),
        mixed=bricks.mixed,
        mixing=bricks.mixing(),
        order=bricks.rule.symmetry.order(bricks.rule.dimension),
    )


def masks(bricks: Bricks) -> Masks:
    """Return what newborns far from walls touch."""
    places = np.arange(len(bricks.site))
    target = bricks.site[:, None] + bricks.embedded(np.array(bricks.rule.offsets, np.int64))
    brick, place = target + bricks.size >> bricks.logs, bricks.place[tuple(np.moveaxis(target & bricks.size - 1, -1, 0))]
    word = (brick[..., 2] * bricks.words + (place >> 6)) << 4 | 3 * brick[..., 0] + brick[..., 1]
    keys, which = np.unique(places[:, None] << 16 | word, return_inverse=True)
    mask = np.zeros(len(keys), np.uint64)
    np.bitwise_or.at(mask, which.reshape(-1), bits(place).reshape(-1))
    slabs = np.arange(8)[:, None]
    chosen = slabs >> (keys & 15) // 3 & 1 != 0
    sides = [sum(0x1FF << 9 * dx for dx in range(3) if some >> dx & 1) for some in range(8)]
    reach = bricks.reach & np.array(sides, np.uint32)[:, None]
    sizes = np.stack([np.bincount(keys[row] >> 16, minlength=len(places)) for row in chosen])
    stops = np.cumsum(sizes).reshape(sizes.shape)
    first = np.column_stack((stops[:, 0] - sizes[:, 0], stops)).astype(np.uint32)
    entries = np.nonzero(chosen)[1]
    face = packed((reach != 0) | (slabs & 2 != 0) | (slabs == 0))
    return Masks(first, mask[entries], (keys[entries] & 0xFFFF).astype(np.uint64), reach, face)


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
            report[:2] = count_nim(self._active, self._words, self._row, self.generation)
        return self._summed(reports, None, None)

    def _set(self, active: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        self._active, self._words = active, words

    def _grown(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        grown: tuple[NDArray[np.int64], NDArray[np.uint64]] = step_nim(self._active, self._words, self._row)
        return grown


@compiled
def step_nim(sources: Any, words: Any, row: int) -> tuple[Any, Any]:
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
def count_nim(indices: Any, words: Any, row: int, n: int) -> tuple[int, Any]:
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
