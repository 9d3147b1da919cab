"""Files say which version and command made them; tables of every format: atomic, refused if changed, read by others."""

import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from contextlib import chdir, redirect_stdout
from fractions import Fraction
from functools import cache
from html import unescape
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from gpu_nim import __version__
from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.cli.output import print_table
from gpu_nim.model.arrays import to_limbs
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.render.exports import EXPORTS
from gpu_nim.render.image import render
from gpu_nim.render.metadata import read_provenance
from gpu_nim.render.movie import ffmpeg
from gpu_nim.storage.save_load import load, read_terms
from gpu_nim.storage.tables import TABLE_FORMATS, TableFormat, endings, save_sequence, save_table, write_table
from tests.helpers import ANSWERS, Terminal, damage, facts, printed, refused
from tests.render_files import needs_ffmpeg, needs_trimesh

SOFTWARE = f"gpunim {__version__}"
SMALL = ("--resolution", "64x48", "--engine", "numpy", "--quality", "draft")
MOVIE = (*SMALL, "--seconds", "0.1", "--workers", "1", "--quiet")
TITLE = ("--title", "Nim ⊕ (a\\b) <'c'>")
DOC = "{http://purl.org/dc/elements/1.1/}"
COMMANDS = {
    **{f"a{suffix}": ("render", "nim:3", *SMALL, *TITLE) for suffix in (".png", ".jpg", ".webp", ".tif")},
    "a <&.svg": ("render", "figure:NF1"),
    "a ⊕ (b.pdf": ("render", "figure:NF1"),
    **{f"a{suffix}": ("movie", "nim:3", *MOVIE, *TITLE) for suffix in (".mp4", ".webm")},
    **{f"a{suffix}": ("export", "nim:3") for suffix in EXPORTS},
    "b'<&\".html": ("export", "nim:3", "--title", "/*DATA*/null /*COMMAND*/"),
    "b.3mf": ("export", "nim:3", "--printable"),
    "b.stl": ("export", "nim:3", "--printable", "--print-size", "60.000000000000000"),  # more than its head holds
    "a.gif": ("movie", "nim:3", *MOVIE, *(20 * TITLE)),
}
NEEDS = {
    **dict.fromkeys((".ply", ".stl"), needs_trimesh),
    **dict.fromkeys((".mp4", ".webm", ".gif"), needs_ffmpeg),
}
FILES = [pytest.param(name, marks=NEEDS.get(Path(name).suffix, ())) for name in COMMANDS]


def other_program(file: Path) -> tuple[str, str]:
    """The software and the command in a file, by another reader than gpunim's."""
    data = file.read_bytes()
    if file.suffix in (".png", ".jpg", ".webp", ".tif", ".gif"):
        with Image.open(file) as image:
            exif, texts = image.getexif(), image.info
        if file.suffix == ".gif":
            software, _, command = texts["comment"].decode().partition(": ")
            return software, command
        pair = (texts["Software"], texts["Comment"]) if file.suffix == ".png" else (exif[0x131], exif[0x10E])
        return pair[0], pair[1] if file.suffix == ".png" else pair[1].encode("latin-1").decode()
    if file.suffix == ".svg":
        root = ElementTree.fromstring(data)
        made_by, command = ("".join(root.find(f".//{DOC}{name}").itertext()).strip() for name in ("creator", "description"))
        return made_by, command
    if file.suffix == ".3mf":
        with zipfile.ZipFile(file) as archive:
            root = ElementTree.fromstring(archive.read("3D/3dmodel.model"))
        application, description = root.findall("{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}metadata")
        return str(application.text), str(description.text)
    if file.suffix == ".glb":
        asset = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])["asset"]
        return asset["generator"], asset["extras"]["command"]
    if file.suffix == ".html":
        metas = dict(re.findall(r'<meta name="(\w+)" content="(.*)">', data.decode()))
        return unescape(metas["generator"]), unescape(metas["description"])
    if file.suffix == ".pdf":
        start = data.index(b"/Subject (") + 10
        text = data[start : data.index(b")\n", start)].replace(b"\\(", b"(").replace(b"\\)", b")").replace(b"\\\\", b"\\")
        return re.search(rb"/Creator \((.*?)\)", data)[1].decode(), text.decode("utf-16")
    if file.suffix in (".mp4", ".webm"):
        told = subprocess.run([ffmpeg(), "-i", file], capture_output=True, text=True, check=False).stderr
        tags = dict(re.findall(r"^    (\w+) +: (.*)$", told, re.MULTILINE))
        software, _, command = tags.get("COMMENT", "").partition(": ")
        return (software, command) if command else (tags["encoder"], tags["comment"])
    patterns = {".ply": rb"\ncomment (.*)\nelement", ".stl": rb"\A([^\0]{,80})"}
    software, _, command = re.search(patterns.get(file.suffix, rb"\A# (.*)"), data)[1].decode().partition(": ")
    return software, command


