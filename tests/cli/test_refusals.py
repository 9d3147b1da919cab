"""What commands refuse, also what is hostile: one sentence on stderr, exit status 2 or the one beside it, and no file."""

import re
import shlex
from itertools import chain
from pathlib import Path

import pytest

from gpu_nim.cli.output import readers
from tests.helpers import beside, refused
from tests.render_files import has_ffmpeg, opengl_reason

REFUSALS: dict[str, dict[str, str | tuple[int, str]]] = beside(__file__)


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in REFUSALS.items() for line in lines])
def test_wrong_use_is_one_sentence(command: str, line: str, place: Path) -> None:
    if command == "movie" and not has_ffmpeg():
        pytest.skip("ffmpeg is not installed")
    if "--style volume" in line and opengl_reason():
        pytest.skip("no OpenGL")
    words = shlex.split(f"{command.removeprefix('gpunim')} {line}")
    answer = REFUSALS[command][line]
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
