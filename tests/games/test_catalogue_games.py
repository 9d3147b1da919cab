"""Games that are registered by one entry: solved, saved, listed, explained, drawn and exported like the others."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import load, solve
from gpu_nim.games.heaps import SubtractionRule
from gpu_nim.games.inequality_game import Inequality, InequalityGame
from gpu_nim.games.lines import LineGame
from gpu_nim.games.named_games import CATALOGUE, RATIONAL, RESERVED, GameEntry, Parameter, integer_type
from gpu_nim.games.rulesets import Heaps, Vectors
from gpu_nim.model.work import no_progress
from gpu_nim.render.source import blocks_of
from tests.helpers import calls, facts, option_names, printed, refused, run

SIZE, MOST = 12, 4


class BoundedNim:
    """Two piles, and at most `most` counters are taken: the Grundy value is the nim-sum of the piles modulo most + 1."""

    def __init__(self, largest, most):
        self.largest, self.most = largest, most

    def positions(self):
        return product(range(self.largest + 1), repeat=2)

    def options(self, position):
        x, y = position
        yield from ((x - take, y) for take in range(1, min(x, self.most) + 1))
        yield from ((x, y - take) for take in range(1, min(y, self.most) + 1))


def steep(slope):
    """A pile x that bounds y, y <= slope x, beside a free pile z."""
    return InequalityGame("steep", ("x", "y", "z"), (Inequality(1, (slope, Fraction(0), Fraction(0))),))


LINES = ((1, 0), (0, 1), (1, 1))


class WronglySolved(LineGame):
    """Wythoff's game, whose fast solver wrongly returns the nim-sum of the piles as Grundy values."""

    def box_grundy(self, progress=no_progress):
        return np.bitwise_xor.reduce(np.indices((self.largest + 1,) * 2), axis=0)


BOUNDED = GameEntry(
    name="made-up-bounded",
    summary="two piles, few counters at a time",
    source="nobody",
    rules=lambda most: Vectors(lambda largest: BoundedNim(largest, most), ("left", "right")),
    parameters=(Parameter("most", integer_type(1, 9), "2", "how many may be taken"),),
    default_size=6,
    drawn_size=8,
)


STEEP = GameEntry(
    name="made-up-steep",
    summary="y <= slope x",
    source="nobody",
    rules=steep,
    parameters=(Parameter("slope", RATIONAL, "1/2", "y <= slope x"),),
)
HEAPS = GameEntry(
    name="made-up-heaps",
    summary="a few counters from one heap",
    source="nobody",
    rules=lambda most: Heaps(SubtractionRule(tuple(range(1, most + 1)))),
    parameters=(Parameter("most", integer_type(1), "3", "how many of a heap"),),
)
GRUNDY = {(x, y): x % (MOST + 1) ^ y % (MOST + 1) for x, y in product(range(SIZE + 1), repeat=2)}
LOST = [list(position) for position, value in GRUNDY.items() if value == 0]


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    for entry in (BOUNDED, STEEP, HEAPS):
        monkeypatch.setitem(CATALOGUE, entry.name, entry)


@pytest.mark.parametrize("suffix", [".npz", ".zarr", ".csv"])
def test_one_with_options_is_solved_and_saved(suffix: str, tmp_path: Path):
    path = tmp_path / f"a{suffix}"
    found = facts("solve", BOUNDED.name, "--most", MOST, "--size", SIZE, "--out", path)
    assert (found["game"], found["size"], found["p_positions"]) == (BOUNDED.name, SIZE, len(LOST))
    assert found["largest_grundy"] == max(GRUNDY.values())
    solution = solve(BOUNDED.name, SIZE, most=MOST)
    assert solution.p_positions.tolist() == LOST
    assert {position: solution.grundy[position] for position in GRUNDY} == GRUNDY
    if suffix == ".csv":
        assert path.read_text().splitlines()[:2] == ["left,right,grundy", "0,0,0"]
    else:
        assert load(path) == solution


def test_each_has_its_default_size_and_parameters():
    assert facts("solve", BOUNDED.name)["p_positions"] == sum(x % 3 == y % 3 for x, y in product(range(7), repeat=2))
    assert "made-up-bounded" in printed("solve", BOUNDED.name)
    assert facts("solve", STEEP.name)["size"] == 63
    heaps = facts("solve", HEAPS.name, "--most", "6", "--size", "40")
    assert (heaps["game"], heaps["period"], heaps["preperiod"]) == ("made-up-heaps 1, 2, 3, 4, 5, 6", 7, 0)
    assert "7, from 0 on" in printed("solve", HEAPS.name, "--most", "6", "--size", "40")
    assert solve(HEAPS.name, 9).p_positions.tolist() == [[0], [4], [8]]


