"""Bars of chocolate: the piece that a position is, its bitter part, and the lines along which it is broken."""

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.game_graph import Vector
from gpu_nim.games.inequality import Point, bar_of, ends
from gpu_nim.games.named_games import AnyGame, as_game
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.model.arguments import integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import call
from gpu_nim.render.drawing import Drawing, beside, sheet
from gpu_nim.render.themes import THEMES, Theme, hexadecimal

#: The colours of what is sweet, of what is bitter and of the lines, in every theme.
SWEET, BITTER, LINE = "#c8925c", "#40210f", "#7d4a24"

_WIDTH, _HEIGHT, _UNIT = 720, 480, 72.0  # points: of the sheet, the most of all bars, and of a square at the most
_MARGIN, _LABEL, _GAP = 110.0, 20.0, 8.0  # points: beside the bars, of words, and between a bar and its words
_BETWEEN = 2 * (_LABEL + _GAP)
_MOST = 1000  # lines


def draw_bar(
    game: AnyGame, position: Iterable[SupportsIndex], *, winning: Iterable[Vector] = (), theme: str = "paper", **parameters: Any
) -> Drawing:
    """Return the drawing of a position as a bar of chocolate, with a line for each move, which `save` writes.

    Args:
        game: as for `gpu_nim.solve`, one that `gpu_nim.games.inequality.bar_of` takes.
        position: the position.
        winning: positions; the lines that leave them are marked.
        theme: a name of `gpu_nim.render.themes.THEMES`.
        parameters: the parameters of the game, such as a=3 of chocolate.

    Raises:
        UsageError: the game is no bar, the position none of the game, or too large.

    >>> draw_bar("chocolate", [7, 3, 5], a=3).document(".svg")[:5]
    b'<?xml'
    """
    numbers, colours = integers("position", position), THEMES.find(theme)
    rules = as_game(game, parameters, len(numbers))
    bar, here, marked = bar_of(rules), rules.position(numbers), {*winning}
    if sum(here) > _MOST:
        raise UsageError(f"position must have at most {_MOST:,} lines to be drawn as a bar, got {sum(here):,}")
    lines = [(side.coordinate, value) for side, value in bar.cuts(here) if marked]
    lines = [line for line in lines if bar.left(here, *line) in marked]
    name = rules.describe() if len(here) < 5 else str(rules)
    caption = f"{name} at ({', '.join(map(str, here))}){', and the lines that win' * bool(lines)}"
    drawing = sheet_of_bars(colours, caption.replace("<=", "≤"), [(rules, here)], lines)
    drawing.call = call("draw_bar", str(rules), here, **rules.parameters)
    return drawing


def sheet_of_bars(
    theme: Theme, caption: str, positions: Sequence[tuple[Ruleset, Vector]], marked: Sequence[tuple[int, int]] = ()
) -> Drawing:
    """Return a drawing of positions as bars, one below the other.

    Args:
        theme: its theme.
        caption: what is written below.
        positions: the games, each with its position.
        marked: lines that are marked, each a coordinate and the value to which it is lowered.
    """
    pieces = [_Piece(rules, here) for rules, here in positions]
    width, height = max(piece.size[0] for piece in pieces), sum(piece.size[1] for piece in pieces)
    unit, top = min(_UNIT, (_WIDTH - 2 * _MARGIN) / width, _HEIGHT / height), _BETWEEN
    drawing = sheet(theme, _WIDTH, round(unit * height) + _BETWEEN * (len(pieces) + 1), caption)
    for piece in pieces:
        piece.draw(drawing, unit, top, marked)
        top += unit * piece.size[1] + _BETWEEN
    return drawing


class _Piece:
    """A position as a piece of a bar; its `size` is in units of the lattice."""

    def __init__(self, rules: Ruleset, here: Vector) -> None:
        self._names, self._here, self._bar = rules.coordinates, here, bar_of(rules)
        self._corners = self._bar.piece(here)
        self._basis = np.array([(1, 0), self._bar.across]) * (1, -1)  # downwards
        drawn = np.array(self._corners) @ self._basis
        self._low, self.size = drawn.min(axis=0), np.ptp(drawn, axis=0)

    def draw(self, drawing: Drawing, unit: float, top: float, marked: Sequence[tuple[int, int]]) -> None:
        corner = np.array([(_WIDTH - unit * self.size[0]) / 2, top])

        def place(points: Sequence[Point]) -> NDArray[np.float64]:
            return np.asarray((np.array(points) @ self._basis - self._low) * unit + corner)

        for corners, colour in ((self._corners, SWEET), (self._bar.piece((0,) * len(self._here)), BITTER)):
            drawing.polygons([place(corners)], [hexadecimal(colour)])
        for side, value in sorted(self._bar.cuts(self._here), key=lambda cut: (cut[0].coordinate, cut[1]) in marked):
            start, end = place(ends(self._corners, side, side.line(value))).tolist()
            wins = (side.coordinate, value) in marked
            drawing.line(start, end, drawing.theme.categories[2] if wins else hexadecimal(LINE), 4.0 if wins else 1.2)
        for side in self._bar.sides:
            if side.coordinate >= 0:
                text = f"{self._names[side.coordinate]} = {self._here[side.coordinate]}"
                furthest = max(map(side.along, self._corners))
                middle = place([each for each in self._corners if side.along(each) == furthest]).mean(axis=0)
                outward = np.linalg.solve(self._basis, side.normal)
                outward /= np.linalg.norm(outward)
                drawing.words(text, beside(text, middle + _GAP * outward, outward, _LABEL), _LABEL, anchor="center")
