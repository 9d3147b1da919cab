"""The campaigns (see `tests.campaign`), and tests that their rules detect faults."""

import os
import shutil
import signal
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from gpu_nim import grow, save, solve
from tests.campaign import judge, works
from tests.campaign.lines import KNOWN, commands, lines
from tests.campaign.runner import MEMORY, Outcome, Run, forked
from tests.campaign.scenes import SCENES, Scene
from tests.campaign.works import WORKS, Work
from tests.helpers import wait_for

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="campaigns read /proc"),
    pytest.mark.nightly,
]

_LONG = int(os.environ.get("GPUNIM_CAMPAIGN", "0"))


def campaign(few: int) -> Callable[[Any], Any]:
    """So many cases, the same each time; or as many others as are asked for."""
    unchecked = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    how = settings(
        max_examples=_LONG or few,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=unchecked,
    )
    return lambda test: how(test if _LONG else seed(0)(test))


# Command lines


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that lines read: good ones, and pipes, devices and damaged ones."""
    folder = tmp_path_factory.mktemp("fixtures")
    (folder / "closed").mkdir()
    save(grow("edge", 9), folder / "edge.zarr")
    save(grow("nim", 15), folder / "nim.npz")
    save(solve("3y <= x + z", 15), folder / "chocolate.npz")
    (folder / "b237711.txt").write_text("0 1\n1 3\n2 3\n3 9\n")
    (folder / "text.npz").write_text("not a zip file\n")
    (folder / "unreadable.npz").write_text("")
    (folder / "unreadable.npz").chmod(0)
    (folder / "zero.npz").symlink_to("/dev/zero")
    os.mkfifo(folder / "fifo.npz")
    (folder / "closed").chmod(0o500)
    return folder


def try_line(line: tuple[str, ...] | list[str], fixtures: Path, folder: Path) -> None:
    """Run a command line in a folder with a user's files."""
    works.anew(folder)
    (folder / "notes.txt").write_text("my notes\n")
    for name in ("thesis.zarr", "thesis.npz", "thesis.csv"):
        (folder / name).mkdir()
        (folder / name / "chapter.txt").write_text("It was a dark and stormy night.\n")
    before, held = judge.contents(folder), judge.contents(fixtures)
    outcome = forked([word.replace("FIXTURES", str(fixtures)) for word in line], folder)
    found = judge.faults(outcome) + judge.litter(outcome, before, judge.contents(folder))
    assert not found, f"{found}\n{outcome}"
    assert judge.contents(fixtures) == held, f"it changed what it was to read\n{outcome}"


@pytest.mark.nightly
def test_lines_that_once_ended_badly(fixtures: Path, tmp_path: Path) -> None:
    for line in KNOWN:
        try_line(line, fixtures, tmp_path / "work")


@pytest.mark.nightly
@pytest.mark.parametrize("command", commands())
@campaign(14)
@given(data=st.data())
def test_lines(command: str, fixtures: Path, tmp_path: Path, data: st.DataObject) -> None:
    try_line(data.draw(lines(command)), fixtures, tmp_path / "work")


# Long work

_ENDS = {signal.SIGKILL: 137, signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129}


