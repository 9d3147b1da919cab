"""`gpunim count`, `guess`, `nim`, `play`, `solve` and `evolution` as their users see them, and terms read from files."""

import csv
import inspect
import json
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_nim import grow, save
from gpu_nim.cli import main
from gpu_nim.cli.play import Dialogue
from gpu_nim.counting.families import FAMILIES, ByTotal
from gpu_nim.games.evolution import explain, game_evolution
from gpu_nim.games.named_games import as_game
from gpu_nim.games.theorems import chocolate_first_difference
from gpu_nim.jobs import CountJob, RangeCount
from gpu_nim.jobs.terms import find_terms
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage.save_load import parse_terms, read_terms, readable
from gpu_nim.storage.tables import endings
from tests.helpers import beside, facts, printed, refused, run


def test_each_option_is_one_of_the_library() -> None:
    taken = {param.name for param in main.get_command(None, "count").params}
    of_the_command = {"sequence", "piles", "at", "span", "form", "as_json", "plan", "quiet", "memory", "color"}
    assert taken - of_the_command == inspect.signature(RangeCount).parameters.keys() - {"entry", "n", "device"}


@pytest.mark.parametrize("words", [("A048883",), ("D", "--piles", "3"), ("D", "--piles", "3", "--method", "enumerate")])
def test_json_names_the_file_that_was_written(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    facts = json.loads(printed("count", *words, "--range", "0:5", "--json", "--out", file))
    assert (facts["sequence"], facts["start"], facts["stop"], facts["out"]) == (words[0], 0, 5, str(file))
    assert file.read_text().count("\n") == 6
    assert printed("count", *words, "--range", "0:5", "--out", tmp_path / "b.csv") == ""


def test_the_cost_of_a_long_value_is_said_before_it() -> None:
    # A state of 501 numbers, each of up to 999,000 digits, is multiplied 3,322 times.
    costs = facts("count", "A", "--piles", 1000, "--at", "10^1000", "--plan")["plan"]
    assert 999_000 <= costs["digits"] < 1_000_000
    assert costs["seconds"] > 600
    assert CountJob("A", 10**1000, piles=1000).is_long
    assert not CountJob("A", 10**1000, piles=3).is_long
    assert "needs" in refused("count", "D", "--piles", 1000, "--at", "10^100000", "--memory", "1GB")
    assert facts("count", "a", "--piles", 3, "--at", 10**6, "--plan")["plan"] == {"digits": 13, "seconds": 0}


def test_a_wrong_value_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(ByTotal):
        def sum(self, start: int, stop: int) -> int:
            return 7

    monkeypatch.setitem(FAMILIES, "D", Wrong)
    result = run("count", "D", "--piles", "3", "--range", "0:4")
    assert result.exit_code == 1
    assert result.stderr == "gpunim: D_3 sums to 16 over 0:4, expected 7\n"


# `gpunim guess`


def titles(*words: object) -> list[str]:
    return [formula["title"] for formula in facts("guess", *words)["formulas"]]


def test_every_file_that_gpunim_writes_is_a_source(place: Path) -> None:
    """The same 64 terms of D_3, or births of nim, from each."""
    for ending in endings():
        printed("count", "D", "--piles", 3, "--range", "0:64", "--out", f"D{ending}")
    (place / "printed.json").write_text(printed("count", "D", "--piles", 3, "--range", "0:64", "--json"))
    (place / "nim.json").write_text(printed("grow", "nim", "--gen", 63, "--json"))
    growth = grow("nim", 63, backend="numpy")
    for name in ("nim.npz", "nim.zarr", "nim.csv", "rows.json"):
        save(growth, place / name)
    files = sorted(path.name for path in place.iterdir())
    assert {Path(name).suffix for name in files} | {".seq"} == set(readable())
    for name in files:
        assert read_terms(Path(name)).values == tuple(3 ** n.bit_count() for n in range(64))
        assert titles(name, "--kind", "regular") == ["2-regular of rank 1"]
    assert read_terms(Path("nim.npz"), "population", 4).values == (1, 4, 7, 16)
    assert read_terms(Path("nim.csv"), "population", 4).values == (1, 4, 7, 16)


def test_an_array_of_other_numbers_is_refused(place: Path) -> None:
    np.save(place / "t.npy", np.array([1.0, -2, 2.0**53]))
    assert read_terms(Path("t.npy")).values == (1, -2, 2**53)
    for wrong in ([1, 0.5], [1, np.nan], [1, 2.0**54]):
        np.save(place / "t.npy", np.array(wrong))
        with pytest.raises(FileError, match=r"its numbers are no integers of at most 2\^53 in size"):
            read_terms(Path("t.npy"))
    for wrong in (np.ones(3, np.bool_), np.ones((3, 2), np.int64), np.ones((3, 2))):
        np.save(place / "t.npy", wrong)
        with pytest.raises(FileError, match="it holds no table of integers"):
            read_terms(Path("t.npy"))


def test_terms_in_a_text() -> None:
    assert parse_terms("1, 2,\n3 4").values == (1, 2, 3, 4)
    assert parse_terms("").values == ()
    assert find_terms("1, 2/3, 3", most=2).values == (3, 2)
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)  # as in Python at first; the command line lifts it
    try:
        with pytest.raises(UsageError, match="terms must have fewer digits than Python reads"):
            parse_terms("1" * 5000)
    finally:
        sys.set_int_max_str_digits(before)


