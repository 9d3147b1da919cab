"""Opacities: one function each, registered with what makes a cell of a volume opaque.

The option `opacity` takes its name. A function returns the part of the light that each cell absorbs, between 0 and 1, where a ray
meets as many cells as `gpu_nim.render.styles.volume` says; cells shine in proportion to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.measures import earliest_generations
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.render.colourings import nim_p
from gpu_nim.render.geometry import Blocks


@dataclass(frozen=True)
class Opacity:
    """What the opacity of cells shows.

    Args:
        name: its name.
        summary: which cells are opaque, in a line.
        of: returns the opacity of each block, between 0 and 1, (N,); UsageError where the blocks have not what it reads.
    """

    name: str
    summary: str
    of: Callable[[Blocks], NDArray[np.floating]]


OPACITIES = Registry[Opacity]("opacity")


@OPACITIES.decorator(partial(Opacity, "generation", "older cells"))
def by_generation(blocks: Blocks) -> NDArray[np.floating]:
    """Return 0.85 for the first generation, and less for later ones, down to 0.12 for the last."""
    return np.asarray(0.12 + 0.73 * (1 - blocks.generations / max(blocks.span[1], 1)) ** 2)


@OPACITIES.decorator(partial(Opacity, "shell", "cells born at a power of two, or one generation before or after it"))
def by_shell(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities of the generations within one of a power of two, less for outer shells."""
    shells = 2 ** np.arange(31)[:, None] + [-1, 0, 1]
    return np.where(np.isin(blocks.generations, shells), 0.3 + 0.6 * by_generation(blocks), 0.02)


@OPACITIES.decorator(partial(Opacity, "delay", "cells born later than they could first be reached"))
def by_delay(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by the generation less the earliest one, see `gpu_nim.automata.measures.earliest_generations`."""
    if blocks.rule is None or blocks.size > blocks.unit:
        raise UsageError(f"opacity delay needs single cells that grew by a rule of offsets, got {blocks.name}")
    delays = blocks.generations - earliest_generations(blocks.rule, blocks.positions[:, : blocks.rule.dimension])
    return np.asarray(0.05 + 0.8 * delays / max(int(delays.max()), 1))


@OPACITIES.decorator(partial(Opacity, "nim-p", "the P-positions of Nim"))
def by_nim_p(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by which cells are P-positions of Nim, see `gpu_nim.render.colourings.nim_p`."""
    return np.where(nim_p(blocks), 0.97, 0.05)


@OPACITIES.decorator(partial(Opacity, "depth", "cells near the middle"))
def by_depth(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by the distance from the middle, in parts of the farthest."""
    low, high = blocks.bounds()
    away = np.linalg.norm((blocks.centres() - (low + high) / 2) / (high - low), axis=1)
    return np.asarray(0.05 + 0.8 * (1 - away / max(float(away.max()), 1e-9)) ** 2)
