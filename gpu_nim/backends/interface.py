"""The interface that every backend implements, and the plain data that crosses it.

A backend runs on one device.  It knows rules, arrays and generations; it knows nothing of catalogues, files or progress bars, and
it prints nothing.

Counting: every range of every sequence is cut into blocks of 2^m consecutive indices, and the values of a block are one row vector
times one table (`gpu_nim.counting.blocks`):

    value[h, l] = sum_c rows[h, c] * table[c, l].

All arithmetic is modulo 2^(64 limbs), a ring, so intermediate wrapping is harmless: whoever calls has proven that the values
themselves fit (`gpu_nim.model.limbs`).
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.limbs import U64, Integers
from gpu_nim.model.linear_bounds import LinearBounds
from gpu_nim.model.rule import Rule
from gpu_nim.model.values import ArrayValue

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


def count_in_section(cells: NDArray[np.integer], births: NDArray[np.uint64], section: Section) -> NDArray[np.uint64]:
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


@dataclass(frozen=True)
class Summary:
    """What is left of the values of some consecutive indices when none of them is stored.

    `total` is their sum modulo 2^(64 limbs). `argmax` and `argmin` count from the first index surveyed and name the first
    place of the maximum and minimum. `lengths` has shape (64 limbs + 1,): how many values have that many binary digits.
    """

    total: int
    maximum: int
    argmax: int
    minimum: int
    argmin: int
    lengths: NDArray[np.int64]


class Rows(Protocol):
    """What gives a range its rows: a sequence cut into blocks, as far as an engine needs to know it."""

    dimension: int

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the rows of blocks `first` to `stop - 1` of 2^bits indices, shape (blocks, dimension)."""

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices that take the row of a block of 2^bits indices to those of the 2^inner-blocks in it.

        Shape (2^(bits - inner), dimension, dimension): row j of the inner ones is the outer row times matrix j.
        """


class Counting(Protocol):
    """The counting engine of a backend. A table is opaque: each engine keeps its own where its kernels want it."""

    @property
    def name(self) -> str:
        """Return "numpy" or "cuda"."""

    def chunk_size(self, limbs: int) -> int:
        """Return about how many values surveyed, or tuples tried (limbs = 1), make a piece of work of a second or less."""

    def block_bits(self, dimension: int, limbs: int) -> int:
        """Return m: the engine's favourite block holds 2^m indices, for a table of `dimension` columns."""

    def table(self, columns: Integers, limbs: int) -> Any:
        """Take in a table, shape (dimension, 2^m), uint64 for limbs = 1 and object otherwise."""

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> Any:
        """Return the rows of blocks `first` to `stop - 1` in whatever form `fill`, `survey` and `residues` like best.

        They take plain rows too, shape (blocks, dimension), in the table's type.
        """

    def fill(self, table: Any, rows: Any, skip: int, out: U64) -> None:
        """Write values `skip` to `skip + len(out) - 1` of the blocks that `rows` stand for.

        `out` has shape (n,) for limbs = 1 and (n, limbs) otherwise, and is host memory or an array of the engine's own.
        """

    def survey(self, table: Any, rows: Any, skip: int, size: int) -> Summary:
        """Survey the `size` values from value `skip` on, without storing them."""

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Count the residues of the `size` values from value `skip` on, shape (modulus,)."""

    def try_totals(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by trying (k-1)-tuples: entry n, n <= limit, is how many have total 2n.

        The tuples tried are all those of entries at most `limit` whose first entry is at least `first` and below `stop`;
        the last pile is their nim-sum. No pile of a P-position of total 2n exceeds n, so first = 0 and stop = limit + 1
        together miss none. Shape (limit + 1,).
        """

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by trying the same (k-1)-tuples: entry n is how many have n as their largest pile."""


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
