"""Sources of pictures: rules of one's own, one growth a picture, and objects of four coordinates and more, projected to space."""

import pickle
from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from gpu_nim import grow, save, solve
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.user_defined import define
from gpu_nim.counting.families import ByTotal
from gpu_nim.model.arrays import same
from gpu_nim.model.errors import UsageError
from gpu_nim.render import embed, to_pyvista
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.gathering import FINE, frame, in_space, one_at_each_point
from gpu_nim.render.image import choose_engine, prepare, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie
from gpu_nim.render.movie import make_movie
from gpu_nim.render.source import blocks_of, read_source
from gpu_nim.render.themes import THEMES
from gpu_nim.render.traced_object import traced_object
from tests.helpers import calls, facts

SMALL = {"resolution": (64, 48), "quality": "draft"}
RULES = ["B12/S01234V:15", "3D0..26/1,2:7", "B2/S0123456H:20", "B12/S01234V:2^20"]


@pytest.mark.parametrize("rule", RULES)
def test_every_picture_command_takes_a_rule_of_golly(rule, tmp_path):
    automaton, _, last = rule.partition(":")
    growth = ["--engine", "macro-cells"] if last == "2^20" else []
    population = facts("grow", automaton, "--gen", last, *growth, "--json")["population"]
    look = ["--resolution", "64x48", "--quality", "draft", "--json"]
    assert facts("render", rule, "-o", tmp_path / "rule.png", *look)["population"] == population
    assert facts("export", rule, "-o", tmp_path / "rule.html", "--json")["population"] == population
    assert facts("movie", rule, "-o", tmp_path / "rule.gif", "--seconds", "0.1", *look)["frames"] == 3
    if last != "2^20":
        assert facts("export", rule, "-o", tmp_path / "rule.glb", "--json")["population"] == population


@pytest.mark.parametrize("rule", RULES)
def test_a_notebook_shows_a_rule_of_golly(rule):
    automaton, _, last = rule.partition(":")
    assert repr(embed(rule)).startswith(f"EmbeddedPage({rule}, ")
    pytest.importorskip("pyvista")
    grid = to_pyvista(rule, limit=1 << 12)
    if last == "2^20":
        assert 1 < grid.n_cells <= 1 << 12
    else:
        growth = grow(automaton, int(last))
        assert np.bincount(grid.cell_data["generation"], minlength=len(growth)).tolist() == growth.births.tolist()
        assert growth.to_pyvista().n_cells == grid.n_cells == growth.population


@pytest.mark.parametrize("source", ["edge:72", "3D0..26/1,2:9"])
@pytest.mark.parametrize("engine", ["auto", "trace"])
def test_a_picture_takes_one_growth(source, engine):
    found = calls(lambda: render(source, engine=engine, **SMALL))
    assert found[GrowthProcess.__init__.__qualname__] == 1


@pytest.mark.parametrize(
    ("source", "motion", "look"),
    [
        ("edge:72", "turntable", {}),
        ("edge:20", "growth", {"engine": "trace"}),
        ("3D0..26/1,2:7", "growth", {"engine": "trace"}),
        ("edge:12", "growth", {"engine": "trace", "colour": "nim-p"}),
    ],
)
def test_a_movie_takes_one_growth(source, motion, look, tmp_path):
    options = {**SMALL, **look, "motion": motion, "frames": 4, "workers": 1}
    found = calls(lambda: make_movie(source, tmp_path / "a.gif", **options))
    assert found[GrowthProcess.__init__.__qualname__] == 1


