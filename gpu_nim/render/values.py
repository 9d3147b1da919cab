"""Further values of cells, such as branches and Grundy values: one entry each, which colourings name by `needs`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.ancestry import ancestry
from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.games.solution import Solution
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.rule import Rule
from gpu_nim.render.geometry import Blocks


@dataclass(frozen=True)
class Value:
    """A further value of cells.

    Args:
        name: its name, which colourings have in `needs`.
        summary: what it is, in a line.
        of_growth: returns it for each block of a growth, (N,), from the rule; called where a colouring needs it. None: growths
            do not have it.
        of_game: returns it for each position of a solved game, (N,); called for every game. None: games do not have it.
        every_position: a colouring that needs it shows all positions of a saved game, not only the P-positions.
    """

    name: str
    summary: str
    of_growth: Callable[[Blocks, Rule], NDArray[np.integer]] | None = None
    of_game: Callable[[Blocks, Solution], NDArray[np.integer]] | None = None
    every_position: bool = False


VALUES = Registry[Value]("value")


def grundy_values(blocks: Blocks, solution: Solution) -> NDArray[np.integer]:
    """Return the Grundy value of each position; those of a game solved for outcomes alone are P-positions, of value 0."""
    if solution.grundy is None:
        return np.zeros(len(blocks), dtype=np.int64)
    return np.asarray(solution.grundy[tuple(blocks.positions[:, : solution.grundy.ndim].T)], dtype=np.int64)


def branches(blocks: Blocks, rule: Rule) -> NDArray[np.integer]:
    """Return the branch of each cell: its ancestor of generation 1, counted from 1 in the order of these, and 0 for the seeds.

    Raises:
        UsageError: cells may have several parents, or the blocks are larger than cells.

    >>> from gpu_nim.render.source import blocks_of
    >>> branches(blocks_of("edge:2"), CATALOGUE["edge"].rule).tolist()
    [0, 1, 2, 3, 1, 2, 3]
    """
    if any(automaton.grows_nim and automaton.rule == rule for automaton in CATALOGUE.values()):
        return nims_branches(blocks.corners)
    if (blocks.sizes > blocks.unit).any():
        raise UsageError(f"colour branch needs single cells, and {blocks.name} is {blocks.note}")
    if not rule.exactly_one:
        raise UsageError(f"colour branch needs births on exactly one touch, and {blocks.name} has births {sorted(rule.births)}")
    return traced_branches(blocks, rule)


def nims_branches(positions: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the branch of each P-position (N, 3) of Nim: which of its piles is the least, from 1, and 0 for the seed.

    The leading binary digit is in two of the piles, which name the branch; the third pile is less than either.

    >>> nims_branches(np.array([[0, 0, 0], [0, 1, 1], [7, 2, 5]])).tolist()
    [0, 1, 2]
    """
    return np.where(positions.any(axis=1), positions.argmin(axis=1) + 1, 0).astype(np.int32)


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


VALUES.add(Value("branch", "the ancestor of generation 1, by its number", of_growth=branches))
VALUES.add(Value("grundy", "the Grundy value", of_game=grundy_values, every_position=True))
