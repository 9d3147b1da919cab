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
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import LinearBounds
from gpu_nim.games.game_graph import MAX_COORDINATES
from gpu_nim.model.arguments import IntLike, integer, integers, items, parse_rational, short_repr
from gpu_nim.model.errors import UsageError

Vector = tuple[int, ...]
Rational = Fraction | SupportsIndex | str

_LARGEST = 2**62
_USER_DEFINED = "inequalities"  # the name of a game that is read from a text


@dataclass(frozen=True)
class Inequality:
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
        object.__setattr__(self, "coefficients", tuple(_rational("coefficients", each) for each in given))
        object.__setattr__(self, "constant", _rational("constant", self.constant))
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

    def bound(self, vector: Sequence[int]) -> int:
        """The largest value that the inequality allows its target."""
        numerators, constant, denominator = self.integers
        return (sum(n * x for n, x in zip(numerators, vector, strict=True)) + constant) // denominator


@dataclass(frozen=True, repr=False)
class InequalityGame:
    """A game of [V]: the names of its coordinates and the inequalities between them.

    >>> game = chocolate(3)
    >>> game.greatest_below((7, 10, 4)), game.describe()
    ((7, 3, 4), 'chocolate, 3y <= x + z')
    """

    name: str
    coordinates: tuple[str, ...]
    inequalities: tuple[Inequality, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", tuple(items("coordinates", self.coordinates, "names")))
        object.__setattr__(self, "inequalities", tuple(items("inequalities", self.inequalities, "inequalities")))
        if not all(isinstance(inequality, Inequality) for inequality in self.inequalities):
            raise UsageError(f"inequalities must be inequalities, got {short_repr(self.inequalities)}")
        if not 1 <= len(self.coordinates) <= MAX_COORDINATES:
            raise UsageError(f"coordinates must be 1 to {MAX_COORDINATES} names, got {len(self.coordinates)}")
        for inequality in self.inequalities:
            given = len(inequality.coefficients)
            if given != len(self.coordinates):
                raise UsageError(f"coefficients must be {len(self.coordinates)}, one a coordinate, got {given}")

    def __repr__(self) -> str:
        return f"<InequalityGame {self.describe()}>"

    def describe(self) -> str:
        """The name and the inequalities, of a user-defined game with its free piles, in the notation of `parse_game`.

        >>> parse_game("x; y").describe(), parse_game("x; 2y <= z").describe(), nim(2).describe()
        ('inequalities, x; y', 'inequalities, x; 2y <= z', 'nim')
        """
        bound = {j for each in self.inequalities for j, factor in enumerate(each.coefficients) if factor or j == each.target}
        free = [name for j, name in enumerate(self.coordinates) if j not in bound] if self.name == _USER_DEFINED else []
        return ", ".join(filter(None, (self.name, "; ".join([*free, *self.formulas()]))))

    def formulas(self) -> list[str]:
        """The inequalities in integers.

        >>> parse_game("y <= x/2 - 1/3; x <= 5").formulas()
        ['6y <= 3x - 2', 'x <= 5']
        """
        result = []
        for inequality in self.inequalities:
            numerators, constant, denominator = inequality.integers
            names = zip(numerators, self.coordinates, strict=True)
            terms = [_term(n, name) for n, name in names if n] + [str(constant)] * (constant != 0)
            left = _term(denominator, self.coordinates[inequality.target])
            result.append(f"{left} <= {' + '.join(terms) or '0'}".replace("+ -", "- "))
        return result

    def is_position(self, vector: Sequence[int]) -> bool:
        """Whether the vector is one of the game's positions.

        >>> chocolate(3).is_position((7, 3, 4)), chocolate(3).is_position((7, 4, 4))
        (True, False)
        """
        return min(integers("vector", vector)) >= 0 and all(vector[i.target] <= i.bound(vector) for i in self.inequalities)

    def greatest_below(self, vector: Sequence[int]) -> Vector | None:
        """The greatest position that is nowhere above the vector, or None where there is none; the proof is above.

        >>> chocolate(3).greatest_below((0, 3, 4)), parse_game("y <= x - 1").greatest_below((0, 3))
        ((0, 1, 4), None)
        """
        lowered = list(vector)
        changed = True
        while changed:
            changed = False
            for inequality in self.inequalities:
                bound = inequality.bound(lowered)
                if bound < lowered[inequality.target]:
                    lowered[inequality.target] = bound
                    changed = True
            if min(lowered) < 0:
                return None
        return tuple(lowered)

    def moves(self, position: Sequence[int]) -> Iterator[tuple[int, int, Vector]]:
        """Every (coordinate, value it is lowered to, resulting position), the literal rule of the game.

        >>> [move for move in chocolate(3).moves((7, 3, 4)) if move[0] == 0][-1]
        (0, 6, (6, 3, 4))
        """
        for coordinate, value in enumerate(position):
            for lower in range(value):
                option = self.greatest_below([*position[:coordinate], lower, *position[coordinate + 1 :]])
                if option is not None:
                    yield coordinate, lower, option

    def limits(self, size: IntLike) -> Vector:
        """The largest value of each coordinate in the box of that size.

        Coordinates without an inequality are at most `size`, the others as large as the inequalities then allow; coordinates
        that only bound each other in a cycle are also at most `size`.

        >>> chocolate(3).limits(31), six_coordinate_chocolate().limits(12)
        ((31, 20, 31), (12, 12, 12, 12, 12, 12))
        """
        size = integer("size", size, 0, _LARGEST)
        bounded = {inequality.target for inequality in self.inequalities}
        known: dict[int, int] = {j: size for j in range(len(self.coordinates)) if j not in bounded}
        for _ in self.coordinates:
            for inequality in self.inequalities:
                needs = {j for j, coefficient in enumerate(inequality.coefficients) if coefficient}
                if needs <= known.keys():
                    bound = inequality.bound([known.get(j, 0) for j in range(len(self.coordinates))])
                    known[inequality.target] = min(bound, known.get(inequality.target, bound))
        box = self.greatest_below([known.get(j, size) for j in range(len(self.coordinates))])
        if box is None:
            formulas = "; ".join(self.formulas())
            raise UsageError(f"inequalities must allow some position with coordinates up to {size}, got {formulas}")
        return box

    def bounds(self, limits: Sequence[int]) -> LinearBounds:
        """The inequalities as int64 arrays; UsageError where a bound within the limits might exceed 64 bits."""
        rows = [inequality.integers for inequality in self.inequalities]
        for numerators, constant, denominator in rows:
            if sum(n * x for n, x in zip(numerators, limits, strict=True)) + abs(constant) + denominator > _LARGEST:
                raise UsageError(f"inequalities must have bounds below 2^62 within the box, got {self.describe()}")
        return LinearBounds(
            np.array([inequality.target for inequality in self.inequalities], dtype=np.int64),
            np.array([row[0] for row in rows], dtype=np.int64).reshape(len(rows), len(self.coordinates)),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows], dtype=np.int64),
        )

    def are_positions(self, vectors: NDArray[Any], limits: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each vector of an integer array (..., k), within the limits, is a position: shape (...)."""
        result = np.ones(vectors.shape[:-1], dtype=np.bool_)
        for target, numerators, constant, denominator in zip(*self.bounds(limits), strict=True):
            result &= vectors[..., target] <= (vectors @ numerators + constant) // denominator
        return result

    def within(self, size: IntLike) -> "BoxedInequalityGame":
        """The game on the positions of that size, as a `Game` whose options are found one by one.

        >>> from gpu_nim.games.game_graph import evolve
        >>> evolve(chocolate(3).within(4)).parents((3, 1, 2))
        {(2, 0, 2)}
        """
        return BoxedInequalityGame(self, self.limits(size))


@dataclass(frozen=True)
class BoxedInequalityGame:
    """An inequality game on the positions up to `limits`, for the algorithms for any game."""

    game: InequalityGame
    limits: Vector

    def positions(self) -> Iterator[Vector]:
        """Every position, in lexicographic order."""
        return filter(self.game.is_position, product(*(range(limit + 1) for limit in self.limits)))

    def options(self, position: Vector) -> set[Vector]:
        """The positions after one move, by trying to lower each coordinate to each value."""
        return {option for _, _, option in self.game.moves(position)}


def nim(piles: IntLike) -> InequalityGame:
    """Nim, as the game without an inequality.

    >>> nim(3).coordinates
    ('x1', 'x2', 'x3')
    """
    piles = integer("piles", piles, 1, MAX_COORDINATES)
    return InequalityGame("nim", tuple(f"x{i + 1}" for i in range(piles)), ())


def chocolate(a: Rational) -> InequalityGame:
    """Return the chocolate a y <= x + z [V Examples 3.2, 3.3]; a = 3 has Nim's P-positions [V Theorem 3.5].

    Args:
        a: a rational number above 0, such as 3, Fraction(5, 2) or "5/2".

    Raises:
        UsageError: `a` is no such number.

    >>> chocolate("5/2").formulas()
    ['5y <= 2x + 2z']
    """
    factor = 1 / positive("a", a)
    return InequalityGame("chocolate", ("x", "y", "z"), (Inequality(1, (factor, Fraction(0), factor)),))


def bar(k: Rational) -> InequalityGame:
    """The bar y <= floor(z / k) with a free pile x; for even k the Grundy value is the nim-sum.

    Nakamura and Miyadera, Impartial chocolate bar games, Integers 15 (2015), #G4.

    >>> bar(2).formulas()
    ['2y <= z']
    """
    return InequalityGame("bar", ("x", "y", "z"), (Inequality(1, (Fraction(0), Fraction(0), 1 / positive("k", k))),))


def six_coordinate_chocolate() -> InequalityGame:
    """The chocolate that can be cut in six directions [V Example 3.1].

    >>> six_coordinate_chocolate().is_position((2, 1, 2, 1, 2, 1))
    True
    """
    beside = [(i, [Fraction(j in {(i - 1) % 6, (i + 1) % 6}) for j in range(6)]) for i in range(6)]
    inequalities = tuple(Inequality(i, tuple(factors), Fraction(i % 2)) for i, factors in beside)
    return InequalityGame("chocolate6", tuple(f"x{i}" for i in range(1, 7)), inequalities)


def parse_game(text: str) -> InequalityGame:
    """The game of inequalities written as "3y <= x + z; w <= y/2 + 1", coordinates in alphabetical (and numerical) order.

    A term is a name, a rational number, or their product in the forms 3y, 3*y, 3/2 y, 1.5y, y/2; the left side has one
    term. A sum may be written (x + z)/2 or floor((x + z)/2), and the sides exchanged by >=. A name alone, "x", adds a
    coordinate without a bound. Raises UsageError for anything else.

    >>> parse_game("5/2 y <= x + z").formulas(), parse_game("x; y <= floor(z/2)").coordinates
    (['5y <= 2x + 2z'], ('x', 'y', 'z'))
    >>> parse_game("(x + z)/3 ≥ y; z >= 2w").formulas()
    ['3y <= x + z', '2w <= z']
    """
    if not isinstance(text, str):
        raise UsageError(f"inequalities must be a text such as 'y <= x + z/2', got {short_repr(text)}")
    names: set[str] = set()
    read: list[tuple[str, dict[str, Fraction]]] = []
    for part in filter(str.strip, text.translate(_SIGNS).split(";")):
        left, sign, right = part.partition("<=")
        if ">=" in part:
            right, sign, left = part.partition(">=")
        if len(re.findall("[<>=]+", part)) > 1 or (not sign and set(part) & set("<>=")):
            raise UsageError(f"inequality must have one <= or >=, got {part.strip()!r}")
        target = _parse_sum(left, part)
        ((goal, factor), *more) = target.items()
        if more or not goal or factor <= 0 or (not sign and factor != 1) or "(" in left:
            raise UsageError(f"inequality must be COORDINATE <= SUM, or a coordinate alone for a free pile, got {part.strip()!r}")
        if "floor" in right and factor.denominator > 1:  # y/2 <= floor(z/3) is not y <= 2z/3
            raise UsageError(f"inequality must have a multiple of {goal} beside floor, got {part.strip()!r}")
        names.add(goal)
        if sign:
            terms = {name: value / factor for name, value in _parse_sum(right, part).items()}
            if terms.get(goal):
                raise UsageError(f"inequality must have {goal} at the left alone, got {part.strip()!r}")
            names |= terms.keys() - {""}
            read.append((goal, terms))
    order = sorted(names, key=_natural)
    inequalities = [
        Inequality(order.index(goal), tuple(terms.get(n, Fraction(0)) for n in order), terms.get("", Fraction(0)))
        for goal, terms in read
    ]
    return InequalityGame(_USER_DEFINED, tuple(order), tuple(inequalities))


def sheared(points: NDArray[Any]) -> NDArray[Any]:
    """The points (x, y, z) as (x, y, z - x), the coordinates of Sierpinski's gasket in [V 4]: shape (n, 3).

    >>> sheared(np.array([[2, 1, 3], [3, 1, 2]])).tolist()
    [[2, 1, 1], [3, 1, -1]]
    """
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind not in "iu":
        raise UsageError(f"points must be integers of shape (n, 3), got {points.dtype} of shape {points.shape}")
    result = points.astype(np.int64)
    result[:, 2] -= result[:, 0]
    return result


# 1e3 is refused: it could be a thousand, or 1 times a coordinate e3.
_NUMBER = r"(?P<number>\d+(?:[/.]\d+)?)(?![eE]\d)\s*+(?:\*\s*(?=[A-Za-z]))?"
_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "⌊": "floor(", "⌋": ")"})
_NESTED = 4  # parentheses around a sum
_WHOLE = re.compile(r"(?:floor)?\s*\((?P<sum>.*)\)\s*(?:/\s*(?P<divisor>[0-9]+))?")
_TERM = re.compile(rf"(?:{_NUMBER})?(?P<name>[A-Za-z]\w*)?\s*(?:/\s*(?P<divisor>\d+))?", re.ASCII)


def _parse_sum(text: str, whole: str) -> dict[str, Fraction]:
    """The factor of each name, with the constant under ""."""
    result: dict[str, Fraction] = {}
    divisor = 1
    for _ in range(_NESTED):
        if around := _WHOLE.fullmatch(text.strip()):
            text, divisor = around["sum"], divisor * _divisor(around["divisor"], whole)
    for sign, part in re.findall(r"([+-]?)\s*([^+-]*)", text.strip().removeprefix("+")):
        if not part.strip() and not sign:
            continue
        match = _TERM.fullmatch(part.strip())
        if match is None or not (match["number"] or match["name"]):
            raise UsageError(f"inequality must be a sum of terms such as 3y, y/2 or 1, got {whole.strip()!r}")
        value = Fraction(match["number"] or 1) / (divisor * _divisor(match["divisor"], whole))
        name = match["name"] or ""
        result[name] = result.get(name, Fraction(0)) + (-value if sign == "-" else value)
    if not result:
        raise UsageError(f"inequality must be a sum of terms such as 3y, y/2 or 1, got {whole.strip()!r}")
    return result


def _divisor(digits: str | None, whole: str) -> int:
    if digits is not None and not int(digits):
        raise UsageError(f"inequality must not divide by 0, got {whole.strip()!r}")
    return int(digits or 1)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def _term(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}{name}"


def _rational(argument: str, value: object) -> Fraction:
    """An exact number; of a float, which is seldom the number that was meant, the binary fraction would be another game."""
    try:
        exact = parse_rational(value) if isinstance(value, str) else value
        return exact if isinstance(exact, Fraction) else Fraction(integer(argument, exact))
    except ValueError:
        raise UsageError(f"{argument} must be a rational number such as 3 or '5/2', got {short_repr(value)}") from None


def positive(argument: str, value: object) -> Fraction:
    """Return a positive rational number, given exactly.

    Args:
        argument: its name in messages.
        value: an integer, a Fraction or a text.

    Raises:
        UsageError: it is none, or its parts are too large for calculations in 64 bits.

    >>> positive("a", "2.5")
    Fraction(5, 2)
    """
    number = _rational(argument, value)
    if number <= 0 or max(number.as_integer_ratio()) > _LARGEST:
        raise UsageError(f"{argument} must be a positive number, of parts below 2^62, got {short_repr(value)}")
    return number
