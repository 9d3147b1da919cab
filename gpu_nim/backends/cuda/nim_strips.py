"""The strips of the plane of nim that a rank holds on CUDA, and what ranks send to each other before a launch (`cuda/nim.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator
from gpu_nim.backends.cuda.launcher import Launcher, to_host
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.cuda.transfers import exchange_parts
from gpu_nim.backends.shared.owners import owners

__all__ = ["StripExchange", "Strips"]

_CONSTANTS = read_constants("nim.cu")
_OWNED, _REACH = _CONSTANTS["OWNED"], _CONSTANTS["REACH"]  # rows of a strip, and those of them that the strip below reads
_HALO = 1 << 31
_FIRST_WORDS = 1 << 10  # room for so many at first in what is sent


class Strips:
    """The strips in the plane of one rank: its own ones, and before each run of them the strip above it.

    Attributes:
        owners: the owner of each strip of the whole plane.
        numbers: which strips the rank's plane has, ascending; `own`, whether each is its own.
        places: where each strip of the whole plane is among these, if it is.
        rows: of the rank's plane.

    >>> strips = Strips(1000, rank=1, ranks=2)
    >>> strips.numbers.tolist(), strips.rows
    ([0, 1, 2, 3, 4, 6, 7, 8], 768)
    """

    def __init__(self, last: int, rank: int = 0, ranks: int = 1) -> None:
        rows = last + 1
        self.owners = owners(-(-rows // _OWNED), 1, ranks)
        own = self.owners == rank
        self.numbers = np.flatnonzero(own | np.append(own[1:], False))
        self.own = own[self.numbers]
        self.places = np.zeros(len(own), np.int64)
        self.places[self.numbers] = np.arange(len(self.numbers))
        count = len(self.numbers)
        self.rows = _OWNED * (count - 1) + min(_OWNED, rows - _OWNED * int(self.numbers[-1])) if count else 0

    def marked(self) -> NDArray[np.uint32]:
        """Return the numbers as the kernels take them, and one that is no strip below the last."""
        return np.append(np.where(self.own, self.numbers, self.numbers | _HALO), _HALO).astype(np.uint32)


class StripExchange:
    """Sends the rows of one rank that others need, and puts theirs into the halo of its plane.

    Args:
        launcher: of the device.
        ranks: the ranks of the growth.
        strips: of this rank.
        listing: what the kernels take of `strips.marked()` and of lists, on the device, but for a list itself.
        row_words: the words of a row.
    """

    def __init__(self, launcher: Launcher, ranks: Communicator, strips: Strips, listing: dict[str, Any], row_words: int) -> None:
        self._launch, self._ranks, self._listing, self._row_words = launcher, ranks, listing, row_words
        below = np.append(strips.owners[1:], ranks.rank)[strips.numbers]
        border = np.flatnonzero(strips.own & (below != ranks.rank))
        xp = launcher.xp
        self._borders = xp.asarray(np.stack((border, below[border]), axis=1).reshape(-1).astype(np.uint32))
        self._starts, self._counted = xp.zeros(ranks.size, np.uint64), xp.zeros(ranks.size, np.uint32)
        self._places = xp.asarray(strips.places.astype(np.uint32))
        self._sent = xp.empty(_FIRST_WORDS, np.uint64)
        self._held: dict[int, Any] = {}
        """What is in the halo of each plane, by the address of the plane."""

    def halo(self, words: Any, filled: Any, tiles: Any, generation: int) -> None:
        """Put the rows of other ranks into the halo of a plane, in place of those there, and list the tiles that hold them.

        Args:
            words: of the plane.
            filled: which of its tiles may have cells.
            tiles: the list of those that are stepped.
            generation: of the plane.
        """
        into = {"tiles": tiles, "generation": generation}
        plane = {"plane": words, "filled": filled, "row_words": self._row_words}
        held = self._held.pop(words.data.ptr, None)
        if held is not None:
            self._receive(plane | into, held, keep=0)
        counted = self._send(plane, writes=0)
        total = 2 * int(counted.sum())
        if total > len(self._sent):
            self._sent = self._launch.xp.empty(2 * total, np.uint64)
        sizes = 2 * counted.astype(np.int64)
        if total:
            self._starts.set((np.cumsum(sizes) - sizes).astype(np.uint64))
            self._send(plane, writes=1)
        held, _ = exchange_parts(self._launch, self._ranks, self._sent, sizes)
        if len(held):
            self._held[words.data.ptr] = held
            self._receive(plane | into, held, keep=1)

    def _send(self, plane: dict[str, Any], *, writes: int) -> NDArray[np.uint32]:
        """Count or write, and return the counts."""
        borders = {"strips": self._listing["strips"], "borders": self._borders, "border_count": len(self._borders) // 2}
        parts = {"starts": self._starts, "counted": self._counted, "parts": self._sent, "writes": writes}
        launch = self._launch.bind("nim_send", plane | borders | parts)
        launch(launch.blocks(len(self._borders) // 2 * _REACH * self._row_words))
        counted: NDArray[np.uint32] = to_host(self._counted)
        return counted

    def _receive(self, plane: dict[str, Any], parts: Any, *, keep: int) -> None:
        arguments = {"places": self._places, "parts": parts, "count": len(parts) // 2, "keep": keep}
        launch = self._launch.bind("nim_receive", plane | self._listing | arguments)
        launch(launch.blocks(len(parts) // 2))
