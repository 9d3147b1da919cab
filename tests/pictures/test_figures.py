"""Figures of the papers, bars of chocolate, and flat objects as vectors: words can be read, and each shows what its text says."""

import re
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from gpu_nim import grow, solve
from gpu_nim.games.inequality import bar_of
from gpu_nim.games.named_games import as_game
from gpu_nim.model.errors import UsageError
from gpu_nim.render import draw_bar, draw_vectors, figures, render
from gpu_nim.render.figures import _TURNED, chocolate_graph, graph_camera
from gpu_nim.render.themes import THEMES, bytes_of
from tests.helpers import printed, refused
from tests.render_files import assert_apart, border, discs, lines, polygons, word_boxes, words_of

draw_figure = cache(figures.draw_figure)


@pytest.mark.parametrize("name", [*figures.FIGURES])
def test_the_words_of_a_figure_are_apart_and_within_its_sheet(name):
    drawing = draw_figure(name)
    assert_apart(word_boxes(drawing), (drawing.width, drawing.height))
    pixels = np.asarray(drawing.image(200, 150))
    assert (border(pixels) == pixels[0, 0]).all()


def test_every_position_of_nims_evolution_is_named_beside_it_and_apart_from_all_else():
    drawing = draw_figure("NF2")
    named = {text: box for text, *box in word_boxes(drawing) if text.startswith("(")}
    positions = [(a, b, a ^ b) for a in range(7) for b in range(7) if a | b <= 6]
    assert set(named) == {f"({a}, {b}, {c})" for a, b, c in positions}
    marks = [*((ends, 0.0) for ends in lines(drawing)), *(((at, at), radius) for *at, radius in discs(drawing))]
    for text, box in named.items():
        for ends, reach in marks:
            points = np.linspace(*ends, 200)
            inside = (points > np.array(box[:2]) - reach).all(axis=1) & (points < np.array(box[2:]) + reach).all(axis=1)
            assert not inside.any(), text
    for (*one, radius), (*other, radius_) in combinations(discs(drawing), 2):
        assert np.hypot(*np.subtract(one, other)) > radius + radius_
    assert {"a", "b", "c", "generation", *"0123456"} <= set(words_of(drawing))


def test_graph_2_1_has_a_disc_a_counter_and_graph_2_3_a_bar_a_pile():
    assert sorted(Counter(x for x, _, _ in discs(draw_figure("V2.1"))).items()) == [(230, 3), (360, 6), (490, 4)]
    sizes = np.array([np.ptp(strip, axis=0) for strip in polygons(draw_figure("V2.3"))])
    assert np.allclose(sizes[:, 0] / sizes[:, 1], [4, 1, 7, 1, 5, 1])


def test_graphs_4_1_to_4_3_are_one_object_turned_about_a_line_on_one_scale():
    blocks = chocolate_graph(Fraction(3), 127)
    cameras = [graph_camera(blocks, degrees) for degrees in _TURNED]
    assert len({camera.scale for camera in cameras}) == 1
    turns = [other.basis @ one.basis.T for one, other in pairwise(cameras)]
    for turn in turns:
        assert np.allclose(turn @ turn.T, np.eye(3))
        assert np.degrees(np.arccos((np.trace(turn) - 1) / 2)) == pytest.approx(28)
    assert np.allclose(*turns)
    assert np.allclose(cameras[-1].basis, [[0, 0, 1], [0, -1, 0], [1, 0, 0]])  # z - x to the right, y downwards, x to the eye
    middles = [camera.project(np.mean(blocks.bounds(), axis=0)[None])[0, :2] for camera in cameras]
    assert np.allclose(middles, 0, atol=0.02)


def outlines(drawing):
    """The outlines in an SVG document that are no letters, lines or ticks, in the order in which they are drawn."""
    groups = re.findall(r'<g id="PolyCollection_\d+">(.*?)</g>\n?', drawing.document(".svg").decode(), re.DOTALL)
    return [outline for group in groups for outline in re.findall(r'<path d="(M[^"]*z)', group)]


@pytest.mark.parametrize(("source", "tiles"), [("ulam-warburton:5", 1), ("triangular:4", 1), ("hexagonal:4", 2)])
def test_each_tile_is_a_polygon(source, tiles):
    name, last = source.split(":")
    assert len(outlines(draw_vectors(source, theme="paper"))) == tiles * grow(name, int(last)).population


def test_a_game_of_two_coordinates_and_sections_are_drawn_as_vectors():
    assert len(outlines(draw_vectors("wythoff:size=20"))) == len(solve("wythoff", 20).p_positions)
    cells = np.concatenate(list(grow("fcc", 8, cells=True)))
    seen = {0, 1, 2, 3, 4, 7, 8} & {*cells[:, 2].tolist()}
    assert 0 < len(outlines(draw_vectors("fcc:8", style="sections"))) <= sum((cells[:, 2] == z).sum() for z in seen)


@pytest.mark.parametrize("options", [{}, {"title": "Nim", "legend": True, "axes": True}])
def test_vectors_and_pixels_show_the_same(options):
    look = {"theme": "projector", "resolution": (320, 240), **options}
    vectors = np.asarray(draw_vectors("ulam-warburton:9", **look).image(320, 240), int)
    pixels = np.asarray(render("ulam-warburton:9", engine="numpy", **look).image, int)
    assert np.abs(vectors - pixels).mean() < 6
    assert np.ptp(vectors) > 200


def test_vectors_are_saved_and_what_is_in_space_is_refused(tmp_path):
    assert printed("render", "square8:5", "-o", tmp_path / "a.pdf").startswith(f"{tmp_path}/a.pdf: 1920x1080")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    words = "vectors show a flat object, or style sections, and edge:3 is in space"
    assert words in refused("render", "edge:3", "-o", tmp_path / "a.svg")
    assert "--quality would have no effect" in refused("render", "square8:5", "--quality", "draft", "-o", tmp_path / "a.svg")


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
