"""`gpunim count` as its users see it."""

import inspect
import json
from functools import partial
from pathlib import Path

import pytest

from gpu_nim.cli import main
from gpu_nim.counting.families import FAMILIES, ByTotal, find_family
from gpu_nim.jobs import CountJob, RangeCount
from tests import helpers

_COUNT = ("count", *helpers.ON_NUMPY)
run, printed, refused = (partial(function, *_COUNT) for function in (helpers.run, helpers.printed, helpers.refused))


def test_each_option_is_one_of_the_library() -> None:
    taken = {param.name for param in main.get_command(None, "count").params}
    of_the_command = {"sequence", "piles", "at", "span", "form", "as_json", "plan", "quiet", "memory", "color"}
    assert taken - of_the_command == inspect.signature(RangeCount).parameters.keys() - {"entry", "n", "device"}


@pytest.mark.parametrize("words", [("A048883",), ("D", "--piles", "3"), ("D", "--piles", "3", "--method", "enumerate")])
def test_json_names_the_file_that_was_written(words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    facts = json.loads(printed(*words, "--range", "0:5", "--json", "--out", file))
    assert (facts["sequence"], facts["start"], facts["stop"], facts["out"]) == (words[0], 0, 5, str(file))
    assert file.read_text().count("\n") == 6
    assert printed(*words, "--range", "0:5", "--out", tmp_path / "b.csv") == ""


def test_enumeration() -> None:
    result = run("A", "--piles", "4", "--range", "5:20", "--method", "enumerate", "--format", "csv")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [f"{n},{find_family('A', 4).value(n)}" for n in range(5, 20)]
    assert result.stderr == "8,000 tuples to check\nevery value of A_4 up to n = 19 agrees with the formula\n"


def test_the_cost_is_said_before_the_values_are_visited() -> None:
    assert run("D", "--piles", "4", "--range", "0:2000", "--reduce", "histogram").stderr.startswith("2,000 values to visit")


def test_the_cost_of_a_long_value_is_said_before_it() -> None:
    # A state of 501 numbers, each of up to 999,000 digits, is multiplied 3,322 times.
    costs = helpers.facts("count", "A", "--piles", 1000, "--at", "10^1000", "--plan")["plan"]
    assert 999_000 <= costs["digits"] < 1_000_000
    assert costs["seconds"] > 600
    assert CountJob("A", 10**1000, piles=1000).is_long
    assert not CountJob("A", 10**1000, piles=3).is_long
    assert "needs" in helpers.refused("count", "D", "--piles", 1000, "--at", "10^100000", "--memory", "1GB")
    assert helpers.facts("count", "a", "--piles", 3, "--at", 10**6, "--plan")["plan"] == {"digits": 13, "seconds": 0}


def test_a_wrong_value_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(ByTotal):
        def sum(self, start: int, stop: int) -> int:
            return 7

    monkeypatch.setitem(FAMILIES, "D", Wrong)
    result = run("D", "--piles", "3", "--range", "0:4")
    assert result.exit_code == 1
    assert result.stderr == "gpunim: D_3 sums to 16 over 0:4, expected 7\n"
