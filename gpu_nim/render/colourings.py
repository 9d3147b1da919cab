"""Colourings: one function each, registered with the value of a block that its colours show.

The option `colour` takes its name::

    @colouring("total", "by the sum of the coordinates", "total", lambda blocks: blocks.corners.sum(axis=1))
    def by_total(totals, weights, theme):
        return theme.map(totals / totals.max())
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.formulas import nim_sum_is_zero
from gpu_nim.automata.newborns import ancestry
from gpu_nim.games.solution import Solution
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.rule import Rule
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.themes import Colour, Theme, one_colour


@dataclass(frozen=True)
class Bar:
    """A bar of colours in the order of a value.

    Args:
        title: what the value is.
        values: the values, ascending.
        colours: the colour of each, sRGB float32 (N, 3).
    """

    title: str
    values: tuple[int, ...]
    colours: NDArray[np.float32]

    def at(self, value: int) -> Colour:
        """Return the colour of a value: its own, or where it is missing that of the value before it.

        Args:
            value: from the first value to the last.
        """
        return one_colour(self.colours_of(np.array(value)))

    def colours_of(self, values: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the colours of values (...), likewise; those below the first have its colour."""
        return np.asarray(self.colours[np.maximum(np.searchsorted(self.values, values, side="right") - 1, 0)])


@dataclass(frozen=True)
class Swatches:
    """Colours with names.

    Args:
        title: what the names are.
        names: the names.
        colours: the colour of each, sRGB float32 (N, 3).
    """

    title: str
    names: tuple[str, ...]
    colours: NDArray[np.float32]


Legend = Bar | Swatches

#: The titles of bars of generations: of growths, and of positions of games, which are not born.
BORN, HALF_TOTAL = "born in step n", "half the total"
#: That of trees, which are looked at now and then.
BORN_BY = "born by step n"


def generation_bar(title: str, births: NDArray[np.integer], colours: NDArray[np.float32], level: int = 0, last: int = 0) -> Bar:
    """Return the bar of generations in colours of their own.

    Args:
        title: what they are.
        births: the births of each generation, or of each 2^level.
        colours: their colours, (N, 3).
        level: as above.
        last: the last generation.

    >>> generation_bar(BORN, np.array([1, 3, 0, 9]), np.eye(4, 3, dtype=np.float32), 2, 14).values
    (0, 4, 12, 14)
    """
    born = np.flatnonzero(births)
    values = (born << level).tolist()
    if last > values[-1]:
        values, born = [*values, last], np.append(born, born[-1])
    return Bar(title, tuple(values), np.minimum(colours[born], 1))


#: Returns a value of each block, (N,).
Values = Callable[[Blocks], NDArray[np.integer]]

#: Returns the colours under a theme, sRGB float32 (K, 3) in 0 to 1, of values, ascending, and the numbers of their blocks, (K,).
Colours = Callable[[NDArray[np.integer], NDArray[np.float64], Theme], NDArray[np.float32]]


@dataclass(frozen=True)
class Colouring:
    """A colouring of blocks by a value.

    Args:
        name: its name.
        summary: what the colours show, in a line.
        title: what the value is, in legends.
        value: returns the value of each block.
        colours: returns the colours of the values.
        named: returns the name of the value of a block, by its index, where the legend has names in place of a bar.
        of_growth: returns a further value of each block of a growth, (N,), from the rule, which `value` reads in
            `Blocks.values` by the colouring's name; called where these colours are requested.
        of_game: returns it for each position of a solved game, (N,); called for every game. Of a saved game these colours show
            all positions, not only the P-positions.
        of_coordinates: whether a cell's colour follows from its coordinates, so that Nim of any size is traced in these colours.
    """

    name: str
    summary: str
    title: str
    value: Values
    colours: Colours
    named: Callable[[Blocks, int], str] | None = None
    of_growth: Callable[[Blocks, Rule], NDArray[np.integer]] | None = None
    of_game: Callable[[Blocks, Solution], NDArray[np.integer]] | None = None
    of_coordinates: bool = False

    @property
    def reads_value(self) -> bool:
        """Whether it reads a further value of the blocks, which growths, or games, may not have."""
        return self.of_growth is not None or self.of_game is not None


COLOURINGS = Registry[Colouring]("colour")
DEFAULT = "rank"
#: The colourings that need no more than a cell's generation; None is rank.
BY_GENERATION = (None, "rank", "generation")


def colouring(name: str, summary: str, title: str, value: Values, **facts: Any) -> Callable[[Colours], Colours]:
    """Return a decorator that registers a function of values, areas and a theme as a colouring.

    Args:
        name: as for `Colouring`.
        summary: as for `Colouring`.
        title: as for `Colouring`.
        value: as for `Colouring`.
        facts: the other arguments of `Colouring`.
    """
    return COLOURINGS.decorator(lambda colours: Colouring(name, summary, title, value, colours, **facts))