@cache
def made(*words):
    """The file that a command of this process writes."""
    with TemporaryDirectory() as folder, chdir(folder):
        printed(*words)
        return Path(words[-1]).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_made_it(name, place):
    words = (*COMMANDS[name], "-o", name)
    Path(name).write_bytes(made(*words))
    found = other_program(Path(name))
    assert found[0] == SOFTWARE
    assert found[1].startswith(f"gpunim {words[0]} {words[1]} ")
    assert ("⊕" in found[1]) == ("⊕" in "".join(words))
    assert facts("info", name) == {"file": name, "software": SOFTWARE, "command": found[1]}


def test_a_call_of_the_library_is_the_command(tmp_path):
    render("nim:3", resolution=(64, 48), engine="numpy", theme="paper").save(tmp_path / "a.png")
    call = "gpu_nim.render.render('nim:3', Look(resolution=(64, 48), theme='paper', engine='numpy'))"
    assert read_provenance(tmp_path / "a.png").command == call


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".gif", ".svg", ".pdf", ".mp4", ".webm", ".glb", ".3mf", ".ply"])
@pytest.mark.parametrize("content", [b"", b"x", bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(40), b"glTF" + b"\xff" * 40])
def test_a_file_that_does_not_say_is_one_sentence(suffix, content, tmp_path):
    file = tmp_path / f"a{suffix}"
    file.write_bytes(content)
    assert re.search(r"gpunim: cannot read .*: it (does not say which version|is damaged)", refused("info", file, status=1))


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_one_sentence_or_is_read(name, tmp_path):
    content, said = made(*COMMANDS[name], "-o", name), []
    for case in range(20):
        file = tmp_path / f"{case}{Path(name).suffix}"
        file.write_bytes(content)
        damage(Random(f"{name} {case}"), file)
        try:
            read_provenance(file)
        except FileError as error:
            said.append(str(error))
    assert "".join(said).isprintable()
    assert said


