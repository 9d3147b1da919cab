"""The interface that every backend implements, and the data that it exchanges with the rest of the package.

A backend runs on one device.  It knows rules, arrays and generations, but no catalogues, files or progress bars, and it prints
nothing.

Counting: every range of every sequence is cut into blocks of 2^m consecutive indices, and the values of a block are one row vector
times one table (`gpu_nim.counting.blocks`):

    value[h, l] = sum_c rows[h, c] * table[c, l].

All arithmetic is modulo 2^(64 limbs), a ring, so intermediate wrapping is harmless: the caller has proven that the values
themselves fit (`gpu_nim.model.arrays`).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Communicator
from gpu_nim.model.arrays import U64, ArrayValue, Integers
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import Cones, Hits, Rays, Scene
from gpu_nim.model.work import OnStep, unreported

#: A growth's state as named host arrays, from which either backend can resume.
State = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class Batch(ArrayValue):
    """The results of g consecutive generations, in host memory.

    Attributes:
        first: the first of these generations.
        births: the number of newborns of each, uint64 of shape (g,).
        checksums: uint64 of shape (g,) (see `gpu_nim.model.digest`).
        cells: the newborns, shape (sum of births, d), by generation and in lexicographic order within each, or None where they were
            not requested; int32, or int64 where sums or differences of coordinates need it.
        section: the number of newborns in a plane, uint64 of shape (g,), or None where it was not requested.
    """

    first: int
    births: NDArray[np.uint64]
    checksums: NDArray[np.uint64]
    cells: NDArray[np.integer] | None = None
    section: NDArray[np.uint64] | None = None


#: (axis, value): the plane in which coordinate `axis` equals `value`.
Section = tuple[int, int]


def count_in_section(cells: NDArray[np.integer], births: NDArray[np.uint64], section: Section) -> NDArray[np.uint64]:
    """Return how many newborns of each generation lie in the section, uint64 of shape (g,).

    Args:
        cells: the cells of a batch, shape (N, d).
        births: the births of the batch, shape (g,), with sum N.
        section: the plane.

    >>> count_in_section(np.array([[0, 0], [1, 0], [0, 1]]), np.array([1, 2], np.uint64), (0, 0)).tolist()
    [1, 1]
    """
    axis, value = section
    before = np.concatenate(([0], np.cumsum(cells[:, axis] == value)))
    stops = np.cumsum(births).astype(np.int64)
    return np.diff(before[stops], prepend=0).astype(np.uint64)


class LinearBounds(NamedTuple):
    """R inequalities over k coordinates: x[targets[r]] <= floor((numerators[r] . x + constants[r]) / denominators[r]).

    Attributes:
        targets: int64 (R,), the coordinate that each inequality bounds.
        numerators: int64 (R, k), not negative.
        constants: int64 (R,), of any sign.
        denominators: int64 (R,), positive.

    >>> LinearBounds(*map(np.array, ([1], [[1, 0, 1]], [0], [3]))).denominators  # 3y <= x + z
    array([3])
    """

    targets: NDArray[np.int64]
    numerators: NDArray[np.int64]
    constants: NDArray[np.int64]
    denominators: NDArray[np.int64]


class Engine(Protocol):
    """A growth in progress on a device."""

    #: The last generation done; -1 before the seed.
    generation: int

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and return the results of each generation since the last one done.

        Args:
            to: the last generation to grow.
            cells: return the newborns, too.
            section: the plane whose newborns are counted, too.
        """

    def state(self) -> State:
        """Return the state after generation `self.generation`, copied to the host."""


class Lengths(NamedTuple):
    """How long the values of consecutive indices are, and their sum, by which they are checked.

    Attributes:
        total: the sum modulo 2^(64 limbs).
        counts: shape (64 limbs + 1,); entry i is the number of values with i binary digits.
    """

    total: int
    counts: NDArray[np.int64]


