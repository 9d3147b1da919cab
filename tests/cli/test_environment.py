"""Settings of the environment, processes that share work, and commands that signals end."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import gpu_nim
from gpu_nim.cli import Terminated, terminations_raised
from gpu_nim.model.errors import BackendError, UsageError
from gpu_nim.model.processes import pool
from gpu_nim.render import make_movie
from tests.helpers import CHECKOUT, TIMEOUT, beside, ended, gpunim

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


# No part of it is kept from running again, and no other process knows the automaton.
PROGRAM = """
print("once")
from dataclasses import replace
from gpu_nim import count
from gpu_nim.automata import CATALOGUE
from gpu_nim.render import make_movie
from tests.helpers import CHECKOUT, TIMEOUT, ended, gpunim
CATALOGUE.add(replace(CATALOGUE["edge"], name="mine"))
for source in ("nim:3", "mine:3"):
    make_movie(source, f"{source[:3]}.gif", frames=4, workers=2, resolution=(64, 48), engine="numpy")
"""
COUNTED = "print(count('D', range(5), piles=4, backend='numpy', workers=2))\n" if find_spec("distributed") else ""


@pytest.mark.parametrize("how", ["stdin", *(pytest.param(how, marks=pytest.mark.nightly) for how in ("file", "string"))])
def test_a_program_runs_once_and_needs_no_guard(how: str, tmp_path: Path) -> None:
    program = PROGRAM + COUNTED * (how == "file")
    (tmp_path / "program.py").write_text(program)
    words = {"file": ["program.py"], "stdin": ["-"], "string": ["-c", program]}[how]
    done = ended([sys.executable, *words], input=program * (how == "stdin"), cwd=tmp_path)
    assert done == (0, "once\n" + "[ 1  6  7 36 13]\n" * bool(COUNTED and how == "file"), "")
    assert {each.name for each in tmp_path.iterdir()} == {"program.py", "nim.gif", "min.gif"}


def test_a_lost_process_is_one_sentence() -> None:
    with (
        pytest.raises(BackendError, match=r"^a process that was started for this ended before .*, or for workers 1$"),
        pool(1) as started,
    ):
        started.submit(os._exit, 3).result()


def test_a_process_that_may_start_none_does_the_work_itself_or_says_so(tmp_path: Path) -> None:
    options = {"frames": 4, "workers": 2, "resolution": (64, 48), "engine": "numpy"}
    with get_context("spawn").Pool(1) as daemons:
        assert daemons.apply(make_movie, ("nim:3", tmp_path / "a.gif"), options)["frames"] == 4
        with pytest.raises(UsageError, match="workers must be left out in a process that multiprocessing started"):
            daemons.apply(gpu_nim.count, ("D", range(9)), {"piles": 3, "backend": "numpy", "workers": 2})


# Ended by signals: clean-up, one sentence, the status that a shell reports


ENDINGS = [
    (signal.SIGINT, 130, "\ngpunim: interrupted\n"),
    pytest.param(signal.SIGTERM, 143, "gpunim: terminated\n", marks=pytest.mark.nightly),
    pytest.param(signal.SIGHUP, 129, "gpunim: hung up\n", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("number", "status", "sentence"), ENDINGS)
def test_a_signal_leaves_no_file(tmp_path: Path, number: signal.Signals, status: int, sentence: str) -> None:
    command = ["grow", "edge", "--gen", "600", "--backend", "numpy", "--threads", "0", "--quiet", "--out", str(tmp_path / "a.zarr")]
    process = subprocess.Popen(gpunim(*command), stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.rglob("cells")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stderr) == (status, sentence)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_handlers_last_as_long_as_a_command(number: signal.Signals) -> None:
    with pytest.raises(Terminated), terminations_raised():
        signal.raise_signal(number)
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with terminations_raised():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_status_after_ctrl_c_in_the_exec_of_a_text(tmp_path: Path) -> None:
    # Python would end by the signal itself then, as it remembers an interrupt that was dealt with.
    (tmp_path / "sitecustomize.py").write_text(
        "import click\ndef invoke(*args):\n    exec('raise KeyboardInterrupt')\nclick.Group.invoke = invoke\n"
        "import atexit, logging\natexit.register(logging.error, 'Task exception was never retrieved')\n"  # as asyncio does for zarr
    )
    searched = os.pathsep.join((str(tmp_path), str(CHECKOUT)))
    assert ended(gpunim("info"), {"PYTHONPATH": searched})[::2] == (130, "\ngpunim: interrupted\n")
