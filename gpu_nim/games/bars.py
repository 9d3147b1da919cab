"""Games as bars of chocolate [V 2, 3]: a position is the piece that is left, round a bitter one, and a move breaks it along a line.

A bar lies in a plane lattice, with (0, 1) drawn at `across`. Each coordinate is a side of it, which keeps the points with
normal . point <= base + step * value. The normals are such that sides meet at points of the lattice: all is in integers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TypeAlias

from gpu_nim.games.game_graph import Vector
from gpu_nim.games.inequality import six_coordinate_chocolate
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.model.errors import UsageError

Point: TypeAlias = tuple[int, int]

_LEFT, _UP, _RIGHT, _DOWN = (-1, 0), (0, 1), (1, 0), (0, -1)
_SLANTED = (0.5, sqrt(3) / 2)  # the lattice of triangles


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
class Bar:
    """A bar of any size.

    Attributes:
        sides: its sides.
        across: where (0, 1) is drawn.

    >>> from gpu_nim.games.inequality import chocolate
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


def bar_of(rules: Ruleset) -> Bar:
    """Return the bar that a game is played on.

    Args:
        rules: up to four piles; one inequality by one or two of the coordinates, such as 3y <= x + z, and at most one free pile; or
            the chocolate of [V Example 3.1].

    Raises:
        UsageError: it is another game.

    >>> from gpu_nim.games.inequality import parse_game
    >>> bar_of(parse_game("7y <= x + z + 3")).piece((0, 0, 0))
    [(4, 0), (0, 4), (0, 0)]
    """
    if isinstance(rules, InequalityGame) and not rules.floors:
        count, bounds = len(rules.coordinates), rules.inequalities
        if count == 6 and bounds == six_coordinate_chocolate().inequalities:
            normals = _UP, (1, 1), _RIGHT, _DOWN, (-1, -1), _LEFT
            return Bar(tuple(Side(normal, int(k < 3), 1, k) for k, normal in enumerate(normals)), _SLANTED)
        if not bounds and count <= 4:
            free = (Side(_LEFT, 0, 1, 0), Side(_UP, 1, 1, 1), Side(_RIGHT, 1, 1, 2), Side(_DOWN, 0, 1, 3))
            return Bar((*free[:count], *(Side(side.normal, side.base) for side in free[count:])))
        if len(bounds) == 1 and count <= 4:
            ((factors, constant, height),), target = (each.integers for each in bounds), bounds[0].target
            above = [k for k, factor in enumerate(factors) if factor]
            rest = [k for k in range(count) if k not in (*above, target)]
            if constant >= 0 and len(above) in (1, 2) and len(rest) <= 1:
                out, step, last = 1 + constant, factors[above[-1]], above[-1]
                up, down = Side(_UP, height, height, target), Side(_DOWN, 0, height, *rest) if rest else Side(_DOWN, 0)
                if len(above) == 2:
                    return Bar((Side(_LEFT, 0, factors[above[0]], above[0]), Side((1, 1), out, step, last), up, down), _SLANTED)
                # A slope from the left, above the first row, so that the bitter piece is not flat.
                up, slope = replace(up, base=2 * height - 1), Side((-1, 1), height - 1)
                return Bar((Side(_LEFT, 0), Side(_RIGHT, out, step, last), slope, up, down), (0, step / height))
    raise UsageError(f"bars are of up to four piles, one inequality such as 3y <= x + z, or chocolate6, got {rules}")
