"""Tables in files of every format: atomic, resumable, refused if they do not match, and read by other programs."""

import csv
import hashlib
import json
import os
import re
import sys
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_nim.model.arrays import to_integers, to_limbs
from gpu_nim.model.errors import FileError, MissingDependency, UsageError
from gpu_nim.storage import tables
from gpu_nim.storage.save_load import read_terms
from gpu_nim.storage.tables import TABLE_FORMATS, AppendedFile, TableFormat, endings, open_table, save_table
from tests.helpers import printed, refused

ATTRIBUTES = {"sequence": "D", "piles": 3, "start": 10, "stop": 40}
VALUES = [3 ** n.bit_count() for n in range(10, 40)]


def pieces(limbs: int, first: int = 10) -> list[Any]:
    values = VALUES[first - 10 :] if limbs == 1 else [value << 70 for value in VALUES[first - 10 :]]
    array = np.array(values, np.uint64) if limbs == 1 else to_limbs(values, limbs)
    return [array[i : i + 7] for i in range(0, len(array), 7)]


def read(path: Path) -> list[int]:
    if path.suffix == ".npy":
        return to_integers(np.load(path))
    if path.suffix == ".zarr":
        import zarr

        return to_integers(np.asarray(zarr.open_array(path, mode="r")[:]))
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        assert {name: found[name] for name in ATTRIBUTES} == ATTRIBUTES
        return list(map(int, found["values"]))
    if path.suffix == ".parquet":
        frame = pytest.importorskip("polars").read_parquet(path)
        assert frame["n"].to_list() == list(range(10, 40))
        return list(map(int, frame["value"].to_list()))
    lines = [line for line in path.read_text().splitlines() if line[0].isdigit()]  # below the names of columns, if there are any
    pairs = [tuple(map(int, line.replace(",", " ").split())) for line in lines]
    assert [n for n, _ in pairs] == list(range(10, 40))
    return [value for _, value in pairs]


def write(path: Path, limbs: int = 1, *, resume: bool = False, stop_after: int | None = None, **changed: object) -> int:
    """Write the table, or the first pieces of it; return the index it began at."""
    with open_table(path, {**ATTRIBUTES, **changed}, limbs, resume=resume) as table:
        first = table.next
        for done, piece in enumerate(pieces(limbs, first)):
            if done == stop_after:
                raise KeyboardInterrupt
            table.append(piece)
    return first


def half(path: Path) -> Path:
    """The folder of an interrupted table."""
    (folder,) = path.parent.glob(f".{path.name}.*.partial")
    return folder


@pytest.mark.parametrize("limbs", [1, 2])
@pytest.mark.parametrize("ending", endings())
def test_whole_tables(tmp_path: Path, ending: str, limbs: int) -> None:
    name, values = f"t{ending}", VALUES if limbs == 1 else [value << 70 for value in VALUES]
    _require(ending)
    assert write(tmp_path / name, limbs) == 10
    assert read(tmp_path / name) == values
    found = read_terms(tmp_path / name)
    assert (found.first, found.values) == (0 if ending == ".npy" else 10, tuple(values))
    assert read_terms(tmp_path / name, most=2).values == tuple(values[:2])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    write(tmp_path / name, limbs)  # replaces its like
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("limbs", [1, 2])
@pytest.mark.parametrize("ending", endings(resumable=True))
def test_half_written_tables_are_gone_on_with(tmp_path: Path, ending: str, limbs: int) -> None:
    name = f"t{ending}"
    path = tmp_path / name
    with pytest.raises(KeyboardInterrupt):
        write(path, limbs, stop_after=2)
    assert not path.exists()
    with pytest.raises(KeyboardInterrupt):
        write(path, limbs, resume=True, stop_after=1)
    assert write(path, limbs, resume=True) == 10 + 7 * 3
    assert read(path) == (VALUES if limbs == 1 else [value << 70 for value in VALUES])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_text_written_after_the_last_note_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    with pytest.raises(KeyboardInterrupt):
        write(path, stop_after=2)
    with (half(tmp_path / "t.txt") / "t.txt").open("a") as file:
        file.write("24 9\n25 2")
    assert write(path, resume=True) == 24
    assert read(path) == VALUES


def test_without_resume_a_half_written_table_is_begun_anew(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "t.npy", stop_after=2)
    assert write(tmp_path / "t.npy") == 10
    assert read(tmp_path / "t.npy") == VALUES


def test_nothing_to_resume_is_a_beginning(tmp_path: Path) -> None:
    assert write(tmp_path / "t.npy", resume=True) == 10


@pytest.mark.parametrize(("changed", "words"), [({"piles": 4}, "piles 3, not 4"), ({"stop": 41}, "stop 40, not 41")])
def test_another_table_is_not_gone_on_with(tmp_path: Path, changed: dict[str, int], words: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "t.npy", stop_after=1)
    with pytest.raises(FileError, match=f"cannot resume .*: the interrupted table has {words}"):
        write(tmp_path / "t.npy", resume=True, **changed)


