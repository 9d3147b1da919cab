"""Colourings: one function each, registered with its legend.

The option `colour` takes its name::

    @colouring("total", "by the sum of the coordinates", legend=bar("total", lambda blocks: blocks.corners.sum(axis=1)))
    def by_total(blocks, theme):
        return theme.map(blocks.corners.sum(axis=1) / blocks.corners.sum(axis=1).max())
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.formulas import nim_sum_is_zero
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.legends import Bar, Legend, Swatches
from gpu_nim.render.themes import Theme, distinct_colours
from gpu_nim.render.values import VALUES

Colours = Callable[[Blocks, Theme], NDArray[np.float32]]
LegendOf = Callable[[Blocks, NDArray[np.float32]], Legend]
"""Returns the legend of blocks in their colours (N, 3)."""


@dataclass(frozen=True)
class Colouring:
    """A colouring of blocks.

    Args:
        name: its name.
        summary: what the colours show, in a line.
        colours: returns the colour of each block under a theme, sRGB float32 (N, 3) in 0 to 1.
        legend: returns what the colours stand for: see `bar` and `swatches`.
        needs: the further value of the blocks that it reads, a name of `values.VALUES`, or "".

    Raises:
        UsageError: no value has this name.
    """

    name: str
    summary: str
    colours: Colours
    legend: LegendOf
    needs: str = ""

    def __post_init__(self) -> None:
        if self.needs:
            VALUES.find(self.needs)


COLOURINGS = Registry[Colouring]("colour")
DEFAULT = "rank"


def colouring(name: str, summary: str, *, legend: LegendOf, needs: str = "") -> Callable[[Colours], Colours]:
    """Return a decorator that registers a function of blocks and a theme as a colouring.

    Args:
        name: as for `Colouring`.
        summary: as for `Colouring`.
        legend: as for `Colouring`.
        needs: as for `Colouring`.
    """
    return COLOURINGS.decorator(lambda colours: Colouring(name, summary, colours, legend, needs))


def bar(title: str, value: Callable[[Blocks], NDArray[np.integer]]) -> LegendOf:
    """Return the legend of a colouring by a value: a bar of the colours that blocks have, in the order of their values.

    Args:
        title: what the value is.
        value: returns it for each block, (N,).
    """

    def legend(blocks: Blocks, colours: NDArray[np.float32]) -> Legend:
        values, first = np.unique(value(blocks), return_index=True)
        return Bar(title, tuple(values.tolist()), colours[first])

    return legend


def swatches(title: str, kind: Callable[[Blocks], NDArray[np.integer]], name: Callable[[Blocks, int], str]) -> LegendOf:
    """Return the legend of a colouring by kinds: a swatch for each kind that blocks have.

    Args:
        title: what the kinds are.
        kind: returns the number of each block's kind, (N,).
        name: returns the name of a block's kind; called with the index of the first block of each.
    """

    def legend(blocks: Blocks, colours: NDArray[np.float32]) -> Legend:
        found = np.unique(kind(blocks), return_index=True)[1].tolist()
        return Swatches(title, tuple(name(blocks, at) for at in found), colours[found])

    return legend


def needed_value(colour: str | None, name: str, *, game: bool) -> str:
    """Return the further value that a colouring reads of a growth or a solved game of that name, or "".

    Raises:
        UsageError: growths, or games, do not have this value.
    """
    needs = COLOURINGS.find(colour).needs if colour else ""
    if needs and (VALUES[needs].of_game if game else VALUES[needs].of_growth) is None:
        needed, found = ("growth", "solved game") if game else ("solved game", "growth")
        raise UsageError(f"colour {colour} needs a {needed}, and {name} is a {found}")
    return needs


def base_colours(blocks: Blocks, colour: str | None, theme: Theme) -> NDArray[np.float32]:
    """Return the colour of each block before light falls on it, sRGB float32 (N, 3).

    Raises:
        UsageError: the blocks do not have the value that the colours show.
    """
    found = COLOURINGS.find(colour or DEFAULT)
    if found.needs and found.needs not in blocks.values:
        raise UsageError(f"colour {colour} needs the {found.needs} of each cell, and {blocks.name} has none")
    return found.colours(blocks, theme)


def legend_of(blocks: Blocks, colours: NDArray[np.float32], colour: str | None) -> Legend:
    """Return what the colours (N, 3) of blocks stand for."""
    return COLOURINGS.find(colour or DEFAULT).legend(blocks, colours)


@colouring("generation", "by generation, uniform in time", legend=bar("generation", lambda blocks: blocks.generations))
def generation_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in time."""
    return theme.map(ages(blocks.generations))


