"""Three-pile Nim on CUDA: up to 32 generations of the bit plane a launch (`cuda/nim.cu`), no word to the host in between."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.cuda.launcher import Launcher, device_memory_errors, to_host
from gpu_nim.backends.interface import Batch, Section, State, count_in_section
from gpu_nim.backends.shared.cells import check_request
from gpu_nim.model.digest import nim_plane_mix

_BLOCK = 128
_REACH, _OWNED, _WORDS = 32, 96, 4  # cuda/nim.cu: generations a launch, rows and words that a warp owns
_KEY = 24  # bits of a coordinate in a cell's key


def device_bytes(last: int) -> int:
    """Return the bytes of device memory for growing to generation `last`: two planes, their tiles' flags, births and checksums.

    >>> device_bytes(65536)  # on a card of 16 GB
    1076206454
    """
    rows, row_words = last + 1, last // 64 + 1
    return 2 * 8 * rows * row_words + 2 * _tiles(rows, row_words) + 2 * 8 * rows


def _tiles(rows: int, row_words: int) -> int:
    """How many tiles hold so many rows and words."""
    return -(-rows // _OWNED) * -(-row_words // _WORDS)


class NimEngine:
    """Three-pile Nim in progress on a device, to generation `last` at the most."""

    def __init__(self, launcher: Launcher, last: int, state: State | None = None) -> None:
        self._launch, self._last = launcher, last
        self._rows = last + 1
        self._row_words = last // 64 + 1
        with device_memory_errors(f"nim to generation {last}"):
            self._plane = launcher.xp.zeros(self._rows * self._row_words, np.uint64)
            self._spare = launcher.xp.zeros_like(self._plane)
            # Which tiles of either plane may have cells.
            self._filled = launcher.xp.zeros(_tiles(self._rows, self._row_words), np.uint8)
            self._spare_filled = launcher.xp.zeros_like(self._filled)
        self.generation = -1
        if state is not None:
            self._restore(state)

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done; UsageError for another `to`."""
        check_request(self.generation, to, self._last, section, 3)
        xp, first = self._launch.xp, self.generation + 1
        births = xp.zeros(to - self.generation, np.uint64)
        checksums = xp.zeros_like(births)
        grown: list[NDArray[np.int32]] = []
        with device_memory_errors(f"nim at generation {to}"):
            if first == 0:
                self._seed(births)
                grown.append(np.zeros((1, 3), np.int32))
            wanted = cells or section is not None
            while self.generation < to:
                steps = min(_REACH, to - self.generation)
                at = self.generation + 1 - first
                # A cell is mixed as K.(n-u, n-v, u+v): see cuda/nim.cu.
                mixing = nim_plane_mix()
                grid = (-(-_tiles(self.generation + steps + 1, self._row_words) * 32 // _BLOCK),)
                shape = (self._rows, self._row_words, self.generation, steps)
                planes = (self._plane, self._spare, self._filled, self._spare_filled)
                self._launch("nim_advance", grid, (_BLOCK,), (*planes, *shape, *mixing, births, checksums, at))
                if wanted:
                    grown.append(self._cells(grid, shape, to_host(births[at : at + steps])))
                self._plane, self._spare = self._spare, self._plane
                self._filled, self._spare_filled = self._spare_filled, self._filled
                self.generation += steps
        newborns = np.concatenate(grown) if wanted else None
        host_births = to_host(births)
        cut = None if section is None or newborns is None else count_in_section(newborns, host_births, section)
        return Batch(first, host_births, to_host(checksums), newborns if cells else None, cut)

    def state(self) -> State:
        """Return the newborns' words: their places as (row u, word) pairs and their bits."""
        plane = to_host(self._plane)
        active = np.flatnonzero(plane)
        return {
            "generation": np.array(self.generation, np.int64),
            "places": np.stack(np.divmod(active, self._row_words), axis=1),
            "words": plane[active],
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        plane = np.zeros(self._rows * self._row_words, np.uint64)
        places = state["places"].astype(np.int64)
        plane[places[:, 0] * self._row_words + places[:, 1]] = state["words"]
        self._plane = self._launch.xp.asarray(plane)
        filled = np.zeros(len(self._filled), np.uint8)
        filled[places[:, 0] // _OWNED * -(-self._row_words // _WORDS) + places[:, 1] // _WORDS] = 1
        self._filled = self._launch.xp.asarray(filled)

    def _seed(self, births: Any) -> None:
        # The seed's mix is zero: a linear form of (0, 0, 0), finalized.
        for first in (self._plane[:1], self._filled[:1], births[:1]):  # copied: CuPy would compile a kernel to store a 1
            first.set(np.ones(1, first.dtype))
        self.generation = 0

    def _cells(self, grid: tuple[int, ...], shape: tuple[int, int, int, int], births: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the newborns of the launch just made from `self._plane`, shape (sum of births, 3)."""
        xp = self._launch.xp
        stops = np.cumsum(births)
        keys = xp.empty(int(stops[-1]), np.uint64)
        self._launch(
            "nim_cells",
            grid,
            (_BLOCK,),
            (self._plane, self._filled, *shape, xp.asarray(stops - births), xp.zeros(len(births), np.uint64), keys),
        )
        keys.sort()
        sorted_keys = to_host(keys).astype(np.int64)
        n = self.generation + 1 + (sorted_keys >> 2 * _KEY)
        a = sorted_keys >> _KEY & (1 << _KEY) - 1
        b = sorted_keys & (1 << _KEY) - 1
        return np.stack((a, b, 2 * n - a - b), axis=1).astype(np.int32)
