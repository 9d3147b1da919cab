"""Evolution of any impartial game [NF 5.3]: outcomes, steps, generations, birthdays, parents, Grundy values.

A game is an object with positions and options; the whole game graph is computed as arrays.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import Whole, integer, shown
from gpu_nim.model.arrays import ArrayValue, Ints
from gpu_nim.model.errors import UsageError

MAX_SIZE = 2**62
"""The greatest size of a box, the most cells in one, and the most counters in a heap."""
MAX_COORDINATES = 32
"""The most coordinates of a position: one bit each in a word of the solvers, and one axis each of NumPy's arrays."""

Position = TypeVar("Position", bound=Hashable)


class Game(Protocol[Position]):
    """An impartial game, normal play, restricted to finitely many positions that are closed under moves and have no loop.

    A user-defined game needs two methods and no base class. Fraenkel's Mark: subtract 1 or halve, rounding down; the
    P-positions are 0 and the numbers that end in an odd number of binary 0s.

    >>> class Mark:
    ...     def positions(self):
    ...         return range(20)
    ...     def options(self, n):
    ...         return {n - 1, n // 2} if n else ()
    >>> evolve(Mark()).p_positions(step=20)
    [0, 2, 6, 8, 10, 14, 18]
    """

    def positions(self) -> Iterable[Position]:
        """Every position once, in any order."""

    def options(self, position: Position) -> Iterable[Position]:
        """The positions after one move, repetitions allowed."""