@colouring("rank", "by generation, uniform in the number of cells", legend=bar("generation", lambda blocks: blocks.generations))
def rank_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in the number of cells, so that all colours cover equally many."""
    return theme.map(ranks(blocks.generations, blocks.sizes.astype(np.float64) ** 2))


def ages(generations: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the place of each generation (N,) between the first and the last, 0 to 1."""
    first, last = int(generations.min()), int(generations.max())
    return np.asarray((generations - first) / max(last - first, 1))


def ranks(generations: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of the weight that is older than the middle of each generation (N,), 0 to 1."""
    # A bin for each generation present, since generations reach 2^30.
    _, places = np.unique(generations, return_inverse=True)
    summed = np.bincount(places, weights)
    return np.asarray(((np.cumsum(summed) - summed / 2) / summed.sum())[places])


@colouring("grundy", "by Grundy value", needs="grundy", legend=bar("Grundy value", lambda blocks: blocks.values["grundy"]))
def grundy_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by Grundy value."""
    values = blocks.values["grundy"]
    if values.min() == values.max():
        raise UsageError(
            f"colour grundy needs positions of several Grundy values, and all of {blocks.name} have {values.max()}: a "
            "chocolate takes them as in chocolate:size=31,grundy=3"
        )
    return theme.map(values / int(values.max()))


def _branch_name(blocks: Blocks, at: int) -> str:
    """Return the name of a block's branch: its founder, the cell of generation 1, where the block is it."""
    branch = int(blocks.values["branch"][at])
    if branch == 0:
        return "seed"
    cell = blocks.corners[at] // blocks.sizes[at]
    founder = ", ".join(map(str, cell[: 2 if blocks.flat else 3].tolist()))
    return f"({founder})" if blocks.generations[at] == blocks.sizes[at] else f"branch {branch}"


@colouring(
    "branch",
    "by the branch that a cell grew on",
    needs="branch",
    legend=swatches("branch", lambda blocks: blocks.values["branch"], _branch_name),
)
def branch_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by the branch that a cell grew on, each in its own colour, the seed in the theme's first category."""
    branches = blocks.values["branch"]
    return np.asarray(branch_palette(theme, int(branches.max()))[branches])


def branch_palette(theme: Theme, count: int) -> NDArray[np.float32]:
    """Return the colours of the seed and of so many branches, sRGB (count + 1, 3)."""
    return np.array([theme.categories[0], *distinct_colours(theme, count)], dtype=np.float32)


@colouring(
    "nim-p",
    "the P-positions of Nim, highlighted",
    legend=swatches(
        "cells",
        lambda blocks: np.logical_not(nim_p(blocks)).astype(np.int8),
        lambda blocks, at: "P-positions of Nim" if nim_p(blocks.take(np.array([at])))[0] else "others",
    ),
)
def nim_p_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Highlight the P-positions of Nim."""
    return np.where(nim_p(blocks)[:, None], np.array(theme.pick, np.float32), np.array(theme.dim, np.float32))


def nim_p(blocks: Blocks) -> NDArray[np.bool_]:
    """Return which cells are P-positions of Nim, with the absolute values of the coordinates as piles.

    fcc contains Nim in each octant, as `edge` does in its single one: its cells of generation n and total 2n are P-positions.
    """
    if blocks.lattice != "square":
        raise UsageError(f"colour nim-p needs piles as coordinates, and {blocks.name} has cells on a {blocks.lattice} lattice")
    if (blocks.sizes > blocks.unit).any() and (blocks.positions < 0).any():
        # A block with non-negative coordinates contains P-positions exactly if its corner is one; in other octants this fails.
        raise UsageError(f"colour nim-p needs single cells where coordinates are negative, and {blocks.name} is {blocks.note}")
    return nim_sum_is_zero(np.abs(blocks.positions))
