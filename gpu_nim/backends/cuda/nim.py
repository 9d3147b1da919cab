"""Three-pile Nim on CUDA: up to 32 generations of the bit plane per launch (`cuda/nim.cu`), without waiting in between.

A launch does the work of 32 generations, so that Python, which needs a few microseconds for a launch, stays ahead of the device
without a CUDA graph: two launches are bound, one from each plane to the other, and the host waits at the end of a batch. On several
ranks it waits before each launch, for the rows of others: once in 32 generations.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.cuda.launches import Launch
from gpu_nim.backends.cuda.nim_strips import StripExchange, Strips
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.interface import Batch, Section, State, count_in_section
from gpu_nim.backends.shared.cells import check_request
from gpu_nim.model.digest import nim_plane_mix

_CONSTANTS = read_constants("nim.cu")
_REACH = _CONSTANTS["REACH"]  # generations a launch
_OWNED, _WORDS = _CONSTANTS["OWNED"], _CONSTANTS["WORDS"]  # rows and words of a tile
_FIELD = _CONSTANTS["FIELD"]  # bits of a coordinate in a cell's key


def device_bytes(last: int, ranks: int = 1) -> int:
    """Return the bytes of device memory for growing to generation `last`: planes, flags and lists of tiles, births, checksums.

    Those of the rank that has most, of several.

    >>> device_bytes(65536)  # on a card of 16 GB
    1078574974
    """
    rows, row_words = max(Strips(last, rank, ranks).rows for rank in range(ranks)), last // 64 + 1
    return 2 * 8 * rows * row_words + (2 * (1 + 4) + 4) * _tiles(rows, row_words) + (2 * 8 + 4) * (last + 1)


def _tiles(rows: int, row_words: int) -> int:
    """The number of tiles for this number of rows and words."""
    return -(-rows // _OWNED) * -(-row_words // _WORDS)


class _Plane(NamedTuple):
    """A generation: its words, row by row, which tiles may have cells, and a list of those that are stepped from it."""

    words: Any
    filled: Any
    tiles: Any


class NimEngine:
    """Three-pile Nim in progress on a device, to at most generation `last`, on one rank or several."""

    def __init__(self, launcher: Launcher, last: int, state: State | None = None, ranks: Communicator = ALONE) -> None:
        self._launch, self._last = launcher, last
        self._ranks = ranks
        self._strips = Strips(last, self._ranks.rank, self._ranks.size)
        self._rows = self._strips.rows
        self._row_words = last // 64 + 1
        words, tiles = self._rows * self._row_words, _tiles(self._rows, self._row_words)
        xp = launcher.xp
        self.generation = -1
        with device_memory_errors(f"nim to generation {last}"):
            # The last generation done, and the one before, which the next launch overwrites.
            self._planes = [
                _Plane(xp.zeros(words, np.uint64), xp.zeros(tiles, np.uint8), xp.zeros(tiles, np.uint32)) for _ in range(2)
            ]
            self._births, self._checksums = xp.zeros(last + 1, np.uint64), xp.zeros(last + 1, np.uint64)
            # Of each generation, the length of the list of its tiles; of each tile, one more than the last generation listed for.
            self._lengths, self._entered = xp.zeros(last + 1, np.uint32), xp.zeros(tiles, np.uint32)
            self._marked = xp.asarray(self._strips.marked())
            self._advance = [self._bind(*self._planes), self._bind(*self._planes[::-1])]
            if self._ranks.size > 1:
                listing = {"strips": self._marked, "lengths": self._lengths, "entered": self._entered}
                self._exchange = StripExchange(launcher, self._ranks, self._strips, listing, self._row_words)
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
            "strips": self._marked,
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
        """Grow through generation `to` and report each generation since the last one done; UsageError for another `to`."""
        check_request(self.generation, to, self._last, section, 3)
        first = self.generation + 1
        grown: list[NDArray[np.int32]] = []
        with device_memory_errors(f"nim at generation {to}"):
            if first == 0:
                self._seed()
                grown.append(np.zeros((int(self._owns_seed), 3), np.int32))
            wanted = cells or section is not None
            while self.generation < to:
                steps = min(_REACH, to - self.generation)
                if self._ranks.size > 1:
                    self._exchange.halo(*self._planes[0], self.generation)
                shape = self._shape(steps)
                self._advance[0](self._grid(self._advance[0]), **shape)
                self._planes.reverse()
                self._advance.reverse()
                self.generation += steps
                if wanted:
                    grown.append(self._cells(shape))
            births, checksums = (to_host(reports[first : to + 1]) for reports in (self._births, self._checksums))
        newborns = np.concatenate(grown) if wanted else None
        counts = [births, checksums]
        if section is not None and newborns is not None:
            counts.append(count_in_section(newborns, births, section))
        births, checksums, *cut = self._ranks.sum(np.stack(counts))
        return Batch(first, births, checksums, newborns if cells else None, *cut)

    def state(self) -> State:
        """Return the rank's part, the newborns' words: their places as (row u, word) pairs and their bits."""
        plane, strips = to_host(self._planes[0].words), self._strips
        active = np.flatnonzero(plane)
        row, word = np.divmod(active, self._row_words)
        strip, within = np.divmod(row, _OWNED)
        own = strips.own[strip]
        return {
            "generation": np.array(self.generation, np.int64),
            "places": np.stack((strips.numbers[strip] * _OWNED + within, word), axis=1)[own],
            "words": plane[active[own]],
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        done = self._planes[0]
        plane, filled = np.zeros(len(done.words), np.uint64), np.zeros(len(done.filled), np.uint8)
        row, word = state["places"].astype(np.int64).T
        strip, within = np.divmod(row, _OWNED)
        own = self._strips.owners[strip] == self._ranks.rank
        row, word = (self._strips.places[strip] * _OWNED + within)[own], word[own]
        plane[row * self._row_words + word] = state["words"][own]
        across = -(-self._row_words // _WORDS)
        filled[row // _OWNED * across + word // _WORDS] = 1
        done.words.set(plane)
        done.filled.set(filled)
        # All of them are listed: those without a cell are left out from the next launch on.
        tiles = (np.flatnonzero(self._strips.own)[:, np.newaxis] * across + np.arange(across)).reshape(-1)
        done.tiles[: len(tiles)].set(tiles.astype(np.uint32))
        self._lengths[self.generation : self.generation + 1].set(np.array([len(tiles)], np.uint32))
        self._entered.set(np.full(len(filled), self.generation + 1, np.uint32))

    def _seed(self) -> None:
        self.generation = 0
        if not self._owns_seed:
            return
        # The seed's mix is zero: a linear form of (0, 0, 0), finalized.
        # Tile 0 is listed already, by its number.  Copied, since CuPy would compile a kernel to store a 1.
        for array in (self._planes[0].words, self._planes[0].filled, self._lengths, self._births):
            array[:1].set(np.ones(1, array.dtype))

    @property
    def _owns_seed(self) -> bool:
        return bool(self._strips.owners[0] == self._ranks.rank)

    def _grid(self, launch: Launch) -> int:
        """A warp for each tile, as far as they run at once."""
        return launch.blocks(32 * len(self._entered))

    def _cells(self, shape: dict[str, int]) -> NDArray[np.int32]:
        """Return the newborns of the launch just made, shape (sum of births, 3)."""
        xp, first, steps = self._launch.xp, shape["generation"] + 1, shape["steps"]
        births = to_host(self._births[first : first + steps])
        stops = np.cumsum(births)
        keys = xp.empty(int(stops[-1]), np.uint64)
        written = {"start": xp.asarray(stops - births), "cursor": xp.zeros(steps, np.uint64), "keys": keys}
        before = self._planes[1]
        plane = {"from": before.words, "filled_from": before.filled, "tiles": before.tiles}
        launch = self._launch.bind("nim_cells", plane | {"strips": self._marked, "lengths": self._lengths} | shape | written)
        launch(self._grid(launch))
        keys.sort()
        sorted_keys = to_host(keys).astype(np.int64)
        n = first + (sorted_keys >> 2 * _FIELD)
        a = sorted_keys >> _FIELD & (1 << _FIELD) - 1
        b = sorted_keys & (1 << _FIELD) - 1
        return np.stack((a, b, 2 * n - a - b), axis=1).astype(np.int32)
