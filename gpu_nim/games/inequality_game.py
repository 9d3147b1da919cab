r"""Games whose positions satisfy linear inequalities [V].

Positions are vectors of non-negative integers with x_i <= floor(sum_j c_ij x_j + d_i) for each inequality, c_ij >= 0
rational, d_i rational. A move lowers one coordinate; the others drop, where they must, to the greatest remaining position.
It exists:

If p and q satisfy the inequalities, so does their componentwise maximum m, for m_i is p_i or q_i, say p_i, and
p_i <= floor(sum_j c_ij p_j + d_i) <= floor(sum_j c_ij m_j + d_i), since c_ij >= 0 and p_j <= m_j. So the positions
below a vector v, finitely many, are empty or have a greatest one, their maximum. Replacing v_i by the bound of an
inequality that v violates keeps every position p <= v below v, by the same comparison. As v decreases, this ends at a vector
that violates none, the greatest position below v, or at a negative coordinate: then there is none, and lowering that far is
not a move.

Where inequalities bound the lowered coordinate by the others, it may end lower than it was set.

All of this holds with any bounds that do not decrease, such as 2 floor(x/2) + 1 and the greater of two.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm, prod
from operator import or_
from typing import Any, ClassVar, Self, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Backend, LinearBounds
from gpu_nim.backends.selection import select
from gpu_nim.games.game_graph import MAX_COORDINATES, MAX_SIZE, Listed, Vector
from gpu_nim.games.rulesets import GameMove, Ruleset
from gpu_nim.games.solution import Solution, vectors_of_box
from gpu_nim.games.theorems import BOUTON, CHOCOLATE, EVEN_BARS, FIRST_CHOCOLATE, SHIFTED_CHOCOLATE, Theorem
from gpu_nim.model.arguments import IntLike, integer, integers, items, parse_rational, short_repr
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, host_memory, require_memory

Rational = Fraction | SupportsIndex | str

T = TypeVar("T")

#: The name of a game that is read from a text.
USER_DEFINED = "inequalities"

_LARGEST_FLOOR = (1 << 32) - 1
_MANY_CELLS = 1 << 24  # of a box: their graph takes tens of gigabytes


@dataclass(frozen=True, repr=False)
class Inequality(Shown):
    """x[target] <= floor(sum of coefficients[j] * x[j] + constant); a coordinate does not bound itself.

    Raises UsageError for a negative coefficient, or one of the target itself.

    >>> third = Fraction(1, 3)
    >>> Inequality(1, (third, Fraction(0), third)).bound((7, 0, 4))  # 3y <= x + z
    3
    """

    target: int
    coefficients: tuple[Fraction, ...]
    constant: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        given = items("coefficients", self.coefficients, "rational numbers")
        object.__setattr__(self, "coefficients", tuple(rational("coefficients", each) for each in given))
        object.__setattr__(self, "constant", rational("constant", self.constant))
        object.__setattr__(self, "target", integer("target", self.target))
        if not 0 <= self.target < len(self.coefficients):
            raise UsageError(f"target must be one of {len(self.coefficients)} coordinates, got {short_repr(self.target)}")
        if any(coefficient < 0 for coefficient in self.coefficients):
            raise UsageError(f"coefficients must not be negative, got {min(self.coefficients)}")
        if self.coefficients[self.target]:
            raise UsageError(f"coefficients must be 0 for the coordinate bounded, got {short_repr(self.coefficients[self.target])}")

    @cached_property
    def integers(self) -> tuple[Vector, int, int]:
        """Numerators, constant and denominator in integers: x[target] <= (numerators . x + constant) // denominator."""
        denominator = lcm(self.constant.denominator, *(c.denominator for c in self.coefficients))
        return tuple(int(c * denominator) for c in self.coefficients), int(self.constant * denominator), denominator

    def bound(self, values: Sequence[Any]) -> Any:
        """The largest value that the inequality allows its target: an integer, or an array where the values are arrays."""
        numerators, constant, denominator = self.integers
        return (sum(n * x for n, x in zip(numerators, values, strict=False)) + constant) // denominator

    def used(self, sets: Sequence[set[T]]) -> set[T]:
        """The union of the sets of those values by which the inequality bounds its target."""
        return {each for factor, some in zip(self.coefficients, sets, strict=False) if factor for each in some}

    def written(self, names: Sequence[str]) -> str:
        """The sum in integers, of values of these names."""
        numerators, constant, _ = self.integers
        terms = [_term(n, name) for n, name in zip(numerators, names, strict=False) if n] + [str(constant)] * (constant != 0)
        return (" + ".join(terms) or "0").replace("+ -", "- ")


