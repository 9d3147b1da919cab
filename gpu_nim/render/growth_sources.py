"""Growths as sources of pictures: of files, grown cell by cell, by definition, and as trees of shared blocks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, pairwise
from math import prod
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.macro_cells import MacroGrowth
from gpu_nim.automata.newborns import Newborns, split
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS, NimScene, TreeScene
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.colourings import ALIKE, BY_GENERATION, densities, find_colouring
from gpu_nim.render.defined_scenes import generations_of, nims_level, p_positions, population, tree_of_game
from gpu_nim.render.gathering import CELLS_LIMIT, GENERATION_LIMIT, blocks_from, gather, growth_blocks, require_drawable
from gpu_nim.render.geometry import SPACE, Blocks, merged_note

GROWN = {2: 1 << 28, 3: 1 << 32}
"""Cells of the box of a growth, by its dimension, beyond which it is drawn as a tree: what is less is grown in minutes."""

_MOMENTS = 64  # generations, evenly spaced, at which a tree is looked at for when its cells were born
_COLOURED = 10  # bits of a generation of a tree that has a colour of its own


@dataclass(eq=False)
class ParsedSource(ABC):
    """A source that was parsed: `read_source` returns one of its kinds.

    Attributes:
        name: its name in messages and captions.
        read: whether the name is the text that it was read from, by which another process may read it again.
    """

    name: str
    read: ClassVar[bool] = True

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of coordinates, known before it is grown or solved; with 2 it is flat."""

    @property
    def dated(self) -> bool:
        """Whether the generations of its cells are known."""
        return True

    @property
    def scene(self) -> NimScene | None:
        """Its cells by their definition, for the tracer, or None.

        Raises:
            UsageError: it goes beyond 2^60.
        """
        return None

    @abstractmethod
    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        """Return its cells as blocks: see `blocks_of`."""

    def has_many_cells(self) -> bool:
        """Return whether it is an object in space of more cells than are drawn as blocks, which can be traced cell by cell.

        Those of a growth whose box holds more are counted, up to the limit.

        >>> from gpu_nim.render.source import read_source
        >>> [read_source(text).has_many_cells() for text in ("nim:2^11", "nim:2^10", "edge:31")]
        [True, False, False]
        """
        return self.scene is not None and population(self.scene) > CELLS_LIMIT


@dataclass(eq=False)
class SavedGrowth(ParsedSource):
    """A growth, of a file or of the library."""

    read = False
    growth: Growth

    @property
    def dimension(self) -> int:
        return int(self.growth.newborns(0).shape[1])

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        colouring, growth = find_colouring(colour, self.name, game=False), self.growth
        found = gather(self.name, growth.lattice, enumerate(growth), growth.births.tolist(), limit)
        return growth_blocks(found, colouring, growth.automaton, growth.rule)

    def has_many_cells(self) -> bool:
        return self.dimension == 3 and int(self.growth.births.sum()) > CELLS_LIMIT


@dataclass(eq=False)
class NimSource(ParsedSource):
    """AUTOMATON:GENERATION of an automaton that grows three-pile Nim: its cells are known without growth."""

    automaton: Automaton
    generation: int
    dimension = 3

    @property
    def scene(self) -> NimScene:
        _require_generation(self, LARGEST, f"2^{LARGEST_BITS}")
        return NimScene(self.generation)

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        further = "; engine trace, and a page that is not cut and coloured by generation, go further"
        _require_generation(self, GENERATION_LIMIT, str(GENERATION_LIMIT), further)
        colouring = find_colouring(colour, self.name, game=False)
        level = nims_level(self.generation, limit)
        cells = p_positions(self.generation >> level)
        generations = generations_of(cells)
        order = np.argsort(generations, kind="stable")
        blocks = blocks_from(self.name, cells[order], generations[order] << level, population(self.scene), level)
        blocks = replace(
            blocks,
            population_until=lambda generation: population(NimScene(min(generation, self.generation))),
            limits=((0,) * 3, (self.generation,) * 3),
        )
        return growth_blocks(blocks, colouring, self.automaton.name, self.automaton.rule)


