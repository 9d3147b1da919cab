"""`gpunim count` and `gpunim guess` as their users see them, and terms read from files."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow, save
from gpu_nim.cli import main
from gpu_nim.counting.families import FAMILIES, ByTotal
from gpu_nim.jobs import CountJob, RangeCount
from gpu_nim.jobs.terms import find_terms
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage.save_load import parse_terms, read_terms, readable
from gpu_nim.storage.tables import endings
from tests.helpers import facts, printed, refused, run


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
