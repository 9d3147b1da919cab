"""Games of inequalities by name, as texts, and as bars of chocolate [V 2, 3].

A position is the piece of a bar that is left, round a bitter one, and a move breaks it along a line. A bar lies in a plane lattice,
with (0, 1) drawn at `across`. Each coordinate is a side of it, which keeps the points with normal . point <= base + step * value.
The normals are such that sides meet at points of the lattice: all is in integers.
"""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.game_graph import MAX_COORDINATES, MAX_SIZE, Vector
from gpu_nim.games.inequality_game import USER_DEFINED, Inequality, InequalityGame, Rational, rational
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.model.arguments import IntLike, integer, short_repr
from gpu_nim.model.errors import UsageError


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

    The left side is a multiple of a coordinate, 3y, 3*y, 3/2 y, 1.5y or y/2. The right side is of sums and of multiples by rational
    numbers, 2(x + z)/3; z//2 and floor(z/2) are rounded down; below min(x, z) is what is below both, and below max(x, z) what is
    below one. The sides are exchanged by >=. A name alone, "x", adds a coordinate without a bound. UsageError for anything else.

    >>> parse_game("5/2 y <= x + z").formulas(), parse_game("x; y <= floor(z/2)").coordinates
    (['5y <= 2x + 2z'], ('x', 'y', 'z'))
    >>> parse_game("(x + z)/3 ≥ y; z >= 2w").formulas()
    ['3y <= x + z', '2w <= z']
    >>> parse_game("y <= 2(x//2) + 1; x <= min(2floor(y/2) + 3, 9)").formulas()
    ['y <= 2floor(x/2) + 1', 'x <= 2floor(y/2) + 3', 'x <= 9']
    """
    if not isinstance(text, str):
        raise UsageError(f"inequalities must be a text such as 'y <= x + z/2', got {short_repr(text)}")
    read: list[tuple[str, Sum]] = []
    parts: dict[Any, None] = {}  # in order
    for part in filter(str.strip, text.translate(_SIGNS).split(";")):
        left, sign, right = part.partition("<=")
        if ">=" in part:
            right, sign, left = part.partition(">=")
        if len(re.findall("[<>=]+", part)) > 1 or (not sign and set(part) & set("<>=")):
            raise UsageError(f"inequality must have one <= or >=, got {part.strip()!r}")
        ((goal, factor), *more), *others = map(dict.items, _read(left, part))
        if others or more or not goal or not isinstance(goal, str) or factor <= 0 or (not sign and factor != 1):
            raise UsageError(f"inequality must be COORDINATE <= SUM, or a coordinate alone for a free pile, got {part.strip()!r}")
        parts[goal] = None
        for terms in _read(right, part) if sign else ():
            read.append((goal, _below_floor({each: value / factor for each, value in terms.items()})))
            used = dict.fromkeys(_parts(read[-1][1]))
            if goal in used:
                raise UsageError(f"inequality must have {goal} at the left alone, got {part.strip()!r}")
            parts |= used
    names = sorted((each for each in parts if each and isinstance(each, str)), key=_natural)
    floors = [each for each in parts if not isinstance(each, str)]
    places = {each: place for place, each in enumerate((*names, *floors))}
    rows = [(each, dict(row)) for each in floors for row in each]
    made = [Inequality(places[at], tuple(terms.get(each, 0) for each in places), terms.get("", 0)) for at, terms in (*rows, *read)]
    return InequalityGame(USER_DEFINED, tuple(names), tuple(made[len(rows) :]), tuple(made[: len(rows)]))


def is_inequalities(text: object) -> bool:
    """Whether a text is that of inequalities, and no name of a game.

    >>> is_inequalities("z >= 2y"), is_inequalities("x; y"), is_inequalities("nim")
    (True, True, False)
    """
    return isinstance(text, str) and bool(set(text) & set("<>≤≥;"))


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


#: The factor of each name, with the constant under "", and of the greatest of the floors of sums under these as tuples.
Sum: TypeAlias = dict[Any, Any]

_SIGNS = str.maketrans({"≤": "<=", "≥": ">=", "⌊": "floor(", "⌋": ")"})
# A number or a parenthesis, and whether a factor follows. 1e3 is refused: it could be a thousand, or 1 times a coordinate e3.
_FACTOR = re.compile(r"(?:(?<![\w.])(\d*\.?\d+)(?![.\d]|[eE]\d)|\))(\s*+(?=[A-Za-z(]))?", re.ASCII)
_MOST = 64  # sums of which the least is taken


def _read(side: str, whole: str) -> list[Sum]:
    """The sums of which a side of an inequality is the least: an expression in Python's grammar, where 3y is 3 * y."""
    wrong = "be a sum of terms such as 3y, y/2 or 1"
    try:
        text = _FACTOR.sub(lambda at: (f"({Fraction(at[1])})" if at[1] else ")") + "*" * (at[2] is not None), side)
        if text.isascii() and "#" not in text:
            return _sums(ast.parse(" ".join(text.split()), mode="eval").body)
    except ZeroDivisionError:
        wrong = "not divide by 0"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise UsageError(f"inequality must {wrong}, got {whole.strip()!r}")


