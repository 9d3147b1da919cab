"""`gpunim bench device`, with the kernels on the CPU as a stand-in for a GPU: works, floors and rivals; never figures."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from gpu_nim.automata.catalogue import find
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.bench import device as timing
from gpu_nim.bench import device_works
from gpu_nim.bench.count import doubling
from gpu_nim.bench.device import Device, DeviceClock, Row, rows
from gpu_nim.bench.device_works import Work, works
from gpu_nim.bench.floors import Floor, Rates, exactly_one_floor, measured_rates, nim_floor, range_floor
from gpu_nim.bench.harness import Contender
from gpu_nim.bench.peers import DENSE_CUBE, convolve, dense_cube, dense_cube_sources, python_set
from gpu_nim.cli import main
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import find_family
from gpu_nim.model.errors import InsufficientMemoryError, VerificationError
from gpu_nim.model.rule import Rule, Symmetry
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler

needs_compiler = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
RATES = Rates(fill=4e12, copy=4e12, operations=1.7e13)


class Event:
    """A CUDA event: the moment at which it was recorded."""

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass


@pytest.fixture
def ranges() -> list[str]:
    """The NVTX ranges that were begun and ended."""
    return []


@pytest.fixture
def clock(ranges: list[str]) -> DeviceClock:
    cuda = SimpleNamespace(
        Event=Event,
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        get_elapsed_time=lambda before, after: 1000 * (after.at - before.at),
        nvtx=SimpleNamespace(RangePush=ranges.append, RangePop=lambda: ranges.append("")),
    )
    return DeviceClock(SimpleNamespace(cuda=cuda))


@pytest.fixture
def device(clock: DeviceClock) -> Device:
    naive = HostLauncher(sources=Path(str(dense_cube_sources())), table=DENSE_CUBE)
    return Device(CudaBackend(HostLauncher()), naive, clock, RATES)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The works, small."""
    sizes = {
        "_COMPARED": (("nim", 12), ("edge", 6)),
        "_GROWN": (("nim", 40, "2 ms", "2-3 ms"), ("fcc", 6, "10 ms", "")),
        "_GROWN_LONG": (("edge", 8, "2.5 s", "2.5 s"),),
        "_BY_GENERAL_ENGINE": ("edge", 7),
        "_FILLED": 8,
        "_COUNTED": ((3, 9, ""), (4, 9, "")),
        "_REDUCED": 9,
        "_TRIED": 7,
        "_CHOCOLATE": 15,
        "_CHOCOLATE_GRUNDY": 7,
        "_SIX": 1,
        "_SIX_GRUNDY": 1,
        "_TRACED": (16, 9),
        "_PACKED": 4,
    }
    for name, value in sizes.items():
        monkeypatch.setattr(device_works, name, value)
    monkeypatch.setattr(device_works, "_cold", lambda: Work("cold", "nim", lambda: 7, nim_floor(9)))


