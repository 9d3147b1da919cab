"""The interface that every backend implements, and the data that it exchanges with the rest of the package.

A backend runs on one device.  It knows rules, arrays and generations, but no catalogues, files or progress bars, and it prints
nothing.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import ArrayValue
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import OnStep, no_progress

if TYPE_CHECKING:
    from gpu_nim.backends.host_counting import HostCounting
    from gpu_nim.model.tracing import Cones, Hits, Rays, Scene

T = TypeVar("T")
#: Why a growth is refused on several ranks.
NOT_ON_RANKS = (
    "a growth on several ranks must be of births on exactly one touch, in 2 or 3 dimensions, with short offsets, and not by the "
    "general engine"
)
#: A growth's state as named host arrays, from which either backend can resume.
State = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class Batch(ArrayValue):
    """The results of g consecutive generations, in host memory.

    Attributes:
        first: the first of these generations.
        births: the number of newborns of each, of shape (g,): uint64 of an engine, int64 of a `GrowthProcess`.
        checksums: uint64 of shape (g,) (see `gpu_nim.model.digest`).
        cells: the newborns, shape (sum of births, d), by generation and in lexicographic order within each, or None where they were
            not requested; int32, or int64 where sums or differences of coordinates need it.
        section: the number of newborns in a plane, uint64 of shape (g,), or None where it was not requested.
    """

    first: int
    births: NDArray[np.integer]
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

    Before them are rows that give m further values of x, whose targets are k, k + 1, ... in order: each is the greatest of the
    floors of the rows that have it as their target, and not below 0.

    Attributes:
        targets: int64 (R,), the coordinate that each inequality bounds.
        numerators: int64 (R, k + m), not negative.
        constants: int64 (R,), of any sign.
        denominators: int64 (R,), positive.

    >>> LinearBounds(*map(np.array, ([1], [[1, 0, 1]], [0], [3]))).denominators  # 3y <= x + z
    array([3])
    """

    targets: NDArray[np.int64]
    numerators: NDArray[np.int64]
    constants: NDArray[np.int64]
    denominators: NDArray[np.int64]


