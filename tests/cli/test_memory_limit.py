"""The free memory by Linux's files, the memory limit of a process, tried from outside, and what a plan says of memory."""

import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from errno import ENOMEM
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from click.testing import CliRunner, Result

from gpu_nim.cli import main
from gpu_nim.cli.output import explain
from gpu_nim.jobs.grow_job import grow
from gpu_nim.model.errors import FileError, InsufficientMemoryError
from gpu_nim.model.work import VARIABLE, host_memory, limited
from gpu_nim.render.image import render, require_picture_memory
from gpu_nim.render.look import Look
from gpu_nim.storage.rle_files import read_pattern
from gpu_nim.storage.save_load import load, read_terms, save
from tests.helpers import beside, ended, executable, gpunim

LIMIT = 200 * 10**6
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_DATA")

# A small process starts the command, since the largest size of a process is inherited from the one that starts it.
_MEASURE = """
import json, os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(json.dumps([done.returncode, done.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]))
"""
CASES: dict[str, dict[str, Any]] = beside(__file__)


def invoke(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env=environment)


@on_linux
@pytest.mark.parametrize(
    ("words", "status"),
    [*CASES["often"].items(), *(pytest.param(*case, marks=pytest.mark.nightly) for case in CASES["nightly"].items())],
)
def test_a_command_ends_in_its_result_or_in_one_sentence_within_the_limit(words: str, status: int, tmp_path: Path) -> None:
    command = gpunim(*shlex.split(words), "--memory", str(LIMIT))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUNIM_")}
    measured = [sys.executable, "-S", "-c", _MEASURE, *command]
    done = subprocess.run(measured, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    returned, errors, largest = json.loads(done.stdout)
    assert returned == status, errors
    assert largest < 1.2 * LIMIT + _interpreter()
    if status:
        assert errors.startswith("gpunim: ")
        assert errors.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


@on_linux
@pytest.mark.parametrize("words", CASES["shortage"])
def test_a_shortage_while_libraries_are_loaded_is_one_sentence(words: str) -> None:
    size, said = CASES["shortage"][words]
    status, stdout, stderr = ended(gpunim(*shlex.split(words), "--memory", f"{size}MB"))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1), stderr
    assert stderr.startswith(f"gpunim: {said}")


# What SciPy's BLAS does: it ends the process where it gets no buffer.
_BLAS = """
import mmap, os
try:
    kept = mmap.mmap(-1, 100 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
except OSError:
    os._exit(1)
raise ImportError
"""