@needs_compiler
@pytest.mark.usefixtures("small")
def test_every_work_runs_and_has_its_kernel(device: Device, ranges: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_ENOUGH", 0.0)
    monkeypatch.setattr(device_works, "import_module", {"cupyx.scipy.ndimage": _scipy()}.__getitem__)
    launcher, made = HostLauncher(), {}
    device = replace(device, cuda=CudaBackend(launcher))
    for work in works(device.cuda, device.naive):
        before = len(launcher.launched)
        timed = list(rows(work, device, 1))
        assert work.name == "cold" or any(name.startswith(work.kernel) for name in launcher.launched[before:]), work.name
        made[work.name] = work, timed
    for work, timed in made.values():
        assert [row.contender for row in timed] == ["gpunim", *(rival.name for rival in work.rivals)]
        for row in timed:
            assert row.wall is not None, row
            assert row.wall >= row.device > 0
            assert row.floor > 0
            assert row.reached > 0
            assert len(row.cells()) == len(timing.HEADER)
            assert f"{row.work}: {row.contender}" in ranges
    assert [row.contender for row in made["edge 6"][1]] == ["gpunim", "one thread a cell", "CuPy's convolution"]
    assert "CuPy expression" in [row.contender for row in made["D_4, 2^8 indices"][1]]
    assert {kernel.source for kernel in KERNELS.values()} == {KERNELS[name].source for name in launcher.launched}
    assert {name for name, kernel in KERNELS.items() if kernel.source == "trace.cu"} <= {*launcher.launched}


def _scipy() -> SimpleNamespace:
    """SciPy's convolution, on the arrays that stand in for CuPy's."""
    ndimage = pytest.importorskip("scipy.ndimage", reason="scipy is not installed")
    return SimpleNamespace(convolve=lambda a, k, mode: strict_cupy.asarray(ndimage.convolve(a.get(), k.get(), mode=mode)))


FAR = Rule(2, ((2, 1), (-1, 0), (0, -2)), frozenset({1}), ((0, 0), (3, 1)))


@pytest.mark.cuda_host
@pytest.mark.parametrize("rule", [find("nim").rule, find("edge").rule, find("fcc").rule, find("ulam-warburton").rule, FAR])
def test_rivals_grow_what_a_set_of_cells_grows(rule: Rule) -> None:
    expected = python_set(rule, 6)
    if compiler() is not None:
        naive = HostLauncher(sources=Path(str(dense_cube_sources())), table=DENSE_CUBE)
        assert dense_cube(naive, rule, 6) == expected
    assert convolve(rule, 6, _scipy(), strict_cupy) == expected


@pytest.mark.parametrize("piles", [3, 4, 7])
def test_the_expression_makes_the_values(piles: int) -> None:
    values = doubling(even_binomials(piles), 64, strict_cupy).get()
    assert values.tolist() == [find_family("D", piles).value(n) for n in range(64)]


def test_floors_are_what_is_known_of_the_algorithms() -> None:
    # n^3 / 192 words: 5.6e6 at 1024 and 1.5e12 at 65536, which would take 5.5 s in 4.3 TB/s, were each word moved each generation.
    assert round(nim_floor(1024).operations / 12 / 1e6, 1) == 5.6
    assert round(32 * nim_floor(65536).copied / 4.3e12, 1) == 5.5
    # 50 bytes a birth, one of 6 and one of 48 of which is grown.
    assert exactly_one_floor(9, 4800, Symmetry.PERMUTATIONS).copied == 40000
    assert exactly_one_floor(9, 4800, Symmetry.CUBE).copied == 5000
    # A stored value is 8 bytes a limb.
    assert range_floor(1000, 2, 2, stored=True).filled == 16000
    assert range_floor(1000, 2, 1, stored=False) == Floor(operations=8000)
    assert Floor(filled=4e12, launches=1e6).seconds(RATES) == (2.0, "launches")
    assert Floor(filled=4e12, operations=1e20).seconds(Rates(4e12, 4e12, None)) == (1.0, "bytes filled")


def test_rates_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.floors.device_ceiling", lambda xp: {"fill": 3e12, "copy": 4e12})
    attributes = {"ClockRate": 1_980_000, "MultiProcessorCount": 132}
    xp = SimpleNamespace(cuda=SimpleNamespace(Device=lambda: SimpleNamespace(attributes=attributes)))
    assert measured_rates(xp) == Rates(3e12, 4e12, 132 * 64 * 1.98e9)
    del attributes["ClockRate"]
    assert measured_rates(xp).operations is None


def work_of(*rivals: Contender, ours: object = lambda: 7) -> Work:
    return Work("seven", "nim", ours, Floor(launches=1), None, "1 ms", "2 ms", rivals)


def test_a_rival_who_is_wrong_ends_the_work(device_alone: Device) -> None:
    with pytest.raises(VerificationError, match=r"^seven: the contenders disagree \(gpunim 7, wrong 8\)$"):
        list(rows(work_of(Contender("wrong", lambda: 8)), device_alone, 1))


@pytest.fixture
def device_alone(clock: DeviceClock) -> Device:
    """A device for works that need no kernel."""
    return Device(None, None, clock, RATES)


def test_what_cannot_run_says_why(device_alone: Device) -> None:
    def refused() -> int:
        raise InsufficientMemoryError("it needs 7 bytes, 6 are free")

    def missing() -> int:
        raise ModuleNotFoundError("No module named 'cupyx'", name="cupyx")

    first, second = rows(work_of(Contender("absent", missing), ours=refused), device_alone, 1)
    assert (first.wall, first.remark) == (None, "not run: it needs 7 bytes, 6 are free")
    assert (second.wall, second.remark) == (None, "not run: cupyx is not installed")


def test_a_long_first_run_is_the_only_one(device_alone: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_LONG", 0.0)
    (row,) = rows(work_of(), device_alone, 5)
    assert (row.runs, row.remark) == (1, "one run, compiling included")
    monkeypatch.setattr(timing, "_LONG", 3.0)
    (row,) = rows(work_of(), device_alone, 5)
    assert (row.runs, row.remark) == (5, "")


def test_the_command(device_alone: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(device="a stand-in")
    monkeypatch.setattr(timing, "open_device", lambda: Device(cuda, None, device_alone.clock, RATES))
    monkeypatch.setattr(device_works, "works", lambda *_: iter([work_of(Contender("rival", lambda: 7))]))
    facts = json.loads(CliRunner().invoke(main, ["bench", "device", "--json", "--runs", "2"]).stdout)
    assert facts["device"] == "a stand-in"
    assert [(row["contender"], row["predicted"], row["runs"]) for row in facts["rows"]] == [("gpunim", "2 ms", 2), ("rival", "", 2)]
    text = CliRunner().invoke(main, ["bench", "device", "--work", "sev"]).stdout
    assert "% of floor" in text
    assert "a stand-in: fill 4,000.0 GB/s, copy 4,000.0 GB/s" in text
    result = CliRunner().invoke(main, ["bench", "device", "--work", "eight"])
    assert (result.exit_code, result.stderr) == (2, "gpunim: no work has 'eight' in its name.\n")


def test_profile_wraps_nsight_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ncu").write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert CliRunner().invoke(main, ["bench", "device", "--profile", "--work", "D_4"]).exit_code == 3
    said = capfd.readouterr().out
    assert said.startswith("--nvtx --print-nvtx-rename kernel ")
    assert said.endswith(f"{sys.executable} -P -m gpu_nim bench device --runs 1 --work D_4\n")
    (tmp_path / "ncu").unlink()
    result = CliRunner().invoke(main, ["bench", "device", "--profile"])
    expected = "gpunim: --profile needs Nsight Compute, and ncu is not on PATH: install it with the CUDA toolkit, or by itself\n"
    assert (result.exit_code, result.stderr) == (1, expected)


def test_the_cold_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: tuple[str, ...], env: dict[str, str], **_: object) -> subprocess.CompletedProcess:
        assert command[1:] == ("-P", "-m", "gpu_nim", "grow", "nim", "--gen", "15", "--backend", "cuda", "--json")
        assert list(Path(env["CUPY_CACHE_DIR"]).iterdir()) == []
        return done(tuple("numpy" if word == "cuda" else word for word in command), env=env, capture_output=True, text=True)

    done = subprocess.run
    monkeypatch.setattr(device_works, "_COLD_GENERATIONS", 15)
    monkeypatch.setattr(subprocess, "run", run)
    (tmp_path / "click.py").write_text("raise RuntimeError('a module of the working directory was run')\n")
    monkeypatch.chdir(tmp_path)
    assert device_works._cold().ours() == 256


def test_figures_are_short() -> None:
    assert Row("w", "k", "c", 3, 1234.5, 0.000123456, 1.5e11, "", "", 2e-6, "launches", 1.62, "").cells() == [
        *("w", "k", "c", "3", "1234", "0.000123", "1.5e+11", "", "", "2e-06", "launches", "1.6", "")
    ]
    assert Row("w", "k", "c").cells() == ["w", "k", "c", *[""] * 10]
