"""Colourings: one function each, registered under the name that the option `colour` takes.

@colouring("total")
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
from gpu_nim.render.themes import Theme, distinct_colours
from gpu_nim.render.values import VALUES

Colours = Callable[[Blocks, Theme], NDArray[np.float32]]


@dataclass(frozen=True)
class Colouring:
    """A colouring of blocks.

    Args:
        colours: returns the colour of each block under a theme, sRGB float32 (N, 3) in 0 to 1.
        needs: the further value of the blocks that it reads, a name of `values.VALUES`, or "".

    Raises:
        UsageError: no value has this name.
    """

    colours: Colours
    needs: str = ""

    def __post_init__(self) -> None:
        if self.needs:
            VALUES.find(self.needs)


COLOURINGS = Registry[Colouring]("colour")
DEFAULT = "rank"


def colouring(name: str, *, needs: str = "") -> Callable[[Colours], Colours]:
    """Return a decorator that registers a function of blocks and a theme as a colouring.

    Args:
        name: the colouring's name.
        needs: as for `Colouring`.
    """

    def register(colours: Colours) -> Colours:
        COLOURINGS.add(name, Colouring(colours, needs))
        return colours

    return register


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


@colouring("generation")
def generation_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in time."""
    return theme.map(ages(blocks))


@colouring("rank")
def rank_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by generation, uniform in the number of cells, so that all colours cover equally many."""
    return theme.map(ranks(blocks))


def ages(blocks: Blocks) -> NDArray[np.float64]:
    """Return the place of each block's generation between the first and the last, 0 to 1, float64 (N,)."""
    return ages_of(blocks.generations)


def ages_of(generations: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the place of each generation (N,) between the first and the last, 0 to 1."""
    first, last = int(generations.min()), int(generations.max())
    return np.asarray((generations - first) / max(last - first, 1))


def ranks(blocks: Blocks) -> NDArray[np.float64]:
    """Return the fraction of all cells that are older than each block's middle one, 0 to 1, float64 (N,)."""
    return ranks_of(blocks.generations, blocks.sizes.astype(np.float64) ** 2)


def ranks_of(generations: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of the weight that is older than the middle of each generation (N,), 0 to 1."""
    # A bin for each generation present, since generations reach 2^30.
    _, places = np.unique(generations, return_inverse=True)
    summed = np.bincount(places, weights)
    return np.asarray(((np.cumsum(summed) - summed / 2) / summed.sum())[places])


@colouring("grundy", needs="grundy")
def grundy_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by Grundy value."""
    values = blocks.values["grundy"]
    if values.min() == values.max():
        raise UsageError(
            f"colour grundy needs positions of several Grundy values, and all of {blocks.name} have {values.max()}: a "
            "chocolate takes them as in chocolate:size=31,grundy=3"
        )
    return theme.map(values / int(values.max()))


@colouring("branch", needs="branch")
def branch_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Colour by the branch that a cell grew on, each in its own colour, the seed in the theme's first category."""
    branches = blocks.values["branch"]
    table = np.array([theme.categories[0], *distinct_colours(theme, int(branches.max()))], dtype=np.float32)
    return np.asarray(table[branches])


@colouring("nim-p")
def nim_p_colours(blocks: Blocks, theme: Theme) -> NDArray[np.float32]:
    """Highlight the P-positions of Nim."""
    return np.where(nim_p(blocks)[:, None], np.array(theme.pick, np.float32), np.array(theme.dim, np.float32))


def nim_p(blocks: Blocks) -> NDArray[np.bool_]:
    """Return which cells are P-positions of Nim, with the absolute values of the coordinates as piles.

    fcc contains Nim in each octant, as `edge` does in its single one: its cells of generation n and total 2n are P-positions.
    """
    if blocks.lattice != "square":
        raise UsageError(f"colour nim-p needs coordinates that are piles, and {blocks.name} lives on a {blocks.lattice} lattice")
    if (blocks.sizes > 1).any() and (blocks.corners < 0).any():
        # A block with non-negative coordinates contains P-positions exactly if its corner is one; in other octants this fails.
        raise UsageError(f"colour nim-p needs single cells where coordinates are negative, and {blocks.name} is {blocks.note}")
    return nim_sum_is_zero(np.abs(blocks.corners))
