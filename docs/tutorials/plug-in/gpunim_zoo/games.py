"""Moore's Nim, solved by its moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from gpu_nim.games import GameEntry, Parameter, Vectors, integer_type


@dataclass(frozen=True)
class Moore:
    """Three piles; a move takes counters from one pile at least, and from `upto` at most."""

    upto: int
    largest: int

    def positions(self) -> Iterator[tuple[int, ...]]:
        """Every position once."""
        return product(range(self.largest + 1), repeat=3)

    def options(self, position: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The positions after one move."""
        for left in product(*(range(pile + 1) for pile in position)):
            if 1 <= sum(map(int.__ne__, left, position)) <= self.upto:
                yield left


MOORE = GameEntry(
    name="moore",
    summary="Moore's Nim: take from up to a few of three piles",
    source="Moore, A generalization of the game called Nim, Annals of Mathematics 11 (1910)",
    rules=lambda upto: Vectors(lambda largest: Moore(upto, largest), ("x", "y", "z")),
    parameters=(Parameter("upto", integer_type(1, 3), "2", "from how many piles a move may take"),),
    default_size=7,
    drawn_size=7,
)
