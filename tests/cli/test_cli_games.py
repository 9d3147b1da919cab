"""`gpunim nim`, `play`, `solve` and `evolution` as their users see them."""

import csv
import shlex
from fractions import Fraction
from typing import Any

import pytest

from gpu_nim.cli.play import Dialogue
from gpu_nim.games.evolution import explain, game_evolution
from gpu_nim.games.named_games import as_game
from gpu_nim.games.theorems import chocolate_first_difference
from tests.helpers import beside, facts, run

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