def test_their_positions_are_explained():
    found = facts("position", BOUNDED.name, 9, 3, "--most", MOST)
    assert (found["grundy"], found["moves"][0]["move"]) == (GRUNDY[9, 3], "1 from left")
    assert sum(move["outcome"] == "P" for move in found["moves"]) == 1
    assert facts("position", STEEP.name, 2, 3, 5, "--slope", "3/2")["moves"][0]["move"] == "x to 0, and y drops to 0"
    assert facts("position", HEAPS.name, 5, 6)["grundy"] == 1 ^ 2


def test_those_of_inequalities_are_played_on_a_page(tmp_path):
    file = tmp_path / "steep.html"
    printed("play", STEEP.name, 2, 3, 5, "--slope", "3/2", "--out", file)
    assert "Lower one of x, y, z; the others drop where 2y \\u2264 3x forces them." in file.read_text()
    assert "got made-up-bounded" in refused("play", BOUNDED.name, 1, 2, "--out", file)


def test_a_rational_parameter_is_scanned():
    rows = facts("solve", STEEP.name, "--slope", "1/2:2:1/2", "--size", "7")["solutions"]
    assert [row["slope"] for row in rows] == ["1/2", "1", "3/2"]
    for row in rows:
        known = solve(steep(Fraction(row["slope"])), 7)
        assert (row["positions"], row["p_positions"]) == (known.positions, len(known.p_positions))
    assert printed("solve", STEEP.name, "--slope", "1:3", "--size", "3").startswith("slope  size  positions")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("solve", BOUNDED.name, "--most", "10"), "--most must be an integer from 1 to 9, got '10'"),
        (("solve", STEEP.name, "--most", "2"), "--most is a parameter of made-up-bounded and made-up-heaps, not of made-up-steep"),
        (("solve", BOUNDED.name, "--backend", "cuda"), "backend must be numpy or auto for made-up-bounded"),
        (("render", f"{BOUNDED.name}:mots=1"), "did you mean most?"),
        (("render", "made-up-bound:size=7"), "did you mean made-up-bounded"),
    ],
)
def test_commands_refuse(words, said, tmp_path: Path):
    assert said in refused(*words, *(("-o", tmp_path / "a.png") if words[0] == "render" else ()))


def test_they_are_sources_of_pictures():
    blocks = blocks_of(f"{BOUNDED.name}:most={MOST},size={SIZE}")
    assert sorted(cell[:2] for cell in blocks.corners.tolist()) == LOST
    assert blocks.flat
    assert len(blocks_of(f"{BOUNDED.name}:")) == sum(x % 3 == y % 3 for x, y in product(range(9), repeat=2))
    assert set(blocks_of(f"{BOUNDED.name}:grundy=1").values["grundy"].tolist()) == {0, 1}
    obj = blocks_of(f"{STEEP.name}:slope=3/2,size=7")
    expected = solve(steep(Fraction(3, 2)), 7).p_positions
    assert sorted(obj.corners.tolist()) == expected.tolist()


def test_sources_are_read_to_the_comma_and_nim_is_both_a_growth_and_a_game():
    assert blocks_of("nim:3").population == 16
    assert blocks_of("nim:piles=2,size=3").corners.tolist() == [[n, n, 0] for n in range(4)]


def test_they_are_compared_with_their_definitions(monkeypatch):
    games = sum(len(entry.literal_parameters) for entry in CATALOGUE.values())
    said = printed("verify", "gpunim-solutions", "--upto", "3")
    assert f"{games} games, each to its own size of at most 3" in said
    monkeypatch.setitem(
        CATALOGUE,
        BOUNDED.name,
        replace(BOUNDED, rules=lambda most: Vectors(lambda largest: WronglySolved(2, largest, LINES), ("left", "right"))),
    )
    broken = run("verify", "gpunim-solutions", "--upto", "3")
    assert broken.exit_code == 1
    assert f"the P-positions of {BOUNDED.name} to 3 is" in " ".join(broken.output.split())


def test_options_of_every_game_are_kept():
    of_games = {parameter.name for game in CATALOGUE.values() for parameter in game.parameters}
    assert option_names("solve") - of_games <= RESERVED


OWN = "3y <= x + z; w <= x"


@pytest.mark.parametrize(
    ("words", "parsed", "inequalities"),
    [
        (("solve", "chocolate", "--a", 3, "--size", 7), 0, 1),
        (("solve", OWN, "--size", 7), 1, 2),
        (("position", OWN, 3, 3, 1, 2), 1, 2),
        (("play", "x; 2y <= z", 3, 1, 2, "--out", "a.html"), 1, 1),
        (("evolution", OWN, "--size", 3), 1, 2),
    ],
)
def test_a_game_is_read_once_by_a_command(words, parsed, inequalities, place):
    found = calls(lambda: printed(*words))
    assert (found["parse_game"], found["Inequality.__post_init__"]) == (parsed, inequalities)
