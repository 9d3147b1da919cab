"""Fuzzing: random command lines end with a result, or in one sentence and a status that is not 0, and leave whole files alone.

Lines are made of options as click describes them, so that new ones are included and read files that may be damaged. A few are
tried at each commit, always the same; more each night, by the seed GPUNIM_SEED. What fails is printed as the line that was run.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import click
import pytest

from gpu_nim import grow, load, save, solve
from gpu_nim.cli import COMMANDS, main
from tests.helpers import ON_NUMPY, beside, damage, gpunim, interrupted_after, run

SEED = int(os.environ.get("GPUNIM_SEED", "0"))
DATA: dict[str, Any] = beside(__file__)
FUZZED = [name for name in COMMANDS if name != "bench"]  # which measures
#: Options that start other processes, or open or fetch something.
LEFT_OUT = {"help", "version", "web", "workers", "scheduler", "ranks", "port"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that lines read."""
    folder = tmp_path_factory.mktemp("files")
    save(grow("edge", 5, backend="numpy"), folder / "edge.zarr")
    save(grow("nim", 7, backend="numpy"), folder / "nim.npz")
    save(solve("wythoff", 5, backend="numpy"), folder / "wythoff.npz")
    (folder / "terms.csv").write_text("n,value\n" + "".join(f"{n},{n}\n" for n in range(40)))
    return folder


def made_up(choose: Random, name: str) -> list[str]:
    """A command line: a beginning, a few options with good and hostile values, perhaps a letter amiss or a name that is taken."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    words = [name, *shlex.split(choose.choice(DATA["beginnings"][name]))]
    options = [each for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)]
    for option in choose.sample(options, choose.randint(0, min(3, len(options)))):
        if option.name not in LEFT_OUT:
            words += [option.opts[-1]] if option.is_flag else [option.opts[-1], _value(choose, option)]
    if choose.random() < 0.2:
        at = choose.randrange(1, len(words)) if len(words) > 1 else 0
        words[at] = words[at][:1] + choose.choice(DATA["hostile"]) + words[at][2:]
    return [word.replace("out.", "thesis.") if choose.random() < 0.2 else word for word in words]


def _value(choose: Random, option: click.Option) -> str:
    hostile = choose.random() < 0.3
    if isinstance(option.type, click.Path):
        return choose.choice(DATA["hostile_paths"]) if hostile else f"out.{choose.choice(DATA['paths'])}"
    if isinstance(option.type, click.Choice) and not hostile:
        return str(choose.choice([*option.type.choices]))
    return choose.choice(DATA["hostile"] if hostile else DATA["small"])


def held(folder: Path) -> dict[str, int]:
    """The files in a folder and those within it, with the time of each one's change."""
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in folder.rglob("*") if not path.is_dir()}


def try_line(words: list[str], folder: Path) -> None:
    """Run a command line in a folder with a user's files, and assert that it keeps the rules."""
    for ending in DATA["paths"]:
        (folder / f"thesis.{ending}").mkdir()
        (folder / f"thesis.{ending}" / "chapter.txt").write_text("It was a dark and stormy night.\n")
    before = held(folder)
    with interrupted_after(10):
        result = run(*words)
    after, said = held(folder), f"{shlex.join(words)}\nstatus {result.exit_code}\n{result.output[-2000:]}"
    assert isinstance(result.exception, SystemExit | None), f"{said}{result.exception!r}"
    assert not re.search(r"Traceback|defect of gpunim|Warning:|[\x00-\x08\x0b-\x1f\x7f-\x9f]", click.unstyle(result.output)), said
    assert result.exit_code in (0, 1, 2, 130), said
    hidden = {path.name for path in folder.rglob(".*")}
    assert hidden <= {".gpunim-lock"}, said  # which may stay beside checkpoints
    if result.exit_code:
        *_, last = ["", *result.stderr.splitlines()]
        assert last.startswith("gpunim: ") or (result.exit_code == 1 and words[0] == "verify" and result.stdout), said
        assert after == before or result.exit_code == 130, f"{said}it left {after.keys() - before.keys()}"
    assert all(after.get(name) == time for name, time in before.items()), f"{said}it changed what is another's"


def fuzz(choose: Random, name: str, files: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Try a random line of a command, perhaps with damaged files."""
    words = made_up(choose, name)
    shutil.copytree(files, folder / "in")
    for word in words:
        if word.startswith("in/") and (folder / word).exists() and choose.random() < 0.5:
            damage(choose, folder / word)
    os.mkfifo(folder / "in" / "pipe.npz")
    monkeypatch.chdir(folder)
    try_line(words, folder)


@pytest.mark.parametrize(("seed", "cases"), [(0, 6), pytest.param(SEED, 250, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", FUZZED)
def test_random_lines(name: str, seed: int, cases: int, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in range(cases):
        fuzz(Random(f"{name} {seed} {case}"), name, files, tmp_path / str(case), monkeypatch)


@pytest.mark.nightly
def test_a_growth_that_is_killed_leaves_whole_files_and_goes_on(tmp_path: Path) -> None:
    choose, folder, out, expected = Random(SEED), tmp_path / "run", tmp_path / "a.zarr", grow("edge", 400, backend="numpy").digest
    words = ["grow", "edge", "--gen", "400", "--every", "20", "--out", out, "--checkpoint", folder]
    for _ in range(6):
        process = subprocess.Popen(gpunim(*words, *ON_NUMPY))
        while not [*folder.glob("checkpoint-*.npz")] and process.poll() is None:
            time.sleep(0.02)
        time.sleep(2 * choose.random())
        process.kill()
        assert process.wait() in (0, -signal.SIGKILL)
        assert not out.exists() or load(out).digest == expected
        words = ["grow", "--resume", folder]
    assert run(*words, *ON_NUMPY).exit_code == 0
    assert load(out).digest == expected
