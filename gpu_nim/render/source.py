"""The sources of pictures, named by a short text: an automaton to grow, a file, a game to solve.

    nim:256                       an automaton of the catalogue, to that generation
    growth.zarr, growth.npz       a growth or a solved game in a file
    chocolate:a=3,size=127        the P-positions of a game of the catalogue: a y <= x + z with x and z up to size
    chocolate:size=31,grundy=3    its positions of Grundy value up to 3
    nim:piles=2,size=31           two-pile Nim, a game that has the name of an automaton

Where there are more cells than `limit`, they are merged into cubes of side 2, 4, 8..., and the note says so. For nim that is
exact at any size: since a+b+c = 2 (a|b|c) where the nim-sum is 0, generation n is (a|b|c) = n, and the blocks of side 2^k that
hold a P-position of generation up to n are the P-positions of generation up to n >> k: Nim again.

A picture whose cells would be merged is traced instead, cell by cell, if its style can be, its colours are generation or rank, and
no engine is requested (`gpu_nim.render.image.is_traced`). nim, and games of one inequality with Nim's P-positions, are then
recognised by their text (`gpu_nim.render.defined_scenes`), and nothing is grown, so that nim:2^60 can be drawn; the cells of any
other growth are counted first (`has_many_cells`), and then grown as bits. The page draws nim from its text, too.

A growth that is too large to be grown cell by cell, such as hexagonal:2^20, is a tree of macro-cells (`gpu_nim.render.trees`).

Bodies of four and more coordinates, such as nim-4:15 and chocolate6:size=7, are projected (see `gpu_nim.render.projection`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Lattice
from gpu_nim.automata.cell_sources import Newborns, split
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.selection import select
from gpu_nim.counting.families import UpToTotal
from gpu_nim.games.rulesets import Inequalities
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import expected_points, solve
from gpu_nim.model.arguments import shown
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.colourings import COLOURINGS, Colouring, find_colouring
from gpu_nim.render.defined_scenes import (
    NamedGame,
    NamedGrowth,
    defined_scene,
    generations_of,
    named,
    nims_level,
    p_positions,
    population,
)
from gpu_nim.render.geometry import PILES, SPACE, Blocks, counted, merged, merged_note
from gpu_nim.render.projection import in_space
from gpu_nim.render.trees import blocks_of_tree, tree_of
from gpu_nim.storage.save_load import load

if TYPE_CHECKING:
    from gpu_nim.model.rule import Rule

#: A text as above, or an object that it would name.
Source = str | Blocks | Growth | Solution

#: The most blocks drawn, about: with three sides each, 6 million quadrilaterals and 2 GB.
CELLS_LIMIT = 1 << 21

_SOLVED = "it is solved to be drawn, since P-positions are known to be Nim's for a = 3 mod 4 of chocolate and even k of bar alone"
_GROWN_LIMIT = 1 << 27  # cells that are grown to be drawn coarser: a minute's work
_GENERATION_LIMIT = 2**30 - 1  # coordinates are int32, and a block reaches beyond its corner
_ESTIMATED = range(1 << 9, 1 << 20)  # sizes of games whose positions are estimated first: others are soon solved or refused


def name_of(source: "Source") -> str:
    """Return the name of a source in messages and captions.

    >>> from gpu_nim import grow
    >>> name_of("nim:7"), name_of(grow("nim", 7))
    ('nim:7', 'nim:7')
    """
    if isinstance(source, str):
        return source
    if isinstance(source, Blocks):
        return source.name
    automaton, generations = getattr(source, "automaton", None), getattr(source, "generations", None)
    return f"{automaton}:{generations}" if automaton is not None else str(getattr(source, "game", shown(source)))


def blocks_of(source: "Source", *, limit: int = CELLS_LIMIT, colour: str | None = None, on_step: OnStep = unreported) -> Blocks:
    """Return a source as blocks.

    Args:
        source: a text as above, a growth, a solved game, or blocks.
        limit: the most blocks; where there are more cells, each block stands for several.
        colour: the colouring (see `gpu_nim.render.colourings`), which may read a further value of each cell. For grundy all
            positions of a saved game are drawn, not only the P-positions.
        on_step: called for progress, as the source is grown or solved.

    Raises:
        UsageError: the text names no source, or the source cannot be drawn in these colours.
        FileError: the file is missing or damaged.
        InsufficientMemoryError: the source is too large to draw.

    >>> cells = blocks_of("nim:3")
    >>> len(cells), cells.generations.tolist()
    (16, [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3])
    """
    if isinstance(source, Blocks):
        return source
    name, found = name_of(source), named(source) if isinstance(source, str) else source
    if isinstance(found, Path):
        name, found = found.name, load(found)
    if isinstance(found, Growth | Solution):
        return _of_found(name, found, limit, colour)
    if isinstance(found, NamedGame):
        return _game(name, found, colour, on_step)
    if not isinstance(found, NamedGrowth):
        raise UsageError(f"source must be a text such as nim:256, a growth or a solved game, got {shown(source)}")
    automaton, generation = found.automaton, found.generation
    if (tree := tree_of(source)) is not None:
        return blocks_of_tree(name, tree, limit, colour)
    if not 0 <= generation <= _GENERATION_LIMIT:
        further = "; engine trace, and a page that is not cut and coloured by generation, go further" * automaton.grows_nim
        raise UsageError(
            f"source {automaton.name}:GENERATION can be drawn for generations 0 to {_GENERATION_LIMIT}, got {source!r}{further}"
        )
    _require_drawable(automaton.name, automaton.rule.dimension)
    colouring = find_colouring(colour, name, game=False)
    if automaton.grows_nim:
        blocks = _nim(name, generation, nims_level(generation, limit))
    else:
        blocks = _gather(name, automaton.lattice, newborns(growth_of(automaton.name, generation), on_step), None, limit)
    return _grown(blocks, colouring, automaton.name, automaton.rule)


def has_many_cells(source: "Source") -> bool:
    """Return whether a source is a body in space of more cells than are drawn as blocks, which can be traced cell by cell.

    Those of a growth whose box holds more are counted, up to the limit.

    >>> has_many_cells("nim:2^11"), has_many_cells("nim:2^10"), has_many_cells("edge:31")
    (True, False, False)
    """
    if (scene := defined_scene(source)) is not None:
        return population(scene) > CELLS_LIMIT
    if (tree := tree_of(source)) is not None:
        return tree.scene.dimension == 3
    found = named(source) if isinstance(source, str) else source
    if isinstance(found, Path):
        found = load(found)
    if isinstance(found, Growth):
        return found.newborns(0).shape[1] == 3 and int(found.births.sum()) > CELLS_LIMIT
    if not isinstance(found, NamedGrowth) or found.automaton.rule.dimension != 3 or not 0 <= found.generation <= _GENERATION_LIMIT:
        return False
    low, high = found.automaton.rule.box(found.generation)
    if prod(last - first + 1 for first, last in zip(low, high, strict=True)) <= CELLS_LIMIT:
        return False
    totals = accumulate(int(batch.births.sum()) for batch in growth_of(found.automaton.name, found.generation))
    return any(total > CELLS_LIMIT for total in totals)


def _nim(source: str, generation: int, level: int) -> Blocks:
    """Return three-pile Nim from its definition, in blocks of side 2^level."""
    count = UpToTotal(3)  # the P-positions of total up to 2n
    cells = p_positions(generation >> level)
    generations = generations_of(cells)
    order = np.argsort(generations, kind="stable")
    blocks = _blocks(source, cells[order], generations[order] << level, count.value(generation), level)
    return replace(blocks, population_until=lambda until: count.value(min(until, generation)) if until >= 0 else 0)


def _blocks(
    source: str,
    cells: NDArray[np.integer],
    generations: NDArray[np.integer],
    population: int,
    level: int = 0,
    lattice: Lattice = "square",
) -> Blocks:
    """Return cells of a source, (N, k) in units of 2^level, as blocks."""
    dimension = cells.shape[1]
    _require_drawable(source, dimension)
    size = 1 << level
    corners = np.pad(np.asarray(cells, np.int32), ((0, 0), (0, max(3 - dimension, 0))))
    corners <<= level
    blocks = Blocks(
        name=source,
        corners=corners[:, :3],
        sizes=np.full(len(cells), size, dtype=np.int32),
        generations=np.asarray(generations, np.int32),
        population=population,
        note=merged_note(len(cells), size, max(dimension, 3)) if level else "",
        flat=dimension == 2,
        lattice=lattice,
        coordinates=SPACE[:dimension],
        cells=corners if dimension > 3 else None,
    )
    return in_space(blocks) if dimension > 3 else blocks


def growth_of(name: str, last: int) -> GrowthProcess:
    """Return the growth of an automaton to a generation, for its cells, before it begins."""
    return GrowthProcess(name, last, select("numpy"), cells=True, verify=False)


def newborns(growth: GrowthProcess, on_step: OnStep) -> Iterator["Newborns"]:
    """Grow, and yield the newborns of each generation."""
    for batch in growth:
        yield from split(batch)
        on_step("generation", growth.generation, growth.generations)


def _gather(source: str, lattice: Lattice, generations: "Iterable[Newborns]", births: list[int] | None, limit: int) -> Blocks:
    """Collect newborns, generation by generation, in at most `limit` blocks, with not many more of them in memory."""
    _require_few(source, births or [])
    counts: list[int] = []
    cells: list[NDArray[np.int32]] = []
    born: list[NDArray[np.int32]] = []
    level = 0
    for generation, newborns in generations:
        counts.append(len(newborns))
        _require_few(source, counts)
        _require_near(source, newborns)
        cells.append(np.asarray(newborns >> level, dtype=np.int32))
        born.append(np.full(len(newborns), generation, dtype=np.int32))
        if sum(map(len, born)) > 4 * limit:
            level += _merge(cells, born, limit)
    if level or sum(map(len, born)) > limit:
        level += _merge(cells, born, limit)
    blocks = _blocks(source, _joined(cells), _joined(born), sum(counts), level, lattice)
    return replace(blocks, population_until=counted(np.array(counts)))


def _joined(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the arrays as one, and empty their list, so that their memory is given back."""
    together = np.concatenate(parts)
    parts.clear()
    return together


