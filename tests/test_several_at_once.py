"""Several processes with one file or folder, killed processes, and their leftovers."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow, load
from gpu_nim.automata.growth import Growth
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.model.errors import FileError
from gpu_nim.storage import atomic
from tests import helpers
from tests.helpers import PATIENCE, gpunim, run
from tests.render_files import needs_ffmpeg
from tests.writers import EACH, SIZE, WRITERS, command

pytestmark = pytest.mark.nightly

HOLDER = """
import sys
from contextlib import ExitStack
from pathlib import Path
from gpu_nim.storage.atomic import claim
with ExitStack() as stack:
    for name in sys.argv[1:]:
        stack.enter_context(claim(Path(name)))
    print("held", flush=True)
    sys.stdin.read()
"""
# gpunim, which stops itself when the first file is complete on the disk and about to be renamed.
STOPPING = """
import os, signal, sys
import gpu_nim.storage.atomic as atomic
rename = atomic._rename
def stop(*places):
    atomic._rename = rename
    os.kill(os.getpid(), signal.SIGSTOP)
    rename(*places)
atomic._rename = stop
from gpu_nim.__main__ import main
sys.argv[0] = "gpunim"
main()
"""


def refused(sentence: str, *words: object) -> None:
    assert helpers.refused(*words, status=1) == f"gpunim: {sentence}\n"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """A folder, and the process that holds the names of all writers in it."""
    folder = tmp_path_factory.mktemp("held")
    names = [str(folder / name) for name in WRITERS]
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    yield folder, holder.pid
    holder.communicate()
    assert os.listdir(folder) == []  # no locks are left


@pytest.mark.parametrize("name", EACH)
def test_a_name_has_one_writer(held: tuple[Path, int], name: str) -> None:
    folder, process = held
    refused(f"cannot write {folder / name}: process {process} is using it", *command(name, folder))
    assert [path.name for path in folder.iterdir() if path.name.lstrip(".").startswith(name)] == [f".{name}.gpunim-lock"]


class Stopped:
    """A command that is stopped just before its first file is renamed."""

    def __init__(self, *args: object) -> None:
        words = [sys.executable, "-c", STOPPING, *map(str, args)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal, let it continue, and return its status and stderr."""
        self.process.send_signal(number)
        self.process.send_signal(signal.SIGCONT)
        _, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stderr


def whole(path: Path, growth: Growth) -> bool:
    found = load(path)
    assert isinstance(found, Growth)
    return found.digest == growth.digest and np.array_equal(found.cells(), growth.cells())


def test_two_growths_in_one_folder(tmp_path: Path) -> None:
    folder, out = tmp_path / "run", tmp_path / "a.npz"
    first = Stopped("grow", "edge", "--gen", "20", "--checkpoint", folder, "--every", "5", "--out", out)
    sentence = f"cannot checkpoint to {folder}: process {first.pid} is using it"
    refused(sentence, "grow", "nim", "--gen", "9", "--checkpoint", folder)
    assert first.end(signal.SIGCONT) == (0, "")
    second = Stopped("grow", "--resume", folder, "--gen", "40")
    refused(f"cannot resume from {folder}: process {second.pid} is using it", "grow", "--resume", folder, "--gen", "50")
    refused(f"cannot write {out}: process {second.pid} is using it", "grow", "nim", "--gen", "9", "--out", out)
    assert second.end(signal.SIGCONT) == (0, f"gpunim: saves to {out}, as was asked for when it began\n")
    assert whole(out, grow("edge", 40, backend="numpy", cells=True))
    assert sorted(os.listdir(folder)) == ["cells.zarr", "checkpoint-0000000035.npz", "checkpoint-0000000040.npz"]


