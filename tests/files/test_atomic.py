"""Files are whole or not there: after a kill, an interrupt or a full disk, and where two processes have the same file or folder."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.model.errors import FileError
from gpu_nim.storage.atomic import atomic_write
from tests.helpers import TIMEOUT, gpunim, interrupt, no_file_longer_than, refused, run
from tests.render_files import needs_ffmpeg

SIZE = ("--resolution", "64x48", "--engine", "numpy", "--quality", "draft")
#: By the name of the file, for which OUT stands.
WRITERS = {
    **dict.fromkeys(("a.zarr", "a.npz", "a.csv", "a.rle3", "a.vti"), ("grow", "nim", "--gen", "30", "--out", "OUT")),
    **dict.fromkeys(("t.npy", "t.zarr", "t.csv", "t.json"), ("count", "D", "--piles", "4", "--range", "0:999", "--out", "OUT")),
    "t.txt": ("count", "A151776", "--range", "0:9", "--out", "OUT"),
    **dict.fromkeys(("s.csv", "s.npz", "s.zarr"), ("solve", "wythoff", "--size", "20", "--out", "OUT")),
    "g.dot": ("evolution", "--gen", "4", "--out", "OUT"),
    "p.png": ("render", "nim:7", *SIZE, "-o", "OUT"),
    "f.svg": ("render", "figure:NF1", "-o", "OUT"),
    "m.gif": ("movie", "nim:3", *SIZE, "--seconds", "0.2", "--fps", "10", "-o", "OUT"),
    "e.stl": ("export", "nim:7", "-o", "OUT"),
}
_REQUIRES = {"m.gif": [needs_ffmpeg]}
EACH = [pytest.param(name, marks=_REQUIRES.get(name, [])) for name in WRITERS]


def command(name: str, folder: Path) -> list[str]:
    """Return the words of the command that writes a file of that name into a folder."""
    return [str(folder / name) if word == "OUT" else word for word in WRITERS[name]]


FORMS = pytest.mark.parametrize("is_folder", [False, True], ids=["file", "folder"])


def ours(path: Path) -> bool:
    return (path / "0").exists()


def write(path: Path, text: str, *, is_folder: bool) -> None:
    """Write a text twice to a file, or to each of three files of a folder."""
    with atomic_write(path, ours) as scratch:
        if is_folder:
            scratch.mkdir()
        for part in [scratch / str(number) for number in range(3)] if is_folder else [scratch]:
            with part.open("w") as file:
                file.write(text)
                file.flush()
                sys.audit("os.half")  # a moment at which a half is there
                file.write(text)


def whole(path: Path) -> str:
    """The text of a file or folder that `write` has written completely."""
    texts = [part.read_text() for part in path.iterdir()] if path.is_dir() else [path.read_text()]
    assert len(texts) == (3 if path.is_dir() else 1)
    (text,) = {*texts}
    half = text[: len(text) // 2]
    assert text == half * 2
    return half


# Replaces a text by another, and is killed, or interrupted, before the first call of the operating system, before the second one,
# and so on, until it is done.
ENDED_AT_EACH_STEP = """
import os, signal, sys
from pathlib import Path
from tests.files.test_atomic import whole, write
folder, number, is_folder = Path(sys.argv[1]), signal.Signals(int(sys.argv[2])), sys.argv[3] == "True"
for step in range(1000):
    path = folder / str(step) / "a"
    path.parent.mkdir()
    write(path, "old", is_folder=is_folder)
    child = os.fork()
    if child == 0:
        left = step
        def end(event, arguments):
            global left
            if event.partition(".")[0] in ("os", "open", "shutil"):
                left -= 1
                if left == -1:
                    if number == signal.SIGKILL:
                        os.kill(os.getpid(), number)
                    raise KeyboardInterrupt
        sys.addaudithook(end)
        try:
            write(path, "new", is_folder=is_folder)
        except KeyboardInterrupt:
            os._exit(1)
        except BaseException:
            os._exit(2)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        break
    assert status == (-number if number == signal.SIGKILL else 1), status