@dataclass(eq=False)
class GrowthSource(ParsedSource):
    """AUTOMATON:GENERATION, to be grown: once, since what was grown to be counted is kept for the picture."""

    automaton: Automaton
    generation: int
    _begun: Iterator[Newborns] | None = field(default=None, init=False, repr=False)
    _many: bool | None = field(default=None, init=False, repr=False)

    @property
    def dimension(self) -> int:
        return self.automaton.rule.dimension

    def newborns(self, progress: OnStep = no_progress) -> Iterator[Newborns]:
        """Yield the newborns of each generation, of the growth that was counted where there is one."""
        begun, self._begun = self._begun or self._grow(), None
        for newborns in begun:
            yield newborns
            progress("generation", newborns[0], self.generation)

    def _grow(self) -> Iterator[Newborns]:
        return chain.from_iterable(map(split, GrowthProcess(self.automaton, self.generation, "auto", cells=True, verify=False)))

    def blocks(self, limit: int, colour: str | None, progress: OnStep) -> Blocks:
        _require_generation(self, GENERATION_LIMIT, str(GENERATION_LIMIT))
        require_drawable(self.automaton.name, self.dimension)
        colouring = find_colouring(colour, self.name, game=False)
        found = gather(self.name, self.automaton.lattice, self.newborns(progress), None, limit)
        return growth_blocks(found, colouring, self.automaton.name, self.automaton.rule)

    def has_many_cells(self) -> bool:
        if self.dimension != 3 or not 0 <= self.generation <= GENERATION_LIMIT:
            return False
        low, high = self.automaton.rule.box(self.generation)
        if prod(last - first + 1 for first, last in zip(low, high, strict=True)) <= CELLS_LIMIT:
            return False
        if self._many is None:
            counted, cells, rest = list[Newborns](), 0, self._grow()
            while cells <= CELLS_LIMIT and (newborns := next(rest, None)):
                counted.append(newborns)
                cells += len(newborns[1])
            self._begun, self._many = chain(counted, rest), cells > CELLS_LIMIT
        return self._many


@dataclass(eq=False)
class TreeSource(ParsedSource):
    """A tree of blocks that are stored once: a growth too large to be grown cell by cell, or proved P-positions of a large game.

    A tree knows which cells are alive, and not since when: blocks of the plane show how many of their cells are alive, and by which
    generation they were, and a cell of space how far out it is.
    """

    dated = False
    grown: Automaton | InequalityGame
    generation: int

    @cached_property
    def tree(self) -> TreeScene:
        """The tree, which is grown when it is first asked for."""
        grown, last = self.grown, self.generation
        found = tree_of_game(grown, last) if isinstance(grown, InequalityGame) else _tree(grown, last)
        assert found is not None  # see `held_as_tree`
        return found

    @property
    def automaton(self) -> Automaton | None:
        """The automaton that grows it, None for a game."""
        return None if isinstance(self.grown, InequalityGame) else self.grown

    @property
    def lattice(self) -> str:
        """The lattice of its cells."""
        return self.automaton.lattice if self.automaton else "square"

    @property
    def dimension(self) -> int:
        return self.automaton.rule.dimension if self.automaton else len(SPACE)

    def blocks(
        self, limit: int, colour: str | None = None, progress: OnStep = no_progress, level: int = 0, box: Any = None
    ) -> Blocks:
        """Return blocks of one size, with how many of a million of their cells are alive and, of the plane, when they were born.

        Args:
            limit: the most blocks.
            colour: the colouring: density, or one by generation.
            progress: not called.
            level: as for `TreeScene.blocks`.
            box: as for `TreeScene.blocks`.

        Raises:
            UsageError: other colours, which need each cell.
        """
        if colour not in (*BY_GENERATION, "density"):
            raise UsageError(
                f"colour must be rank, generation or density for {self.name}, which is held in macro-cells, got {colour!r}"
            )
        scene, dimension = self.tree, self.dimension
        corners, numbers, level = scene.blocks(limit, level, box)
        side = 1 << level
        alive = np.rint(scene.populations(level).astype(np.float64) / side**dimension * 1e6)[numbers]
        generations = np.full(len(corners), self.generation)
        if self.automaton and dimension == 2 and colour in BY_GENERATION:
            generations = self._born(self.automaton, corners, numbers, level)
        note, flat = merged_note(len(corners), side, dimension) if level else "", dimension == 2
        corners, values = np.pad(corners, ((0, 0), (0, 3 - dimension))), {"density": alive.astype(np.int64)}
        limits = (*scene.bounds[0], 0)[:3], (*scene.bounds[1], 0)[:3]
        blocks = Blocks(self.name, corners, generations, scene.population, side, values, note, flat, self.lattice)
        grown = self.automaton.name if self.automaton else ""
        blocks = replace(blocks, coordinates=SPACE[:dimension], automaton=grown, limits=limits)
        if alike(blocks):
            part = f"{np.median(alive) / 1e4:.1f} percent of each alive: a page, a zoom or an earlier generation shows the cells"
            blocks = replace(blocks, note=f"{blocks.note}, {part}")
        return blocks

    def _born(self, automaton: Automaton, corners: NDArray[np.int64], numbers: NDArray[np.int32], level: int) -> NDArray[np.int64]:
        """Return the generation by which the cells of each block were born, the mean, as trees at several generations tell it."""
        side, box = 1 << level, np.array([corners.min(axis=0), corners.max(axis=0) + (1 << level)])
        # Hardly any cell of what is looked at is born later: one waits at most about as long as the growth took to come near it.
        last = min(self.generation, 2 << int(np.abs(box).max()).bit_length())

        def key(at: NDArray[np.int64]) -> NDArray[np.intp]:
            return np.asarray(np.ravel_multi_index(tuple(((at - box[0]) >> level).T), (box[1] - box[0]) >> level))

        keys, alive = key(corners), self.tree.populations(level)[numbers].astype(np.float64)
        order, born = np.argsort(keys), np.full(len(corners), float(last))
        keys = keys[order]
        for scene, moment, then in _moments(automaton, last):
            if scene.side > side:
                found, some, _ = scene.blocks(len(corners), level, box)
                counts, at = scene.populations(level)[some].astype(np.float64), order[np.searchsorted(keys, key(found))]
                born[at] -= (then - moment) * counts / alive[at]
                if counts.sum() == alive.sum():  # all are born
                    born -= last - then
                    break
        bits = max(last.bit_length() - _COLOURED, 0)
        return np.asarray(np.minimum(-(-np.rint(born).astype(np.int64) >> bits) << bits, last))

    def has_many_cells(self) -> bool:
        return self.dimension == len(SPACE)


