"""Three-pile Nim on CUDA: up to 32 generations of the bit plane per launch (`cuda/nim.cu`), without waiting in between.

A launch does the work of 32 generations, so that Python, which needs a few microseconds for a launch, stays ahead of the device
without a CUDA graph: two launches are bound, one from each plane to the other, and the host waits at the end of a batch.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, pooled, to_host
from gpu_nim.backends.cuda.table import Launch, read_constants
from gpu_nim.backends.interface import Batch, Section, State, count_in_section
from gpu_nim.backends.shared.engines import GrowthEngine
from gpu_nim.model.digest import nim_plane_mix
from gpu_nim.model.rule import NIM, Cells

_CONSTANTS = read_constants("nim.cu")
_REACH = _CONSTANTS["REACH"]  # generations a launch
_OWNED, _WORDS = _CONSTANTS["OWNED"], _CONSTANTS["WORDS"]  # rows and words of a tile
_FIELD = _CONSTANTS["FIELD"]  # bits of a coordinate in a cell's key
_SHARES = _CONSTANTS["SHARES"]  # log2 of the warps a tile
_FIRST_CELLS = 4**7  # all to generation 127


def device_bytes(last: int, *, cells: bool = False) -> int:
    """Return the bytes of device memory for growing to generation `last`, as CuPy's pool takes them.

    They are for planes, flags and lists of tiles, births, checksums, and keys of cells.

    >>> device_bytes(65536)  # on a card of 16 GB
    1078710784
    """
    rows, row_words = last + 1, last // 64 + 1
    tiles = _tiles(rows, row_words)
    planes = 2 * [8 * rows * row_words, tiles, 4 * tiles, 8 * rows]  # with births and checksums
    return pooled(*planes, 4 * rows, 4 * tiles, 8 * _room(last, cells), 8 * _REACH, 8 * _REACH)


def _room(last: int, cells: bool) -> int:
    """How many cells have room on the device: those of any generation where they are wanted, else some of the first ones."""
    most: int = 3 ** (last + 1 >> 1).bit_length()  # births, 3 to the number of 1s
    return min(1 << 2 * last.bit_length(), max(_FIRST_CELLS, most if cells else 0))


def _tiles(rows: int, row_words: int) -> int:
    """The number of tiles for this number of rows and words."""
    return -(-rows // _OWNED) * -(-row_words // _WORDS)


class _Plane(NamedTuple):
    """A generation: its words, row by row, which tiles may have cells, and a list of those that are stepped from it."""

    words: Any
    filled: Any
    tiles: Any


class NimEngine(GrowthEngine):
    """Three-pile Nim in progress on a device, to at most generation `last`."""

    def __init__(self, launcher: Launcher, last: int, state: State | None = None, *, cells: bool = False) -> None:
        super().__init__(NIM, last)
        self._launch, self._room = launcher, _room(last, cells)
        self._rows, self._row_words = last + 1, last // 64 + 1
        words, tiles = self._rows * self._row_words, _tiles(self._rows, self._row_words)
        xp = launcher.xp
        with device_memory_errors(f"nim to generation {last}"):
            # The last generation done, and the one before, which the next launch overwrites.
            self._planes = [
                _Plane(xp.zeros(words, np.uint64), xp.zeros(tiles, np.uint8), xp.zeros(tiles, np.uint32)) for _ in range(2)
            ]
            self._births, self._checksums = xp.zeros(last + 1, np.uint64), xp.zeros(last + 1, np.uint64)
            # Of each generation, the length of the list of its tiles; of each tile, one more than the last generation listed for.
            self._lengths, self._entered = xp.zeros(last + 1, np.uint32), xp.zeros(tiles, np.uint32)
            self._keys = xp.empty(0, np.uint64)
            self._advance = [self._bind(*self._planes), self._bind(*self._planes[::-1])]
            if state is not None:
                self._restore(state)

    def _bind(self, done: _Plane, spare: _Plane) -> Launch:
        planes = {
            "from": done.words,
            "to": spare.words,
            "filled_from": done.filled,
            "filled_to": spare.filled,
            "tiles": done.tiles,
            "takes_tiles": spare.tiles,
            "lengths": self._lengths,
            "entered": self._entered,
        }
        # A cell is mixed as K.(n-u, n-v, u+v): see cuda/nim.cu.
        mixing = dict(zip(("down", "along", "up"), nim_plane_mix(), strict=True))
        reports = {"births": self._births, "checksums": self._checksums}
        return self._launch.bind("nim_advance", planes | self._shape(0) | mixing | reports)

    def _shape(self, steps: int) -> dict[str, int]:
        """The arguments of a launch of this number of generations that describe the plane."""
        return {"rows": self._rows, "row_words": self._row_words, "generation": max(0, self.generation), "steps": steps}

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, and wait for the device at the end."""
        self._check(to, section)
        first = self.generation + 1
        grown: list[Cells] = []
        with device_memory_errors(f"nim at generation {to}"):
            if first == 0:
                self._seed()
                grown.append(np.zeros((1, 3), np.int32))
            wanted = cells or section is not None
            while self.generation < to:
                steps = min(_REACH, to - self.generation)
                if wanted:  # as many as have room
                    most = np.cumsum([3 ** n.bit_count() for n in range(self.generation + 1, self.generation + steps + 1)])
                    steps = max(1, int(np.searchsorted(most, self._room, side="right")))
                shape = self._shape(steps)
                self._advance[0](self._grid(self._advance[0]), **shape)
                self._planes.reverse()
                self._advance.reverse()
                self.generation += steps
                if wanted:
                    grown.append(self._cells(shape))
            births, checksums = (to_host(reports[first : to + 1]) for reports in (self._births, self._checksums))
        sections = np.zeros_like(births) if section is None else count_in_section(np.concatenate(grown), births, section)
        return self._summed(np.stack((births, checksums, sections), axis=1), grown if cells else None, section)

    def state(self) -> State:
        """Return the newborns' words: their positions as (row u, word) pairs and their bits."""
        plane = to_host(self._planes[0].words)
        active = np.flatnonzero(plane)
        return {
            "generation": np.array(self.generation, np.int64),
            "places": np.stack(np.divmod(active, self._row_words), axis=1),
            "words": plane[active],
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        if self.generation < 0:
            return  # nothing has been grown
        done = self._planes[0]
        plane, filled = np.zeros(len(done.words), np.uint64), np.zeros(len(done.filled), np.uint8)
        row, word = state["places"].astype(np.int64).T
        plane[row * self._row_words + word] = state["words"]
        filled[row // _OWNED * -(-self._row_words // _WORDS) + word // _WORDS] = 1
        done.words.set(plane)
        done.filled.set(filled)
        # All of them are listed: those without a cell are left out from the next launch on.
        done.tiles.set(np.arange(len(filled), dtype=np.uint32))
        self._lengths[self.generation : self.generation + 1].set(np.array([len(filled)], np.uint32))
        self._entered.set(np.full(len(filled), self.generation + 1, np.uint32))

    def _seed(self) -> None:
        self.generation = 0
        # The seed's mix is zero: a linear form of (0, 0, 0), finalized.
        # Tile 0 is listed already, by its number.  Copied, since CuPy would compile a kernel to store a 1.
        for array in (self._planes[0].words, self._planes[0].filled, self._lengths, self._births):
            array[:1].set(np.ones(1, array.dtype))

    def _grid(self, launch: Launch) -> int:
        """Several warps for each tile, as far as they run at once."""
        return launch.blocks(32 * len(self._entered) << _SHARES)

    def _cells(self, shape: dict[str, int]) -> NDArray[np.int32]:
        """Return the newborns of the launch just made, shape (sum of births, 3)."""
        xp, first, steps = self._launch.xp, shape["generation"] + 1, shape["steps"]
        births = to_host(self._births[first : first + steps])
        stops = np.cumsum(births)
        total = int(stops[-1])
        if total > len(self._keys):
            self._keys = xp.empty(max(total, self._room), np.uint64)
        written = {"start": xp.asarray(stops - births), "cursor": xp.zeros(steps, np.uint64), "keys": self._keys}
        before = self._planes[1]
        plane = {"from": before.words, "filled_from": before.filled, "tiles": before.tiles}
        launch = self._launch.bind("nim_cells", plane | {"lengths": self._lengths} | shape | written)
        launch(self._grid(launch))
        sorted_keys = np.sort(to_host(self._keys[:total])).astype(np.int64)  # on the device it would take as much memory again
        n = first + (sorted_keys >> 2 * _FIELD)
        a = sorted_keys >> _FIELD & (1 << _FIELD) - 1
        b = sorted_keys & (1 << _FIELD) - 1
        return np.stack((a, b, 2 * n - a - b), axis=1).astype(np.int32)