def find_colouring(colour: str | None, name: str, *, game: bool) -> Colouring:
    """Return a colouring, by default rank, for a growth or a solved game of that name.

    Raises:
        UsageError: growths, or games, do not have the further value that it reads.
    """
    found = COLOURINGS.find(colour or DEFAULT)
    if found.reads_value and (found.of_game if game else found.of_growth) is None:
        needed, given = ("growth", "solved game") if game else ("solved game", "growth")
        raise UsageError(f"colour {colour} needs a {needed}, and {name} is a {given}")
    return found


def base_colours(blocks: Blocks, colour: str | None, theme: Theme) -> NDArray[np.float32]:
    """Return the colour of each block before light falls on it, sRGB float32 (N, 3).

    Raises:
        UsageError: the blocks do not have the value that the colours show.
    """
    found = COLOURINGS.find(colour or DEFAULT)
    if found.reads_value and found.name not in blocks.values:
        raise UsageError(f"colour {colour} needs the {found.name} of each cell, and {blocks.name} has none")
    if not len(blocks):  # of rays that hit nothing
        return np.zeros((0, 3), dtype=np.float32)
    values, which = np.unique(found.value(blocks), return_inverse=True)
    return np.asarray(found.colours(values, np.bincount(which).astype(np.float64), theme)[which])


def legend_of(blocks: Blocks, colours: NDArray[np.float32], colour: str | None) -> Legend:
    """Return what the colours (N, 3) of blocks stand for: a bar of values, or names of the values that blocks have."""
    found = COLOURINGS.find(colour or DEFAULT)
    values, first = np.unique(found.value(blocks), return_index=True)
    if found.named is None:
        born = BORN if blocks.dated else BORN_BY
        title = found.title if found.title != BORN else born if blocks.automaton else HALF_TOTAL
        return Bar(title, tuple(values.tolist()), np.minimum(colours[first], 1))
    return Swatches(found.title, tuple(found.named(blocks, at) for at in first.tolist()), np.minimum(colours[first], 1))


_GLOW = 0.5  # how much brighter the newest cells of a growth are
_COOLING = 24  # parts of a growth's age in one of which the glow falls to a half


def glow_by_age(colours: NDArray[np.float32], generations: NDArray[np.integer], latest: int, theme: Theme) -> NDArray[np.float32]:
    """Return the colours of cells of a growth at a generation: the newest glow, and cool as they grow older.

    On a light theme they stay as they are, since what is brighter is seen less there.

    Args:
        colours: sRGB (N, 3).
        generations: those of the cells, (N,).
        latest: the generation.
        theme: the theme.

    >>> from gpu_nim.render.themes import THEMES
    >>> glow_by_age(np.full((2, 3), 0.5, np.float32), np.array([0, 47]), 47, THEMES["dark"])[:, 0].round(2).tolist()
    [0.5, 0.75]
    """
    if theme.light:
        return colours
    age = (latest - generations) * (_COOLING / (latest + 1))
    return np.asarray(colours * (1 + _GLOW * np.exp2(-age))[:, None], dtype=np.float32)