"""


def ended_at_each_step(folder: Path, number: signal.Signals, *, is_folder: bool) -> list[Path]:
    words = [sys.executable, "-c", ENDED_AT_EACH_STEP, str(folder), str(int(number)), str(is_folder)]
    subprocess.run(words, check=True)
    *ended, done = sorted((path / "a" for path in folder.iterdir()), key=lambda path: int(path.parent.name))
    assert whole(done) == "new"
    assert len(ended) > 5
    return ended


@FORMS
def test_a_kill_leaves_the_old_or_the_new(tmp_path: Path, is_folder: bool) -> None:
    found = []
    for path in ended_at_each_step(tmp_path, signal.SIGKILL, is_folder=is_folder):
        if path.exists():
            found.append(whole(path))
        else:  # between the two renames of a folder
            (old,) = path.parent.glob(".gpunim-*.old")
            (new,) = path.parent.glob(".gpunim-*/a")
            assert (whole(old), whole(new)) == ("old", "new")
            found.append("moved")
        write(path, "newer", is_folder=is_folder)  # what was left is in nobody's way
        assert whole(path) == "newer"
    assert {*found} == {"old", "new"} | ({"moved"} if is_folder else set())
    assert found.count("moved") == is_folder


@FORMS
def test_an_interrupt_leaves_the_old_or_the_new_and_nothing_else(tmp_path: Path, is_folder: bool) -> None:
    for path in ended_at_each_step(tmp_path, signal.SIGINT, is_folder=is_folder):
        assert whole(path) in ("old", "new")
        assert os.listdir(path.parent) == ["a"]


@FORMS
def test_writers_of_one_name_leave_one_whole(tmp_path: Path, is_folder: bool) -> None:
    path, said = tmp_path / "a", []

    def write_often(text: str) -> None:
        for _ in range(50):
            try:
                write(path, text, is_folder=is_folder)
            except FileError as error:  # the other one has just taken the name
                said.append(str(error))

    writers = [threading.Thread(target=write_often, args=(text,)) for text in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert whole(path) in ("one", "two")
    assert os.listdir(tmp_path) == ["a"]
    assert len(said) < 100
    assert all(each.startswith(f"cannot write {path}: ") for each in said)
    assert is_folder or not said


@FORMS
def test_a_full_disk_is_one_sentence(tmp_path: Path, is_folder: bool) -> None:
    write(tmp_path / "a", "old", is_folder=is_folder)
    with no_file_longer_than(0), pytest.raises(FileError, match=f"^cannot write {tmp_path / 'a'}: File too large$"):
        write(tmp_path / "a", "new", is_folder=is_folder)
    assert whole(tmp_path / "a") == "old"
    assert os.listdir(tmp_path) == ["a"]


# Python tells audit hooks of each rename.
FLUSHED_BEFORE_RENAMED = """
import os, sys
from pathlib import Path
from gpu_nim.__main__ import main
folder, flushed, renamed, fsync = Path(sys.argv.pop(1)), set(), [], os.fsync
def note(handle):
    flushed.add(os.fstat(handle).st_ino)
    fsync(handle)
def check(event, arguments):
    if event == "os.rename" and Path(arguments[1]).parent == folder:
        new = Path(arguments[0])
        missing = {file for file in (new, *new.rglob("*")) if file.stat().st_ino not in flushed}
        assert not missing, missing
        renamed.append(new)
        flushed.clear()
