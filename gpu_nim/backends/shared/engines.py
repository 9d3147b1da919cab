"""What the engines of growth have in common: batches, states of bricks, and which kind of engine grows a rule.

States of exactly-one growth are what the backends, and the ranks of one growth, read of each other's.
All have `generation`, `newborns` (the representatives, shape (N, d)), `last` (what the growth was planned for), and the bricks in
which anything was touched (`gpu_nim.backends.shared.bricks`): `bricks` has their positions, counted in bricks, shape (B, 3), and
`brick_words` a bit for each cell that was touched, uint64 of shape (B, words). So parts of a growth are joined end to end,
and any number of ranks on either backend resumes from the whole.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import ALONE, NOT_ON_RANKS, Batch, Communicator, Engine, Section, State
from gpu_nim.backends.shared.brick_grid import supports
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.model.arrays import cell_dtype, coordinate_dtype
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import NIM, Cells, Rule

#: Added, in states, to the touches of a cell that is alive, or outside of the universe.
CLOSED = np.uint16(1 << 15)
#: How an engine grows: nim in planes, births on exactly one touch in bricks, any rule by the touches of each cell.
Kind = Literal["planes", "bricks", "touches"]


def kind_of(rule: Rule, ranks: Communicator, state: State | None = None, *, general: bool) -> Kind:
    """Return which kind of engine grows a rule: from a state, the kind that it is of.

    Args:
        rule: the rule.
        ranks: the ranks that grow it together.
        state: what it resumes from.
        general: whether the general engine, which counts touches, grows even what another one could.

    Raises:
        UsageError: nothing grows on from this state.

    >>> kind_of(NIM, ALONE, general=False), kind_of(NIM, ALONE, general=True)
    ('planes', 'touches')
    """
    begun: State = {} if state is None else state
    if rule == NIM and ("words" in begun or not (begun or general or ranks.size > 1)):
        if ranks.size > 1:
            raise UsageError("a growth of nim that one process began is resumed by one process: start it without mpirun")
        return "planes"
    in_bricks = "bricks" in begun
    if in_bricks and not supports(rule):
        raise UsageError("the state is of a growth in bricks, in which this rule is not grown")
    return "bricks" if in_bricks or (supports(rule) and not (begun or general)) else "touches"


class GrowthEngine(Engine, ABC):
    """A growth in progress, to at most generation `last`, which a subclass grows a batch at a time."""

    def __init__(self, rule: Rule, last: int, ranks: Communicator = ALONE) -> None:
        self.rule, self.last, self.generation = rule, last, -1
        self._ranks = ranks

    @cached_property
    def _dtype(self) -> np.dtype[np.signedinteger[Any]]:
        """The dtype of the cells of states."""
        return coordinate_dtype(*self.rule.box(self.last))

    @cached_property
    def _cell_dtype(self) -> np.dtype[np.signedinteger[Any]]:
        """The dtype of the cells of batches."""
        return cell_dtype(*self.rule.box(self.last))

    def _check(self, to: int, section: Section | None) -> None:
        """Raise UsageError where the growth cannot go on to a generation, or has no such section."""
        first, dimension = self.generation + 1, self.rule.dimension
        if not first <= to <= self.last:
            raise UsageError(f"to must be from {first} to {self.last}, got {to}")
        if section is not None and not 0 <= section[0] < dimension:
            raise UsageError(f"section must be along an axis from 0 to {dimension - 1}, got {section[0]}")

    def _summed(self, reports: NDArray[np.uint64], grown: list[Cells] | None, section: Section | None) -> Batch:
        """Return the batch of what was grown on all ranks.

        Args:
            reports: births, checksum and section of each generation on this rank, shape (g, 3).
            grown: the newborns of each on this rank, or None where they were not requested.
            section: the section, if one was requested.
        """
        parts = np.ascontiguousarray(reports.T)
        births, checksums, sections = self._ranks.sum(parts) if self._ranks.size > 1 else parts
        first = self.generation + 1 - len(reports)
        return Batch(
            first, births, checksums, None if grown is None else np.concatenate(grown), None if section is None else sections
        )


class SteppedEngine(GrowthEngine):
    """A growth whose generations are single steps."""

    def advance(self, to: int, *, cells: bool = False, section: Section | None = None) -> Batch:
        """Grow through generation `to`, a step a generation."""
        self._check(to, section)
        reports = np.zeros((to - self.generation, 3), np.uint64)
        grown: list[Cells] = []
        for index, report in enumerate(reports):
            counted = None
            if self.generation < 0:
                self._set_newborns(self._seeds())
            else:
                counted = self._step()
            self.generation += 1
            if counted is not None and index:
                reports[index - 1, :2] = counted
            if counted is None or self.generation == to:
                report[:2] = self._count_and_checksum()
            if section is not None:
                report[2] = self._section(*section)
            if cells:
                grown.append(self._cells())
        return self._summed(reports, grown if cells else None, section)

    @abstractmethod
    def _seeds(self) -> Cells:
        """Return the seeds as `_set_newborns` takes them."""

    @abstractmethod
    def _set_newborns(self, cells: Cells) -> None:
        """Begin with these newborns, and mark them as touched."""

    @abstractmethod
    def _step(self) -> tuple[int, int] | None:
        """Grow one generation from the last one, whose births and checksum are returned if they are counted on the way.

        Meanwhile `generation` is still that of the newborns that touch.
        """

    @abstractmethod
    def _count_and_checksum(self) -> tuple[int, int]:
        """Return the number of newborns and their checksum."""

    @abstractmethod
    def _cells(self) -> Cells:
        """Return the newborns (births, dimension) in lexicographic order."""

    @abstractmethod
    def _section(self, axis: int, value: int) -> int:
        """Return how many newborns have coordinate `axis` equal to `value`."""


class BrickEngine(GrowthEngine):
    """A growth on exactly one touch, in bricks: it begins with the representatives of cells, which its states hold."""

    #: Bricks of a state that are read at a time.
    saved: ClassVar[int] = 1 << 12
    _bricks: Bricks

    def state(self) -> State:
        """Return the rank's part (see above)."""
        # Memory is taken as it is written to: the words are most of what an engine holds, and are there twice, not three times.
        found = np.empty((len(self._bricks.numbers), self._bricks.words), np.uint64)
        touched, stop = [np.zeros(0, np.int64)], 0
        for numbers in self._bricks.slices(self.saved):
            words = self._words(numbers)
            some = np.flatnonzero(words.any(axis=1))
            start, stop = stop, stop + len(some)
            found[start:stop] = words[some]
            touched.append(some + numbers.start)
        return {
            "generation": np.array(self.generation),
            "newborns": self.newborns.astype(self._dtype),
            "last": np.array(self.last),
            "bricks": self._bricks.corners(np.concatenate(touched)),
            "brick_words": found[:stop],
        }

    def _restore(self, state: State) -> None:
        self.generation = int(state["generation"])
        for numbers, words in self._bricks.touched(state):
            self._put_back(numbers, words)
        if self.generation >= 0:
            self._set_newborns(state["newborns"])

    def _seeds(self) -> Cells:
        """The representatives of the seeds, of all ranks."""
        folded = self.rule.symmetry.representative(np.array(self.rule.seeds, np.int64))
        return np.unique(folded, axis=0)

    def _own(self, representatives: Cells) -> Cells:
        """Return those of these cells that the rank owns."""
        return representatives[self._bricks.owns(self._bricks.split(representatives)[0])]

    def _cells(self) -> Cells:
        # Unfolding sorts, and short integers are sorted several times faster.
        return self.rule.symmetry.unfold(self.newborns.astype(self._dtype)).astype(self._cell_dtype, copy=False)

    @property
    @abstractmethod
    def newborns(self) -> Cells:
        """The newborns of the domain that this rank owns, shape (N, dimension)."""

    @abstractmethod
    def _words(self, numbers: range) -> NDArray[np.uint64]:
        """The words of bricks, shape (n, words): a bit for each cell that was touched."""

    @abstractmethod
    def _put_back(self, numbers: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
        """Add the touched cells in words of bricks."""

    @abstractmethod
    def _set_newborns(self, representatives: Cells) -> None:
        """Begin with the rank's own among these newborns, and mark them as touched."""


class Keys:
    """A key for each cell of the box of a growth to generation `last`, in a mixed radix, so that adding an offset adds a number.

    Keys are int64, and cells in lexicographic order have ascending keys.  Touched cells outside of the octant have distinct keys,
    too.  UsageError when the box has more than 2^63 cells.

    `origin`, `strides`: key = (cell - origin) . strides.  `size`: the number of keys.

    >>> keys = Keys(Rule(2, ((1, 0), (0, 1)), births=frozenset({1}), seeds=((0, 0),)), last=9)
    >>> keys.encode(np.array([[2, 5]])), keys.decode(np.array([25]))
    (array([25]), array([[2, 5]]))
    """

    def __init__(self, rule: Rule, last: int) -> None:
        lower, upper = rule.box(last)
        reach = [max(abs(offset[axis]) for offset in rule.offsets) * rule.octant for axis in range(rule.dimension)]
        widths = [high - low + 1 + 2 * more for low, high, more in zip(lower, upper, reach, strict=True)]
        self.size = math.prod(widths)
        if self.size >= 2**63:
            raise UsageError(f"generations must keep cells within 63-bit keys, got {last} in {rule.dimension} dimensions")
        self.origin = np.array([low - more for low, more in zip(lower, reach, strict=True)], np.int64)
        self.strides = np.array([math.prod(widths[axis + 1 :]) for axis in range(rule.dimension)], np.int64)

    def encode(self, cells: Cells) -> NDArray[np.int64]:
        """Return the keys of cells (N, dimension)."""
        return (cells - self.origin) @ self.strides

    def decode(self, keys: Any, xp: ModuleType = np) -> Any:
        """Return the cells of keys, int64 of shape (N, dimension), in arrays of `xp` as the keys are."""
        cells = xp.empty((len(keys), len(self.strides)), np.int64)
        for axis, (origin, stride) in enumerate(zip(self.origin.tolist(), self.strides.tolist(), strict=True)):
            quotient = keys // stride
            cells[:, axis] = quotient + origin
            keys = keys - quotient * stride
        return cells


class TouchEngine(GrowthEngine):
    """A growth of any rule by the touches of each cell, known by its key; UsageError where keys or touches would not fit."""

    def __init__(self, rule: Rule, last: int, ranks: Communicator = ALONE) -> None:
        super().__init__(rule, last)
        if ranks.size > 1:
            raise UsageError(NOT_ON_RANKS)
        if len(rule.offsets) >= CLOSED:
            raise UsageError(f"offsets must be fewer than {CLOSED}, got {len(rule.offsets)}")
        self._grid = Keys(rule, last)

    def state(self) -> State:
        """Return the generation, its newborns, and every touched cell with its touches (2^15 more where closed)."""
        keys, touches = self._entries()
        return {
            "generation": np.array(self.generation),
            "touched": self._grid.decode(keys).astype(self._dtype),
            "touches": touches,
            "newborns": self._cells().astype(self._dtype),
        }

    @abstractmethod
    def _cells(self) -> Cells:
        """Return the newborns (births, dimension) in lexicographic order."""

    @abstractmethod
    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """The key of every touched cell, and its touches."""


def join(parts: Sequence[State]) -> State:
    """Return the state of a growth from the parts of all of its ranks, in any order.

    Args:
        parts: what `state()` returned on each rank.

    >>> from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
    >>> from gpu_nim.model.rule import Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> engine = ExactlyOneEngine(Bricks(square, 9))
    >>> _ = engine.advance(5)
    >>> ExactlyOneEngine(Bricks(square, 9), join([engine.state()])).advance(6).births.tolist()
    [12]
    """
    arrays = {name: [part[name] for part in parts if name in part] for each in parts for name in each}
    return {name: np.concatenate(those) if those[0].ndim else those[0] for name, those in arrays.items()}
