"""Trees of shared blocks as objects: growths that repeat themselves, of sizes that nothing else could hold.

A tree knows which cells are alive, and not since when: a block of the plane shows how many of its cells are alive, and a cell of
space how far out it is.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.macro_cells import tree
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.tracing import TreeScene
from gpu_nim.render.colourings import ALIKE, densities
from gpu_nim.render.geometry import SPACE, Blocks, merged_note

GROWN = {2: 1 << 28, 3: 1 << 32}
"""Cells of the box of a growth, by its dimension, beyond which it is drawn as a tree: what is less is grown in minutes."""


@dataclass(frozen=True)
class Tree:
    """The tree of a growth, of an automaton to a generation."""

    automaton: Automaton
    generation: int
    scene: TreeScene


def tree_of(automaton: Automaton, generation: int) -> Tree | None:
    """Return the tree of a growth too large to be grown cell by cell, or None for any other.

    >>> from gpu_nim.automata.catalogue import CATALOGUE
    >>> tree_of(CATALOGUE["hexagonal"], 63) is None
    True
    """
    if automaton.rule.dimension not in GROWN:
        return None
    low, high = automaton.rule.box(max(generation, 0))
    box = prod(last - first + 1 for first, last in zip(low, high, strict=True))
    return _tree(automaton, generation) if box > GROWN[len(low)] else None


@lru_cache(maxsize=1)
def _tree(automaton: Automaton, generation: int) -> Tree | None:
    try:
        return Tree(automaton, generation, tree(automaton, generation))
    except (InsufficientMemoryError, UsageError):
        if automaton.rule.dimension == 2:
            raise
        return None  # bits hold more of an object that does not repeat itself


def blocks_of_tree(name: str, tree: Tree, most: int, colour: str | None = None, level: int = 0, box: Any = None) -> Blocks:
    """Return a tree as blocks of one size, with how many of a million of their cells are alive.

    Args:
        name: the name of the source.
        tree: the tree.
        colour: the colouring: density, or None for it.
        most: the most blocks.
        level: as for `TreeScene.blocks`.
        box: as for `TreeScene.blocks`.

    Raises:
        UsageError: other colours, which need generations.
    """
    if colour not in (None, "density"):
        raise UsageError(f"colour must be density for {name}, of which macro-cells keep the last generation alone, got {colour!r}")
    scene, dimension = tree.scene, tree.scene.dimension
    corners, numbers, level = scene.blocks(most, level, box)
    side = 1 << level
    alive = np.rint(scene.populations[level].astype(np.float64) / side**dimension * 1e6)[numbers]
    blocks = Blocks(
        name,
        np.pad(corners, ((0, 0), (0, 3 - dimension))),
        np.full(len(corners), tree.generation),
        scene.population,
        side,
        values={"density": alive.astype(np.int64)},
        note=merged_note(len(corners), side, dimension) if level else "",
        flat=dimension == 2,
        lattice=tree.automaton.lattice,
        limits=((*scene.bounds[0], 0)[:3], (*scene.bounds[1], 0)[:3]),
        coordinates=SPACE[:dimension],
    )
    if alike(blocks):
        part = f"{np.median(alive) / 1e4:.1f} percent of each alive: a page, a zoom or an earlier generation shows the cells"
        blocks = replace(blocks, note=f"{blocks.note}, {part}")
    return blocks


def alike(blocks: Blocks) -> bool:
    """Return whether a growth in the plane is so large that its blocks are all of nearly the same density."""
    return blocks.flat and blocks.size > 1 and int(np.ptp(densities(blocks))) < ALIKE