def test_files_of_others_and_long_texts_are_one_sentence(tmp_path):
    model = io.BytesIO()
    with zipfile.ZipFile(model, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("3D/3dmodel.model", "of another program")
    texts = PngInfo()
    texts.add_text("Software", "another program")
    texts.add_text("Comment", "its comment")
    Image.new("L", (1, 1)).save(picture := io.BytesIO(), "png", pnginfo=texts)
    for name, content, said in (
        ("a.3mf", model.getvalue().replace(b"]\0\0\x80\0\0", b"]\0\0\x80\0\xff"), "it is damaged (LZMAError: Corrupt input data)"),
        ("b.3mf", model.getvalue(), "it does not say which version"),
        ("a.png", picture.getvalue(), "it does not say which version"),
        ("a.pdf", b"/Creator (gpunim 1) /Subject (%b)" % (b"\\a" * 70000), "it does not say which version"),
    ):
        (tmp_path / name).write_bytes(content)
        assert said in refused("info", tmp_path / name, status=1)


@needs_ffmpeg
@needs_trimesh
@pytest.mark.nightly
def test_the_same_command_writes_the_same_bytes(tmp_path):
    commands = [(*words, "-o", name) for name, words in COMMANDS.items()]
    environment = {**os.environ, "PYTHONHASHSEED": "2", "TZ": "UTC2"}
    command = [sys.executable, "-c", ANSWERS]
    done = subprocess.run(
        command, input=json.dumps(commands), cwd=tmp_path, env=environment, text=True, capture_output=True, check=False
    )
    assert [json.loads(line)[0] for line in done.stdout.splitlines()] == [0] * len(commands), done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {words[-1] for words in commands}
    assert [words for words in commands if made(*words) != (tmp_path / words[-1]).read_bytes()] == []


ATTRIBUTES = {"sequence": "D", "piles": 3, "start": 10, "stop": 40}
VALUES = [3 ** n.bit_count() for n in range(10, 40)]


def pieces(limbs: int, first: int = 10) -> list[Any]:
    values = VALUES[first - 10 :] if limbs == 1 else [value << 70 for value in VALUES[first - 10 :]]
    array = np.array(values, np.uint64) if limbs == 1 else to_limbs(values, limbs)
    return [array[i : i + 7] for i in range(0, len(array), 7)]


def write(path: Path, limbs: int = 1, **changed: int) -> None:
    """Write the table."""
    parts = ((10 + 7 * number, piece) for number, piece in enumerate(pieces(limbs)))
    save_sequence(path, parts, {**ATTRIBUTES, **changed}, max(VALUES) << 70 * (limbs - 1))


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 elsewhere")
@pytest.mark.parametrize("ending", endings())
def test_a_name_that_is_not_utf8(tmp_path: Path, ending: str) -> None:
    path = tmp_path / os.fsdecode(b"\xff" + ending.encode())
    printed("count", "D", "--piles", 3, "--range", "10:40", "--out", path)
    assert [*read_terms(path).values] == VALUES


@pytest.mark.parametrize("limbs", [1, 2])
@pytest.mark.parametrize("ending", endings())
def test_whole_tables(tmp_path: Path, ending: str, limbs: int) -> None:
    name, values = f"t{ending}", VALUES if limbs == 1 else [value << 70 for value in VALUES]
    write(tmp_path / name, limbs)
    found = read_terms(tmp_path / name)
    assert (found.first, found.values) == (0 if ending == ".npy" else 10, tuple(values))
    assert read_terms(tmp_path / name, most=2).values == tuple(values[:2])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    write(tmp_path / name, limbs)  # replaces its like
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if ending == ".zarr":
        with pytest.raises(UsageError, match="must hold a growth or a solved game, got a table, which gpunim guess reads"):
            load(tmp_path / name)


def test_files_say_what_they_hold(tmp_path: Path) -> None:
    write(tmp_path / "t.zarr")
    attributes = json.loads((tmp_path / "t.zarr" / "zarr.json").read_text())["attributes"]
    expected = {"kind": "gpunim table", "format": 2, "limbs": 1, **ATTRIBUTES}
    text, values = json.dumps(["int64", expected], sort_keys=True), np.array(VALUES, "<u8").tobytes()
    write(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == ATTRIBUTES | {"values": [*map(str, VALUES)]}
    assert attributes == expected | {"checksum": hashlib.sha256(text.encode() + values).hexdigest()}


@pytest.mark.parametrize("most", [None, 5, 2**20 + 5])
def test_a_store_of_exchanged_chunks_is_refused(tmp_path: Path, most: int | None) -> None:
    values = np.arange(3 * 2**20, dtype=np.uint64)  # three chunks
    save_sequence(tmp_path / "t.zarr", [(0, values)], {"sequence": "A000027", "start": 0, "stop": len(values)}, len(values))
    assert read_terms(tmp_path / "t.zarr", most=5).values == (0, 1, 2, 3, 4)
    chunks = tmp_path / "t.zarr" / "c"
    for old, new in (("0", "x"), ("1", "0"), ("x", "1")):
        (chunks / old).rename(chunks / new)
    with pytest.raises(FileError, match="do not agree with its checksum"):
        read_terms(tmp_path / "t.zarr", most=most)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"TiB, .* are free there"):
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
        path = tmp_path / f"t{ending}"
        write_table(path, [COLUMNS], {"automaton": "nim"})
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


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    for ending in endings(columns=True):
        save_table({"x": [], "grundy": np.zeros(0, np.int64)}, tmp_path / f"t{ending}")
    assert (tmp_path / "t.csv").read_text() == "x,grundy\n"
    assert json.loads((tmp_path / "t.json").read_text()) == {"rows": []}


def test_a_made_up_format_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines with tabs, written by every command that writes a table, named in refusals, and read back."""

    def write_made(path: Path, heading: Any, parts: Any) -> None:
        rows = (row for columns in parts for row in zip(*columns.values(), strict=True))
        path.write_text("made\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))

    def read_made(path: Path, most: int | None) -> dict[str, list[str]]:
        return {"value": [line.split()[1] for line in path.read_text().splitlines()[1:][:most]]}

    monkeypatch.setitem(TABLE_FORMATS, ".made", TableFormat(".made", "with tabs", write_made, read_made, columns=True))
    printed("count", "D", "--piles", 3, "--range", "0:4", "--out", tmp_path / "D.made")
    assert (tmp_path / "D.made").read_text() == "made\n0\t1\n1\t3\n2\t3\n3\t9\n"
    assert read_terms(tmp_path / "D.made").values == (1, 3, 3, 9)
    printed("solve", "chocolate", "--a", "1:3", "--size", 3, "--out", tmp_path / "scan.made")
    assert (tmp_path / "scan.made").read_text().startswith("made\n1\tchocolate, y <= x + z\t3\t64\t10\t")
    for words in (("count", "D", "--piles", 3, "--range", "0:4"), ("solve", "chocolate", "--a", "1:3")):
        assert ".json, .made, got" in refused(*words, "--out", tmp_path / "a.mad")


# Tables fit the terminal, and are as wide as they are in a file


HEADER = ("name", "rule", "births")
ROWS = [("nim", "the children of each position, with one [added] to two piles", 12345678), ("edge", ":smile:", 5)]


def test_tables_align(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("a", 1000, None), ("bcd", 5, "x")], ("name", "n", "note"))
    assert capsys.readouterr().out == "name      n  note\na     1,000\nbcd       5  x\n"


@pytest.mark.parametrize("columns", [8, 20, 40, 60, 80, 120])
def test_no_letter_is_lost(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with redirect_stdout(Terminal()) as shown:
        print_table(ROWS, HEADER)
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    texts = [*HEADER, *(f"{cell:,}" if isinstance(cell, int) else cell for row in ROWS for cell in row)]
    assert sorted("".join(lines).replace(" ", "")) == sorted("".join(texts).replace(" ", ""))
    assert columns < 36 or max(map(len, lines)) <= columns


def test_a_file_has_whole_lines() -> None:
    lines = printed("automata").splitlines()
    assert len(lines) == 1 + len(CATALOGUE)
    assert max(map(len, lines)) > 120
