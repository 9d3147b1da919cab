"""`gpunim guess` on every kind of source, its JSON, and what it refuses; and terms read from files."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow, save
from gpu_nim.guessing import KINDS
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage.save_load import parse_terms, read_terms, readable
from gpu_nim.storage.tables import endings
from tests.helpers import facts, printed, refused, run

FIBONACCI = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
ORDER_2 = "linear recurrence of order 2"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def titles(*words: object) -> list[str]:
    return [law["title"] for law in facts("guess", *words)["laws"]]


def test_numbers_are_taken_from_stdin() -> None:
    result = run("guess", "-", text="\n".join(map(str, FIBONACCI)))
    assert result.exit_code == 0
    assert ORDER_2 in result.stdout


def test_a_text_of_numbers_with_commas_is_a_source(place: Path) -> None:
    text = f"[{FIBONACCI[0]}, \n{', '.join(map(str, FIBONACCI[1:]))}]\n"
    (place / "l.txt").write_text(text)
    assert read_terms(place / "l.txt").values == tuple(FIBONACCI)
    assert titles("l.txt") == titles(text)
    for wrong in (b"1, 2, x", b"1, 2, \xff"):
        (place / "l.txt").write_bytes(wrong)
        assert "cannot read l.txt: terms must be integers" in refused("guess", "l.txt", status=1)


def test_every_file_that_gpunim_writes_is_a_source(place: Path) -> None:
    """The same 64 terms of D_3, or births of nim, from each."""
    for ending in endings():
        if ending != ".parquet" or find_spec("pyarrow"):
            printed("count", "D", "--piles", 3, "--range", "0:64", "--out", f"D{ending}")
    (place / "printed.json").write_text(printed("count", "D", "--piles", 3, "--range", "0:64", "--json"))
    (place / "nim.json").write_text(printed("grow", "nim", "--gen", 63, "--json"))
    growth = grow("nim", 63, backend="numpy")
    for name in ("nim.npz", "nim.zarr", "nim.csv", "rows.json"):
        save(growth, place / name)
    files = sorted(path.name for path in place.iterdir())
    assert {Path(name).suffix for name in files} | {".parquet"} == set(readable())
    for name in files:
        assert read_terms(Path(name)).values == tuple(3 ** n.bit_count() for n in range(64))
        assert titles(name, "--kind", "regular") == ["2-regular of rank 1"]
    assert read_terms(Path("nim.npz"), "population", 4).values == (1, 4, 7, 16)
    assert read_terms(Path("nim.csv"), "population", 4).values == (1, 4, 7, 16)


def test_long_values_are_read_exactly(place: Path) -> None:
    printed("count", "D", "--piles", 7, "--range", "2^40:+8", "--out", "D.npy")
    printed("count", "D", "--piles", 7, "--range", "2^40:+8", "--out", "D.txt")
    assert read_terms(Path("D.npy")).values == read_terms(Path("D.txt")).values
    assert read_terms(Path("D.txt")).first == 2**40


def test_indices_are_those_of_the_source(place: Path) -> None:
    (place / "b.txt").write_text("".join(f"{n} {n * n + (n == 15)}\n" for n in range(5, 45)))
    text = printed("guess", "b.txt", "--kind", "recurrence")
    assert "b.txt: 40 terms, n = 5 to 44\nin formulas f(0) is the term at n = 5\n" in text
    assert "BUT FOR ONE TERM: polynomial of degree 2" in text
    assert "the term at n =  15 has 226, and would have 225" in " ".join(text.splitlines()).replace("  the", "the")
    (missed,) = facts("guess", "b.txt", "--kind", "recurrence")["near_misses"]
    assert facts("guess", "b.txt", "--kind", "recurrence")["weak"] == []
    assert missed == {"law": "polynomial of degree 2", "index": 10, "given": "226", "expected": "225"}


def test_json_has_all_that_is_printed() -> None:
    found = facts("guess", "D", "--piles", 5, "--terms", 256)
    assert found["source"] == "D_5, P-positions of 5-pile Nim with 2n counters"
    assert (found["first"], found["terms"], found["needed"]) == (0, 256, 8)
    assert set(found["tested"]) == set(KINDS)
    (law,) = (law for law in found["laws"] if law["kind"] == "regular")
    assert law["rank"] == 2
    assert len(law["matrices"]) == 2
    assert law["initial"] == ["1", "1"]
    assert law["certainty"] == "no other 2-regular sequence of rank up to 7 has these terms, and none of rank below 2"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", "n,value\n0,1\n1,x\n", "column value must have integers, got 'x'"),
        ("t.csv", "n,value\n0,1,2\n", "its rows are not as long as its header"),
        ("t.csv", "\xff\xfe", "cannot read t.csv: 'utf-8' codec can't decode"),
        ("t.json", "[1, 2]", "cannot read t.json: its JSON must be an object, got a list"),
        ("t.json", "{}", "holds no column"),
        ("t.csv", "", "holds no column"),
        ("t.csv", "\xef\xbb\xbfn,value\n3,1\n5,2\n", "in column n, expected 4 after 3, got 5"),
        ("t.csv", "births,n\n1,3\n2,5\n", "in column n, expected 4 after 3, got 5"),
        ("t.csv", "1\n3\n9\n", "its first line must name its columns, each once, got 1"),
        ("t.csv", "n,births,births\n0,1,2\n", "its first line must name its columns, each once, got births"),
        ("t.json", '{"start": 0, "stop": 3, "values": ["1", "9"]}', "it holds 2 values, and its range 3"),
        ("t.csv", "generation,births\n0,1\n0,1\n", "in column generation, expected 1 after 0, got 0"),
        ("t.json", '{"rows": [{"n": 1, "value": 1}, {"n": 0, "value": 2}]}', "in column n, expected 2 after 1, got 0"),
        ("t.json", '{"values": [1, 2.5]}', "column values must have integers, got 2.5"),
        ("t.json", '{"values": [1], "columns": {"values": 3}}', "its values is no list"),
        ("t.npy", "nothing", "cannot read t.npy: "),
        ("t.npz", "nothing", "cannot read t.npz: it is no zip file, or was truncated"),
        ("t.txt", "0 1\n1 x\n", "line 2: expected two integers"),
    ],
)
def test_damaged_files_are_one_sentence(name: str, content: str, said: str, place: Path) -> None:
    (place / name).write_bytes(content.encode("latin-1"))
    assert said in refused("guess", name, status=1)


def test_columns_are_chosen(place: Path) -> None:
    (place / "t.csv").write_text("n,one,two\n3,1,2\n4,3,4\n")
    with pytest.raises(UsageError, match=r"column must be given for t\.csv, which has one, two"):
        read_terms(Path("t.csv"))
    with pytest.raises(UsageError, match=r"column must be one of one, two, the columns of t\.csv, got 'three'"):
        read_terms(Path("t.csv"), "three")
    found = read_terms(Path("t.csv"), "two")
    assert (found.name, found.first, found.values) == ("two of t.csv", 3, (2, 4))
    (place / "t.txt").write_text("0 1\n")
    with pytest.raises(UsageError, match=r"column is for files of several columns, got one of t\.txt"):
        read_terms(Path("t.txt"), "one")
    (place / "t.json").write_text(json.dumps({"births": [1, 2], "columns": {"population": [1, 3]}}))
    assert read_terms(Path("t.json"), "population").values == (1, 3)
    np.save(place / "t.npy", np.ones(3))
    with pytest.raises(FileError, match="it holds no table of integers"):
        read_terms(Path("t.npy"))
    with pytest.raises(FileError, match="No such file"):
        read_terms(Path("absent.csv"))


def test_terms_in_a_text() -> None:
    assert parse_terms("1, 2,\n3 4") == (1, 2, 3, 4)
    assert parse_terms("") == ()
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)  # as in Python at first; the command line lifts it
    try:
        with pytest.raises(UsageError, match="terms must have fewer digits than Python reads"):
            parse_terms("1" * 5000)
    finally:
        sys.set_int_max_str_digits(before)
