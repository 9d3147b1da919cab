"""The evolution of the P-positions of any game of the catalogue [NF 5.3]: generations, parents and children."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.game_graph import MAX_SIZE, Evolution, Vector
from gpu_nim.games.named_games import AnyGame, as_game
from gpu_nim.games.nim.evolution_graph import PositionGraph
from gpu_nim.model.arguments import IntLike, integer


@dataclass(frozen=True)
class GenerationRow:
    """The P-positions of one generation.

    Attributes:
        generation: half the moves of their longest optimal play.
        births: how many there are.
        steps: the least and the largest step of the standard algorithm that finds them.
        parents: the least and the largest number of their parents.
        children: the least and the largest number of their children up to the size.
        first: the first of them, in the order of the game's positions.
    """

    generation: int
    births: int
    steps: tuple[int, int]
    parents: tuple[int, int]
    children: tuple[int, int]
    first: Vector


@dataclass(frozen=True, eq=False)
class GameEvolution(PositionGraph):
    """The P-positions of a game up to a size, by generation, and an edge from each parent to each child.

    Attributes:
        name: the name of the game.
        parameters: the values of its parameters.
        size: the size.
        misere: whether whoever makes the last move loses.
        evolution: all positions and moves.
        step: the step of the standard algorithm that finds each P-position, int64 (V,).
        positions: the P-positions, by generation and then in the order of the game's positions.
    """

    positions: list[Vector]
    name: str
    parameters: dict[str, Any]
    size: int
    misere: bool
    evolution: Evolution[Vector]
    step: NDArray[np.int64]

    @property
    def facts(self) -> dict[str, Any]:
        """The attributes of the graph in files."""
        return {"game": self.name, "size": self.size, **{name: str(value) for name, value in self.parameters.items()}}

    @cached_property
    def relatives(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of parents and of children of each P-position, int64 (V,) each."""
        count = len(self.positions)
        return np.bincount(self.edges[:, 1], minlength=count), np.bincount(self.edges[:, 0], minlength=count)

    def first_step_mismatch(self) -> int | None:
        """The index of the first P-position that is not found at the step of its generation; None if Lemma 24 of [NF] holds.

        >>> kayles = game_evolution("kayles", 8)
        >>> mismatch = kayles.first_step_mismatch()
        >>> kayles.positions[mismatch], int(kayles.step[mismatch]), int(kayles.generation[mismatch])
        ((4, 4), 3, 4)
        """
        mismatch = np.flatnonzero(self.step != self.generation)
        return int(mismatch[0]) if len(mismatch) else None

    def summary(self) -> dict[str, Any]:
        """The results as plain values, as `gpunim evolution GAME --json` prints them."""
        mismatch = self.first_step_mismatch()
        return {
            **self.facts,
            "misere": self.misere,
            "positions": len(self.evolution.positions),
            "p_positions": len(self.positions),
            "generations": list(map(asdict, self.rows())),
            "first_step_mismatch": None if mismatch is None else self.positions[mismatch],
        }

    def rows(self) -> Iterator[GenerationRow]:
        """The generations, in order.

        >>> [(row.births, row.first) for row in game_evolution("wythoff", 7).rows()]
        [(1, (0, 0)), (2, (1, 2)), (2, (3, 5)), (2, (4, 7))]
        """
        parents, children = self.relatives
        starts = np.flatnonzero(np.diff(self.generation, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(self.positions)], strict=True):
            here = slice(start, stop)
            yield GenerationRow(
                generation=int(self.generation[start]),
                births=stop - start,
                steps=_ends(self.step[here]),
                parents=_ends(parents[here]),
                children=_ends(children[here]),
                first=self.positions[start],
            )


def game_evolution(game: AnyGame, size: IntLike, *, misere: bool = False, **parameters: Any) -> GameEvolution:
    """The evolution of the P-positions of a game up to a size.

    Args:
        game: as for `gpu_nim.solve`.
        size: the largest value of the coordinates that have no bound of their own; of heaps, the most counters in all.
        misere: whether whoever makes the last move loses.
        parameters: the parameters of the game.

    Raises:
        UsageError: the game is unknown, or a parameter or the size wrong.
        InsufficientMemoryError: there are too many positions.

    >>> game_evolution("nim", 3).generation.tolist()  # 3^s(n) of each generation n, s the number of binary 1s
    [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    """
    rules = as_game(game, parameters)
    size = integer("size", size, 0, MAX_SIZE)
    evolution = rules.evolve(size, misere=misere)
    numbers = np.flatnonzero(evolution.is_p)
    generation = evolution.generation[numbers]
    order = numbers[np.argsort(generation, kind="stable")]
    index = np.full(len(evolution.positions), -1)
    index[order] = np.arange(len(order))
    return GameEvolution(
        name=str(rules),
        parameters=dict(rules.parameters),
        size=size,
        misere=misere,
        evolution=evolution,
        positions=[evolution.positions[number] for number in order.tolist()],
        generation=evolution.generation[order],
        edges=index[evolution.parent_pairs()],
        step=evolution.step[order],
    )


def _ends(values: NDArray[np.int64]) -> tuple[int, int]:
    return int(values.min()), int(values.max())
