"""Sources of pictures: rules of one's own in every picture command, and one growth a picture."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from gpu_nim import grow, solve
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.model.arrays import same
from gpu_nim.render import embed, to_pyvista
from gpu_nim.render.image import choose_engine, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie
from gpu_nim.render.movie import make_movie
from gpu_nim.render.source import blocks_of, read_source
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