def _sums(node: ast.expr) -> list[Sum]:
    """As above; ValueError for anything else. No operation decreases: each is done to all sums of which one is the least."""
    result: list[Sum] = []
    match node:
        case ast.Constant(value) if type(value) is int:
            result = [{"": Fraction(value)}]
        case ast.Name(name):
            result = [{name: Fraction(1)}]
        case ast.UnaryOp(ast.UAdd() | ast.USub() as sign, part):
            result = _sums(ast.BinOp(ast.Constant(1 if isinstance(sign, ast.UAdd) else -1), ast.Mult(), part))
        case ast.BinOp(left, ast.Sub(), right):
            result = _sums(ast.BinOp(left, ast.Add(), ast.UnaryOp(ast.USub(), right)))
        case ast.BinOp(left, ast.FloorDiv(), right):
            result = _sums(ast.Call(ast.Name("floor"), [ast.BinOp(left, ast.Div(), right)], []))
        case ast.BinOp(left, ast.Add(), right):
            result = [_plus(a, b) for a, b in product(_sums(left), _sums(right))]
        case ast.BinOp(left, ast.Mult() | ast.Div() as operator, right):
            sums, by = _sums(left), _sums(right)
            multiplied = isinstance(operator, ast.Mult)
            if multiplied and {*sums[0]} == {""}:
                sums, by = by, sums
            (((name, factor),),) = map(dict.items, by)
            if name or (factor < 0 and len(sums) > 1):
                raise ValueError
            factor = factor if multiplied else 1 / factor
            result = [{each: value * factor for each, value in terms.items()} for terms in sums]
        case ast.Call(ast.Name("floor"), [part], []):
            result = [_rounded([_below_floor(each)], 1) for each in _sums(part)]
        case ast.Call(ast.Name("min"), parts, []):
            result = [each for part in parts for each in _sums(part)]
        case ast.Call(ast.Name("max"), parts, []):
            chosen = [*product(*map(_sums, parts))]
            result = [_rounded(sums, math.lcm(*(value.denominator for each in sums for value in each.values()))) for sums in chosen]
    if not 1 <= len(result) <= _MOST:
        raise ValueError
    return result


def _plus(a: Sum, b: Sum, times: Fraction = Fraction(1)) -> Sum:
    return {each: a.get(each, 0) + times * b.get(each, 0) for each in (*a, *b)}


def _rounded(sums: Sequence[Sum], divisor: int) -> Sum:
    """The greatest of the floors of sums times the divisor, divided by it."""
    least = math.floor(divisor * min(terms.get("", 0) for terms in sums))
    rows = (_plus({"": Fraction(-least)}, terms, Fraction(divisor)) for terms in sums)
    floors = tuple(sorted({tuple(sorted(row.items(), key=repr)) for row in rows}, key=repr))
    whole = len(floors) == 1 and all(value.denominator == 1 for each, value in floors[0] if each)
    rest = {each: value for each, value in floors[0] if each} if whole else {floors: 1}
    return _plus({"": Fraction(least, divisor)}, rest, Fraction(1, divisor))


def _below_floor(terms: Sum) -> Sum:
    """A sum with the same floor: without one floor in it, where d times the rest are integers and 1 times that."""
    for floor in sorted((each for each in terms if not isinstance(each, str) and len(each) == 1), key=repr):
        unit = terms[floor]
        if unit.numerator == 1 and all((value / unit).denominator == 1 for value in terms.values()):
            return _plus({each: value for each, value in terms.items() if each != floor}, dict(floor[0]), unit)
    return terms


def _parts(terms: Iterable[Any]) -> Iterator[Any]:
    """The names and the floors in a sum, each after what is in it."""
    for each in sorted(terms, key=repr):
        if not isinstance(each, str):
            yield from (inner for row in each for inner in _parts(dict(row)))
        yield each


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


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
    number = rational(argument, value)
    if number <= 0 or max(number.as_integer_ratio()) > MAX_SIZE:
        raise UsageError(f"{argument} must be a positive number, of parts below 2^62, got {short_repr(value)}")
    return number


Point: TypeAlias = tuple[int, int]

_LEFT, _UP, _RIGHT, _DOWN = (-1, 0), (0, 1), (1, 0), (0, -1)
_SLANTED = (0.5, math.sqrt(3) / 2)  # the lattice of triangles


@dataclass(frozen=True)
class Side:
    """A side of a bar.

    Attributes:
        normal: its normal, outwards.
        base: where it lies when its coordinate is 0.
        step: how much further out for each 1 of its coordinate.
        coordinate: the coordinate that is lowered by cuts along it; -1 if it is not cut.
    """

    normal: Point
    base: int
    step: int = 0
    coordinate: int = -1

    def at(self, position: Vector) -> int:
        """Where it lies, by its normal, at a position."""
        return self.line(position[self.coordinate] if self.coordinate >= 0 else 0)

    def line(self, value: int) -> int:
        """Where it lies, by its normal, when its coordinate has a value."""
        return self.base + self.step * value

    def along(self, point: Sequence[int]) -> int:
        """How far out a point lies, by its normal."""
        return self.normal[0] * point[0] + self.normal[1] * point[1]


