"""Games as bars of chocolate: what a cut leaves, by geometry alone, is what the inequalities allow; and what is drawn of it."""

import re
from itertools import product

import numpy as np
import pytest

from gpu_nim.games.inequality import bar_of
from gpu_nim.games.named_games import as_game
from gpu_nim.model.errors import UsageError
from gpu_nim.render import draw_bar
from gpu_nim.render.themes import THEMES, bytes_of
from tests.helpers import printed
from tests.render_files import assert_apart, lines, polygons, word_boxes, words_of

GAMES = {
    "y <= x + z": 5,
    "3y <= x + z": 7,
    "5y <= 2x + 2z": 6,
    "7y <= x + z + 3": 8,
    "3y <= 2x + z + 1; w": 4,
    "y <= z/2; x": 6,
    "2y <= 3z": 8,
    "y <= z + 2": 6,
    "x;": 9,
    "w; x; y; z": 3,
    "chocolate6": 3,
}


@pytest.mark.parametrize("name", GAMES)
def test_a_cut_leaves_what_the_inequalities_allow(name):
    """By the lines that cross a piece of the plane, against the literal moves of the game."""
    game = as_game(name, {})
    bar, moves = bar_of(game), 0
    for position in filter(game.is_position, product(range(GAMES[name]), repeat=len(game.coordinates))):
        for coordinate, lower, leaves in game.moves(position):
            assert bar.left(position, coordinate, lower) == leaves, (position, coordinate, lower)
            moves += 1
    assert moves > 8


@pytest.mark.parametrize("name", ["y <= x + z; x <= 5", "y <= x - 1", "2y <= x + z; a; b", "y <= 2floor(x/2)", "kayles"])
def test_other_games_are_no_bars(name):
    with pytest.raises(UsageError, match="bars are of up to four piles"):
        bar_of(as_game(name, {}))


@pytest.mark.parametrize(
    ("game", "position"),
    [("chocolate", (7, 3, 5)), ("chocolate", (0, 0, 0)), ("chocolate6", (2, 3, 2, 1, 1, 2)), ("bar", (3, 2, 5)), ("nim", (6, 2))],
)
def test_a_bar_is_drawn_with_a_line_a_move_and_a_word_a_side(game, position):
    drawing = draw_bar(game, position)
    assert len(lines(drawing)) == sum(position)
    piece, bitter = polygons(drawing)
    for corners in (bitter, *lines(drawing)):  # within the piece, which is convex
        for one, other in zip(piece, np.roll(piece, -1, axis=0), strict=True):
            (across, down), inside = other - one, corners - one
            assert (across * inside[:, 1] - down * inside[:, 0] <= 1e-6).all()
    names = as_game(game, {}, len(position)).coordinates
    assert {f"{name} = {value}" for name, value in zip(names, position, strict=True)} < {*words_of(drawing)}
    assert_apart(word_boxes(drawing), (drawing.width, drawing.height))


def test_the_lines_that_win_are_marked(tmp_path):
    said = printed("position", "chocolate", 7, 3, 5, "--a", 3, "-o", tmp_path / "bar.svg")
    assert f"saved {tmp_path / 'bar.svg'}\n" in said
    colours = re.findall(r'id="line2d_\d+">\s*<path [^>]*stroke: (#\w+)', (tmp_path / "bar.svg").read_text())
    wins = "#{:02x}{:02x}{:02x}".format(*bytes_of(THEMES["paper"].categories[2]))
    assert len(colours) == 15
    assert colours.count(wins) == said.count("  P   ") == 3