def test_damaged_halves(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    with pytest.raises(KeyboardInterrupt):
        write(path, stop_after=2)
    folder = half(path)
    (folder / "t.txt").write_text("10 9\n")
    with pytest.raises(FileError, match="is not what was written"):
        write(path, resume=True)
    (folder / "job.json").write_text("{")
    with pytest.raises(FileError, match=r"job\.json is damaged"):
        write(path, resume=True)


@pytest.mark.parametrize("name", ["t.npy", "t.csv", "t.txt", "t.json"])
def test_a_half_that_was_changed_is_not_gone_on_with(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(KeyboardInterrupt):
        write(path, stop_after=2)
    data = half(tmp_path / name) / name
    whole = data.read_bytes()
    for at in {0, 7, len(whole) // 2, len(whole) - 2}:
        data.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FileError, match=r"is not what was written; remove .* to start over"):
            write(path, resume=True)
    data.write_bytes(whole)
    note = half(tmp_path / name) / "job.json"
    noted = note.read_text()
    for old, new in (('"done": 14', '"done": 7'), ('"sequence": "D"', '"sequence": "A"'), ("{", "[" * 10**5)):
        note.write_text(noted.replace(old, new, 1))
        with pytest.raises(FileError, match=r"job\.json is damaged"):
            write(path, resume=True)
    note.unlink()
    os.mkfifo(note)
    with pytest.raises(FileError, match=r"job\.json is damaged"):
        write(path, resume=True)
    note.unlink()
    note.write_text(noted)
    secret = tmp_path / "secret"
    secret.write_bytes(whole)
    data.unlink()
    data.symlink_to(secret)
    with pytest.raises(FileError, match="is a link that leads out of it"):
        write(path, resume=True)
    assert secret.read_bytes() == whole


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda store: (store / "c" / "0").write_bytes(b"x"), "a chunk of t.zarr was truncated"),
        (lambda store: (store / "c" / "0").unlink(), "is not what was written"),
        (lambda store: _replace(store / "zarr.json", '"sequence": "D"', '"sequence": "A"'), "is not what was written"),
        (lambda store: _replace(store / "zarr.json", '"uint64"', '"int64"'), "is not what was written"),
        (lambda store: _replace(store / "zarr.json", '"zstd"', '"gzip"'), "the metadata of t.zarr are damaged"),
        (lambda store: _replace(store / "zarr.json", '"fill_value": 0', '"fill_value": 1'), "is not what was written"),
    ],
)
def test_a_half_written_store_that_was_changed_is_not_gone_on_with(tmp_path: Path, damage: Any, words: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "t.zarr", stop_after=2)
    damage(half(tmp_path / "t.zarr") / "t.zarr")
    with pytest.raises(FileError, match=f"cannot resume .*{words}"):
        write(tmp_path / "t.zarr", resume=True)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_zarr_says_what_it_holds(tmp_path: Path) -> None:
    write(tmp_path / "t.zarr")
    attributes = json.loads((tmp_path / "t.zarr" / "zarr.json").read_text())["attributes"]
    values = np.array(VALUES, "<u8").tobytes()
    seal = hashlib.sha256(b"[10, 40]" + values).hexdigest()
    assert attributes == {"kind": "gpunim table", "format": 1, "limbs": 1, **ATTRIBUTES, "seal": seal}


@pytest.mark.parametrize("most", [None, 5, 20])
def test_a_store_of_exchanged_chunks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None) -> None:
    monkeypatch.setattr(tables, "_ZARR_CHUNK", 8)
    write(tmp_path / "t.zarr")
    assert list(read_terms(tmp_path / "t.zarr", most=most).values) == VALUES[:most]
    chunks = tmp_path / "t.zarr" / "c"
    for old, new in (("1", "x"), ("2", "1"), ("x", "2")):
        (chunks / old).rename(chunks / new)
    with pytest.raises(FileError, match="do not agree with their checksum"):
        read_terms(tmp_path / "t.zarr", most=most)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(f"must end in {', '.join(endings())}, got")):
        write(tmp_path / "t.xlsx")
    with pytest.raises(UsageError, match=re.escape(f"must end in {', '.join(endings(resumable=True))}, got")):
        write(tmp_path / "t.parquet", resume=True)
    with pytest.raises(FileError, match="there is no folder"):
        write(tmp_path / "none" / "t.npy")
    (tmp_path / "t.zarr").mkdir()
    with pytest.raises(FileError, match="a folder that gpunim did not make"):
        write(tmp_path / "t.zarr")
    with pytest.raises(FileError, match=r"bytes, .* are free there"):
        write(tmp_path / "t.npy", stop=2**60)


