"""The emulator that runs kernels on the CPU: it computes what CUDA computes, and it sees every planted bug."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpu_nim.backends.cuda.table import Kernel
from gpu_nim.model.errors import BackendError
from tests import strict_cupy as xp
from tests.cuda_host import HostLauncher, KernelDefect, compiler, files_that_run_kernels, sanitized, seeded
from tests.cuda_host.seeded import BUGS, GOOD, LAUNCH_ORDERS, SOURCES, TABLE
from tests.helpers import CHECKOUT

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")

SANITIZERS = ("asan", "tsan")


# ---------------------------------------------------------------- planted bugs


def expected(name: str, flavour: str, outcomes: list[str]) -> bool:
    """Whether a kernel led to what it must: a correct one passes in all orders, a bug is caught in some."""
    if name in GOOD:
        return outcomes == ["ok"] * len(LAUNCH_ORDERS)
    pattern = re.compile(BUGS[name].get(flavour) or BUGS[name]["any"], re.DOTALL)
    return any(pattern.search(outcome) for outcome in outcomes)


@pytest.mark.parametrize(
    ("name", "flavour"), [*((name, "fast") for name in GOOD), *((name, "ubsan") for name in seeded.judged("ubsan"))]
)
def test_correct_kernels_pass_and_planted_bugs_are_caught(name: str, flavour: str) -> None:
    outcomes = seeded.outcomes(name, flavour)
    assert expected(name, flavour, outcomes), outcomes


@pytest.mark.nightly
@pytest.mark.parametrize("flavour", SANITIZERS)
def test_sanitizers_pass_correct_kernels_and_catch_planted_bugs(flavour: str, tmp_path: Path) -> None:
    """In one process, which has the sanitizer loaded."""
    prefix, environment = sanitized(flavour, tmp_path / "log")
    command = [*prefix, sys.executable, "-m", "tests.cuda_host.seeded", flavour]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout, f"exit status {done.returncode}\n{done.stderr}"  # that of TSan tells of its reports
    found = json.loads(done.stdout)
    assert list(found) == seeded.judged(flavour)
    assert {name: outcomes for name, outcomes in found.items() if not expected(name, flavour, outcomes)} == {}


def test_every_seeded_kernel_is_expected_to_do_something() -> None:
    text = (SOURCES / "seeded_bugs.cu").read_text()
    written = re.findall(r"^KERNEL\((\w+)\)", text, re.MULTILINE)
    assert {*written, "good_bounded"} == set(TABLE)


def test_a_launch_after_a_failed_one_is_clean() -> None:
    for _ in range(3):
        assert "deadlock" in seeded.outcome("barrier_against_collective", "forward", 0, "ubsan")
        assert seeded.outcome("good_block_sum", "forward", 0, "ubsan") == "ok"


# ---------------------------------------------------------------- launches that are refused


def test_more_shared_memory_than_a_block_is_granted_is_refused() -> None:
    launcher = HostLauncher(sources=SOURCES, table=TABLE)
    arguments = {"x": xp.zeros(32, np.uint32), "out": xp.zeros(6, np.uint64), "n": 32}
    with pytest.raises(KernelDefect, match="65537 bytes of shared memory exceed the limit of 65536"):
        launcher.bind("good_bounded", arguments, shared_bytes=64 * 1024 + 1)(1)


def test_a_kernel_that_does_not_compile_says_where(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text('extern "C" __global__ void broken(int* out) { out[0] = undeclared; }\n')
    launcher = HostLauncher(sources=tmp_path, table={"broken": Kernel("broken.cu", ("*i4",), ("out",), 1)})
    with pytest.raises(BackendError, match=r"broken\.cu does not compile on the host:(.|\n)*undeclared"):
        launcher.bind("broken", {"out": xp.zeros(1, np.int32)})(1)


def test_recorded_launches_keep_no_array() -> None:
    launcher = HostLauncher(sources=SOURCES, table=TABLE)

    def recorded() -> Callable[[], None]:
        x, out = xp.arange(256, dtype=np.uint32), xp.zeros(6, np.uint64)
        return launcher.record(lambda: launcher.bind("good_bounded", {"x": x, "out": out, "n": 256})(4))

    with pytest.raises(KernelDefect, match="good_bounded was recorded with an array that is gone"):
        recorded()()


def test_no_kernel_writes_where_a_copy_still_reads() -> None:
    x, out = xp.arange(256, dtype=np.uint32), xp.zeros(12, np.uint64)
    launcher = HostLauncher(sources=SOURCES, table=TABLE)
    launches = [launcher.bind("good_bounded", {"x": x, "out": half, "n": 256}) for half in (out[:6], out[6:])]
    arrived = [launcher.start_copy_to_host(read) for read in (x, out[5:6])]  # a kernel may read the first, too
    launches[1](4)
    with pytest.raises(KernelDefect, match="good_bounded may write where a copy to the host still reads"):
        launches[0](4)
    assert [copy()[0] for copy in arrived] == [0, 0]
    launches[0](4)
    assert out.tolist()[::6] == [255 * 128] * 2


def test_no_test_of_kernels_is_kept_from_the_sanitizers_and_the_gpu(request: pytest.FixtureRequest) -> None:
    """Of the tests of this run, those marked so are in the files that check-sanitizers and gpu-check read."""
    marked = {item.path for item in request.session.items for name in ("cuda_host", "gpu") if item.get_closest_marker(name)}
    assert marked <= set(files_that_run_kernels())


def test_asan_and_tsan_must_be_loaded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    with pytest.raises(BackendError, match="scripts/check-sanitizers"):
        HostLauncher(flavour="asan")
