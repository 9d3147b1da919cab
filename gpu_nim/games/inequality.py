"""Games of inequalities by name, and as texts."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.game_graph import MAX_COORDINATES, MAX_SIZE
from gpu_nim.games.inequality_game import USER_DEFINED, Inequality, InequalityGame, Rational, rational
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
    return InequalityGame(USER_DEFINED, tuple(order), tuple(inequalities))


def is_inequalities(text: object) -> bool:
    """Whether a text is that of inequalities, and no name of a game.

    >>> is_inequalities("z >= 2y"), is_inequalities("x; y"), is_inequalities("nim")
    (True, True, False)
    """
    return isinstance(text, str) and bool(set(text) & set("<>≤≥=;"))


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
