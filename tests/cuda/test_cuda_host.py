"""The emulator that runs kernels on the CPU: it computes what CUDA computes, and it sees every planted bug."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpu_nim.backends.cuda.launcher import CupyLauncher, to_host
from gpu_nim.backends.cuda.table import Kernel, check_arguments, read_kernels
from gpu_nim.model.errors import BackendError, KernelArgumentError, MissingDependency
from tests import strict_cupy as xp
from tests.cuda_host import HostLauncher, KernelDefect, compiler, files_that_run_kernels, sanitized, seeded
from tests.cuda_host.seeded import BUGS, GOOD, LAUNCH_ORDERS, SOURCES, TABLE
from tests.helpers import CHECKOUT, mix64

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")

INTRINSICS = {name: kernel for name, kernel in read_kernels(SOURCES).items() if kernel.source == "intrinsics.cu"}
MACHINES = {**INTRINSICS, **TABLE}
SANITIZERS = ("asan", "tsan")
MASK32, MASK64 = 2**32 - 1, 2**64 - 1
EDGES = [0, 1, 2, 3, 31, 32, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF]


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


# ---------------------------------------------------------------- what intrinsics compute, here and on a device


class Machine:
    """Launches kernels on NumPy arrays, in grids and blocks of any shape, and brings the results back."""

    def __init__(self, launcher: CupyLauncher | HostLauncher) -> None:
        self.launcher = launcher

    def __call__(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[object, ...]) -> None:
        there = tuple(self.launcher.xp.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args)
        if isinstance(self.launcher, HostLauncher):
            self.launcher(kernel, grid, block, there, shared_bytes=64 * 8)
        else:
            entry = MACHINES[kernel]
            checked = check_arguments(kernel, entry, dict(zip(entry.names, there, strict=True)), self.launcher.xp.ndarray)
            self.launcher._function(kernel, 64 * 8, None)(grid, block, entry.packed(checked), shared_mem=64 * 8)
        for arg, moved in zip(args, there, strict=True):
            if isinstance(arg, np.ndarray):
                arg[...] = to_host(moved)


@pytest.fixture(
    params=[*LAUNCH_ORDERS, pytest.param(None, marks=pytest.mark.gpu)],
    ids=lambda order: f"{order[0]}{order[1] or ''}" if order else "gpu",
)
def machine(request: pytest.FixtureRequest) -> Machine:
    if request.param is not None:
        return Machine(HostLauncher(*request.param, sources=SOURCES, table=MACHINES))
    try:
        return Machine(CupyLauncher(MACHINES, SOURCES))
    except (BackendError, MissingDependency) as reason:
        pytest.skip(f"no CUDA device: {reason}")


@pytest.mark.parametrize("name", GOOD)
def test_correct_kernels_are_correct_on_the_machine(machine: Machine, name: str) -> None:
    x, out = np.arange(256, dtype=np.uint32) * np.uint32(7919), np.zeros(6, np.uint64)
    machine(name, (4,), (64,), (x, out, 256))
    assert out[0] == x.sum(dtype=np.uint64)


def reverse_bits(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def integer_results(x: int, y: int) -> list[int]:
    low, high, shift = x & MASK32, y & MASK32, y & 63
    both, upper = high << 32 | low, x >> 32
    lowest = lambda value: (value & -value).bit_length()  # noqa: E731
    return [
        low.bit_count(),
        x.bit_count(),
        32 - low.bit_length(),
        64 - x.bit_length(),
        lowest(low),
        lowest(x),
        reverse_bits(low, 32),
        reverse_bits(x, 64),
        both << (shift & 31) >> 32 & MASK32,
        low if shift >= 32 else both << shift >> 32 & MASK32,
        both >> (shift & 31) & MASK32,
        high if shift >= 32 else both >> shift & MASK32,
        low * high >> 32,
        x * y >> 64,
        (low & 0xFF) | (low >> 16 & 0xFF) << 8 | (high & 0xFF) << 16 | (high >> 16 & 0xFF) << 24,
        min(x, y),
        max(x, y),
        (x * y + x) >> 32 & MASK64,
        mix64(x),
        (low & ~high & ~upper) | (~low & high & ~upper) | (~low & ~high & upper),
        (low & high) | (~low & upper),
    ]


def test_integer_intrinsics(machine: Machine) -> None:
    rng = np.random.default_rng(2)
    pairs = [(x, y) for x in EDGES for y in EDGES]
    pairs += [tuple(map(int, pair)) for pair in rng.integers(0, 2**64, (300, 2), np.uint64)]
    a, b = (np.array(column, np.uint64) for column in zip(*pairs, strict=True))
    expected = np.array([integer_results(x, y) for x, y in pairs], np.uint64).T
    out = np.zeros(expected.shape, np.uint64)
    machine("integer_intrinsics", (-(-len(pairs) // 96),), (96,), (a, b, out, len(pairs)))
    assert np.array_equal(out, expected)


def test_warp_collectives(machine: Machine) -> None:
    x = [int(value) for value in np.random.default_rng(3).integers(0, 2**64, 32, np.uint64)]
    low, lanes = [value & MASK32 for value in x], range(32)
    expected = [
        [x[5]] * 32,
        [x[lane // 8 * 8 + (lane + 3) % 8] for lane in lanes],
        [x[lane - 5] if lane >= 5 else x[lane] for lane in lanes],
        [x[lane + 3] if lane % 16 + 3 < 16 else x[lane] for lane in lanes],
        [x[lane ^ 9] for lane in lanes],
        [sum((value & 1) << lane for lane, value in enumerate(x))] * 32,
        [1] * 32,
        [0] * 32,
        [sum(1 << other for other in lanes if low[other] & 3 == low[lane] & 3) for lane in lanes],
        [sum(x) & MASK64] * 32,
    ]
    out = np.zeros((len(expected), 32), np.uint64)
    machine("warp_collectives", (1,), (32,), (np.array(x, np.uint64), out))
    assert np.array_equal(out, np.array(expected, np.uint64))


def test_atomics_and_counting_barriers(machine: Machine) -> None:
    n = 200
    a = np.random.default_rng(4).integers(1, 2**64, n, np.uint64)
    out = np.array([0, MASK64, 0, 0, MASK64, 0, 2**63 - 1, 2**63, 0, 0, 0], np.uint64)
    wrapping = np.array([0, n], np.uint32)
    machine("atomics", (4,), (64,), (a, out, wrapping, n))
    x = [int(value) for value in a]
    signed = [int(value) for value in a.view(np.int64)]
    chained = 0
    for _ in range(n):
        chained = (3 * chained + 1) & MASK64
    votes = sum(value & 1 for value in x) + 4 * 1000
    ands, ors, xors = (int(fold.reduce(a)) for fold in (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
    extremes = [min(x), max(x), min(signed) & MASK64, max(signed) & MASK64]
    assert out.tolist() == [sum(x) & MASK64, ands, ors, xors, *extremes, sum(x) & MASK32, chained, votes]
    assert wrapping.tolist() == [n % 7, 0]


# ---------------------------------------------------------------- launches that are refused


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "message"),
    [
        ((1,), (1025,), 0, "a block of 1025 x 1 x 1 threads cannot be launched"),
        ((1,), (0,), 0, "a block of 0 x 1 x 1 threads cannot be launched"),
        ((1,), (65,), 0, r"exceeds the kernel's __launch_bounds__\(64\)"),
        ((1, 65536), (32,), 0, "a grid of 1 x 65536 x 1 blocks cannot be launched"),
        ((1,), (32,), 64 * 1024 + 1, "65537 bytes of shared memory exceed the limit of 65536"),
        ((-1,), (32,), 0, "1 to 3 dimensions"),
    ],
)
def test_launches_no_device_takes(grid: tuple[int, ...], block: tuple[int, ...], shared_bytes: int, message: str) -> None:
    launcher = HostLauncher(sources=SOURCES, table=TABLE)
    x, out = xp.zeros(32, np.uint32), xp.zeros(6, np.uint64)
    with pytest.raises(KernelDefect, match=message):
        launcher("good_bounded", grid, block, (x, out, 32), shared_bytes)


@pytest.mark.parametrize(
    ("kernel", "args", "message"),
    [
        ("good_lock", (xp.zeros(4, np.uint32), xp.zeros(6, np.uint64)), "takes x, out, n, got x, out"),
        ("good_lock", (xp.zeros(4, np.int64), xp.zeros(6, np.uint64), 4), "good_lock, x: expected an array of uint32"),
        ("good_lock", (xp.zeros(8, np.uint32)[::2], xp.zeros(6, np.uint64), 4), "good_lock, x: .* got a strided view"),
        ("good_lock", (np.zeros(4, np.uint32), xp.zeros(6, np.uint64), 4), "good_lock, x: expected a .* of uint32, got ndarray"),
        ("good_lock", (xp.zeros(4, np.uint32), xp.zeros(6, np.uint64), 2**32), "expected 0 to 4294967295"),
        ("good_lock", (xp.zeros(4, np.uint32), xp.zeros(6, np.uint64), -1), "expected 0 to 4294967295"),
        ("good_lock", (xp.zeros(4, np.uint32), xp.zeros(6, np.uint64), 4.0), "expected an integer .* got float"),
    ],
)
def test_arguments_are_held_against_the_table(kernel: str, args: tuple[object, ...], message: str) -> None:
    with pytest.raises(KernelArgumentError, match=message):
        HostLauncher(sources=SOURCES, table=TABLE)(kernel, (0,), (32,), args)


def test_a_kernel_that_does_not_compile_says_where(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text('extern "C" __global__ void broken(int* out) { out[0] = undeclared; }\n')
    launcher = HostLauncher(sources=tmp_path, table={"broken": Kernel("broken.cu", ("*i4",), ("out",))})
    with pytest.raises(BackendError, match=r"broken\.cu does not compile on the host:(.|\n)*undeclared"):
        launcher("broken", (1,), (1,), (xp.zeros(1, np.int32),))


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