@on_linux
@pytest.mark.parametrize("ending", [".ply", ".glb", ".stl"])
def test_a_library_with_a_blas_of_its_own_is_loaded_beyond_the_limit(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    (tmp_path / "scipy.py").write_text(_BLAS, encoding="utf-8")
    command = ["import runpy, sys", f"sys.path.insert(0, {str(tmp_path)!r})", "runpy.run_module('gpu_nim', run_name='__main__')"]
    words = ["export", "nim:7", "-o", str(tmp_path / f"a{ending}"), "--memory", "40MB"]
    assert ended([sys.executable, "-c", "; ".join(command), *words])[::2] == (0, "")


@pytest.mark.parametrize("end", ["echo malloc of size 9 failed >&2; echo Conversion failed! >&2; exit 1", "kill -SEGV $$"])
def test_an_ffmpeg_that_gets_no_memory_is_a_shortage(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "ffmpeg", end)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    movie = ("movie", "nim:3", "-o", str(tmp_path / "a.mp4"), "--seconds", "0.1", "--resolution", "64x48", "--engine", "numpy")
    result = invoke(*movie, "--workers", "1")
    assert result.exit_code == 2
    assert result.stderr.startswith("gpunim: ffmpeg needs more memory than is free for a.mp4 (")
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


@on_linux
@pytest.mark.parametrize("words", CASES["endless"])
def test_endless_input_is_one_sentence(words: str) -> None:
    status, said = CASES["endless"][words]
    with open("/dev/zero", "rb") as endless:
        returned, _, stderr = ended(gpunim(*words.split()), stdin=endless)
    assert returned == status
    assert stderr.startswith(f"gpunim: {said}")


def test_the_variable_is_for_commands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1kB")
    assert host_memory() > 10**6
    assert grow("nim", 255).population == 4**8


def declared(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what a file of JSON declares."""
    found = json.loads(path.read_text(encoding="utf-8"))
    change(found)
    path.write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.parametrize("kind", ["rle", "rle3", "npz", "shape", "chunk"])
def test_what_declares_more_than_is_free_is_refused_before_it_is_unpacked(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.zarr" if kind in ("shape", "chunk") else f"a.{kind}")
    if kind == "rle":
        path.write_text("x = 1, y = 1\n40000000o!\n")
    elif kind == "rle3":
        path.write_text(f"3D version=1\nx=1 y=1 z=1 rule=3D1/1\n{'9999999o/' * 9}!\n")
    else:
        save(grow("nim", 7), path)
    if kind == "npz":
        with ZipFile(path, "a", ZIP_DEFLATED) as file, file.open("parents.npy", "w") as member:
            np.lib.format.write_array(member, np.zeros(2**22, np.int64))
    if path.suffix == ".zarr":
        declared(path / "zarr.json", lambda found: found.pop("consolidated_metadata"))
    if kind == "shape":
        declared(path / "zarr.json", lambda found: found["attributes"].update(generations=10**9 - 1))
        for name in ("births", "checksums", "generation"):
            declared(path / name / "zarr.json", lambda found: found.update(shape=[10**9]))
    if kind == "chunk":
        declared(path / "births/zarr.json", lambda found: found["chunk_grid"]["configuration"].update(chunk_shape=[10**9]))
    with limited(20 * 10**6), pytest.raises(InsufficientMemoryError, match=rf"^cannot read {path}: .* needs .*MiB are free"):
        read_pattern(path) if kind in ("rle", "rle3") else load(path)
    if kind == "npz":  # by another reader, around that one
        with limited(20 * 10**6), pytest.raises(InsufficientMemoryError, match=rf"^cannot read {path}: unpacking it needs"):
            read_terms(path)


@pytest.mark.parametrize(
    "error",
    [
        OSError(ENOMEM, "Cannot allocate memory"),
        ImportError("libx.so: cannot open: Cannot allocate memory"),
        RuntimeError("In FT2Font: Could not set the fontsize (out of memory; error code 0x40)"),
        SystemError("error return without exception set"),
        ImportError("mtrand.so: cannot map zero-fill pages"),
        RuntimeError("can't start new thread"),
    ],
)
def test_a_library_that_reports_a_shortage_by_another_error(error: Exception) -> None:
    for each in (error, FileError("cannot read a")):
        each.__cause__ = None if each is error else error
        assert explain(each, ()) == (2, f"there is not enough memory for this ({each}): --memory sets the limit")


@cache
def _interpreter() -> int:
    """The bytes of a process that has loaded no more than the command line."""
    return int(json.loads(ended([sys.executable, "-S", "-c", _MEASURE, *gpunim("--help")])[1])[2])


@on_linux
def test_an_allocation_beyond_the_limit_raises_memory_error() -> None:
    with limited(LIMIT):
        assert LIMIT / 2 < host_memory() <= LIMIT
        kept = np.ones(LIMIT // 4, np.uint8)
        with pytest.raises(MemoryError):
            np.empty(LIMIT, np.uint8)
        assert kept.all()
    assert len(np.empty(LIMIT, np.uint8)) == LIMIT


@on_linux
def test_work_past_the_limit_is_refused(tmp_path: Path) -> None:
    arguments = ("grow", "edge", "--gen", "1024", "--backend", "numpy", "--out", str(tmp_path / "edge.csv"))
    for result in (invoke(*arguments, "--memory", "1MB"), invoke(*arguments, GPUNIM_MEMORY="1MB")):
        assert result.exit_code == 2
        assert result.stderr.startswith("gpunim: a growth to generation 1024 needs ")
    assert list(tmp_path.iterdir()) == []
    assert VARIABLE not in os.environ
    assert invoke("grow", GPUNIM_MEMORY="8 X").exit_code == 2


def test_every_command_has_the_option() -> None:
    for name in main.list_commands(None):
        assert "GPUNIM_MEMORY" in invoke(name, "--help").output


def test_a_count_s_plan() -> None:
    words = ("count", "D", "--piles", "4", "--range", "0:10^12", "--plan", "--json")
    plan = json.loads(invoke(*words).stdout)["plan"]
    assert 8 * 2**22 < plan["memory"] < 10**8 < plan["bytes"]
    plan = json.loads(invoke(*words, "--reduce", "residues:1000003,histogram,sum").stdout)["plan"]
    assert 16 * 1000003 < plan["memory"] < 1.1 * 16 * 1000003  # counts of a chunk and of all before, as int64


@on_linux
def test_the_limit_ends_with_its_command_even_if_another_option_is_wrong() -> None:
    before = host_memory()
    assert invoke("grow", "--memory", "1kB", "--gen", "x").exit_code == 2
    assert host_memory() > before / 2


def test_a_picture_past_the_memory_is_refused_before_anything_is_grown() -> None:
    big = "edge:8000"  # for days
    with limited(10**9):
        with pytest.raises(InsufficientMemoryError, match=rf"^drawing {big} at 16384x16384 needs 7.0GiB, .* are free"):
            render(big, resolution=(16384, 16384), engine="numpy")
        with pytest.raises(InsufficientMemoryError, match="or quality draft takes less"):
            render(big, resolution=(8192, 8192), engine="numpy")
        look = Look(resolution=(4096, 4096), quality="draft")
        require_picture_memory(look, "numpy", big)
        with pytest.raises(InsufficientMemoryError, match=f"drawing {big} at 4096x4096 in 9 processes needs "):
            require_picture_memory(look, "numpy", big, at_once=9)
        with pytest.raises(InsufficientMemoryError, match="; engine numpy or a smaller resolution or quality draft takes"):
            require_picture_memory(Look(), "opengl", big, at_once=9)


GB = 10**9
AVAILABLE = 64 * 1024**3
UNLIMITED_1 = "9223372036854771712"


class System:
    """Files as Linux shows them, of a machine with 64 GiB available."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/meminfo", f"MemTotal:  131072000 kB\nMemFree: 1 kB\nMemAvailable:   {AVAILABLE // 1024} kB\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def process(self, *groups: str) -> None:
        self.write("proc/self/cgroup", "".join(f"{line}\n" for line in groups))

    def group(self, folder: str, limit: object = "max", used: int = 0, cached: int = 0, high: object = "max") -> None:
        self.write(f"{folder}/memory.max", f"{limit}\n")
        self.write(f"{folder}/memory.high", f"{high}\n")
        self.write(f"{folder}/memory.current", f"{used}\n")
        self.write(f"{folder}/memory.stat", f"anon 1\nfile 2\nactive_file 3\ninactive_file {cached}\n")

    def old_group(self, folder: str, limit: object = UNLIMITED_1, used: int = 0, cached: int = 0) -> None:
        self.write(f"{folder}/memory.limit_in_bytes", f"{limit}\n")
        self.write(f"{folder}/memory.usage_in_bytes", f"{used}\n")
        self.write(f"{folder}/memory.stat", f"cache 9\ninactive_file 1\ntotal_cache 9\ntotal_inactive_file {cached}\n")

    def left(self) -> int:
        return host_memory(self.root)


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def test_without_groups_or_limits_it_is_what_the_system_has_available(system: System) -> None:
    assert system.left() == AVAILABLE
    system.process("0::/user.slice")
    system.group("sys/fs/cgroup/user.slice")
    assert system.left() == AVAILABLE


def test_version_2_gives_back_what_is_cached(system: System) -> None:
    system.process("0::/user.slice/session")
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=5 * GB, cached=2 * GB)
    assert system.left() == 5 * GB
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=5 * GB, high=6 * GB)
    assert system.left() == GB
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=9 * GB)
    assert system.left() == 0


