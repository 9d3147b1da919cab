"""Wrong use of every command: one sentence on stderr, and exit status 2."""

import shlex
import tomllib
from pathlib import Path

import pytest

from gpu_nim.counting import long_integers
from tests.helpers import refused

REFUSALS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())


@pytest.mark.parametrize(("command", "line"), [(command, line) for command, lines in REFUSALS.items() for line in lines])
def test_wrong_use_is_one_sentence(command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "guess" and long_integers.flint() is None:
        pytest.skip("python-flint, the extra exact, is not installed")
    monkeypatch.chdir(tmp_path)
    words = shlex.split(f"{command.removeprefix('gpunim')} {line}")
    assert REFUSALS[command][line] in refused(*words)
    assert not [*tmp_path.iterdir()]