def _merge(cells: list[NDArray[np.int32]], born: list[NDArray[np.int32]], limit: int) -> int:
    """Merge the cells of both lists, in order of generation, to cubes that are not more, and return by how many levels."""
    cubes, generations, levels = merged(np.concatenate(cells), np.concatenate(born), limit)
    cells[:], born[:] = [cubes], [generations]
    return levels


def _require_few(source: str, births: list[int]) -> None:
    """Raise an error where there are more cells than can be merged."""
    if sum(births) > _GROWN_LIMIT:
        reached = int(np.searchsorted(np.cumsum(births), _GROWN_LIMIT, side="right"))
        passed = f"it passes {_GROWN_LIMIT:,} cells at generation {reached}"
        raise InsufficientMemoryError(f"{source} is too large to draw: {passed}; draw it to an earlier generation")


def _grown(blocks: Blocks, colouring: Colouring, automaton: str, rule: "Rule | None") -> Blocks:
    """Add the names of the automaton and the coordinates, the steps from parents, and what a colouring reads to a growth."""
    blocks = replace(blocks, automaton=automaton)
    if rule is not None and rule.octant and blocks.cells is None:  # whose cells are positions
        blocks = replace(blocks, coordinates=PILES[: rule.dimension])
    if rule is not None and rule.exactly_one and rule.touches is None:
        blocks = replace(blocks, steps=rule.offsets)
    name, of_growth = colouring.name, colouring.of_growth
    if of_growth is None:
        return blocks
    if rule is None:
        raise UsageError(f"the {name} of each cell needs a rule of offsets, and {blocks.name} grew by predicates of its own")
    return replace(blocks, values={**blocks.values, name: of_growth(blocks, rule)})


