"""Atomic writes: renaming, what may be replaced, and leftovers after failures."""

import fcntl
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import gpu_nim.storage.atomic as atomic
from gpu_nim.model.errors import FileError
from gpu_nim.storage.atomic import claim, exchange, locked, replacing
from tests.helpers import interrupt, refused, run
from tests.writers import EACH, WRITERS, command


def write(path: Path) -> None:
    assert run(*command(path.name, path.parent)).exit_code == 0


def ours(path: Path) -> bool:
    return (path / "ours").exists()


def store(path: Path, text: str) -> None:
    with replacing(path, ours) as scratch:
        scratch.mkdir()
        (scratch / "ours").write_text(text)


# Taking the name


@pytest.fixture
def renames(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that files give up by a rename, which leaves them to nobody for a moment."""
    seen: list[str] = []
    rename = os.rename
    monkeypatch.setattr(os, "rename", lambda one, other, **more: (seen.append(Path(one).name), rename(one, other, **more)))
    return seen


def can_exchange(folder: Path) -> bool:
    one, other = folder / "one", folder / "other"
    one.touch()
    other.touch()
    able = exchange(one, other)
    one.unlink()
    other.unlink()
    return able


def test_a_store_is_exchanged_for_another_in_one_step(tmp_path: Path, renames: list[str]) -> None:
    if not can_exchange(tmp_path):
        pytest.skip("this file system cannot exchange two names")
    path = tmp_path / "a.zarr"
    store(path, "old")
    asked = path.stat().st_ino
    renames.clear()
    store(path, "new")
    assert (path / "ours").read_text() == "new"
    assert path.stat().st_ino != asked
    assert renames == []  # by no rename, between which and the next it would not be there
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_where_names_cannot_be_exchanged_the_old_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    path = tmp_path / "a.zarr"
    store(path, "old")
    store(path, "new")
    assert (path / "ours").read_text() == "new"
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "a.zarr" and self.parent != tmp_path:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(FileError, match="Input/output error"):
        store(path, "newer")
    assert (path / "ours").read_text() == "new"
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_what_a_killed_writer_had_moved_away_is_moved_back(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    left = tmp_path / ".a.zarr.gpunim-abcd1234.partial"
    left.mkdir()
    store(path, "old")
    left.mkdir()
    path.rename(left / ".gpunim-old")
    with pytest.raises(KeyboardInterrupt), replacing(path, ours) as scratch:  # noqa: PT012
        scratch.mkdir()
        assert (path / "ours").read_text() == "old"
        raise KeyboardInterrupt
    assert (path / "ours").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.zarr"]
    left.mkdir()
    (left / ".gpunim-old").write_text("older")
    with claim(path):
        assert (path / "ours").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_all_is_on_the_disk_before_it_takes_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: set[int] = set()
    fsync, rename = os.fsync, atomic._rename

    def note(handle: int) -> None:
        flushed.add(os.fstat(handle).st_ino)
        fsync(handle)

    def check(new: Path, path: Path) -> None:
        inside = [new, *new.rglob("*")] if new.is_dir() else [new]
        assert {file.stat().st_ino for file in inside} <= flushed
        rename(new, path)
        flushed.clear()

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(atomic, "_rename", check)
    for name in ("a.zarr", "a.csv"):
        write(tmp_path / name)
        assert flushed == {tmp_path.stat().st_ino}  # and the name itself


def test_a_lock_that_was_left_names_its_new_holder(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{10**9} {'a' * 300}\n")
    with locked(tmp_path / "lock", "cannot write") as alone:
        assert alone
        assert (tmp_path / "lock").read_text() == f"{os.getpid()} {socket.gethostname()}\n"


def content(path: Path) -> dict[str, bytes]:
    files = path.rglob("*") if path.is_dir() else [path]
    return {str(file.relative_to(path.parent)): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("name", [each for each in EACH if WRITERS[str(each.values[0])][0] not in ("render", "movie", "export")])
def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def interrupted() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "_rename", lambda new, path: interrupt())
            assert run(*command(name, tmp_path)).exit_code == 130

    interrupted()
    assert os.listdir(tmp_path) == []
    assert run(*command(name, tmp_path)).exit_code == 0
    before = content(tmp_path / name)
    interrupted()
    assert os.listdir(tmp_path) == [name]
    assert content(tmp_path / name) == before


# What is left alone


@pytest.mark.parametrize("name", EACH)
def test_files_have_the_modes_that_others_have(tmp_path: Path, name: str) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / name)
    finally:
        os.umask(before)
    paths = [tmp_path / name, *(tmp_path / name).rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} <= {0o640, 0o750}


def test_a_link_is_replaced_and_what_it_names_is_not(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    for name in ("a.csv", "a.zarr"):
        (tmp_path / name).symlink_to(target)
        write(tmp_path / name)
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
    assert refusal() == "it is a folder that gpunim did not make\n"
    assert (path / "thesis.tex").read_text() == "mine"
    shutil.rmtree(path)
    path.symlink_to("/dev/null")
    assert refusal() == "it is a device or a pipe, and only a file can be replaced by another\n"
    path.unlink()
    os.mkfifo(path)
    assert refusal() == "it is a device or a pipe, and only a file can be replaced by another\n"
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == [name]


def test_a_place_that_cannot_be_written_is_found_by_the_writer_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, reason in ((tmp_path / "none" / "a.csv", "there is no folder"), (Path("/dev/null"), "it is a device or a pipe")):
        with pytest.raises(FileError, match=reason), replacing(path):
            pass
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(FileError, match="is not writable"), replacing(tmp_path / "a.zarr"):
        pass


def test_only_folders_of_dead_writers_of_the_name_go(tmp_path: Path) -> None:
    keep = [".a.csv.gpunim-abcd1234", ".a.csv.gpunim-abcd123.partial", ".b.a.csv.gpunim-abcd1234.partial", ".a.csv.partial"]
    for name in keep:
        (tmp_path / name).mkdir()
    (tmp_path / ".a.csv.gpunim-linked00.partial").symlink_to(tmp_path / keep[0])
    (tmp_path / ".a.csv.gpunim-afile000.partial").touch()
    (tmp_path / ".a.csv.gpunim-abcd1234.partial").mkdir()
    if os.geteuid() == 0:
        keep.append(".a.csv.gpunim-foreign0.partial")
        (tmp_path / keep[-1]).mkdir()
        os.chown(tmp_path / keep[-1], 12345, 12345)
    write(tmp_path / "a.csv")
    links = [".a.csv.gpunim-linked00.partial", ".a.csv.gpunim-afile000.partial"]
    assert {*os.listdir(tmp_path)} == {*keep, *links, "a.csv"}


def test_threads_are_several_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    said: list[str] = []

    def second() -> None:
        try:
            with replacing(path):
                pass
        except FileError as error:
            said.append(str(error))

    with claim(path), replacing(path) as scratch:  # once more by the one that has it
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        scratch.touch()
    assert said == [f"cannot write {path}: process {os.getpid()} is using it"]
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    left = tmp_path / ".a.csv.gpunim-abcd1234.partial"
    left.mkdir()  # of somebody who may be at it
    write(tmp_path / "a.csv")
    assert {*os.listdir(tmp_path)} == {"a.csv", left.name}


# gpunim, no file of which may have more than 4 KiB.
LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from gpu_nim.__main__ import main
main()
"""
LARGE: dict[str, tuple[str, ...]] = {
    "a.zarr": ("grow", "nim", "--gen", "300", "--out"),
    "a.npz": ("grow", "nim", "--gen", "300", "--out"),
    "a.csv": ("grow", "nim", "--gen", "3000", "--out"),
    "t.npy": ("count", "D", "--piles", "4", "--range", "0:9999", "--out"),
    "s.csv": ("solve", "nim", "--size", "63", "--out"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE)
def test_a_file_that_is_too_large(tmp_path: Path, name: str) -> None:
    words = [sys.executable, "-B", "-c", LIMITED, *LARGE[name], str(tmp_path / name)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert os.listdir(tmp_path) == []
    assert (done.returncode, done.stderr) == (1, f"gpunim: cannot write {tmp_path / name}: File too large\n")