@pytest.mark.parametrize("name", ["a.zarr", "s.csv", "t.zarr", "g.dot"])
def test_the_next_writer_clears_up_after_a_killed_one(tmp_path: Path, name: str) -> None:
    assert Stopped(*command(name, tmp_path)).end(signal.SIGKILL) == (-signal.SIGKILL, "")
    beside = {f".{name}.gpunim-lock", *(path.name for path in tmp_path.glob(f".{name}.gpunim-*.partial"))}
    assert len(beside) == (3 if name == "a.zarr" else 2)  # with its cells while it grew
    assert {*os.listdir(tmp_path)} == beside
    assert run(*command(f"{name}", tmp_path)).exit_code == 0
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_at_the_last_moment(tmp_path: Path, number: signal.Signals, status: int) -> None:
    code, _ = Stopped(*command("a.npz", tmp_path)).end(number)  # the file has its name by then: it is let take it
    assert code == status
    assert os.listdir(tmp_path) == ["a.npz"]


def test_links_planted_under_known_names_lead_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    place = tmp_path / "place"
    place.mkdir()
    for name in (".t.csv.partial", ".checkpoint.partial", ".m.gif.frames"):
        (place / name).symlink_to(target)
    asked = ("count", "D", "--piles", "3", "--range", "0:50", "--out", place / "t.csv")
    assert run(*asked).exit_code == 0
    assert run("grow", "nim", "--gen", "4", "--checkpoint", place).exit_code == 0
    (place / ".t.csv.gpunim-lock").symlink_to(target)
    result = run(*asked)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"gpunim: cannot write {place / 't.csv'}: Too many levels of symbolic links (")
    other = tmp_path / "other"
    other.mkdir()
    (other / "cells.zarr").symlink_to(place)
    with pytest.raises(FileError, match="is a link to somewhere else"):
        Checkpoints(other).begin()
    (other / "cells.zarr").rename(place / "cells.zarr")
    sentence = f"cannot resume from {place}: {place / 'cells.zarr'} is a link to somewhere else"
    refused(sentence, "grow", "--resume", place, "--gen", 9)
    assert target.read_text() == "mine"


# Processes that end with the one that started them


@pytest.mark.parametrize(
    ("asked", "begun"),
    [
        pytest.param(
            ("movie", "nim:15", *SIZE, "--seconds", "60", "--workers", "2", "-o"),
            "0*.png",
            marks=needs_ffmpeg,
        ),
        (("count", "D", "--piles", "3", "--range", "0:2^34", "--workers", "2", "--out"), "t.zarr/zarr.json"),
    ],
)
def test_workers_end_with_a_killed_parent(tmp_path: Path, asked: tuple[str, ...], begun: str) -> None:
    if asked[0] == "count":
        pytest.importorskip("distributed", reason="distributed is not installed")
    out = tmp_path / ("m.gif" if asked[0] == "movie" else "t.zarr")
    words = gpunim(*asked, out, "--quiet")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(tmp_path.glob(f".{out.name}.*.partial/{begun}")):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=PATIENCE)  # which lasts until the last process that could write to the pipes is gone


# Locks that are removed as they are released

CONTENDER = """
import os, sys
from gpu_nim.model.errors import FileError
from gpu_nim.storage.atomic import locked
from pathlib import Path
lock, inside, got = Path(sys.argv[1]), sys.argv[2], 0
while got < 400:
    try:
        with locked(lock, "no"):
            os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails where another is there
            os.unlink(inside)
            got += 1
    except FileError as error:
        assert str(error).endswith("is using it"), error
"""


def test_a_lock_is_held_by_one_though_its_file_comes_and_goes(tmp_path: Path) -> None:
    words = [sys.executable, "-c", CONTENDER, str(tmp_path / "lock"), str(tmp_path / "inside")]
    contenders = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(contender.communicate(timeout=PATIENCE)[1], contender.returncode) for contender in contenders] == [(b"", 0)] * 3
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("function", ["flock", "_sign", "_release"])
def test_an_interrupt_leaves_no_lock_wherever_it_comes(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = fcntl if function == "flock" else atomic
    whole = getattr(room, function)

    def interrupted(*given: object, **named: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return whole(*given, **named)

    monkeypatch.setattr(room, function, interrupted)
    with pytest.raises(KeyboardInterrupt), atomic.locked(tmp_path / "lock", "no"):
        pass
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    with atomic.locked(tmp_path / "lock", "no") as alone:
        assert alone