@pytest.mark.parametrize(
    "source", ["nim:40", "edge:12", "fcc:9", "cubic6:11", "3D0..26/1,2:7", "chocolate:a=5/2,size=9", "nim-4:7"]
)
@pytest.mark.parametrize("colour", [None, "nim-p"])
def test_a_traced_object_until_a_generation_is_that_of_these_generations(source, colour):
    whole = traced_object(source, Look(colour=colour))
    for generation in (0, whole.span[1] // 2, whole.span[1]):
        part = whole.until(generation)
        expected = traced_object(source, Look(colour=colour, generations=(0, generation + 1)))
        cells = expected.outline.corners.T.astype(np.int64)
        levels = np.full(cells.shape[1], expected.outline.size.bit_length() - 1, np.int8)
        assert part.span == expected.span
        assert part.outline.population == expected.outline.population
        assert np.array_equal(part.outline.corners, expected.outline.corners)
        assert np.array_equal(part.born(cells, levels), expected.born(cells, levels))
        assert np.array_equal(part.colours(cells, levels), expected.colours(cells, levels))
        assert part.legend.title == expected.legend.title
        assert np.array_equal(part.legend.colours, expected.legend.colours)


@pytest.mark.parametrize(("source", "many"), [("edge:72", False), ("cubic26:150", True)])
def test_a_growth_that_was_counted_is_drawn_whole(source, many):
    automaton, _, last = source.partition(":")
    growth, found = grow(automaton, int(last)), read_source(source)
    assert choose_engine(Look(engine="auto"), found)[0] == "trace" or not many
    assert found.has_many_cells() is found.has_many_cells() is many
    for _ in range(2):  # the second is grown anew
        assert same([*found.newborns()], [*enumerate(growth)])


@pytest.mark.parametrize(("text", "size"), [("7y <= x + z + 3", None), ("3y <= min(2x, 2z) + 1,size=20", 20)])
def test_inequalities_are_a_source(text, size):
    drawn, where = blocks_of(text), text.partition(",size")[0]
    assert {*map(tuple, drawn.corners.tolist())} == {*map(tuple, solve(where, size or 127).p_positions.tolist())}


@pytest.mark.parametrize("source", [*RULES[:2], "nim:7", "chocolate:a=3,size=15", "7y <= x + z + 3,size=15"])
def test_another_process_reads_the_text_of_a_movies_source(source):
    movie = Movie(source)
    other = pickle.loads(pickle.dumps(replace(movie, source=movie.found)))
    assert (other.source, other.found.name, other.motion) == (source, source, movie.motion)


LOOK = Look(resolution=(64, 48), quality="draft", engine="numpy")


def places(blocks):
    return sorted(map(tuple, blocks.corners.tolist()))


def generation(blocks, n):
    return blocks.take(blocks.generations == n)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_last_generation_before_a_power_of_two_is_sierpinskis_octahedron(m):
    corners = [sign * step for step in np.eye(3, dtype=int) for sign in (1, -1)]
    octahedron = [sum(2**j * corner for j, corner in enumerate(chosen)) for chosen in product(corners, repeat=m)]
    obj = blocks_of(f"nim-4:{2**m - 1}")
    last = generation(obj, 2**m - 1)
    assert places(last) == sorted(tuple(place.tolist()) for place in octahedron)
    assert len(set(places(last))) == 6**m == ByTotal(4).value(2**m - 1)


def test_no_position_covers_another_of_its_generation_and_each_touches_a_parent_with_a_side():
    obj = blocks_of("nim-4:12")
    for n in range(13):
        assert len(set(places(generation(obj, n)))) == ByTotal(4).value(n)
    for before, after in pairwise(np.array(places(generation(obj, n))) for n in range(13)):
        steps = np.abs(after[:, None] - before[None]).sum(axis=2)
        assert (steps.min(axis=1) == 1).all()


def test_permutations_of_the_piles_are_symmetries_of_the_cube():
    obj = blocks_of("nim-4:9")
    used = set()
    for order in permutations(range(4)):
        moved = frame(4)[:, list(order)] @ frame(4).T
        matrix = np.rint(moved).astype(int)
        assert np.allclose(moved, matrix)
        used.add(tuple(map(tuple, matrix.tolist())))
        assert sorted(map(tuple, (obj.corners @ matrix.T).tolist())) == places(obj)
    assert len(used) == 24
    assert all((np.abs(matrix).sum(axis=0) == 1).all() for matrix in map(np.array, used))


@pytest.mark.parametrize("k", range(4, 9))
def test_directions_are_orthogonal_of_one_length_and_one_of_them_is_the_total_unless_it_is_lost(k):
    directions = frame(k)
    lengths = directions @ directions.T
    assert np.allclose(lengths, lengths[0, 0] * np.eye(3))
    assert (np.isclose(directions, directions[:, :1]).all(axis=1)).sum() == (k > 4)
    # Turning the coordinates round turns the axes by a k-th of a circle.
    if k > 4:
        around = np.array([[np.cos(2 * np.pi / k), -np.sin(2 * np.pi / k)], [np.sin(2 * np.pi / k), np.cos(2 * np.pi / k)]])
        assert np.allclose(np.roll(directions[:2], -1, axis=1), around @ directions[:2])
        assert np.allclose(directions[2], directions[2, 0])


def test_a_chocolate_of_six_coordinates_has_its_total_upright():
    solution = solve("chocolate6", 3)
    obj = blocks_of("chocolate6:size=3")
    positions, _ = solution.points(0)
    assert sorted(map(tuple, obj.cells.tolist())) == sorted(map(tuple, positions.tolist()))
    assert obj.size == obj.unit
    assert obj.unit == FINE
    heights = obj.cells.sum(axis=1) / 2**0.5
    assert np.abs(obj.corners[:, 2] / FINE - heights).max() <= 0.5 / FINE
    turns = np.exp(2j * np.pi * np.arange(6) / 6)
    flat = obj.cells @ turns
    assert np.abs(obj.corners[:, :2] / FINE - np.stack([flat.real, flat.imag], axis=1)).max() <= 0.5 / FINE + 1e-9


def test_generations_are_chosen_before_cells_at_one_place_are_drawn_as_one():
    whole = prepare("nim-4:15", LOOK)
    last = prepare("nim-4:15", Look(generations=(15, 16)))
    cells = blocks_of("nim-4:15")
    assert len(whole) == len(set(places(cells))) < len(cells) == whole.population
    assert f"{len(cells):,} cells at {len(whole):,} points" in whole.note
    assert len(last) == 6**4
    earliest = {}
    for place, n in zip(map(tuple, cells.corners.tolist()), cells.generations.tolist(), strict=True):
        earliest[place] = min(n, earliest.get(place, n))
    for first in (whole, one_at_each_point(cells.take(np.arange(len(cells))[::-1]))):
        assert earliest == dict(zip(map(tuple, first.corners.tolist()), first.generations.tolist(), strict=True))


def test_values_and_colours_are_those_of_the_cells():
    obj = blocks_of("nim:piles=4,size=3,grundy=3", colour="grundy")
    assert np.array_equal(obj.values["grundy"], np.bitwise_xor.reduce(obj.cells, axis=1))
    theme = THEMES["dark"]
    picked = (base_colours(obj, "nim-p", theme) == np.array(theme.pick, np.float32)).all(axis=1)
    assert np.array_equal(picked, obj.values["grundy"] == 0)
    six = blocks_of("chocolate6:size=3")
    assert base_colours(six, "nim-p", theme).shape == (len(six), 3)


def test_a_growth_of_your_own_in_four_dimensions_is_drawn(tmp_path):
    offsets = [tuple(sign * (j == i) for j in range(4)) for i in range(4) for sign in (1, -1)]
    growth = grow(define(offsets, [1], [(0, 0, 0, 0)]), 4, backend="numpy", cells=True)
    save(growth, tmp_path / "own.npz")
    obj = blocks_of(str(tmp_path / "own.npz"))
    assert (len(obj), obj.unit) == (int(growth.births.sum()), 2)  # odd totals are half a cell off
    assert (obj.corners[1:9] % 2 == 1).all()
    assert render(growth, LOOK).drawn == len(set(places(obj)))


def test_where_there_are_more_cells_than_drawn_they_are_merged_in_all_dimensions():
    coarse = blocks_of("nim-4:15", limit=500)
    assert "blocks of 2x2x2x2 cells" in coarse.note
    assert coarse.size == 2 * coarse.unit
    assert len(coarse) == len(np.unique(grow("nim-4", 15, backend="numpy", cells=True).cells() // 2, axis=0))
    middles = (coarse.cells + 0.5) @ frame(4).T
    assert np.allclose(coarse.centres() / coarse.unit - 0.5, middles)


def test_cells_too_far_out_for_a_projection_are_refused():
    obj = blocks_of("nim-4:2")
    far = obj.cells.copy()
    far[-1] += 2**25
    with pytest.raises(UsageError, match=r"nim-4:2 has coordinates too large to be drawn: 33,554,4\d\d in 4 dimensions"):
        in_space(replace(obj, cells=far))


def test_axes_have_the_names_of_what_is_projected_or_are_refused():
    assert blocks_of("nim-4:2").coordinates == ("(a+b−c−d)/2", "(a−b+c−d)/2", "(a−b−c+d)/2")
    assert blocks_of("nim:piles=4,size=1,grundy=1").coordinates == ("a+b−c−d", "a−b+c−d", "a−b−c+d")
    assert render("nim-4:7", LOOK, resolution=(320, 240), axes=True).drawn


def test_projections_on_a_lattice_are_traced():
    drawn, obj = prepare("nim-4:15", LOOK), traced_object("nim-4:15", replace(LOOK, engine="trace", quality="final"))
    colours = obj.colours(drawn.corners.T.astype(np.int64), np.zeros(len(drawn), np.int8))
    assert np.allclose(colours, base_colours(drawn, None, THEMES["dark"]))