os.fsync = note
sys.addaudithook(check)
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
assert len(renamed) == 1 and flushed == {folder.stat().st_ino}, (renamed, flushed)  # and the name itself
"""


@pytest.mark.parametrize("name", ["a.zarr", "a.csv"])
def test_all_is_on_the_disk_before_it_takes_its_name(tmp_path: Path, name: str) -> None:
    words = [sys.executable, "-c", FLUSHED_BEFORE_RENAMED, str(tmp_path), *command(name, tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# What is replaced


@pytest.mark.parametrize("name", ["a.zarr", "a.csv"])
def test_files_have_the_modes_that_others_have(tmp_path: Path, name: str) -> None:
    before = os.umask(0o027)
    try:
        assert run(*command(name, tmp_path)).exit_code == 0
    finally:
        os.umask(before)
    paths = [tmp_path / name, *(tmp_path / name).rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} <= {0o640, 0o750}


def test_a_link_is_replaced_and_what_it_names_is_not(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    for name in ("a.csv", "a.zarr"):
        (tmp_path / name).symlink_to(target)
        assert run(*command(name, tmp_path)).exit_code == 0
        assert not (tmp_path / name).is_symlink()
    assert target.read_text() == "mine"


@pytest.mark.parametrize("name", EACH)
def test_places_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def refusal(folder: Path = tmp_path) -> str:
        return refused(*command(name, folder), status=1).removeprefix(f"gpunim: cannot write {folder / name}: ")

    assert refusal(tmp_path / "none") == f"there is no folder {tmp_path / 'none'}\n"
    path.mkdir()
    (path / "thesis.tex").write_text("mine")
    assert refusal() == "it is a folder that gpunim did not make, or that holds other files\n"
    assert (path / "thesis.tex").read_text() == "mine"
    shutil.rmtree(path)
    os.mkfifo(path)
    assert refusal() == "it is a device or a pipe, and only a file can be replaced by another\n"
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.zarr", "t.zarr", "s.zarr"])
def test_notes_within_a_store_are_kept(tmp_path: Path, name: str) -> None:
    for _ in range(2):  # what is only gpunim's is replaced
        assert run(*command(name, tmp_path)).exit_code == 0
    for note in ("notes.txt", "c/notes", "link"):
        (tmp_path / name / note).parent.mkdir(exist_ok=True)
        (tmp_path / name / note).symlink_to(tmp_path) if note == "link" else (tmp_path / name / note).write_text("mine")
        assert "or that holds other files" in refused(*command(name, tmp_path), status=1)
        (tmp_path / name / note).unlink()
    assert run(*command(name, tmp_path)).exit_code == 0


def test_what_comes_while_a_file_is_written_is_kept(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_write(tmp_path / "a.zarr") as scratch:
            scratch.mkdir()
            (tmp_path / "a.zarr").mkdir()

    with pytest.raises(FileError, match="or that holds other files"):
        write()
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_files_that_nobody_named_are_kept(tmp_path: Path) -> None:
    note = tmp_path / "edge-births.seq.txt"
    note.write_text("mine")
    assert "it is there already, and is no earlier output of this" in refused("oeis", "edge-births", "-o", tmp_path, status=1)
    assert note.read_text() == "mine"
    note.unlink()
    for _ in range(2):
        assert run("oeis", "edge-births", "-o", tmp_path).exit_code == 0


def test_places_that_cannot_be_written_are_found_before_the_work(tmp_path: Path) -> None:
    places = {tmp_path / "none" / "a.csv": "there is no folder", Path("/dev/null"): "a device"}
    for path, reason in places.items():
        with pytest.raises(FileError, match=reason), atomic_write(path):
            interrupt()


def test_a_folder_of_checkpoints_has_one_growth(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Checkpoints(folder).held(new=True):
        sentence = f"gpunim: cannot checkpoint to {folder}: another growth is using it\n"
        assert refused("grow", "nim", "--gen", 9, "--checkpoint", folder, status=1) == sentence
    assert run("grow", "nim", "--gen", 9, "--checkpoint", folder).exit_code == 0
    with Checkpoints(folder).held(new=False):
        sentence = f"gpunim: cannot resume from {folder}: another growth is using it\n"
        assert refused("grow", "--resume", folder, "--gen", 20, status=1) == sentence
    assert run("grow", "--resume", folder, "--gen", 20).exit_code == 0


def test_links_in_a_folder_of_checkpoints_lead_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    for name, reason in ((".gpunim-lock", "Too many levels of symbolic links"), ("cells.zarr", "is a link to somewhere else")):
        folder = tmp_path / name.removeprefix(".")
        folder.mkdir()
        (folder / name).symlink_to(target)
        assert reason in refused("grow", "nim", "--gen", 9, "--checkpoint", folder, status=1)
        (folder / name).unlink()
        assert run("grow", "nim", "--gen", 9, "--checkpoint", folder).exit_code == 0
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        assert reason in refused("grow", "--resume", folder, "--gen", 20, status=1)
    assert target.read_text() == "mine"


@pytest.mark.nightly
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
    while not list(tmp_path.glob(f".gpunim-*/{begun}")):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=TIMEOUT)  # which lasts until the last process that could write to the pipes is gone
