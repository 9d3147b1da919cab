"""Opacities: one function each, registered with what makes a cell of a volume opaque.

The option `opacity` takes its name. A function returns the part of the light that each cell absorbs, between 0 and 1, where a ray
meets as many cells as `gpu_nim.render.medium` says; cells shine in proportion to it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.formulas import nim_sum_is_zero
from gpu_nim.automata.measures import earliest_generations
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.render.geometry import Blocks

#: Returns the opacity of each block, between 0 and 1, (N,).
OfBlocks = Callable[[Blocks], NDArray[np.floating]]

_THIN, _THICK = 0.05, 0.97  # of cells to see through, and of those to see


@dataclass(frozen=True)
class Opacity:
    """What the opacity of cells shows.

    Args:
        name: its name.
        summary: which cells are more opaque, in a line.
        of: returns the opacity of each block; UsageError where the blocks have not what it reads.
    """

    name: str
    summary: str
    of: OfBlocks


OPACITIES = Registry[Opacity]("opacity")
DEFAULT = "generation"


def opacity(name: str, summary: str) -> Callable[[OfBlocks], OfBlocks]:
    """Return a decorator that registers a function of blocks as an opacity."""
    return OPACITIES.decorator(lambda of: Opacity(name, summary, of))


@opacity("generation", "older cells")
def by_generation(blocks: Blocks) -> NDArray[np.floating]:
    """Return 0.85 for the first generation, and less for later ones."""
    return np.asarray(0.12 + 0.73 * (1 - blocks.generations / max(int(blocks.generations.max()), 1)) ** 2)


@opacity("shell", "cells born at a power of two, or one generation before or after it")
def by_shell(blocks: Blocks) -> NDArray[np.floating]:
    """Return the opacities by generation, of those within one of a power of two."""
    generations = blocks.generations.astype(np.int64)
    powers = 2 ** np.arange(31)
    after = np.minimum(np.searchsorted(powers, generations), 30)
    gap = np.minimum(np.abs(powers[after] - generations), np.abs(generations - powers[np.maximum(after - 1, 0)]))
    return np.where(gap <= 1, 0.3 + 0.6 * by_generation(blocks), 0.02)


@opacity("delay", "cells born later than they could first be reached")
def by_delay(blocks: Blocks) -> NDArray[np.floating]:
    """Return the delay of each cell, see `gpu_nim.automata.columns.Newborns.delays`, in parts of the longest."""
    if blocks.rule is None or (blocks.sizes > blocks.unit).any():
        raise UsageError(f"opacity delay needs single cells that grew by a rule of offsets, got {blocks.name}")
    delays = blocks.generations - earliest_generations(blocks.rule, blocks.positions[:, : blocks.rule.dimension])
    return np.asarray(_THIN + (0.9 - _THIN) * delays / max(int(delays.max()), 1))


@opacity("nim-p", "the P-positions of Nim")
def by_nim_p(blocks: Blocks) -> NDArray[np.floating]:
    """Return which cells are P-positions of Nim, with the absolute values of the coordinates as piles."""
    if (blocks.sizes > blocks.unit).any() and (blocks.positions < 0).any():
        raise UsageError(f"opacity nim-p needs single cells where coordinates are negative, and {blocks.name} is {blocks.note}")
    return np.where(nim_sum_is_zero(np.abs(blocks.positions)), _THICK, _THIN)


@opacity("depth", "cells nearer the middle")
def by_depth(blocks: Blocks) -> NDArray[np.floating]:
    """Return the distance of each block from the border, of the way from there to the middle."""
    low, high = blocks.bounds()
    away = np.linalg.norm((blocks.centres() - (low + high) / 2) / (high - low), axis=1)
    return np.asarray(_THIN + (0.85 - _THIN) * (1 - away / away.max()) ** 2)
