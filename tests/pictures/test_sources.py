"""Sources of pictures: rules of one's own in every picture command, and one growth a picture."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from gpu_nim import grow
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.render import embed, to_pyvista
from gpu_nim.render.image import choose_engine, render
from gpu_nim.render.look import Look
from gpu_nim.render.motions import Movie
from gpu_nim.render.movie import make_movie
from gpu_nim.render.source import read_source
from tests.helpers import calls_of, facts

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
    with calls_of(GrowthProcess.__init__) as calls:
        render(source, engine=engine, **SMALL)
    assert calls == {"GrowthProcess.__init__": 1}


def test_a_movie_takes_one_growth(tmp_path):
    with calls_of(GrowthProcess.__init__) as calls:
        make_movie(Movie("edge:72", frames=2, look=Look(**SMALL)), tmp_path / "edge.gif", workers=1)
    assert calls == {"GrowthProcess.__init__": 1}


@pytest.mark.parametrize(("source", "many"), [("edge:72", False), ("cubic26:150", True)])
def test_a_growth_that_was_counted_is_drawn_whole(source, many):
    automaton, _, last = source.partition(":")
    growth, found = grow(automaton, int(last)), read_source(source)
    assert choose_engine(Look(engine="auto"), found)[0] == "trace" or not many
    assert found.has_many_cells() is found.has_many_cells() is many
    for _ in range(2):  # the second is grown anew
        for (generation, cells), expected in zip(found.newborns(), growth, strict=True):
            assert generation == expected[0]
            assert np.array_equal(cells, expected[1])


@pytest.mark.parametrize("source", [*RULES[:2], "nim:7", "chocolate:a=3,size=15"])
def test_another_process_reads_the_text_of_a_movies_source(source):
    movie = Movie(source)
    other = pickle.loads(pickle.dumps(replace(movie, source=movie.found)))
    assert (other.source, other.found.name, other.motion) == (source, source, movie.motion)
