"""The interface that every backend implements, and the plain data that crosses it.

A backend runs on one device.  It knows rules, arrays and generations; it knows nothing of catalogues, files or progress bars, and
it prints nothing.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.counting import Counting
from gpu_nim.backends.games import LinearBounds
from gpu_nim.backends.rule import Rule
from gpu_nim.values import ArrayValue

State = dict[str, NDArray[np.generic]]
"""A growth's state as named host arrays: enough for either backend to go on from there."""


@dataclass(frozen=True, eq=False)
class Batch(ArrayValue):
    """What an engine reports of some consecutive generations, in host memory.

    `births` and `checksums` are uint64 of shape (g,), a generation each, from generation `first` on.  `cells` are the newborns of
    these generations, shape (sum of births, d), generation after generation and in lexicographic order within each, or None
    where they were not asked for; int32, or int64 where sums or differences of coordinates need it.  `section` counts the
    newborns that lie in a plane, uint64 of shape (g,), or is None likewise.
    """

    first: int
    births: NDArray[np.uint64]
    checksums: NDArray[np.uint64]
    cells: NDArray[np.integer] | None = None
    section: NDArray[np.uint64] | None = None


Section = tuple[int, int]
"""The plane in which coordinate `axis` has a value: (axis, value)."""


def count_in_section(
    cells: NDArray[np.integer], births: NDArray[np.uint64], section: Section
) -> NDArray[np.uint64]:
    """Return how many newborns of each generation lie in the section, uint64 of shape (g,), from a batch's cells.

    >>> count_in_section(np.array([[0, 0], [1, 0], [0, 1]]), np.array([1, 2], np.uint64), (0, 0)).tolist()
    [1, 1]
    """
    axis, value = section
    before = np.concatenate(([0], np.cumsum(cells[:, axis] == value)))
    stops = np.cumsum(births).astype(np.int64)
    return np.diff(before[stops], prepend=0).astype(np.uint64)


class Engine(Protocol):
    """A growth in progress on a device."""

    generation: int
    """The last generation done; -1 before the seed is laid."""

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and report each generation since the last one done."""

    def state(self) -> State:
        """Return the state after generation `self.generation`, copied to the host."""


@runtime_checkable
class Backend(Protocol):
    """A device that grows, counts and solves."""

    @property
    def name(self) -> str:
        """Return "numpy" or "cuda"."""

    @property
    def device(self) -> str:
        """Return the device's own name, for people."""

    def free_memory(self) -> int:
        """Return the bytes that a new piece of work may use."""

    def nim(self, last: int, state: State | None = None) -> Engine:
        """Start three-pile Nim by [B]'s first rule, to grow no further than generation `last`."""

    def automaton(self, rule: Rule, last: int, state: State | None = None, *, general: bool = False) -> Engine:
        """Start any rule, to grow no further than generation `last`: on the fast path for exactly-one growth where it applies.

        With `general` the engine for all rules is taken even so, the yardstick of the fast path.
        """

    def counting(self) -> Counting:
        """Return the engine that fills ranges, surveys them and tries tuples."""

    def wedge_outcomes(self, top: NDArray[np.int64]) -> NDArray[np.int64]:
        """Solve the game of (x, y, z) with 0 <= y <= top[x, z]: the P-positions, shape (n, 3), in lexicographic order.

        `top` decreases along neither axis; lowering x or z drags y along where it must.
        """

    def wedge_grundy(self, top: NDArray[np.int64]) -> NDArray[np.signedinteger]:
        """Solve the same game for its Grundy values, an array [x, y, z] with -1 where y > top[x, z].

        The dtype is int16, or int32 where a position has more than 32766 moves.
        """

    def inequality_outcomes(self, bounds: LinearBounds, limits: NDArray[np.int64]) -> NDArray[np.int64]:
        """Solve any inequality game with 0 <= x <= limits: the P-positions, shape (n, k), in lexicographic order."""

    def inequality_grundy(self, bounds: LinearBounds, limits: NDArray[np.int64]) -> NDArray[np.signedinteger]:
        """Solve any inequality game with 0 <= x <= limits for its Grundy values, over that box and -1 where no position is."""