@dataclass(frozen=True, repr=False)
class InequalityGame(Ruleset):
    """A game of [V]: a coordinate is lowered, and others drop where the inequalities between them force them.

    Args:
        name: its name.
        coordinates: the names of its coordinates.
        inequalities: the inequalities.
        floors: further values by which they may bound, numbered after the coordinates: each the bound of an `Inequality` whose
            target it is, or the greatest of those of several, and none below 0.

    >>> from gpu_nim.games.inequality import chocolate
    >>> game = chocolate(3)
    >>> game.greatest_below((7, 10, 4)), game.describe()
    ((7, 3, 4), 'chocolate, 3y <= x + z')
    """

    name: str = field()
    coordinates: tuple[str, ...]
    inequalities: tuple[Inequality, ...]
    floors: tuple[Inequality, ...] = ()
    on_backends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", tuple(items("coordinates", self.coordinates, "names")))
        object.__setattr__(self, "inequalities", tuple(items("inequalities", self.inequalities, "inequalities")))
        object.__setattr__(self, "floors", tuple(items("floors", self.floors, "inequalities")))
        if not all(isinstance(inequality, Inequality) for inequality in (*self.floors, *self.inequalities)):
            raise UsageError(f"inequalities must be inequalities, got {short_repr(self.floors + self.inequalities)}")
        if not 1 <= len(self.coordinates) <= MAX_COORDINATES:
            raise UsageError(f"coordinates must be 1 to {MAX_COORDINATES} names, got {len(self.coordinates)}")
        values = len(self.coordinates) + len({floor.target for floor in self.floors})
        for inequality in (*self.floors, *self.inequalities):
            if inequality in self.floors and inequality.constant < 0:
                raise UsageError(f"floors must have constants of at least 0, got {inequality.constant}")
            if len(inequality.coefficients) != values:
                raise UsageError(f"coefficients must be {values}, one a coordinate, got {len(inequality.coefficients)}")

    def _line(self) -> str:
        return f"<InequalityGame {self.describe()}>"

    @cached_property
    def theorem(self) -> Theorem | None:
        """The theorem on a game of inequalities of this form; None where none is known.

        That is Nim; a y <= x + z of any three coordinates, for a = 3 mod 4; for a = 1 mod 4 with y the second coordinate; and k y
        <= z for even k, where other coordinates are piles of Nim.

        >>> from gpu_nim.games.inequality import chocolate
        >>> [(a, chocolate(a).theorem and chocolate(a).theorem.statement) for a in (1, 2, 3)]
        [(1, 'v-theorem-3.1'), (2, None), (3, 'v-remark-4.1')]
        """
        if not self.inequalities:
            return BOUTON
        only, *more = self.inequalities
        coefficients, constant, denominator = only.integers
        if more or constant or self.floors:
            return None
        if sorted(coefficients) == [0, 1, 1]:
            if denominator % 4 == 3:
                return CHOCOLATE
            shifted = FIRST_CHOCOLATE if denominator == 1 else SHIFTED_CHOCOLATE
            return shifted if denominator % 4 == 1 and only.target == 1 else None
        return EVEN_BARS if sum(coefficients) == 1 and denominator % 2 == 0 else None

    def describe(self) -> str:
        """The name and the inequalities, of a user-defined game with its free piles, in the notation of `parse_game`.

        >>> from gpu_nim.games.inequality import nim, parse_game
        >>> parse_game("x; y").describe(), parse_game("x; 2y <= z").describe(), nim(2).describe()
        ('inequalities, x; y', 'inequalities, x; 2y <= z', 'nim')
        """
        bound = {j for each, needs in self._needs for j in (each.target, *needs)}
        free = [name for j, name in enumerate(self.coordinates) if j not in bound] if self.name == USER_DEFINED else []
        return ", ".join(filter(None, (self.name, "; ".join([*free, *self.formulas()]))))

    def formulas(self) -> list[str]:
        """The inequalities in integers.

        >>> from gpu_nim.games.inequality import parse_game
        >>> parse_game("y <= x/2 - 1/3; x <= 5").formulas()
        ['6y <= 3x - 2', 'x <= 5']
        """
        names = self._with_floors(self.coordinates, _floor_in_words, "max({}, {})".format)
        return [f"{_term(each.integers[2], names[each.target])} <= {each.written(names)}" for each in self.inequalities]

    def _with_floors(self, of: Sequence[T], one: Callable[[Inequality, Sequence[T]], T], both: Callable[[T, T], T]) -> list[T]:
        """What belongs to the coordinates, and what then belongs to the floors."""
        result = [*of]
        for each in self.floors:
            new = one(each, result)
            result[each.target :] = [both(old, new) for old in result[each.target :]] or [new]
        return result

    def values(self, vector: Sequence[Any]) -> list[Any]:
        """The coordinates, integers or arrays, and then the floors."""
        return self._with_floors(vector, Inequality.bound, lambda old, new: (old + new + abs(old - new)) // 2)

    @cached_property
    def _needs(self) -> list[tuple[Inequality, set[int]]]:
        """Each inequality, with the coordinates by which it bounds another."""
        sets = self._with_floors([{j} for j in range(len(self.coordinates))], Inequality.used, or_)
        return [(each, each.used(sets)) for each in self.inequalities]

    def position(self, numbers: Sequence[int]) -> Vector:
        """The position of these coordinates."""
        position = super().position(numbers)
        if not self.is_position(position):
            raise UsageError(f"position must satisfy {'; '.join(self.formulas())}, got {position}")
        return position

    def is_position(self, vector: Sequence[int]) -> bool:
        """Whether the vector is one of the game's positions.

        >>> from gpu_nim.games.inequality import chocolate
        >>> chocolate(3).is_position((7, 3, 4)), chocolate(3).is_position((7, 4, 4))
        (True, False)
        """
        values = self.values(integers("vector", vector))
        return min(values) >= 0 and all(values[i.target] <= i.bound(values) for i in self.inequalities)

    def greatest_below(self, vector: Sequence[int]) -> Vector | None:
        """The greatest position that is nowhere above the vector, or None where there is none; the proof is above.

        >>> from gpu_nim.games.inequality import chocolate, parse_game
        >>> chocolate(3).greatest_below((0, 3, 4)), parse_game("y <= x - 1").greatest_below((0, 3))
        ((0, 1, 4), None)
        """
        lowered = list(vector)
        changed = True
        while changed:
            changed, values = False, self.values(lowered)
            for inequality in self.inequalities:
                bound = inequality.bound(values)
                if bound < lowered[inequality.target]:
                    lowered[inequality.target] = bound
                    changed = True
            if min(lowered) < 0:
                return None
        return tuple(lowered)

    def moves(self, position: Sequence[int]) -> Iterator[tuple[int, int, Vector]]:
        """Every (coordinate, value it is lowered to, resulting position), the literal rule of the game.

        >>> from gpu_nim.games.inequality import chocolate
        >>> [move for move in chocolate(3).moves((7, 3, 4)) if move[0] == 0][-1]
        (0, 6, (6, 3, 4))
        """
        for coordinate, value in enumerate(position):
            for lower in range(value):
                option = self.greatest_below([*position[:coordinate], lower, *position[coordinate + 1 :]])
                if option is not None:
                    yield coordinate, lower, option

    def moves_in_words(self, position: Vector) -> Iterator[GameMove]:
        """Every move, with the coordinates that drop.

        >>> from gpu_nim.games.inequality import chocolate
        >>> [option.move for option in chocolate(3).moves_in_words((1, 1, 2))]
        ['x to 0, and y drops to 0', 'y to 0', 'z to 0, and y drops to 0', 'z to 1, and y drops to 0']
        """
        return (self._move(position, *move) for move in self.moves(position))

    def _move(self, position: Vector, coordinate: int, lower: int, leaves: Vector) -> GameMove:
        names = zip(self.coordinates, position, leaves, strict=True)
        drops = [f"{name} drops to {new}" for i, (name, old, new) in enumerate(names) if new < old and i != coordinate]
        if leaves[coordinate] < lower:
            drops.insert(0, f"itself drops to {leaves[coordinate]}")
        return GameMove(", and ".join([f"{self.coordinates[coordinate]} to {lower}", *drops]), leaves)

    def move_to(self, position: Vector, leaves: Vector) -> GameMove | None:
        """The first move that leaves a position, which lowers a coordinate to what it is there; None where no move does."""
        for at, value in enumerate(leaves):
            if 0 <= value < position[at] and self.greatest_below([*position[:at], value, *position[at + 1 :]]) == leaves:
                return self._move(position, at, value, leaves)
        return None

    def options(self, position: Vector) -> Iterator[Vector]:
        """The positions that the moves leave."""
        return (leaves for _, _, leaves in self.moves(position))

    def limits(self, size: IntLike) -> Vector:
        """The largest value of each coordinate in the box of that size.

        Coordinates without an inequality are at most `size`, the others as large as the inequalities then allow; coordinates
        that only bound each other in a cycle are also at most `size`.

        >>> from gpu_nim.games.inequality import chocolate, six_coordinate_chocolate
        >>> chocolate(3).limits(31), six_coordinate_chocolate().limits(12)
        ((31, 20, 31), (12, 12, 12, 12, 12, 12))
        """
        known = self._known(size := integer("size", size, 0, MAX_SIZE))
        box = self.greatest_below([known.get(j, size) for j in range(len(self.coordinates))])
        if box is None:
            formulas = "; ".join(self.formulas())
            raise UsageError(f"inequalities must allow some position with coordinates up to {size}, got {formulas}")
        return box

    @property
    def sized(self) -> tuple[int, ...]:
        """The coordinates that are at most the size of the box: those without an inequality, and those in a cycle of them.

        >>> from gpu_nim.games.inequality import chocolate, six_coordinate_chocolate
        >>> chocolate(3).sized, six_coordinate_chocolate().sized
        ((0, 2), (0, 1, 2, 3, 4, 5))
        """
        bounded, known = {inequality.target for inequality in self.inequalities}, self._known(0)
        return tuple(j for j in range(len(self.coordinates)) if j not in bounded or j not in known)

    def _known(self, size: int) -> dict[int, int]:
        """The largest value of each coordinate in the box of that size, but of those that a cycle of inequalities bounds."""
        every = range(len(self.coordinates))
        known = dict.fromkeys({*every} - {inequality.target for inequality in self.inequalities}, size)
        for _ in every:
            for inequality, needs in self._needs:
                if needs <= known.keys():
                    bound = inequality.bound(self.values([known.get(j, 0) for j in every]))
                    known[inequality.target] = min(bound, known.get(inequality.target, bound))
        return known

    def bounds(self, limits: Sequence[int]) -> LinearBounds:
        """The inequalities as int64 arrays; UsageError where a bound within the limits might exceed 64 bits."""
        every, values = (*self.floors, *self.inequalities), self.values([*map(int, limits)])
        rows = [inequality.integers for inequality in every]
        for numerators, constant, denominator in rows:
            bound = sum(n * x for n, x in zip(numerators, values, strict=True)) + abs(constant) + denominator
            if bound > MAX_SIZE or max(values[len(limits) :], default=0) > _LARGEST_FLOOR:
                raise UsageError(
                    f"inequalities must have bounds below 2^62, and floors below 2^32, within the box, got {self.describe()}"
                )
        return LinearBounds(
            np.array([inequality.target for inequality in every], dtype=np.int64),
            np.array([row[0] for row in rows], dtype=np.int64).reshape(len(rows), len(values)),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows], dtype=np.int64),
        )

    def are_positions(self, vectors: NDArray[Any], limits: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each vector of an integer array (..., k), within the limits, is a position: shape (...)."""
        self.bounds(limits)  # within 64 bits
        result, values = np.ones(vectors.shape[:-1], dtype=np.bool_), self.values([*np.moveaxis(vectors, -1, 0)])
        for each in self.inequalities:
            result &= values[each.target] <= each.bound(values)
        return result

    def within(self, size: IntLike) -> Listed:
        """The game on the positions of that size, in lexicographic order, whose options are found one by one.

        >>> from gpu_nim.games.game_graph import evolve
        >>> from gpu_nim.games.inequality import chocolate
        >>> evolve(chocolate(3).within(4)).parents((3, 1, 2))
        {(2, 0, 2)}
        """
        box = product(*(range(limit + 1) for limit in self.limits(size)))
        return Listed([*filter(self.is_position, box)], lambda position: {*self.options(position)})

    def extent(self, size: int) -> tuple[int, int]:
        """The positions of the box, and as many moves as their coordinates add up to; the cells of a box beyond all memory."""
        limits = self.limits(size)
        cells = prod(limit + 1 for limit in limits)
        if cells > _MANY_CELLS:
            return cells, cells * sum(limits) // 2
        found = [vectors[self.are_positions(vectors, limits)] for _, vectors in vectors_of_box(limits)]
        return sum(map(len, found)), sum(int(vectors.sum()) for vectors in found)

    def solve(self, size: int, *, grundy: bool, backend: str | Backend, progress: OnStep) -> Solution:
        """Solve the inequalities on the backend.

        Raises:
            UsageError: the box has more than 2^62 cells.
            InsufficientMemoryError: the box is too large.
            BackendError: the backend cannot run here.
        """
        chosen, limits = select(backend), self.limits(size)
        if prod(limit + 1 for limit in limits) > MAX_SIZE:
            raise UsageError(f"size must give a box of at most 2^62 cells, got {size} for {self.describe()}")
        wedge = _OneBounded.of(self, limits)
        started = time.perf_counter()
        if wedge is not None:
            found = wedge.solve(chosen, grundy, progress)
        else:
            function = chosen.inequality_grundy if grundy else chosen.inequality_outcomes
            found = function(self.bounds(limits), np.array(limits), progress)
        seconds = time.perf_counter() - started
        if wedge is not None:
            positions = int(wedge.top.sum()) + wedge.top.size
        else:
            positions = sum(int(self.are_positions(vectors, limits).sum()) for _, vectors in vectors_of_box(limits))
        points, values = (np.argwhere(found == 0), found) if grundy else (found, None)
        facts = {"grundy": values, "positions": positions, "seconds": seconds}
        return self._solution(size, limits, chosen, points, self._nim_positions(limits), **facts)

    def _nim_positions(self, limits: Vector) -> Ints:
        """The positions with nim-sum 0, int64 (n, k) in lexicographic order: the longest coordinate is determined by the others."""
        last = max(range(len(limits)), key=lambda j: limits[j])
        sides = [limit + 1 if j != last else 1 for j, limit in enumerate(limits)]
        vectors = np.indices(sides).reshape(len(limits), -1).T
        vectors[:, last] = np.bitwise_xor.reduce(vectors, axis=1)
        vectors = vectors[vectors[:, last] <= limits[last]]
        vectors = vectors[self.are_positions(vectors, limits)]
        return vectors[np.lexsort(vectors.T[::-1])]


@dataclass(frozen=True)
class _OneBounded:
    """A wedge: two or three coordinates of which one, bounded by the others alone, lies between 0 and top[the others].

    `order` are the game's coordinates in the wedge's order: x (absent where there are two), the bounded y, z.
    """

    top: Ints
    order: tuple[int, ...]

    @classmethod
    def of(cls, game: InequalityGame, limits: Vector) -> Self | None:
        targets = {inequality.target for inequality in game.inequalities}
        if len(targets) != 1 or len(limits) not in (2, 3):
            return None
        (middle,) = targets
        others = [j for j in range(len(limits)) if j != middle]
        sides = [limits[j] + 1 for j in others]
        arrays = 2 * len(game.bounds(limits).targets) + 2
        require_memory(arrays * 8 * prod(sides), host_memory(), f"solving {game.describe()}")
        axes = [*np.ogrid[tuple(map(slice, sides))]]
        values = game.values([*axes[:middle], 0, *axes[middle:]])
        tops = [np.broadcast_to(each.bound(values), sides) for each in game.inequalities]
        top = np.minimum.reduce(tops).reshape([1] * (3 - len(limits)) + sides)
        if top[0, 0] < 0:
            return None
        return cls(top, (*others[:-1], middle, others[-1]))

    def solve(self, on: Backend, grundy: bool, progress: OnStep) -> NDArray[np.signedinteger]:
        """The Grundy values or the P-positions, in the order of the game's coordinates."""
        order, absent = np.argsort(self.order), 3 - len(self.order)
        if grundy:
            values = on.wedge_grundy(self.top, progress)
            return np.ascontiguousarray((values[0] if absent else values).transpose(order))
        points = on.wedge_outcomes(self.top, progress)[:, absent:][:, order]
        return points[np.lexsort(points.T[::-1])]


def _term(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}{name}"


def _floor_in_words(floor: Inequality, names: Sequence[str]) -> str:
    total, divisor = floor.written(names), floor.integers[2]
    return total if divisor == 1 else f"floor({f'({total})' if ' ' in total else total}/{divisor})"


def rational(argument: str, value: object) -> Fraction:
    """An exact number; of a float, which is seldom the number that was meant, the binary fraction would be another game."""
    try:
        exact = parse_rational(value) if isinstance(value, str) else value
        return exact if isinstance(exact, Fraction) else Fraction(integer(argument, exact))
    except ValueError:
        raise UsageError(f"{argument} must be a rational number such as 3 or '5/2', got {short_repr(value)}") from None
