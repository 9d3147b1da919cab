"""What commands refuse, also what is hostile: one sentence on stderr, exit status 2 or the one beside it, and no file."""

import shlex
import tomllib
from pathlib import Path

import pytest

from tests.helpers import ON_NUMPY, printed, refused
from tests.render_files import has_ffmpeg

REFUSALS: dict[str, dict[str, str | tuple[int, str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in REFUSALS.items() for line in lines])
def test_wrong_use_is_one_sentence(command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "movie" and not has_ffmpeg():
        pytest.skip("ffmpeg is not installed")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(f"{command.removeprefix('gpunim')} {line}")
    answer = REFUSALS[command][line]
    status, sentence = (2, answer) if isinstance(answer, str) else answer
    assert sentence in refused(*words, status=status)
    assert not [*tmp_path.iterdir()]


def test_cells_far_apart_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid of the open sky stays as small as its limit, however thin and long the object is."""
    monkeypatch.chdir(tmp_path)
    printed("grow", "--offsets", "1000000000,0,0;0,1,0;0,0,1", "--gen", "1", "--out", "far.npz", *ON_NUMPY)
    printed("render", "far.npz", "--resolution=32x32", "--engine=numpy", "--quality=final", "--style=cubes", "-o", "a.png")
