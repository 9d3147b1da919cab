"""The free memory: by the system, the control groups and the process's limits, as in Linux's files."""

import os
import resource
from pathlib import Path

import pytest

from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.memory import host_memory, require_memory

GB = 10**9
AVAILABLE = 64 * 1024**3
UNLIMITED_1 = "9223372036854771712"
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
OTHERS = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755",
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
]


class System:
    """Files as Linux shows them, of a machine with 64 GiB available."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/meminfo", f"MemTotal:  131072000 kB\nMemFree: 1 kB\nMemAvailable:   {AVAILABLE // 1024} kB\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def process(self, groups: list[str], mounts: list[str]) -> None:
        self.write("proc/self/cgroup", "".join(f"{line}\n" for line in groups))
        self.write("proc/self/mountinfo", "".join(f"{line}\n" for line in mounts))

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


def test_without_groups_it_is_what_the_system_has_available(system: System) -> None:
    assert system.left() == AVAILABLE


def test_without_limits_it_is_what_the_system_has_available(system: System) -> None:
    system.process(["0::/user.slice"], [*OTHERS, V2])
    system.group("sys/fs/cgroup/user.slice")
    assert system.left() == AVAILABLE


def test_version_2_gives_back_what_is_cached(system: System) -> None:
    system.process(["0::/user.slice/session"], [*OTHERS[:1], V2])
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=5 * GB, cached=2 * GB)
    assert system.left() == 5 * GB
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=5 * GB, high=6 * GB)
    assert system.left() == GB
    system.group("sys/fs/cgroup/user.slice/session", 8 * GB, used=9 * GB)
    assert system.left() == 0


def test_version_1_counts_what_is_below(system: System) -> None:
    system.process(["5:cpu,cpuacct:/x", "4:memory:/docker/1f", "1:name=systemd:/y"], [*OTHERS, V1])
    system.old_group("sys/fs/cgroup/memory/docker/1f", 8 * GB, used=5 * GB, cached=2 * GB)
    system.old_group("sys/fs/cgroup/memory/docker")
    system.old_group("sys/fs/cgroup/memory", used=30 * GB)
    assert system.left() == 5 * GB


@pytest.mark.parametrize("tight", range(4))
def test_every_level_bounds(system: System, tight: int) -> None:
    folders = ["sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/a/b", "sys/fs/cgroup/a/b/c"]
    system.process(["0::/a/b/c"], [*OTHERS[:1], V2])
    for depth, folder in enumerate(folders):
        system.group(folder, (3 if depth == tight else 20) * GB, used=GB)
    assert system.left() == 2 * GB


def test_hybrid_takes_both_versions(system: System) -> None:
    unified = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw"
    system.process(["4:memory:/a", "0::/b"], [*OTHERS, V1, unified])
    system.old_group("sys/fs/cgroup/memory/a", 7 * GB)
    assert system.left() == 7 * GB
    system.group("sys/fs/cgroup/unified/b", 6 * GB)
    assert system.left() == 6 * GB


def test_a_container_sees_its_own_group_mounted_at_the_top(system: System) -> None:
    mount = "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory"
    system.process(["4:memory:/docker/1f/job"], [*OTHERS, mount])
    system.old_group("sys/fs/cgroup/memory", 4 * GB, used=GB)
    system.old_group("sys/fs/cgroup/memory/job", 5 * GB, used=GB)
    assert system.left() == 3 * GB


@pytest.mark.parametrize(
    ("group", "top"), [("/", "/"), ("/..", "/"), ("/../other", "/"), ("/", "/.."), ("/elsewhere", "/docker/1f"), ("/a", "/a/b")]
)
def test_a_group_out_of_sight_takes_what_is_mounted(system: System, group: str, top: str) -> None:
    system.process([f"0::{group}"], [*OTHERS[:1], V2.replace(" / /sys", f" {top} /sys")])
    system.group("sys/fs/cgroup", 4 * GB, used=GB)
    system.group("sys/fs", GB)  # no control group: never to be read
    assert system.left() == 3 * GB


def test_a_mount_may_lie_at_any_place(system: System) -> None:
    system.process(["0::/a b"], [V2.replace("/sys/fs/cgroup", "/mnt/control\\040groups")])
    system.group("mnt/control groups/a b", 2 * GB)
    assert system.left() == 2 * GB


def test_a_mount_in_a_corner_does_not_hide_the_whole(system: System) -> None:
    corner = "50 23 0:26 /elsewhere /mnt/corner rw - cgroup2 cgroup2 rw"
    system.process(["0::/a"], [corner, V2])
    system.group("mnt/corner", GB)
    system.group("sys/fs/cgroup/a", 2 * GB)
    assert system.left() == 2 * GB


def test_what_is_missing_or_unreadable_is_no_limit(system: System) -> None:
    system.process(["0::/a", "4:memory:/b"], [*OTHERS, V2, V1])
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


def test_the_refusal_is_a_sentence_that_says_what_to_do() -> None:
    require_memory(5, 5, "drawing", "draw it smaller")
    with pytest.raises(InsufficientMemoryError, match=r"^drawing needs 1,234 bytes, 999 are free; draw it smaller$"):
        require_memory(1234, 999, "drawing", "draw it smaller")