@dataclass(frozen=True, eq=False)
class Evolution(ArrayValue, Generic[Position]):
    """The results of `evolve`: arrays with one entry per position, in the order of `positions`.

    `is_p`         whether the previous player wins
    `step`         the step i of the standard algorithm that finds it: P_i or N_i hold it, no earlier set does
    `birthday`     the moves of the longest play
    `longest`      the moves of the longest optimal play, in which a player moves to a P-position if possible
    `grundy`       the Grundy value
    `starts`, `targets`  the options of position p: targets[starts[p]:starts[p + 1]]

    >>> from gpu_nim.games.lines import Wythoff
    >>> evolution = evolve(Wythoff(3))
    >>> number = evolution.index((3, 1))
    >>> [int(found[number]) for found in (evolution.grundy, evolution.birthday, evolution.longest, evolution.step)]
    [4, 4, 3, 1]
    """

    positions: Sequence[Position]
    is_p: NDArray[np.bool_]
    step: Ints
    birthday: Ints
    longest: Ints
    grundy: Ints
    starts: Ints
    targets: Ints
    _index: dict[Position, int] = field(repr=False, compare=False)

    @property
    def generation(self) -> Ints:
        """The generation n of each P-position, whose longest optimal play has 2n moves [NF 5.3], or 2n - 1 in misere play; -1 for
        N-positions.

        >>> from gpu_nim.games.lines import Nim
        >>> evolution = evolve(Nim(2, 2))
        >>> dict(zip(evolution.positions, evolution.generation.tolist()))[(2, 2)]
        2
        """
        return np.where(self.is_p, (self.longest + 1) // 2, -1)

    def index(self, position: Position) -> int:
        """The index of a position; UsageError where it is not one of the game's."""
        if position not in self._index:
            raise UsageError(f"position must be one of the game's {len(self.positions)} positions, got {position}")
        return self._index[position]

    def options(self, position: Position) -> list[Position]:
        """The options of a position.

        >>> from gpu_nim.games.lines import Wythoff
        >>> sorted(evolve(Wythoff(3)).options((1, 2)))
        [(0, 1), (0, 2), (1, 0), (1, 1)]
        """
        p = self.index(position)
        return [self.positions[target] for target in self.targets[self.starts[p] : self.starts[p + 1]]]

    def parents(self, position: Position) -> set[Position]:
        """The parents of a P-position: the positions that an optimal play of maximal length reaches after two moves [NF 5.3].

        Raises UsageError for an N-position.

        >>> from gpu_nim.games.lines import Nim
        >>> evolve(Nim(3, 3)).parents((1, 2, 3))
        {(0, 2, 2)}
        """
        p = self.index(position)
        if not self.is_p[p]:
            raise UsageError(f"position must be a P-position, got {position}")
        found: set[Position] = set()
        for n in self.targets[self.starts[p] : self.starts[p + 1]]:
            if self.longest[n] == self.longest[p] - 1:
                below = self.targets[self.starts[n] : self.starts[n + 1]]
                here = below[self.is_p[below] & (self.longest[below] == self.longest[n] - 1)]
                found.update(self.positions[q] for q in here.tolist())
        return found

    def parent_pairs(self) -> Ints:
        """All pairs (parent, child) of P-positions as indices into the positions, int64 (E, 2), in order of the parent.

        >>> from gpu_nim.games.lines import Nim
        >>> evolution = evolve(Nim(3, 3))
        >>> pairs = evolution.parent_pairs()
        >>> [(evolution.positions[parent], evolution.positions[child]) for parent, child in pairs[:2].tolist()]
        [((0, 0, 0), (0, 1, 1)), ((0, 0, 0), (1, 0, 1))]
        """
        sources = np.repeat(np.arange(len(self.positions)), np.diff(self.starts))
        longest = self.longest[self.targets] == self.longest[sources] - 1
        from_p = longest & self.is_p[sources]
        to_p = longest & ~self.is_p[sources] & self.is_p[self.targets]
        starts, parents = _grouped(sources[to_p], self.targets[to_p], len(self.positions))
        between = self.targets[from_p]
        counts = np.diff(starts)[between]
        children = np.repeat(sources[from_p], counts)
        return np.unique(np.stack((parents[_ranges(starts[between], counts)], children), axis=1), axis=0)

    def p_positions(self, step: Whole) -> list[Position]:
        """The set P_step of the standard algorithm.

        >>> from gpu_nim.games.lines import Wythoff
        >>> evolve(Wythoff(3)).p_positions(1)
        [(0, 0), (1, 2), (2, 1)]
        """
        return [self.positions[p] for p in np.flatnonzero(self.is_p & (self.step <= integer("step", step))).tolist()]

    def n_positions(self, step: Whole) -> list[Position]:
        """The set N_step of the standard algorithm: the positions one move away from P_step.

        >>> from gpu_nim.games.lines import Wythoff
        >>> evolve(Wythoff(2)).n_positions(0)
        [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (2, 2)]
        """
        return [self.positions[p] for p in np.flatnonzero(~self.is_p & (self.step <= integer("step", step))).tolist()]


def evolve(game: Game[Position], *, misere: bool = False) -> Evolution[Position]:
    """Compute the whole game graph, birthday by birthday, all positions of a birthday at once.

    The standard algorithm starts with the terminal positions, P_0. N_i are the positions one move away from P_i;
    P_(i+1) adds those all of whose options are in N_i. So an N-position's step is the least step among its options in
    P, a P-position's one more than the largest among its options. The generation instead is that of the longest optimal
    play, with the largest of them: the two agree for Nim [NF Lemma 24], but not for every game.

    Args:
        game: the game.
        misere: whether whoever makes the last move loses, so that the terminal positions are N-positions, of step 0; Grundy values
            stay those of normal play.

    Raises:
        UsageError: the game has a loop, or an option that is not among its positions.

    >>> from gpu_nim.games.heaps import HeapGame, SubtractionRule
    >>> evolution = evolve(HeapGame(SubtractionRule((1, 2, 3)), 4))
    >>> dict(zip(evolution.positions, evolution.grundy.tolist()))[(1, 3)]
    2
    >>> from gpu_nim.games.lines import Nim
    >>> evolve(Nim(2, 2), misere=True).p_positions(step=9)
    [(0, 1), (1, 0), (2, 2)]
    """
    if not callable(getattr(game, "positions", None)) or not callable(getattr(game, "options", None)):
        raise UsageError(f"game must have positions() and options(position), got {shown(game)}")
    positions = list(game.positions())
    index = {position: number for number, position in enumerate(positions)}
    if len(index) != len(positions):
        raise UsageError(f"game must have each position once, got {len(positions) - len(index)} repetitions")
    sources, targets = _list_moves(game, positions, index)
    size = len(positions)
    starts, targets = _grouped(sources, targets, size)
    levels = list(_levels(starts, targets, size))
    is_p = np.zeros(size, dtype=np.bool_)
    step, birthday, longest, grundy = (np.zeros(size, dtype=np.int64) for _ in range(4))
    is_p[levels[0]] = not misere
    for day, level in enumerate(levels[1:], 1):
        birthday[level] = day
        counts = starts[level + 1] - starts[level]
        begins = np.cumsum(counts) - counts
        options = targets[_ranges(starts[level], counts)]
        to_p = is_p[options]
        wins = np.logical_or.reduceat(to_p, begins)
        is_p[level] = ~wins
        owner = np.repeat(wins, counts)
        # From an N-position optimal play goes to P; from a P-position every option is an N-position.
        optimal = to_p | ~owner
        longest[level] = 1 + np.maximum.reduceat(np.where(optimal, longest[options], -1), begins)
        nearest = np.minimum.reduceat(np.where(to_p, step[options], np.iinfo(np.int64).max), begins)
        farthest = np.maximum.reduceat(step[options], begins)
        step[level] = np.where(wins, nearest, farthest + 1)
        grundy[level] = _mex_by_group(grundy[options], counts)
    return Evolution(positions, is_p, step, birthday, longest, grundy, starts, targets, index)


def _list_moves(game: Game[Position], positions: list[Position], index: dict[Position, int]) -> tuple[Ints, Ints]:
    sources, targets = [], []
    for number, position in enumerate(positions):
        for option in game.options(position):
            if option not in index:
                raise UsageError(f"game must have options among the positions, got {option} as one of {position}")
            sources.append(number)
            targets.append(index[option])
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


def _grouped(keys: Ints, values: Ints, size: int) -> tuple[Ints, Ints]:
    """The values in order of their keys, and the start of each key's values."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))]).astype(np.int64)
    return starts, values[np.argsort(keys, kind="stable")]


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """The ranges start, start + 1, ..., start + count - 1, one after the other."""
    result: Ints = np.arange(int(counts.sum())) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return result


def _levels(starts: Ints, targets: Ints, size: int) -> Iterator[Ints]:
    """The positions by birthday: those without options, then those whose last option was listed before."""
    waiting = np.diff(starts)
    sources = np.repeat(np.arange(size), waiting)
    from_starts, into = _grouped(targets, sources, size)
    level = np.flatnonzero(waiting == 0)
    listed = 0
    while len(level):
        yield level
        listed += len(level)
        counts = from_starts[level + 1] - from_starts[level]
        above, arrivals = np.unique(into[_ranges(from_starts[level], counts)], return_counts=True)
        waiting[above] -= arrivals
        level = above[waiting[above] == 0]
    if listed < size or not size:
        raise UsageError(f"game must have positions and no loop, got {size - listed} of {size} positions with endless plays")


def _mex_by_group(values: Ints, counts: Ints) -> Ints:
    """The least value missing from each of consecutive groups of `counts` values, none of them empty."""
    width = int(values.max()) + 1
    group, value = np.divmod(np.unique(np.repeat(np.arange(len(counts)), counts) * width + values), width)
    sizes = np.bincount(group, minlength=len(counts))
    begins = np.cumsum(sizes) - sizes
    rank = np.arange(len(value)) - np.repeat(begins, sizes)
    # Sorted and distinct, the values of a group run 0, 1, 2, ... up to its first gap.
    gaps = np.minimum.reduceat(np.where(value != rank, rank, np.iinfo(np.int64).max), begins)
    return np.asarray(np.minimum(gaps, sizes), dtype=np.int64)