def held_as_tree(automaton: Automaton, generation: int) -> bool:
    """Return whether a growth is too large to be grown cell by cell, and drawn as a tree.

    >>> from gpu_nim.automata.catalogue import CATALOGUE
    >>> held_as_tree(CATALOGUE["hexagonal"], 63), held_as_tree(CATALOGUE["hexagonal"], 2**40)
    (False, True)
    """
    if automaton.rule.dimension not in GROWN:
        return False
    low, high = automaton.rule.box(max(generation, 0))
    box = prod(last - first + 1 for first, last in zip(low, high, strict=True))
    return box > GROWN[len(low)] and (len(low) == 2 or _tree(automaton, generation) is not None)


_growth = lru_cache(maxsize=1)(partial(MacroGrowth, whole=True))
_growing = Lock()  # threads may draw one automaton


@contextmanager
def _restarted(automaton: Automaton) -> Iterator[MacroGrowth]:
    """Give the growth of an automaton at generation 0, which remembers its blocks, to one thread at a time."""
    with _growing:
        growth = _growth(automaton)
        growth.restart()
        yield growth


@lru_cache(maxsize=1)
def _tree(automaton: Automaton, generation: int) -> TreeScene | None:
    try:
        with _restarted(automaton) as growth:
            growth.advance(generation)
            return growth.tree()
    except (InsufficientMemoryError, UsageError):
        if automaton.rule.dimension == 2:
            raise
        return None  # bits hold more of an object that does not repeat itself


@lru_cache(maxsize=1)
def _moments(automaton: Automaton, last: int) -> list[tuple[TreeScene, int, int]]:
    """Return trees of a growth at evenly spaced generations before the last, each with its generation and the next one."""
    found = []
    with _restarted(automaton) as growth:
        for moment, then in pairwise(last * part // _MOMENTS for part in range(1, _MOMENTS + 1)):
            growth.advance(moment)
            found.append((growth.tree(), moment, then))
    return found


def alike(blocks: Blocks) -> bool:
    """Return whether a growth in the plane is so large that its blocks are all of nearly the same density."""
    return blocks.flat and blocks.size > 1 and int(np.ptp(densities(blocks))) < ALIKE


def _require_generation(source: "NimSource | GrowthSource", last: int, written: str, further: str = "") -> None:
    if not 0 <= source.generation <= last:
        what = f"source {source.automaton.name}:GENERATION can be drawn for generations 0 to {written}"
        raise UsageError(f"{what}, got {source.name!r}{further}")
