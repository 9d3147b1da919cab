"""`gpunim bench device`, with the kernels on the CPU as a stand-in for a GPU: works, floors and peers; never figures."""

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.bench import device_works
from gpu_nim.bench.device_works import Sizes, exactly_one_floor, nim_floor, range_floor, works
from gpu_nim.bench.harness import HEADER, Contender, Floor, Rates, Work, compare
from gpu_nim.bench.host_works import doubling
from gpu_nim.cli import main
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import find_family
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Symmetry
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.lattices import convolve

needs_compiler = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
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
