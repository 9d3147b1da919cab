"""The free memory: by the system, the control groups and the process's limits, as in Linux's files."""

import os
import resource
from pathlib import Path

import pytest

from gpu_nim.model.work import host_memory

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
