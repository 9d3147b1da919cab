"""Commands after others, with files that they read, or with what is typed: what they say, or the sentence by which they refuse."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import beside, printed, refused, run

SCENES: dict[str, dict[str, Any]] = {
    f"{line}, {number}": {"line": line, **scene} for line, scenes in beside(__file__).items() for number, scene in enumerate(scenes)
}


def held(folder: Path) -> dict[Path, int]:
    """The files in a folder but for hidden ones, with the time of each one's change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("[!.]*") if path.is_file()}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_scene(scene: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(scene["line"])
    for word in words:
        if word in scene:
            Path(word).write_bytes(scene[word].encode("latin-1"))
    for line in scene.get("first", ()):
        printed(*shlex.split(line))
    if "refused" in scene:
        before = held(tmp_path)
        assert scene["refused"] in refused(*words, status=scene.get("status", 1))
        assert held(tmp_path) == before
        return
    result = run(*words, text=scene.get("typed", "").encode("latin-1"))
    assert result.exit_code == scene.get("status", 0), result.output
    assert [part for part in scene.get("said", ()) if part not in result.output] == []
    assert result.output.endswith(scene.get("ends", ""))