@colouring("generation", "by generation, uniform in time", BORN, lambda blocks: blocks.generations)
def generation_colours(generations: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in time."""
    return theme.map((generations - generations[0]) / max(int(generations[-1] - generations[0]), 1))


@colouring("rank", "by generation, uniform in the number of cells", BORN, lambda blocks: blocks.generations)
def rank_colours(generations: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in the number of cells, so that all colours cover equally many."""
    return theme.map((np.cumsum(weights) - weights / 2) / weights.sum())


ALIKE = 10**5  # of a million cells: blocks that differ by less do so by their borders, and look alike
_RARE = 0.02  # the part of the blocks whose densities are beyond the range of the colours, at each end


def densities(blocks: Blocks) -> NDArray[np.integer]:
    """Return how many of a million cells of each block are alive, within the range of most blocks: large ones differ by little."""
    if "density" not in blocks.values and blocks.size > blocks.unit:
        raise UsageError(f"colour density needs single cells or macro-cells, and {blocks.name} is {blocks.note}")
    found = blocks.values.get("density", np.full(len(blocks), 10**6))
    return np.asarray(np.clip(found, *np.quantile(found, [_RARE, 1 - _RARE], method="nearest")))


@colouring("density", "by the part of each block's cells that are alive", "cells of a million", densities)
def density_colours(values: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Colour by the part of each block's cells that are alive: from the least to the greatest, or by itself where all are alike."""
    missing = max(ALIKE - int(values[-1] - values[0]), 0)
    least = values[0] - missing * (values[0] / 10**6)
    return theme.map((values - least) / (values[-1] - values[0] + missing))


def grundy_values(blocks: Blocks, solution: Solution) -> NDArray[np.integer]:
    """Return the Grundy value of each position; those of a game solved for outcomes alone are P-positions, of value 0."""
    if solution.grundy is None:
        return np.zeros(len(blocks), dtype=np.int64)
    return np.asarray(solution.grundy[tuple(blocks.positions[:, : solution.grundy.ndim].T)], dtype=np.int64)


def _several_grundy_values(blocks: Blocks) -> NDArray[np.integer]:
    values = blocks.values["grundy"]
    if values.min() == values.max():
        raise UsageError(
            f"colour grundy needs positions of several Grundy values, and all of {blocks.name} have {values.max()}: a "
            "chocolate takes them as in chocolate:size=31,grundy=3"
        )
    return values


@colouring("grundy", "by Grundy value", "Grundy value", _several_grundy_values, of_game=grundy_values)
def grundy_colours(values: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Colour by Grundy value."""
    return theme.map(values / int(values[-1]))


def branches(blocks: Blocks, rule: Rule) -> NDArray[np.integer]:
    """Return the branch of each cell: its ancestor of generation 1, counted from 1 in the order of these, and 0 for the seeds.

    Raises:
        UsageError: cells may have several parents, or the blocks are larger than cells.

    >>> from gpu_nim.render.source import blocks_of
    >>> branches(blocks_of("edge:2"), CATALOGUE["edge"].rule).tolist()
    [0, 1, 2, 3, 1, 2, 3]
    """
    if any(automaton.grows_nim and automaton.rule == rule for automaton in CATALOGUE.values()):
        # The leading binary digit is in two of the piles, which name the branch; the third pile is less than either.
        return np.where(blocks.corners.any(axis=1), blocks.corners.argmin(axis=1) + 1, 0).astype(np.int32)
    if blocks.size > blocks.unit:
        raise UsageError(f"colour branch needs single cells, and {blocks.name} is {blocks.note}")
    if not rule.exactly_one:
        raise UsageError(f"colour branch needs births on exactly one touch, and {blocks.name} has births {sorted(rule.births)}")
    return traced_branches(blocks, rule)


def traced_branches(blocks: Blocks, rule: Rule) -> NDArray[np.int32]:
    """Return the branch of each cell, found parent by parent."""
    branch = np.zeros(len(blocks), dtype=np.int32)
    starts = np.searchsorted(blocks.generations, np.arange(int(blocks.generations.max()) + 2))
    cells = np.split(blocks.positions[:, : rule.dimension], starts[1:-1])
    for generation, parents in ancestry(rule, enumerate(cells)):
        if generation:
            born = slice(starts[generation], starts[generation + 1])
            branch[born] = branch[parents] if generation > 1 else np.arange(1, len(parents) + 1)
    return branch


def _branch_name(blocks: Blocks, at: int) -> str:
    """Return the name of a block's branch: its founder, the cell of generation 1, where the block is it."""
    branch = int(blocks.values["branch"][at])
    if branch == 0:
        return "seed"
    cell = blocks.corners[at] // blocks.size
    founder = ", ".join(map(str, cell[: 2 if blocks.flat else 3].tolist()))
    return f"({founder})" if blocks.generations[at] == blocks.size else f"branch {branch}"


@colouring(
    "branch",
    "by the branch that a cell grew on",
    "branch",
    lambda blocks: blocks.values["branch"],
    named=_branch_name,
    of_growth=branches,
    of_coordinates=True,
)
def branch_colours(branches: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Colour by the branch that a cell grew on, each in its own colour, the seed in the theme's first category."""
    most, count = len(theme.categories) - 1, int(branches[-1])
    if count > most:
        raise UsageError(f"colour branch needs {count} distinguishable colours, and theme {theme.name} has {most}")
    return np.asarray(np.array(theme.categories, dtype=np.float32)[branches])


def nim_p(blocks: Blocks) -> NDArray[np.bool_]:
    """Return which cells are P-positions of Nim, with the absolute values of the coordinates as piles.

    fcc contains Nim in each octant, as `edge` does in its single one: its cells of generation n and total 2n are P-positions.
    """
    if blocks.lattice != "square":
        raise UsageError(f"nim-p needs piles as coordinates, and {blocks.name} has cells on a {blocks.lattice} lattice")
    if blocks.size > blocks.unit and (blocks.positions < 0).any():
        # A block with non-negative coordinates contains P-positions exactly if its corner is one; in other octants this fails.
        raise UsageError(f"nim-p needs single cells where coordinates are negative, and {blocks.name} is {blocks.note}")
    return nim_sum_is_zero(np.abs(blocks.positions))


@colouring(
    "nim-p",
    "the P-positions of Nim, highlighted",
    "cells",
    lambda blocks: np.logical_not(nim_p(blocks)).astype(np.int8),
    named=lambda blocks, at: "P-positions of Nim" if nim_p(blocks.take(np.array([at])))[0] else "others",
    of_coordinates=True,
)
def nim_p_colours(others: NDArray[np.integer], weights: NDArray[np.float64], theme: Theme) -> NDArray[np.float32]:
    """Highlight the P-positions of Nim."""
    return np.asarray(np.array([theme.pick, theme.dim], dtype=np.float32)[others])
