"""Growth by macro-cells: any generation of a growth that repeats itself, without growing those before it one by one."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, count, pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.cell_trees import Box, canonical_hash, domain_of, tree_of_rows
from gpu_nim.automata.user_defined import as_automaton
from gpu_nim.backends.numba import fastest_macro_cells
from gpu_nim.backends.numpy.macro_cells import MacroCells, Numbers, cube, index
from gpu_nim.model.arguments import IntLike, integer, short_repr, size_text, vectors
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.model.shown import Shown
from gpu_nim.model.tracing import TreeScene, populations_of
from gpu_nim.model.work import OnStep, host_memory, no_progress

#: Blocks from which on a growth is forecast.
_SOME = 1 << 15
#: Blocks that take an hour.
_MANY = 1 << 27


@dataclass(frozen=True, repr=False)
class Scale(Shown):
    """What a growth took to a generation that is a power of two.

    Attributes:
        generation: the generation.
        blocks: the distinct blocks so far.
        bytes: of their tables.
        seconds: since the beginning.
    """

    generation: int
    blocks: int
    bytes: int
    seconds: float


class MacroGrowth(Shown):
    """A growth as a tree of blocks in which equal ones are one; it jumps ahead, and counts its cells exactly.

    Args:
        automaton: a name of the catalogue, an automaton, or a rule in two or three dimensions, whose universe is all of the
            lattice, an octant, or one of the catalogue's.
        whole: hold all cells, where those between mirrors would do.
        kind: what grows the blocks; None for what is fastest here.
        progress: called with how many doublings of the generation are done, on the way from the beginning.

    Attributes:
        generation: the present one, at first 0.
        scales: what it took to the powers of two that `advance` has passed.

    Raises:
        UsageError: macro-cells do not grow by this rule.

    >>> growth = MacroGrowth("square8")
    >>> growth.advance(2**20)
    >>> growth.population(), growth.population(((0, 0), (9, 9)))
    (1954687338325, 46)
    """

    def __init__(
        self,
        automaton: str | Automaton | Rule,
        *,
        whole: bool = False,
        kind: type[MacroCells] | None = None,
        progress: OnStep = no_progress,
    ) -> None:
        self.automaton = as_automaton(automaton)
        rule = self.automaton.rule
        self._rule, self._domain = rule, domain_of(rule, whole=whole)
        self._plane = rule.dimension == 2
        offsets = [self._ordered(offset) for offset in rule.offsets]
        free, kind = host_memory(), kind or fastest_macro_cells()
        self._free = free - kind.loaded_bytes
        self._new_cells = partial(kind, rule.dimension, offsets, rule.births, self._domain.fold, self._free)
        self._halves = [self._ordered(tuple(half)) for half in cube(rule.dimension, 2).tolist()]
        self._began, self._progress = perf_counter(), progress
        self._begin()

    def _begin(self) -> None:
        """Hold the seeds alone."""
        self._cells = self._new_cells()
        self._blocks: dict[tuple[int, Cell], int] = {}
        self.scales: list[Scale] = []
        self._level = 1
        while not self._holds(self._rule.box(0)):
            self._level += 1
        self._root = self._seeded(self._level, self._corner, self._rule.seeds)
        self._start = self._level, self._root
        self.generation, self._ended = 0, True  # no advance was interrupted

    def restart(self) -> None:
        """Return to generation 0, with all blocks so far, so that the same generations cost little."""
        self.generation, (self._level, self._root) = 0, self._start

    @property
    def blocks(self) -> int:
        """The distinct blocks of all sizes so far."""
        return len(self._cells)

    def _ordered(self, cell: Cell) -> Cell:
        """A cell's coordinates in the order of the tree's."""
        return cell[::-1] if self._plane else cell

    @property
    def _corner(self) -> Cell:
        """The least coordinates of the root."""
        return (0 if self._domain.in_orthant else -self._cells.side(self._level - 1),) * self._rule.dimension

    def _holds(self, box: Box) -> bool:
        side, least = self._cells.side(self._level), self._corner[0]
        lowest = least if not self._domain.in_orthant else -side  # what is behind mirrors is not held
        return min(box[0]) >= lowest and max(box[1]) < least + side

    def _quarters(self, level: int, corner: Cell) -> Iterator[Cell]:
        """The corners of a node's children, in their order."""
        half = self._cells.side(level - 1)
        for offset in self._halves:
            yield tuple([least + half * step for least, step in zip(corner, offset, strict=True)])

    def _empty(self, level: int, corner: Cell) -> int:
        """The block there in which nothing lives."""
        like = self._domain.like(corner, self._cells.side(level))
        if (level, like) not in self._blocks:
            self._blocks[level, like] = (
                self._seeded(level, like, ())
                if level == 0
                else self._node(level, [self._empty(level - 1, quarter) for quarter in self._quarters(level, like)])
            )
        return self._blocks[level, like]

    def _node(self, level: int, row: list[int]) -> int:
        return int(self._cells.nodes(level, [row])[0])

    def _seeded(self, level: int, corner: Cell, seeds: tuple[Cell, ...]) -> int:
        """The block there in which these cells live."""
        side = self._cells.side(level)
        within = tuple(s for s in seeds if all(a <= x < a + side for a, x in zip(corner, s, strict=True)))
        if level and not within:
            return self._empty(level, corner)
        if level:
            return self._node(level, [self._seeded(level - 1, quarter, within) for quarter in self._quarters(level, corner)])
        cells = cube(self._rule.dimension, side)
        outside = ~self._domain.inside(cells[:, :: -1 if self._plane else 1] + np.array(corner))
        alive = {int(index(np.array(self._ordered(tuple(x - a for a, x in zip(corner, s, strict=True)))), side)) for s in within}
        return self._node(0, [sum(1 << bit for bit in alive), sum(1 << bit for bit in np.flatnonzero(outside).tolist())])

    def advance(self, generation: IntLike) -> None:
        """Grow to a generation; from the seeds again, if this was interrupted before.

        Args:
            generation: the present one or later.

        Raises:
            InsufficientMemoryError: the growth does not repeat itself enough; from the beginning this is forecast.
        """
        last = integer("generation", generation, self.generation)
        if not self._ended:
            self._begin()  # since blocks may be half made
        self._ended = False
        if self.generation == 0:
            for scale in range(4 + len(self.scales), last.bit_length()):
                self._measure(scale, last)
                self._progress("doublings", scale, last.bit_length() - 1)
        self._jump(last)
        self._ended = True

    def _measure(self, scale: int, last: int) -> None:
        """Grow to generation 2^scale and back, which the way to `last` passes, and look ahead."""
        self._widen_for(1 << scale)
        seeded = self._level, self._root
        self._jump(1 << scale)
        self.scales.append(Scale(1 << scale, len(self._cells), self._cells.budget.used, perf_counter() - self._began))
        self.generation, (self._level, self._root) = 0, seeded
        if scale > 4 and len(self._cells) > _SOME:
            ratio = len(self._cells) / self.scales[-2].blocks
            times = ratio ** min(last.bit_length() - scale, 64)
            blocks, forecast = int(len(self._cells) * times), int(self._cells.budget.used * times)
            if ratio > 0.7 * 2**self._rule.dimension and (blocks > _MANY or forecast > self._free):
                raise InsufficientMemoryError(
                    f"{self.automaton.name} does not repeat itself: {ratio:.1f} times as many blocks from generation "
                    f"{1 << scale - 1} to {1 << scale}, so that {last} would take about {blocks:,} blocks, "
                    f"{size_text(forecast)}, of which {size_text(self._free)} are free; grow it without macro-cells"
                )

    def _widen_for(self, last: int) -> None:
        while not self._holds(self._rule.box(last)) or last.bit_length() > self._cells.longest(self._level) + 1:
            self._widen()

    def _jump(self, last: int) -> None:
        self._widen_for(last)
        for step in range(last.bit_length()):
            if (last - self.generation) >> step & 1:
                around = np.array([self._around()], np.int32)
                self._root = int(self._cells.results(self._level + 1, around, step)[0])
                self.generation += 1 << step

    def populations(self, first: IntLike, stop: IntLike | None = None) -> Iterator[int]:
        """Yield the population at generations `first` to `stop` - 1.

        Args:
            first: the present generation or later.
            stop: the generation after the last; None for no end.
        """
        start = integer("first", first, self.generation)
        for generation in count(start) if stop is None else range(start, integer("stop", stop)):
            self.advance(generation)
            yield self.population()

    def births(self, first: IntLike, stop: IntLike | None = None) -> Iterator[int]:
        """Yield the births of generations `first` to `stop` - 1; arguments as for `populations`.

        >>> list(MacroGrowth("square8").births(2**16, 2**16 + 3))
        [4, 20, 20]
        """
        start = integer("first", first)
        populations = chain([] if start else [0], self.populations(max(0, start - 1), stop))
        return (after - before for before, after in pairwise(populations))

    def _around(self) -> int:
        """A node of which the root is the inner half."""
        level, row = self._level, self._cells.children(self._level, self._root).tolist()
        before = tuple(least - self._cells.side(level - 1) for least in self._corner)
        rows = []
        for number, corner in enumerate(self._quarters(level + 1, before)):
            rows.append([self._empty(level - 1, quarter) for quarter in self._quarters(level, corner)])
            rows[-1][~number] = row[number]  # the one in the middle
        return self._node(level + 1, self._cells.nodes(level, rows).tolist())

    def _widen(self) -> None:
        """Make the root twice as large."""
        if self._domain.in_orthant:
            children = [self._empty(self._level, corner) for corner in self._quarters(self._level + 1, self._corner)]
            children[0] = self._root
            self._root = self._node(self._level + 1, children)
        else:
            self._root = self._around()
        self._level += 1

    def _box(self, corners: Iterable[Cell]) -> Box:
        box = vectors("within", corners)
        if [len(corner) for corner in box] != [self._rule.dimension] * 2:
            raise UsageError(f"within must be two corners of {self._rule.dimension} coordinates, got {short_repr(box)}")
        return box[0], box[1]

    def population(self, box: Box | None = None) -> int:
        """Return the number of cells alive, exactly.

        Args:
            box: the corners of a box, both included, in which they are counted; None for all.
        """
        if box is None:
            return sum(times * int(self._populations(zero)[1][-1][0]) for zero, times in self._domain.weights.items())
        levels, counts = self._populations()
        totals: list[dict[int, int]]
        totals = [dict(zip(some.tolist(), each.tolist(), strict=True)) for some, each in zip(levels, counts, strict=True)]
        corners = [[*self._quarters(level, (0,) * self._rule.dimension)] for level in range(1, self._level + 1)]
        found: dict[tuple[int, int, Cell, Cell], int] = {}

        def living(level: int, number: int, low: Cell, high: Cell) -> int:
            """The cells of a node in a box, both in the coordinates of the node, `high` not included."""
            side, total = self._cells.side(level), totals[level][number]
            if not total or max(low) >= side or min(high) <= 0:
                return 0
            if max(low) <= 0 and min(high) >= side:
                return total
            low, high = tuple([max(0, x) for x in low]), tuple([min(side, x) for x in high])
            key = level, number, low, high
            if key not in found:
                children = self._cells.children(level, number).tolist()
                if level == 0:
                    cells = cube(self._rule.dimension, side)
                    inside = ((cells >= self._ordered(low)) & (cells < self._ordered(high))).all(axis=1)
                    found[key] = (children[0] & sum(1 << bit for bit in np.flatnonzero(inside).tolist())).bit_count()
                else:
                    found[key] = sum(
                        living(level - 1, child, *(tuple([x - c for x, c in zip(end, corner, strict=True)]) for end in (low, high)))
                        for child, corner in zip(children, corners[level - 1], strict=True)
                    )
            return found[key]

        def moved(cell: Cell, by: int) -> Cell:
            return tuple(x - c + by for x, c in zip(cell, self._corner, strict=True))

        return sum(living(self._level, self._root, moved(low, 0), moved(high, 1)) for low, high in self._domain.images(box))

    def _populations(self, zero: tuple[int, ...] = ()) -> tuple[list[Numbers], list[NDArray[Any]]]:
        """The blocks of each level in the tree, and their cells; of those in an orthant alone what is at 0 along some axes."""
        axes = [self._rule.dimension - 1 - axis if self._plane else axis for axis in zero]
        halves, cells = ((cube(self._rule.dimension, side)[:, axes] == 0).all(axis=1) for side in (2, self._cells.side(0)))
        levels = self._reached(halves)
        words = self._cells.children(0, levels[0])[:, 0] & np.packbits(cells, bitorder="little").view("<u8").astype(np.uint64)
        return levels, populations_of(np.bitwise_count(words).astype(np.int64), self._rows(levels, halves))

    def _reached(self, halves: Any = slice(None)) -> list[Numbers]:
        """The blocks of each level in the tree, ascending, or of those in these halves of all blocks."""
        levels = [np.array([self._root], np.int32)]
        for level in range(self._level, 0, -1):
            levels.append(np.unique(self._cells.children(level, levels[-1])[:, halves]))
        return levels[::-1]

    def _rows(self, levels: list[Numbers], halves: Any = slice(None)) -> list[NDArray[np.int64]]:
        """The indices of the halves of these blocks among those of the level below, for each level but the first."""
        rows = (self._cells.children(level, levels[level])[:, halves] for level in range(1, len(levels)))
        return [np.searchsorted(below, row) for below, row in zip(levels, rows, strict=False)]

    def tree(self) -> TreeScene:
        """Return the cells that are held as a tree: all of them, or those without a negative coordinate between mirrors."""
        levels = self._reached()
        return tree_of_rows(self._cells.children(0, levels[0])[:, 0], self._rows(levels), self._corner)

    def results(self, generation: IntLike, last_births: int = 0, within: Iterable[Cell] | None = None) -> dict[str, Any]:
        """Grow to a generation, and return the results as plain values, for JSON.

        Args:
            generation: the generation.
            last_births: the number of last generations whose births are given, each of which takes as long again.
            within: the corners of a box, as for `population`.
        """
        last, box = integer("generation", generation, self.generation), None if within is None else self._box(within)
        first = max(0, last + 1 - last_births)
        births = dict(zip(range(first, last + 1), self.births(first, last + 1), strict=True))
        self.advance(last)
        return {
            "automaton": self.automaton.name,
            "generations": last,
            "population": self.population(),
            **({} if box is None else {"within": self.population(box)}),
            "births": births,
            "canonical_hash": self.canonical_hash,
            "blocks": len(self._cells),
            "bytes": self._cells.budget.used,
            "seconds": round(perf_counter() - self._began, 6),
            "scales": [asdict(scale) for scale in self.scales],
        }

    @property
    def canonical_hash(self) -> str:
        """The hash of the tree (see `gpu_nim.automata.cell_trees.canonical_hash`)."""
        return canonical_hash(self.tree())


def tree(automaton: str | Automaton | Rule, generation: IntLike) -> TreeScene:
    """Return all cells alive at a generation as a tree.

    Args:
        automaton: as for `MacroGrowth`.
        generation: the generation.

    >>> tree("square8", 2**20).population
    1954687338325
    """
    growth = MacroGrowth(automaton, whole=True)
    growth.advance(generation)
    return growth.tree()