class Communicator:
    """The ranks of one growth, as one of them sees them: here it is the only one, and a subclass has several.

    A growth on several ranks is cut into slabs, each of which one rank owns. Every rank makes an engine for the same rule and the
    same last generation, `NumpyBackend(communicator).engine(...).make()`, and calls the same methods of it in the same order with
    the same arguments, since engines exchange newborns in each generation; so it does with the methods of a communicator, all of
    which wait for the other ranks. What an engine returns:

    * Of a batch, births, checksums and sections are those of the whole growth, on every rank. Cells are the rank's own: those of
      all ranks together are the newborns, each once.
    * Ranks of one growth on exactly one touch may have different backends.
    * A state is the rank's part. `gpu_nim.backends.shared.engines.join` makes a whole of the parts of all ranks, in any order; any
      number of ranks, one among them, resumes from that, on either backend.
    * The memory of an `EngineChoice` is that of the rank's part.

    `rank`: the number of this rank, from 0.  `size`: the number of ranks.  `device_buffers`: whether buffers may be on a GPU.

    >>> Communicator().exchange([np.array([1, 2], np.uint8)])
    [array([1, 2], dtype=uint8)]
    """

    rank, size, device_buffers = 0, 1, False

    def exchange(self, parts: Sequence[Any], empty: Callable[..., Any] = np.empty) -> list[Any]:
        """Send one buffer to each rank and return the buffer from each.

        Args:
            parts: a buffer of any length for each rank, this one among them: bytes, shape (n,).
            empty: what makes arrays for the buffers that are received; of a GPU, where the parts are, too.

        Returns:
            A buffer from each rank; that of this rank is the one it was given.
        """
        return list(parts)

    def sum(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the sums modulo 2^64 over all ranks, on each of them.

        Args:
            values: of the same shape on every rank.
        """
        return values

    def fail(self) -> None:
        """Have the next exchange of the other ranks raise RankFailed, and return when all of them have come there."""


#: What a growth has for a communicator unless it is given one.
ALONE = Communicator()


def allgather(communicator: Communicator, value: T) -> list[T]:
    """Return the value of each rank, on each of them.

    Args:
        communicator: the ranks.
        value: anything small, since it is pickled.

    >>> allgather(ALONE, "a word")
    ['a word']
    """
    buffer = np.frombuffer(pickle.dumps(value), np.uint8)
    return [pickle.loads(part.tobytes()) for part in communicator.exchange([buffer] * communicator.size)]


def free_per_rank(communicator: Communicator, memory: str, free: int) -> int:
    """Return the bytes that this rank may use: ranks that have a memory in common have equal shares of what is free.

    All ranks call this together, before any of them takes memory.

    Args:
        communicator: the ranks.
        memory: what tells the memory of this rank, of a device or of a host, from others.
        free: its free bytes.

    >>> free_per_rank(ALONE, "this host", 900)
    900
    """
    if communicator.size == 1:
        return free
    those = [theirs for name, theirs in allgather(communicator, (memory, free)) if name == memory]
    return min(those) // len(those)


def gather_cells(communicator: Communicator, cells: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the newborns of one generation, of which each rank has some, in lexicographic order on rank 0; none on the others."""
    if communicator.size == 1:
        return cells
    own = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
    received = communicator.exchange([own, *[own[:0]] * (communicator.size - 1)])
    found = np.concatenate([part.view(cells.dtype) for part in received]).reshape(-1, cells.shape[1])
    return found[np.lexsort(found.T[::-1])]


class Engine(Protocol):
    """A growth in progress on a device."""

    #: The last generation done; -1 before the seed.
    generation: int

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to` and return the results of each generation since the last one done.

        Births, checksums and sections are those of all ranks, cells those of this one.

        Args:
            to: the last generation to grow.
            cells: return the newborns, too.
            section: the plane whose newborns are counted, too.

        Raises:
            UsageError: the growth cannot go on to that generation, or has no such section.
        """

    def state(self) -> State:
        """Return the state after generation `self.generation`, copied to the host, from which an engine of this kind can resume."""


class EngineChoice(NamedTuple):
    """The engine of a growth, which is not yet made.

    Attributes:
        make: makes it, unless it takes more memory than there is.
        memory: the bytes that it is planned to take; None if that is not known in advance, since it takes memory as the growth
            goes on.
        free: the bytes that are free for it.
        lacks_numba: whether numba's compiled loops would grow it faster, were it installed.
    """

    make: Callable[[], Engine]
    memory: int | None
    free: int
    lacks_numba: bool = False


class Tracer(Protocol):
    """Traces rays through one scene. Several threads may use it at once."""

    #: The number of rays in an efficient call of `trace`.
    batch: int
    #: The number of threads that call it efficiently.
    threads: int

    def trace(self, rays: "Rays") -> "Hits":
        """Return what each ray hits first.

        Args:
            rays: the rays.
        """

    def blocked(self, cones: "Cones") -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the scene's box and not known to be empty, (k, n).

        Args:
            cones: the cones.
        """


@runtime_checkable
class Backend(Protocol):
    """A device that grows, counts and solves."""

    #: "numpy" or "cuda".
    name: str
    #: The ranks that grow together with this one.
    communicator: Communicator

    @property
    def device(self) -> str:
        """Return the name of the device."""

    def on_rank(self, communicator: Communicator) -> "Backend":
        """Return the same device as one of several ranks has it.

        Args:
            communicator: the ranks, as that one sees them.
        """

    def free_memory(self) -> int:
        """Return the bytes that a new piece of work may use."""

    def engine(
        self, rule: Rule, last: int, state: State | None = None, *, general: bool = False, cells: bool = False
    ) -> EngineChoice:
        """Choose an engine for the rule: a fast one for three-pile Nim and exactly-one growth where it applies.

        Args:
            rule: the rule.
            last: the last generation of the growth.
            state: resume from this state, by an engine of the kind that it is of; None begins at the seeds.
            general: use the general engine even where a fast one applies, to compare the two.
            cells: plan memory for cells or a section, too, where an engine needs some for them.

        Raises:
            InsufficientMemoryError: no device has the memory for it.
        """

    def counting(self) -> "HostCounting":
        """Return the engine that fills and counts ranges and tries tuples."""

    def tracer(self, scene: "Scene") -> Tracer:
        """Return what traces rays through a scene; both backends give the same results, to the last bit.

        Args:
            scene: the scene.
        """

    def wedge_outcomes(self, top: NDArray[np.int64], progress: OnStep = no_progress) -> NDArray[np.int64]:
        """Return the P-positions of the game of (x, y, z) with 0 <= y <= top[x, z], shape (n, 3), in lexicographic order.

        Args:
            top: decreasing along neither axis; lowering x or z lowers y to the new bound where it exceeds it.
            progress: called with how much is done of the positions, or of the totals of their coordinates.
        """

    def wedge_grundy(self, top: NDArray[np.int64], progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
        """Return the Grundy values of the same game, an array [x, y, z] with -1 where y > top[x, z].

        The dtype is int16, or int32 where a position has more than 32766 moves.

        Args:
            top: as for `wedge_outcomes`.
            progress: as for `wedge_outcomes`.
        """

    def inequality_outcomes(
        self, bounds: LinearBounds, limits: NDArray[np.int64], progress: OnStep = no_progress
    ) -> NDArray[np.int64]:
        """Return the P-positions of any inequality game with 0 <= x <= limits, shape (n, k), in lexicographic order.

        Args:
            bounds: the inequalities.
            limits: the largest value of each coordinate, shape (k,).
            progress: as for `wedge_outcomes`.
        """

    def inequality_grundy(
        self, bounds: LinearBounds, limits: NDArray[np.int64], progress: OnStep = no_progress
    ) -> NDArray[np.signedinteger]:
        """Return the Grundy values of any inequality game with 0 <= x <= limits, over that box; -1 where no position is.

        Args:
            bounds: the inequalities.
            limits: the largest value of each coordinate, shape (k,).
            progress: as for `wedge_outcomes`.
        """
