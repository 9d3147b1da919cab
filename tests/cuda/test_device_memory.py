"""A device on the CPU: its memory, planned and taken; the checks of scripts/gpu-check; the works of `bench device`, no figures."""

import gc
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda import CudaBackend, CupyLauncher
from gpu_nim.backends.cuda.launcher import pooled
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.backends.interface import Communicator
from gpu_nim.bench import device_works
from gpu_nim.bench.device_works import Sizes, exactly_one_floor, nim_floor, range_floor, works
from gpu_nim.bench.harness import HEADER, Contender, Floor, Rates, Work, compare
from gpu_nim.bench.host_works import doubling
from gpu_nim.cli import main
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import find_family
from gpu_nim.jobs.grow_job import Planned, grow
from gpu_nim.model.errors import BackendError, InsufficientMemoryError, MissingDependency
from gpu_nim.model.rule import Rule, Symmetry
from scripts.lib import gpu_checks as checks
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.lattices import ONE, convolve, half_space
from tests.threads import on_ranks

GiB = 2**30
needs_compiler = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


class Device:
    """A device, and the pool of its memory."""

    def __init__(self, cupy: ModuleType) -> None:
        self.backend, self.pool = CudaBackend(CupyLauncher()), cupy.get_default_memory_pool()
        gc.collect()
        self.pool.free_all_blocks()
        self._before = self.pool.total_bytes()

    @property
    def taken(self) -> int:
        """Bytes that the pool has taken."""
        return int(self.pool.total_bytes()) - self._before

    @contextmanager
    def limited(self, size: int) -> Iterator[None]:
        """Let the pool take no more than this."""
        self.pool.set_limit(size=self._before + size)
        try:
            yield
        finally:
            self.pool.set_limit(size=0)


