"""Files say which version and which command made them, to other programs and to `gpunim info`; the same command in another process
writes the same bytes.
"""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from contextlib import chdir
from functools import cache
from html import unescape
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from gpu_nim import __version__
from gpu_nim.model.errors import FileError
from gpu_nim.render.exports import EXPORTS
from gpu_nim.render.image import render
from gpu_nim.render.metadata import read_provenance
from gpu_nim.render.movie import ffmpeg
from tests.helpers import ANSWERS, damage, facts, printed, refused
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
