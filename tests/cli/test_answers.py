"""What commands and the library answer and refuse, also what is hostile; refusals are one sentence, and leave no file."""

import json
import re
import shlex
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from gpu_nim.cli.output import readers
from gpu_nim.model.errors import GpunimError
from tests.helpers import beside, printed, refused, run
from tests.render_files import has_ffmpeg, opengl_reason


def each_of(name: str) -> Any:
    """A mark by which a test runs once for each entry of a file beside this one: its room, its line, and what is said of that."""
    rooms = beside(Path(__file__).with_name(name))
    rooms.pop("names", None)
    entries = [(room, line, answer) for room, lines in rooms.items() for line, answer in lines.items()]
    return pytest.mark.parametrize(("room", "line", "answer"), entries)


def at(found: Any, path: str) -> Any:
    """What a path of names and places leads to in JSON; after `*`, that of each."""
    name, _, rest = path.partition(".")
    if name == "*":
        return [at(each, rest) for each in found]
    within = found[int(name)] if isinstance(found, list) else found[name]
    return at(within, rest) if rest else within


@each_of("test_answers")
def test_a_command_answers(room: str, line: str, answer: Any) -> None:
    words = [room, *shlex.split(line)]
    if isinstance(answer, str):
        assert printed(*words) == answer
    elif isinstance(answer, list):
        said = printed(*words)
        assert [part for part in answer if part not in said] == []
    else:
        flag = [] if {"--json", "json"} & {*words} else ["--json"]
        at_end = words.index("--") if "--" in words else len(words)
        found = json.loads(printed(*words[:at_end], *flag, *words[at_end:]))
        assert {path: at(found, path) for path in answer} == {path: None if of == "null" else of for path, of in answer.items()}


@each_of("test_refusals")
def test_wrong_use_is_one_sentence(room: str, line: str, answer: Any, place: Path) -> None:
    if room == "movie" and not has_ffmpeg():
        pytest.skip("ffmpeg is not installed")
    if "--style volume" in line and opengl_reason():
        pytest.skip("no OpenGL")
    words = shlex.split(f"{room.removeprefix('gpunim')} {line}")
    status, sentence = (2, answer) if isinstance(answer, str) else answer
    assert sentence in refused(*words, status=status)
    assert not [*place.iterdir()]


@pytest.mark.parametrize("reader", [each for each in readers() if each != "grow --resume"])
def test_a_command_reads_what_it_says_and_names_what_reads_the_rest(reader: str, place: Path) -> None:
    out = {"render": ["-o", "b.png"], "movie": ["-o", "b.gif"], "export": ["-o", "b.html"]}.get(reader, [])
    for suffix in {each for each in chain(*readers().values()) if each[0] == "."} | {".vti", ".zip"}:
        Path(f"a{suffix}").touch()
        said = refused(*reader.split(), f"a{suffix}", *out, status=(1, 2))
        others = [other for other, kinds in readers().items() if suffix in kinds]
        if reader in others:
            assert re.search(
                rf"cannot read a\{suffix}: |a\{suffix} holds no column|terms must be 4|the b-file a.(txt|seq) with", said
            )
        else:
            assert f"{reader} reads {readers()[reader][0]}" in said
            assert all(re.search(rf"; gpunim .*\b{other}\b.* reads? \{suffix}$", said) for other in others)
            assert said.endswith(f", got 'a{suffix}'; no command reads {suffix}\n") == (not others)


NAMES: dict[str, Any] = {}
exec(beside(Path(__file__).with_name("test_library_refusals"))["names"], NAMES)


@each_of("test_library_refusals")
def test_what_is_impossible_is_refused(room: str, line: str, answer: Any, place: Path) -> None:
    """Expressions: the sentence names the argument, what was expected and what was given."""
    name, words = ("UsageError", answer) if isinstance(answer, str) else answer
    with pytest.raises((GpunimError, OverflowError, ValueError)) as raised:
        eval(line, NAMES)
    assert type(raised.value).__name__ == name
    assert words in str(raised.value)
    assert str(raised.value).isprintable()
    assert not [*place.iterdir()]


# Commands after others, with files that they read, or with what is typed


SCENES = [{"line": line, **scene} for line, scenes in beside(Path(__file__).with_name("test_scenes")).items() for scene in scenes]


def held(folder: Path) -> dict[Path, int]:
    """The files in a folder but for hidden ones, with the time of each one's change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("[!.]*") if path.is_file()}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["line"])
def test_a_scene(scene: dict[str, Any], place: Path) -> None:
    words = shlex.split(scene["line"])
    for word in words:
        if word in scene:
            Path(word).write_bytes(scene[word].encode("latin-1"))
    for line in scene.get("first", ()):
        printed(*shlex.split(line))
    if "refused" in scene:
        before = held(place)
        assert scene["refused"] in refused(*words, status=scene.get("status", 1))
        assert held(place) == before
        return
    result = run(*words, text=scene.get("typed", "").encode("latin-1"))
    assert result.exit_code == scene.get("status", 0), result.output
    assert [part for part in scene.get("said", ()) if part not in result.output] == []
    assert result.output.endswith(scene.get("ends", ""))