DATA: dict[str, Any] = beside(__file__)


@pytest.mark.parametrize("line", DATA["played"])
def test_a_perfect_player_beats_a_perfect_opponent_in_any_game(line):
    words = shlex.split(line)
    game, numbers = words[0], [int(word) for word in words[1:] if word.isdigit()]
    dialogue = Dialogue(as_game(game, {}, len(numbers)), numbers[:3], "--misere" in words)
    lines = []
    while not dialogue.is_over():
        said = dialogue.hint()
        assert said.endswith("that wins.")
        lines.append(said.removeprefix("The move ").partition(" leaves ")[0])
        dialogue.make(dialogue.read(lines[-1]))
        if not dialogue.is_over():
            dialogue.reply()
    result = run("play", *words, text="\n".join(lines) + "\n")
    assert result.exit_code == 0
    assert result.output.endswith("you win.\n")


def test_solve_ends_at_the_first_difference():
    """The differences of Nim's theorem, each as at the size that is certain to show it."""
    rows = facts("solve", "chocolate", "--a", "1:9", "--size", "63", "--until-difference")["solutions"]
    for a, row in enumerate(rows, 1):
        difference = row["first_difference"]
        if a % 4 == 3 or a == 8:  # there is none, or a larger size is needed
            assert row["size"] == 63
        else:
            assert tuple(difference) == chocolate_first_difference(Fraction(a))
            assert sum(difference) <= row["size"] <= max(15, 2 * sum(difference) + 1)


def test_a_scan_is_written_as_a_table(tmp_path):
    out = tmp_path / "a.csv"
    printed = run("solve", "chocolate", "--a", "7/2:9/2:1/2", "--size", "15", "--out", str(out)).output
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["a"], row["first_difference"], row["theorem_first_difference"]) for row in rows] == [
        ("7/2", "(4,3,7)", "(4,3,7)"),
        ("4", "(5,3,8)", "(5,3,8)"),
    ]
    for row in rows:
        assert int(row["p_positions"]) == facts("solve", "chocolate", "--a", row["a"], "--size", "15")["p_positions"]
    assert [line.split()[4:] for line in printed.splitlines()[1:]] == [
        ["(4,3,7)", "(4,3,7)", "chocolate-first-difference"],
        ["(5,3,8)", "(5,3,8)", "chocolate-first-difference"],
    ]


@pytest.mark.parametrize("line", DATA["tabulated"])
def test_evolution_of_any_game_is_that_of_its_positions(line):
    """Each number of a table against the positions explained one by one."""
    name, *options = words = shlex.split(line)
    found = game_evolution(name, int(options[-1]))
    explained = [explain(found.name, position, **found.parameters) for position in found.positions]
    listed = dict(zip(found.positions, zip(found.generation.tolist(), found.step.tolist(), strict=True), strict=True))
    parents = {position: set() for position in found.positions}
    for parent, child in found.edges.tolist():
        parents[found.positions[child]].add(found.positions[parent])
    for one in explained:
        assert listed[one.position] == (one.generation, one.step)
        assert parents[one.position] == set(one.parents)
    told = facts("evolution", *words)
    assert sum(row["births"] for row in told["generations"]) == told["p_positions"] == len(found.positions)
    assert [row["generation"] for row in told["generations"]] == sorted(set(found.generation.tolist()))


def test_evolution_of_a_game_is_saved(tmp_path):
    saved = tmp_path / "g.dot"
    found = facts("evolution", "kayles", "--size", "6", "--out", saved)
    lines = saved.read_text().splitlines()
    assert sum("generation=" in line for line in lines) == found["p_positions"]
    assert '  "0" -> "1,1";' in lines
    other = saved.with_suffix(".graphml")
    facts("evolution", "kayles", "--size", "6", "--out", other)
    assert len(pytest.importorskip("networkx").read_graphml(other)) == found["p_positions"]
    for file in (saved, other):
        assert facts("info", file)["holds"] == "evolution graph, game kayles, size 6"