COLUMNS = {
    "generation": range(3),
    "births": np.array([1, 3, 2**64 - 1], np.uint64),
    "population": [1, None, 10**30],
    "density": [None, Fraction(1, 4), 0.5],
    "game": ["nim", 'of "two", piles', None],
}
PLAIN = {**COLUMNS, "generation": [0, 1, 2], "births": [1, 3, 2**64 - 1], "density": [None, 0.25, 0.5]}


def test_tables_of_any_columns_are_what_other_programs_read(tmp_path: Path) -> None:
    for ending in endings(columns=True):
        _require(ending)
        path = tmp_path / f"t{ending}"
        save_table(COLUMNS, path, {"automaton": "nim"})
        assert read_terms(path, "births").values == (1, 3, 2**64 - 1)
        assert read_terms(path).name == f"births of t{ending}"
        for column, refusal in (("density", "must have integers"), ("deaths", "column must be one of births, population")):
            with pytest.raises((FileError, UsageError), match=refusal):
                read_terms(path, column)
    rows = list(zip(*PLAIN.values(), strict=True))
    with (tmp_path / "t.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines == [list(PLAIN), *([str("" if value is None else value) for value in row] for row in rows)]
    found = json.loads((tmp_path / "t.json").read_text())
    assert found == {"automaton": "nim", "rows": [dict(zip(PLAIN, row, strict=True)) for row in rows]}
    frame = pytest.importorskip("polars").read_parquet(tmp_path / "t.parquet").to_dict(as_series=False)
    assert frame == {**PLAIN, "population": ["1", None, str(10**30)]}  # Parquet has no integers of that size
    with pytest.raises(UsageError, match=re.escape(f"must end in {', '.join(endings(columns=True))}, got")):
        save_table(COLUMNS, tmp_path / "t.txt")


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    for ending in endings(columns=True):
        _require(ending)
        save_table({"x": [], "grundy": np.zeros(0, np.int64)}, tmp_path / f"t{ending}")
    assert (tmp_path / "t.csv").read_text() == "x,grundy\n"
    assert json.loads((tmp_path / "t.json").read_text()) == {"rows": []}
    assert pytest.importorskip("polars").read_parquet(tmp_path / "t.parquet").columns == ["x", "grundy"]


def test_parquet_holds_indices_of_any_size(tmp_path: Path) -> None:
    _require(".parquet")
    start = 2**63 - 3
    with open_table(tmp_path / "t.parquet", {"start": start, "stop": start + 6}, 1) as table:
        for values in ([1, 2, 3], [4, 5, 6]):
            table.append(np.array(values, np.uint64))
    found = read_terms(tmp_path / "t.parquet")
    assert (found.first, found.values) == (start, (1, 2, 3, 4, 5, 6))


def test_parquet_without_its_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="Parquet files need pyarrow"):
        save_table(COLUMNS, tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_made_up_format_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines with tabs, written by every command that writes a table, named in refusals, and read back."""

    def encode(columns: Any, _: bool) -> list[bytes]:
        return ["\t".join(map(str, row)).encode() + b"\n" for row in zip(*columns.values(), strict=True)]

    def made(path: Path, heading: Any, done: int, size: int) -> AppendedFile:
        return AppendedFile(path, size, b"made\n", encode)

    def read_made(path: Path, most: int | None) -> dict[str, list[str]]:
        return {"value": [line.split()[1] for line in path.read_text().splitlines()[1:][:most]]}

    monkeypatch.setitem(TABLE_FORMATS, ".made", TableFormat(".made", "with tabs", made, read_made, columns=True))
    printed("count", "D", "--piles", 3, "--range", "0:4", "--out", tmp_path / "D.made")
    assert (tmp_path / "D.made").read_text() == "made\n0\t1\n1\t3\n2\t3\n3\t9\n"
    assert read_terms(tmp_path / "D.made").values == (1, 3, 3, 9)
    printed("solve", "chocolate", "--a", "1:3", "--size", 3, "--out", tmp_path / "scan.made")
    assert (tmp_path / "scan.made").read_text().startswith("made\n1\tchocolate, y <= x + z\t3\t64\t10\t")
    for words in (("count", "D", "--piles", 3, "--range", "0:4"), ("solve", "chocolate", "--a", "1:3")):
        assert ".parquet, .made, got" in refused(*words, "--out", tmp_path / "a.mad")


def _require(ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")


@pytest.mark.thorough
@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_a_table_is_not_all_in_pythons_numbers_at_once(tmp_path: Path, ending: str) -> None:
    column = np.arange(10**5)
    tracemalloc.start()
    try:
        save_table({"x": column, "y": column}, tmp_path / f"t{ending}")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20  # of 10^5 rows at once 8 MB
    finally:
        tracemalloc.stop()