@dataclass(frozen=True)
class ChocolateBar:
    """A bar of any size.

    Attributes:
        sides: its sides.
        across: where (0, 1) is drawn.

    >>> found = bar_of(chocolate(3))
    >>> found.piece((7, 3, 5)), found.left((7, 3, 5), 0, 2)
    ([(6, 0), (-6, 12), (-7, 12), (-7, 0)], (2, 2, 5))
    """

    sides: tuple[Side, ...]
    across: tuple[float, float] = (0, 1)

    def piece(self, position: Vector) -> list[Point]:
        """The corners of what is left at a position, in order."""
        far = 2 * sum(abs(side.at(position)) for side in self.sides)
        corners = [(-far, -far), (far, -far), (far, far), (-far, far)]
        for side in self.sides:
            corners = kept(corners, side, side.at(position))
        return corners

    def cuts(self, position: Vector) -> Iterator[tuple[Side, int]]:
        """Every line, by its side and the value to which it lowers the coordinate."""
        return ((side, value) for side in self.sides if side.coordinate >= 0 for value in range(position[side.coordinate]))

    def left(self, position: Vector, coordinate: int, lower: int) -> Vector:
        """What a cut leaves: of each coordinate the number of its lines that still cross the piece.

        Args:
            position: the position before it.
            coordinate: the coordinate that is lowered.
            lower: the value to which it is.
        """
        piece = self.piece((*position[:coordinate], lower, *position[coordinate + 1 :]))
        spans = {side: sorted(map(side.along, piece)) for side in self.sides}
        crossing = [side.coordinate for side, value in self.cuts(position) if spans[side][0] < side.line(value) < spans[side][-1]]
        return tuple(map(crossing.count, range(len(position))))


def ends(piece: Sequence[Point], side: Side, line: int) -> list[Point]:
    """The two ends of a line that crosses a piece, or one or two where it touches it."""
    return [corner for corner in kept(piece, side, line) if side.along(corner) == line]


def kept(corners: Sequence[Point], side: Side, line: int) -> list[Point]:
    """The corners of the part of a convex polygon that a side keeps where it lies at a line."""
    found: list[Point] = []
    for one, other in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        far, far_ = side.along(one) - line, side.along(other) - line
        if far <= 0:
            found.append(one)
        if far * far_ < 0:
            part = other[0] - one[0], other[1] - one[1]  # times far / (far - far_), which is a point of the lattice
            found.append((one[0] + part[0] * far // (far - far_), one[1] + part[1] * far // (far - far_)))
    return found


def bar_of(rules: Ruleset) -> ChocolateBar:
    """Return the bar that a game is played on.

    Args:
        rules: up to four piles; one inequality by one or two of the coordinates, such as 3y <= x + z, and at most one free pile; or
            the chocolate of [V Example 3.1].

    Raises:
        UsageError: it is another game.

    >>> bar_of(parse_game("7y <= x + z + 3")).piece((0, 0, 0))
    [(4, 0), (0, 4), (0, 0)]
    """
    if isinstance(rules, InequalityGame) and not rules.floors:
        count, bounds = len(rules.coordinates), rules.inequalities
        if count == 6 and bounds == six_coordinate_chocolate().inequalities:
            normals = _UP, (1, 1), _RIGHT, _DOWN, (-1, -1), _LEFT
            return ChocolateBar(tuple(Side(normal, int(k < 3), 1, k) for k, normal in enumerate(normals)), _SLANTED)
        if not bounds and count <= 4:
            free = (Side(_LEFT, 0, 1, 0), Side(_UP, 1, 1, 1), Side(_RIGHT, 1, 1, 2), Side(_DOWN, 0, 1, 3))
            return ChocolateBar((*free[:count], *(Side(side.normal, side.base) for side in free[count:])))
        if len(bounds) == 1 and count <= 4:
            ((factors, constant, height),), target = (each.integers for each in bounds), bounds[0].target
            above = [k for k, factor in enumerate(factors) if factor]
            rest = [k for k in range(count) if k not in (*above, target)]
            if constant >= 0 and len(above) in (1, 2) and len(rest) <= 1:
                out, step, last = 1 + constant, factors[above[-1]], above[-1]
                up, down = Side(_UP, height, height, target), Side(_DOWN, 0, height, *rest) if rest else Side(_DOWN, 0)
                if len(above) == 2:
                    return ChocolateBar(
                        (Side(_LEFT, 0, factors[above[0]], above[0]), Side((1, 1), out, step, last), up, down), _SLANTED
                    )
                # A slope from the left, above the first row, so that the bitter piece is not flat.
                up, slope = replace(up, base=2 * height - 1), Side((-1, 1), height - 1)
                return ChocolateBar((Side(_LEFT, 0), Side(_RIGHT, out, step, last), slope, up, down), (0, step / height))
    raise UsageError(f"bars are of up to four piles, one inequality such as 3y <= x + z, or chocolate6, got {rules}")
