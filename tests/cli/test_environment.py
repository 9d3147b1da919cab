"""Settings of the environment, right and wrong: what a command gives does not depend on them, or one sentence names the setting."""

import json
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import beside, ended, gpunim

DATA: dict[str, Any] = beside(__file__)
SETTINGS: dict[str, str] = DATA["settings"]
#: One of each kind: loops that numba compiles, a store, a figure of matplotlib, words on a picture, and text.
COMMANDS = """
grow edge --gen 300 --backend numpy
grow nim --gen 5 --backend numpy --out a.zarr
render figure:NF1 -o a.svg
render nim:7 --engine numpy --resolution 480x270 --title Nim --cmap jet -o a.png
count D --piles 4 --range 0:9 --backend numpy --out a.json
play 3 4
"""
_OF_MATPLOTLIB = "font.size: 31\nfont.weight: bold\nlines.linewidth: 9\ntext.antialiased: False\nimage.lut: 5\nsvg.fonttype: path\n"
_RUN = """
import json, sys
from gpu_nim.__main__ import main
for words in json.load(sys.stdin):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def made(folder: Path, settings: dict[str, str]) -> dict[str, object]:
    """What the commands print and write in a folder with these settings."""
    folder.mkdir()
    (folder / "settings").write_text(_OF_MATPLOTLIB)
    words = json.dumps([shlex.split(line) for line in COMMANDS.strip().splitlines()])
    _, stdout, stderr = ended([sys.executable, "-c", _RUN], settings, input=words, cwd=folder)
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "zarr.json")
    return {
        "printed": re.sub(r"(seconds +|\()[\d.]+", "", stdout + stderr),
        **{str(path.relative_to(folder)): path.read_bytes() for path in files},
    }


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the commands make without any of the settings."""
    found = made(tmp_path_factory.mktemp("plain") / "a", {})
    assert str(found["printed"]).splitlines()[-1] == "0"
    assert {"a.svg", "a.png", "a.json"} < found.keys()
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("names", [[*SETTINGS], *([name] for name in SETTINGS)], ids=lambda names: "-".join(names[:2]))
def test_no_setting_changes_anything(names: list[str], without: dict[str, object], tmp_path: Path) -> None:
    assert made(tmp_path / "a", {name: SETTINGS[name] for name in names}) == without


def test_settings_of_a_folder_are_not_those_of_gpunim(without: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text(f"{_OF_MATPLOTLIB}no.such.key: 3\n")
    assert ended(gpunim("render", "figure:NF1", "-o", "a.svg"), cwd=tmp_path)[::2] == (0, "")
    assert (tmp_path / "a.svg").read_bytes() == without["a.svg"]


@pytest.mark.parametrize(("setting", "line", "sentence"), DATA["refused"])
def test_a_wrong_setting_that_counts_is_named(setting: str, line: str, sentence: str, tmp_path: Path) -> None:
    if "IMAGEIO" in setting and not find_spec("imageio_ffmpeg"):
        pytest.skip("imageio-ffmpeg is not installed")
    status, stdout, stderr = ended(gpunim(*line.split()), dict(each.split("=") for each in setting.split()), cwd=tmp_path)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert sentence in stderr


@pytest.mark.skipif(not (find_spec("numba") and find_spec("yaml")), reason="numba and PyYAML are not installed")
def test_settings_that_numba_refuses_are_named(tmp_path: Path) -> None:
    (tmp_path / ".numba_config.yaml").write_text("num_threads: 0")
    sentence = "numba refuses its settings, NUMBA_* or those of .numba_config.yaml: Number of threads specified must be > 0."
    done = ended(gpunim("grow", "edge", "--gen", "300", "--backend", "numpy"), cwd=tmp_path)
    assert done == (2, "", f"gpunim: {sentence}\n")