def test_version_1_counts_what_is_below(system: System) -> None:
    system.process("5:cpu,cpuacct:/x", "4:memory:/docker/1f", "1:name=systemd:/y")
    system.old_group("sys/fs/cgroup/memory/docker/1f", 8 * GB, used=5 * GB, cached=2 * GB)
    system.old_group("sys/fs/cgroup/memory/docker")
    system.old_group("sys/fs/cgroup/memory", used=30 * GB)
    assert system.left() == 5 * GB


@pytest.mark.parametrize("tight", range(4))
def test_every_level_bounds(system: System, tight: int) -> None:
    folders = ["sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/a/b", "sys/fs/cgroup/a/b/c"]
    system.process("0::/a/b/c")
    for depth, folder in enumerate(folders):
        system.group(folder, (3 if depth == tight else 20) * GB, used=GB)
    assert system.left() == 2 * GB


def test_both_versions_bound(system: System) -> None:
    system.process("4:memory:/a", "0::/b")
    system.old_group("sys/fs/cgroup/memory/a", 7 * GB)
    assert system.left() == 7 * GB
    system.group("sys/fs/cgroup/b", 6 * GB)
    assert system.left() == 6 * GB


@pytest.mark.parametrize("group", ["/", "/..", "/../other", "/docker/1f"])
def test_a_group_out_of_sight_takes_what_is_mounted(system: System, group: str) -> None:
    system.process(f"0::{group}")
    system.group("sys/fs/cgroup", 4 * GB, used=GB)
    system.group("sys/fs", GB)  # no control group: never to be read
    assert system.left() == 3 * GB


def test_what_is_missing_or_unreadable_is_no_limit(system: System) -> None:
    system.process("0::/a", "4:memory:/b")
    system.write("sys/fs/cgroup/a/memory.max", "1000\n")  # without memory.current
    system.write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "")
    assert system.left() == AVAILABLE


def test_the_process_s_own_limits_bound(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIMIT_AS: resource.RLIM_INFINITY, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits[which], resource.RLIM_INFINITY))
    page = os.sysconf("SC_PAGE_SIZE")
    system.write("proc/self/statm", "1000 402 374 5 0 123 0\n")
    assert system.left() == AVAILABLE
    limits[resource.RLIMIT_AS] = GB
    assert system.left() == GB - 1000 * page
    limits[resource.RLIMIT_DATA] = GB
    assert system.left() == GB - 1000 * page
    limits[resource.RLIMIT_AS] = 2 * GB
    assert system.left() == GB - 123 * page
    limits[resource.RLIMIT_DATA] = page
    assert system.left() == 0


def test_where_there_is_no_proc_it_is_half_of_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sysconf(name: str) -> int:
        if name == "SC_AVPHYS_PAGES":  # as macOS does
            raise ValueError("unrecognized configuration name")
        return {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}[name]

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert host_memory(tmp_path) == 1000 * 4096 // 2