def still_running(mark: bytes) -> list[int]:
    """The programs with this mark in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
    return found


def ended(line: str, folder: Path, number: signal.Signals, after: float) -> Outcome:
    """Run a command line, and send it a signal after this many seconds, which nothing that it started outlives."""
    run = Run(line.split(), folder)
    if not run.ends(after):
        wait_for(lambda: run.begun or run.ends(0), f"the start of {line}")
        run.signal(number)
    run.ends(20)
    wait_for(lambda: not still_running(run.mark), f"the end of what {line} has started")
    return run.outcome(0)


@pytest.mark.nightly
@pytest.mark.parametrize("work", WORKS, ids=str)
@campaign(1)
@given(moments=st.lists(st.tuples(st.sampled_from([signal.SIGKILL, *_ENDS]), st.floats(0, 1.1)), min_size=1, max_size=3))
def test_killed_work_goes_on(work: Work, tmp_path: Path, moments: list[tuple[signal.Signals, float]]) -> None:
    seconds, expected = works.alone(work, tmp_path / "alone")
    folder, line = tmp_path / "work", work.line
    left: set[str] = set()  # by what was killed
    works.anew(folder)
    for number, part in moments:
        outcome = ended(line, folder, number, part * seconds)
        if "KeyboardInterrupt" in outcome.errors and "gpu_nim" not in outcome.errors:
            continue  # the command had not begun
        assert outcome.status in (0, _ENDS[number]), outcome
        if outcome.status == 0:
            break
        if number != signal.SIGKILL:
            found = [fault for fault in judge.faults(outcome) if not fault.startswith("status")]
            assert not found, f"{found}\n{outcome}"
            assert {*works.hidden(folder)} <= left, outcome
        left = {*works.hidden(folder)}
        line = work.resumed_by or work.line
        if line.startswith("grow --resume") and not [*(folder / "c").glob("checkpoint-*.npz")]:
            shutil.rmtree(folder / "c", ignore_errors=True)  # nothing to go on from: begun anew
            line = work.line
    else:
        outcome = forked(line.split(), folder, memory=None)
    assert not judge.faults(outcome), outcome
    assert works.results(outcome, folder, work.made) == expected
    assert {*works.hidden(folder)} <= left


@pytest.mark.nightly
@pytest.mark.parametrize("work", WORKS, ids=str)
@campaign(1)
@given(delay=st.sampled_from([0.0, 0.02]) | st.floats(0, 1))
def test_work_that_is_done_twice_at_once(work: Work, tmp_path: Path, delay: float) -> None:
    """Each finishes or is refused in a sentence, and the files are intact in the end."""
    seconds, expected = works.alone(work, tmp_path / "alone")
    folder = tmp_path / "work"
    works.anew(folder)
    first = Run(work.line.split(), folder)
    time.sleep(delay * seconds)
    outcomes = [run.outcome() for run in (first, Run(work.line.split(), folder))]
    told = "\n".join(map(str, outcomes))
    assert not [fault for outcome in outcomes for fault in judge.faults(outcome)], told
    done = [outcome for outcome in outcomes if outcome.status == 0]
    assert done, told
    assert works.results(done[0], folder, work.made) == expected, told
    assert not works.hidden(folder), told


@pytest.mark.nightly
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)
@campaign(3)
@given(choose=st.randoms(use_true_random=False))
def test_scenes(scene: Scene, choose: Random, tmp_path: Path) -> None:
    wrong = scene.play(choose, tmp_path)
    assert not wrong, wrong


# The rules


def test_the_rules_see_a_fault() -> None:
    for row in tomllib.loads(Path(judge.__file__).with_suffix(".toml").read_text(encoding="utf-8"))["faults"]:
        said = row.get("output", ""), row.get("errors", "")
        found = judge.faults(Outcome(tuple(row.get("line", "grow").split()), row.get("status", 0), *said, 0.0))
        assert any(row["fault"] in each for each in found) if "fault" in row else found == [], row
    long = judge.faults(Outcome(("grow",), 2, "", f"gpunim: {'words ' * 200}\n", 0.0))
    assert long == ["a sentence of over 600 characters"]


def test_a_run_is_stopped_at_its_limit_and_has_the_status_of_a_shell(tmp_path: Path) -> None:
    for command, limit, status in ((partial(time.sleep, 60), 1, None), (os.abort, 60, 134), (partial(sys.exit, 3), 60, 3)):
        assert Run(("grow",), tmp_path, command, memory=MEMORY).outcome(limit).status == status


def test_litter_is_what_a_refusal_changes_and_what_nobody_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    before = judge.contents(tmp_path)
    (tmp_path / ".out.npz.partial").mkdir()
    after = judge.contents(tmp_path)
    done, refused = (Outcome(("grow", "--out", "out.npz"), status, "", "", 0.0) for status in (0, 2))
    assert judge.litter(done, before, before) == judge.litter(refused, before, before) == []
    assert judge.litter(done, before, after) == ["it left .out.npz.partial"]
    assert judge.litter(refused, before, after) == ["a refusal that changed .out.npz.partial"]
    (tmp_path / ".out.npz.partial").rmdir()
    (tmp_path / "out.npz").write_text("whole")
    assert judge.litter(done, before, judge.contents(tmp_path)) == []