def _game(source: str, found: NamedGame, colour: str | None, on_step: OnStep) -> Blocks:
    """Return the positions of a game of Grundy value up to `grundy`; their generation is half the total, rounded down."""
    find_colouring(colour, source, game=True)
    name, size, largest = found.game.name, found.size, found.grundy
    rules = found.game.rules(**found.values)
    coordinates = len(rules.coordinates)
    _require_drawable(source, coordinates)
    try:
        expected = expected_points(name, size, largest, **found.values) if coordinates <= 3 and size in _ESTIMATED else 0
        if expected > 2 * CELLS_LIMIT:
            raise _too_many(source, f"about {round(expected, -5):,.0f}")
        solution = solve(name, size, grundy=largest > 0, on_step=on_step, **found.values)
    except (UsageError, InsufficientMemoryError) as error:
        if not isinstance(rules, Inequalities) or defined_scene(source) is not None:
            raise
        raise type(error)(f"{error}; {_SOLVED}") from None
    return _solved(source, solution, largest)


def _require_drawable(source: str, coordinates: int) -> None:
    if coordinates < 2:
        raise UsageError(f"{source} has {coordinates} coordinate{'s' * (coordinates != 1)}, and a picture needs 2 or more")


def _too_many(source: str, positions: str) -> InsufficientMemoryError:
    return InsufficientMemoryError(f"{source} is too large to draw: it holds {positions} positions, more than {CELLS_LIMIT:,}")


def _solved(source: str, solution: Solution, largest: int) -> Blocks:
    positions, _ = solution.points(largest)
    if len(positions) > CELLS_LIMIT:
        raise _too_many(source, f"{len(positions):,}")
    _require_near(source, positions)
    totals = positions.sum(axis=1)
    order = np.argsort(totals, kind="stable")
    blocks = _blocks(source, positions[order], totals[order] // 2, len(positions))
    values = {name: known.of_game(blocks, solution) for name, known in COLOURINGS.items() if known.of_game}
    names = solution.coordinates if blocks.cells is None else blocks.coordinates
    return replace(blocks, values=values, coordinates=names, population_until=counted(np.bincount(totals // 2)))


def _require_near(source: str, cells: NDArray[np.integer]) -> None:
    """Raise UsageError for cells that are too far out for blocks."""
    most = max(int(cells.max()), -int(cells.min())) if cells.size else 0
    if most > _GENERATION_LIMIT:
        raise UsageError(f"{source} has coordinates of size {most:,}, and only those up to {_GENERATION_LIMIT:,} can be drawn")


def _of_found(name: str, saved: "Growth | Solution", limit: int, colour: str | None) -> Blocks:
    colouring = find_colouring(colour, name, game=isinstance(saved, Solution))
    if isinstance(saved, Growth):
        found = _gather(name, saved.lattice, iter(saved), saved.births.tolist(), limit)
        return _grown(found, colouring, saved.automaton, saved.rule)
    if not colouring.of_game:
        return _solved(name, saved, 0)
    if saved.largest_grundy is None:
        raise UsageError(f"colour {colour} needs a game solved for Grundy values, and {name} holds outcomes alone")
    return _solved(name, saved, saved.largest_grundy)