@pytest.fixture(params=[pytest.param("emulated", marks=needs_compiler), pytest.param("cupy", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Device:
    """An emulated device, and a real one."""
    if request.param == "emulated":
        return Device(request.getfixturevalue("cupy"))
    try:
        return Device(CupyLauncher().xp)
    except (BackendError, MissingDependency) as reason:
        pytest.skip(f"no CUDA device: {reason}")


def grown(growing: GrowthProcess) -> str:
    """The digest of a growth, whose engine stays."""
    for _ in growing:
        pass
    return growing.growth().digest


@pytest.mark.parametrize(
    ("automaton", "last", "cells"),
    [
        *(("nim", 1, True), ("nim", 100, False), ("nim", 300, True)),
        *(("edge", 0, False), ("edge", 70, True), ("fcc", 33, False), ("knight", 40, False)),
        *(("ulam-warburton", 100, False), ("ulam-warburton-3", 50, False), ("triangular", 50, False)),
        (Rule(3, ((1, 1, 0), (0, 1, 1), (-1, 0, 1)), ONE, ((0, 0, 0),), universe=half_space((1, 1, 1), 0)), 20, False),
    ],
)
def test_a_growth_takes_what_is_planned(device: Device, automaton: Any, last: int, cells: bool) -> None:
    process = partial(GrowthProcess, automaton, last, device.backend, cells=cells)
    planned = process().choice.memory
    assert planned is not None
    with device.limited(planned):
        growing = process()
        digest = grown(growing)
        assert device.taken <= planned
        if growing.automaton.rule.universe is None:  # a predicate may make fewer arrays than are planned for
            assert device.taken == planned
        snapshot = growing.snapshot()
        growing.end()
    assert digest == grow(automaton, last, backend="numpy").digest
    with device.limited(planned - 1):
        growing = process()
        if growing.choice.memory is not None:  # else the general engine, as its first lists have room
            with pytest.raises(InsufficientMemoryError, match=r"^a growth to generation \d+ on .* needs .*, .* are free"):
                growing.begin()
    process = partial(GrowthProcess, automaton, last + 40, device.backend, cells=cells, resume=snapshot)
    planned = process().choice.memory
    with device.limited(planned):
        assert grown(process()) == grow(automaton, last + 40, backend="numpy").digest
        assert device.taken <= planned


@pytest.mark.parametrize(("automaton", "last", "size"), [("edge", 70, 2), ("nim", 40, 3), ("ulam-warburton-3", 50, 3)])
def test_ranks_take_what_is_planned(device: Device, automaton: str, last: int, size: int) -> None:
    kept: list[GrowthProcess] = []

    def work(ranks: Communicator) -> tuple[int, str]:
        growing = GrowthProcess(automaton, last, device.backend.on_rank(ranks))
        kept.append(growing)
        planned = growing.choice.memory
        assert planned is not None
        return planned, grown(growing)

    planned = GrowthProcess(automaton, last, device.backend.on_rank(Planned(size))).choice.memory
    assert planned is not None
    with device.limited(planned * size):
        assert set(on_ranks(size, work)) == {(planned, grow(automaton, last, backend="numpy").digest)}
        assert device.taken <= planned * size


@pytest.mark.parametrize("automaton", ["rule750", "nim-4"])
def test_the_general_engine_grows_until_there_is_too_little(device: Device, automaton: str) -> None:
    process = partial(GrowthProcess, automaton, 24, device.backend)
    growing = process()
    digest, taken = grown(growing), device.taken
    growing.end()
    with device.limited(taken):
        assert grown(process()) == digest
        assert device.taken <= taken
    with device.limited(taken // 2), pytest.raises(InsufficientMemoryError, match=r"^[^\n]*too little free memory \(Out of memory"):
        grown(process())


@needs_compiler
@pytest.mark.parametrize("name", ["nim", "edge", "rule750"])
def test_a_device_whose_memory_others_took_after_the_plan(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = HostLauncher()

    def taken(*_: object, **__: object) -> None:
        raise MemoryError("Out of memory allocating 4,096 bytes (allocated so far: 0 bytes).")  # as CuPy says it

    monkeypatch.setattr(launcher.xp, "zeros", taken)
    with pytest.raises(InsufficientMemoryError, match=r"^[^\n]*: the device has too little free memory \(Out of memory"):
        grow(name, 40, backend=CudaBackend(launcher), out=tmp_path / "growth.csv")
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]


def test_a_device_s_memory_within_the_limit(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy.cuda.runtime, "memGetInfo", lambda: (70 * GiB, 140 * GiB))
    pool, kept, given_back = cupy.get_default_memory_pool(), cupy.empty(3 * 512, np.uint8), cupy.empty(512, np.uint8)
    del given_back
    launcher = CupyLauncher()
    assert launcher.free_memory() == 70 * GiB + 512
    for limit, free in ((100 * GiB, 70 * GiB), (8 * 512, 5 * 512), (kept.nbytes, 0), (1, 0)):
        pool.set_limit(limit)
        assert launcher.free_memory() == free


@pytest.fixture
def gpu_checks(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The checks, on small growths."""
    if compiler() is None:
        pytest.skip("kernels cannot run on the CPU: no g++ (or $CXX)")
    monkeypatch.setattr("gpu_nim.backends.selection.cuda_obstacle", lambda number: None)  # so that CuPy's launcher is taken
    sizes = {
        "GROWTHS": (("nim", 70, True), ("rule750", 12, True)),
        "ON_RANKS": (("edge", 12, 2),),
        "LARGEST": (("nim", 40), ("edge", 15), ("fcc", 15)),
        "NIM_STEP": 3,
        "BY_DELAY": (("edge", 33), ("fcc", 20)),
        "IN_MEMORY": (("edge", 15),),
        "LONG_RANGE": 5000,
        "LARGE_CHOCOLATES": ((3, 31, 342), (4, 15, None)),
        "INDICES": 1000,
        "CHOCOLATE": 31,
        "CHOCOLATE_GRUNDY": 15,
    }
    for name, value in sizes.items():
        monkeypatch.setattr(checks, name, value)
    monkeypatch.setattr(checks, "find_spec", lambda name: None)  # no workers, which would find no GPU
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("a check failed"))  # which replaces the process
    return checks


def test_cuda_equals_numpy(gpu_checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_checks.main("compare") == 3
    text = capsys.readouterr().out
    assert re.search(r"### nim to generation 70 equals NumPy's\n(.+\n)+passed in \d\.\d s\n", text)
    assert f"digest {grow('nim', 70, backend='numpy').digest}" in text
    assert "### rule750 to generation 12 equals NumPy's\n" in text
    assert "### edge to generation 12 on 2 ranks of one GPU equals NumPy's\n" in text
    assert "on 2 ranks of MPI equals NumPy's\nskipped: mpiexec or mpi4py is not installed\n" in text
    assert "### D_4 over 1,000 indices equals NumPy's, and adds up\n" in text
    assert "### Chocolate 3y <= x + z to 31 equals NumPy's\n" in text
    assert "342 P-positions" in text


def test_the_largest_growths(gpu_checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_checks.main("large") == 0
    text = capsys.readouterr().out
    assert text.count("population: as published to generation 15\nsection z=0: as published to generation 15\n") == 3
    assert re.search(r"resumed from generation 20: .*\nof 14 generations .* have other checksums: none\n", text)
    planned, taken = re.search(r"\n([\d,]+) bytes planned, ([\d,]+) taken, digest ", text).groups()
    assert planned == taken
    assert "with less: a growth to generation 15 on kernels on the CPU needs 12.5KiB, 12.4KiB are free\n" in text


def test_a_plan_that_is_too_small_fails(
    gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gpu_checks.within_memory("edge", 15)
    monkeypatch.setattr("gpu_nim.backends.cuda.bricks.pooled", lambda *sizes: pooled(*sizes) - 512)
    assert not gpu_checks.within_memory("edge", 15)
    assert "with the 12,288 bytes that are planned: a growth to generation 15 on " in capsys.readouterr().out


def test_what_has_no_room_is_refused_and_not_skipped(gpu_checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with gpu_checks.pool_limited(9000):
        assert gpu_checks.main("large", done=1) == 3
    text = capsys.readouterr().out
    assert re.search(r"### edge to .*\nrefused: a growth to generation 15 on .* needs 12.5KiB, 8.7KiB are free\n### fcc to ", text)


def test_all_digests_are_read() -> None:
    assert list(checks.published_digests("edge")) == [512, 1024, 2048, 4096, 8192]
    assert checks.published_digests("fcc")[1024][0] == 1435773241


def test_every_kernel_is_launched(gpu_checks: ModuleType, cupy: ModuleType) -> None:
    gpu_checks.every_kernel()
    assert set(cupy.cuda.host.launched) == set(KERNELS)


@pytest.mark.parametrize(
    ("works", "spoilt", "check"),
    [
        ("grow", "checksums", lambda: checks.same_growth("nim", 70, False)),
        ("solve", "p_positions", lambda: checks.same_chocolate()),
    ],
)
def test_a_difference_fails(gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch, works: str, spoilt: str, check: Any) -> None:
    honest = getattr(gpu_checks, works)

    def crooked(*given: object, backend: str, **named: object) -> object:
        result = honest(*given, backend=backend, **named)
        if backend == "cuda":
            values = getattr(result, spoilt).copy()
            values[5] += 1
            object.__setattr__(result, spoilt, values)
        return result

    assert check() is True
    monkeypatch.setattr(gpu_checks, works, crooked)
    assert check() is False


#: The convolution, on the arrays that stand in for CuPy's.
CONVOLUTION = SimpleNamespace(convolve=lambda a, k, mode: strict_cupy.asarray(convolve(a.get(), k.get(), mode)))
RATES = Rates(fill=4e12, copy=4e12, operations=1.7e13)


SMALL = Sizes(
    compared=(("nim", 12), ("edge", 6)),
    grown=(("nim", 40, "2 ms"), ("fcc", 6, "10 ms"), ("edge", 8, "2.5 s")),
    by_general_engine=("edge", 7),
    filled=8,
    counted=((3, 9), (4, 9)),
    reduced=9,
    tried=7,
    chocolate=(15, 7, 1, 1),
    rays=(16, 9),
    packed=4,
)


@needs_compiler
def test_every_work_runs_and_has_its_kernel(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupyx.scipy.ndimage", CONVOLUTION)  # type: ignore[arg-type]
    launcher, made = HostLauncher(), {}
    for work in works(CudaBackend(launcher), strict_cupy, SMALL):
        before = len(launcher.launched)
        timed = compare(work, 1, cupy, RATES)
        assert any(name.startswith(work.kernel) for name in launcher.launched[before:]), work.name
        made[work.name] = [row.contender for row in timed]
        for row, contender in zip(timed, work.contenders, strict=True):
            assert row.contender == contender.name
            assert row.median >= row.device > 0
            assert row.floor > 0
            assert row.reached > 0
            assert len(row.cells()) == len(HEADER)
    assert made["edge 6"] == ["gpunim", "CuPy's convolution"]
    assert made["D_4, 2^8 indices"] == ["gpunim", "CuPy expression"]
    assert {kernel.source for kernel in KERNELS.values()} == {KERNELS[name].source for name in launcher.launched}
    assert {name for name, kernel in KERNELS.items() if kernel.source == "trace.cu"} <= {*launcher.launched}


@pytest.mark.parametrize("piles", [3, 4, 7])
def test_the_expression_makes_the_values(piles: int) -> None:
    values = doubling(even_binomials(piles), 64, strict_cupy).get()
    assert values.tolist() == [find_family("D", piles).value(n) for n in range(64)]


def test_floors_are_what_is_known_of_the_algorithms() -> None:
    # The births of generations below 2^16 are 4^16: 5 ms of operations on an H200, and 4 ms of launches.
    floor = nim_floor(2**16, 4**16)
    assert round(floor.operations / 17e12, 3) == 0.005
    assert floor.launches == 2048
    # 28 bytes a birth, one of 6 and one of 48 of which is grown.
    assert exactly_one_floor(9, 4800, Symmetry.PERMUTATIONS).copied == 22400
    assert exactly_one_floor(9, 4800, Symmetry.CUBE).copied == 2800
    # A stored value is 8 bytes a limb.
    assert range_floor(1000, 2, 2, stored=True).filled == 16000
    assert range_floor(1000, 2, 1, stored=False) == Floor(operations=8000)
    assert Floor(filled=4e12, launches=1e6).seconds(RATES) == (2.0, "launches")
    assert Floor(filled=4e12, operations=1e20).seconds(Rates(4e12, 4e12, None)) == (1.0, "bytes filled")


def work_of(*peers: Contender, ours: object = lambda: 7) -> Work:
    return Work("seven", (Contender("gpunim", ours), *peers), None, "nim", lambda _: Floor(launches=1), "1 ms")


def test_what_cannot_run_says_why(cupy: Any) -> None:
    def refused() -> int:
        raise InsufficientMemoryError("it needs 7 bytes, 6 are free")

    def missing() -> int:
        raise ModuleNotFoundError("No module named 'cupyx'", name="cupyx")

    first, second = compare(work_of(Contender("absent", missing), ours=refused), 1, cupy, RATES)
    assert (first.seconds, first.remark) == ((), "not run: it needs 7 bytes, 6 are free")
    assert (second.seconds, second.remark) == ((), "not run: cupyx is not installed")
    assert second.cells()[3:] == [""] * 11 + [second.remark]


@pytest.mark.usefixtures("cupy")
def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.backends.selection.select", lambda name: SimpleNamespace(device="a stand-in"))
    monkeypatch.setattr("gpu_nim.backends.selection.cuda_obstacle", lambda number=0: None)
    monkeypatch.setattr("gpu_nim.cli.bench.measured_rates", lambda xp: RATES)
    monkeypatch.setattr(device_works, "works", lambda *_: iter([work_of(Contender("peer", lambda: 7))]))
    facts = json.loads(CliRunner().invoke(main, ["bench", "device", "--json", "--runs", "2"]).stdout)
    assert list(facts["ceilings"]) == ["a stand-in"]
    assert [(row["contender"], row["aimed"], len(row["seconds"])) for row in facts["rows"]] == [
        ("gpunim", "1 ms", 2),
        ("peer", "", 2),
    ]
    text = CliRunner().invoke(main, ["bench", "device", "--work", "sev"]).stdout
    assert "% of floor" in text
    assert "a stand-in: fill 4,000.0 GB/s, copy 4,000.0 GB/s" in text
    result = CliRunner().invoke(main, ["bench", "device", "--work", "eight"])
    assert (result.exit_code, result.stderr) == (2, "gpunim: no work has 'eight' in its name\n")