class Rows(Protocol):
    """A sequence cut into blocks, as far as an engine needs to know it: the source of a range's rows."""

    dimension: int

    def rows(self, first: int, stop: int, bits: int, limbs: int) -> Integers:
        """Return the rows of blocks `first` to `stop - 1`, shape (blocks, dimension).

        Args:
            first: the first block.
            stop: the block after the last.
            bits: a block holds 2^bits indices.
            limbs: 64-bit words of a value.
        """

    def steps(self, bits: int, inner: int, limbs: int) -> Integers:
        """Return the matrices that take the row of a block of 2^bits indices to those of the 2^inner-blocks in it.

        Args:
            bits: m of the outer blocks, of 2^m indices.
            inner: m of the inner blocks.
            limbs: 64-bit words of a value.

        Returns:
            Shape (2^(bits - inner), dimension, dimension): row j of the inner blocks is the outer row times matrix j.
        """


class Counting(Protocol):
    """The counting engine of a backend. A table is opaque: each engine stores it where its kernels need it."""

    @property
    def name(self) -> str:
        """Return "numpy" or "cuda"."""

    def chunk_size(self, limbs: int) -> int:
        """Return about how many values are counted, or tuples tried, in at most a second.

        Args:
            limbs: 64-bit words of a value; 1 for tuples.
        """

    def block_bits(self, dimension: int, limbs: int) -> int:
        """Return m: blocks of 2^m indices are the fastest ones.

        Args:
            dimension: the rows of the table.
            limbs: 64-bit words of a value.
        """

    def table(self, columns: Integers, limbs: int) -> Any:
        """Return a table as the engine stores it.

        Args:
            columns: shape (dimension, 2^m), uint64 for limbs = 1 and object otherwise.
            limbs: 64-bit words of a value.
        """

    def rows(self, source: Rows, first: int, stop: int, bits: int, limbs: int) -> Any:
        """Return the rows of blocks `first` to `stop - 1` as `fill`, `lengths` and `residues` take them.

        These take plain rows, too: shape (blocks, dimension), in the table's type.

        Args:
            source: the sequence.
            first: the first block.
            stop: the block after the last.
            bits: a block holds 2^bits indices.
            limbs: 64-bit words of a value.
        """

    def fill(self, table: Any, rows: Any, skip: int, out: U64) -> None:
        """Write values `skip` to `skip + len(out) - 1` of some blocks.

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value written, counted from the first block's first.
            out: an array of the host, of shape (n,) for limbs = 1 and (n, limbs) otherwise.
        """

    def values(self, table: Any, rows: Any, skip: int, size: int) -> Any:
        """Return values `skip` to `skip + size - 1` of some blocks as a new array of the engine's own device.

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value, counted from the first block's first.
            size: the number of values.

        Returns:
            uint64, of shape (size,) for limbs = 1 and (size, limbs) otherwise, least significant first.
        """

    def lengths(self, table: Any, rows: Any, skip: int, size: int) -> Lengths:
        """Return how many of the `size` values from value `skip` on have each length, without storing the values.

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value, counted from the first block's first.
            size: the number of values.
        """

    def residues(self, table: Any, rows: Any, skip: int, size: int, modulus: int) -> NDArray[np.int64]:
        """Return how many of the `size` values from value `skip` on leave each residue, shape (modulus,).

        Args:
            table: what `table` returned.
            rows: the rows of the blocks.
            skip: the first value, counted from the first block's first.
            size: the number of values.
            modulus: at least 1.
        """

    def try_totals(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by total, by trying (k-1)-tuples.

        The last pile is the nim-sum of a tuple. No pile of a P-position of total 2n exceeds n, so first = 0 and stop = limit + 1
        find all of them.

        Args:
            piles: k.
            limit: the largest entry of a tuple.
            first: the least first entry.
            stop: every first entry is below this.

        Returns:
            Shape (limit + 1,); entry n is the number of P-positions found with total 2n.
        """

    def try_maxima(self, piles: int, limit: int, first: int, stop: int) -> NDArray[np.int64]:
        """Count P-positions by their largest pile, by trying the same (k-1)-tuples.

        Args:
            piles: k.
            limit: the largest entry of a tuple.
            first: the least first entry.
            stop: every first entry is below this.

        Returns:
            Shape (limit + 1,); entry n is the number of P-positions found whose largest pile is n.
        """


class Tracer(Protocol):
    """Traces rays through one scene. Several threads may use it at once."""

    @property
    def batch(self) -> int:
        """Return how many rays are best traced at once."""

    @property
    def threads(self) -> int:
        """Return by how many threads it is best used."""

    def trace(self, rays: Rays) -> Hits:
        """Return what each ray hits first.

        Args:
            rays: the rays.
        """

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the scene's box and not known to be empty, (k, n).

        Args:
            cones: the cones.
        """


@runtime_checkable
class Backend(Protocol):
    """A device that grows, counts and solves."""

    @property
    def name(self) -> str:
        """Return "numpy" or "cuda"."""

    @property
    def device(self) -> str:
        """Return the name of the device."""

    @property
    def communicator(self) -> Communicator:
        """Return the ranks that grow together with this one."""

    def on_rank(self, communicator: Communicator) -> "Backend":
        """Return the same device as one of several ranks has it.

        Args:
            communicator: the ranks, as that one sees them.
        """

    def free_memory(self) -> int:
        """Return the bytes that a new piece of work may use."""

    def growth_memory(self, rule: Rule, last: int, *, nim: bool = False, general: bool = False) -> int | None:
        """Return the bytes that `nim`, or else `automaton`, plans to take of `free_memory` for a growth from its seeds.

        None if that is not known in advance: the general engine checks memory again as the growth goes on.

        Args:
            rule: the rule.
            last: the last generation.
            nim: for the engine of `nim`, in place of that of `automaton`.
            general: as for `automaton`.
        """

    def nim(self, last: int, state: State | None = None) -> Engine:
        """Return an engine for three-pile Nim by [B]'s first rule, on one rank alone.

        Args:
            last: the last generation of the growth.
            state: resume from this state; None begins at the seed.
        """

    def automaton(self, rule: Rule, last: int, state: State | None = None, *, general: bool = False) -> Engine:
        """Return an engine for the rule: the fast one for exactly-one growth where it applies.

        Args:
            rule: the rule.
            last: the last generation of the growth.
            state: resume from this state; None begins at the seeds.
            general: use the general engine even where the fast one applies, to compare the two.
        """

    def counting(self) -> Counting:
        """Return the engine that fills and counts ranges and tries tuples."""

    def tracer(self, scene: Scene) -> Tracer:
        """Return what traces rays through a scene; both backends give the same results, to the last bit.

        Args:
            scene: the scene.
        """

    def wedge_outcomes(self, top: NDArray[np.int64], on_step: OnStep = unreported) -> NDArray[np.int64]:
        """Return the P-positions of the game of (x, y, z) with 0 <= y <= top[x, z], shape (n, 3), in lexicographic order.

        Args:
            top: decreasing along neither axis; lowering x or z lowers y to the new bound where it exceeds it.
            on_step: called with how much is done of the positions, or of the totals of their coordinates.
        """

    def wedge_grundy(self, top: NDArray[np.int64], on_step: OnStep = unreported) -> NDArray[np.signedinteger]:
        """Return the Grundy values of the same game, an array [x, y, z] with -1 where y > top[x, z].

        The dtype is int16, or int32 where a position has more than 32766 moves.

        Args:
            top: as for `wedge_outcomes`.
            on_step: as for `wedge_outcomes`.
        """

    def inequality_outcomes(
        self, bounds: LinearBounds, limits: NDArray[np.int64], on_step: OnStep = unreported
    ) -> NDArray[np.int64]:
        """Return the P-positions of any inequality game with 0 <= x <= limits, shape (n, k), in lexicographic order.

        Args:
            bounds: the inequalities.
            limits: the largest value of each coordinate, shape (k,).
            on_step: as for `wedge_outcomes`.
        """

    def inequality_grundy(
        self, bounds: LinearBounds, limits: NDArray[np.int64], on_step: OnStep = unreported
    ) -> NDArray[np.signedinteger]:
        """Return the Grundy values of any inequality game with 0 <= x <= limits, over that box; -1 where no position is.

        Args:
            bounds: the inequalities.
            limits: the largest value of each coordinate, shape (k,).
            on_step: as for `wedge_outcomes`.
        """
