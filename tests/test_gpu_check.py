"""scripts/gpu-check, with the kernels on the CPU standing in for a GPU: what it compares, reports and fails on."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from gpu_nim.automata.growth import grow
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.numpy import NumpyBackend
from tests.cuda_host import HostLauncher, compiler

pytestmark = [
    pytest.mark.cuda_host,
    pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)"),
]


@pytest.fixture
def gpu_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script as a module, on a small growth and without the checks that need a device of their own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    loader = SourceFileLoader("gpu_check", str(Path(__file__).parent.parent / "scripts" / "gpu-check"))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    backends = {"cuda": CudaBackend(HostLauncher()), "numpy": NumpyBackend()}

    def grow_on(name: str, generations: int, *, backend: str, cells: bool) -> object:
        return grow(name, generations, backend=backends[backend], cells=cells)

    stand_ins = {
        "cuda_obstacle": lambda: None,
        "facts": lambda: iter(["- device: the CPU"]),
        "grow": grow_on,
        "gpu_tests": lambda: (True, "3 passed"),
        "benchmark": lambda: (True, "nim 64"),
        "GROWTHS": (("nim", 70, True),),
    }
    for name, value in stand_ins.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(sys, "argv", ["gpu-check", str(tmp_path / "report.md")])
    return module


def test_a_report_of_what_holds(gpu_check: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main() == 0
    report = (tmp_path / "report.md").read_text()
    assert report.startswith("# gpunim on a GPU\n\n- device: the CPU\n")
    assert "## Tests marked gpu: passed" in report
    assert "## nim to generation 70 equals NumPy's: passed" in report
    assert f"digest {grow('nim', 70, backend='numpy').digest}" in report
    assert "nim to generation 70 equals NumPy's: passed in" in capsys.readouterr().err


def test_a_failure_is_reported_and_the_rest_still_runs(
    gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> object:
        raise RuntimeError("out of order")

    monkeypatch.setattr(gpu_check, "gpu_tests", broken)
    assert gpu_check.main() == 1
    report = (tmp_path / "report.md").read_text()
    assert "## Tests marked gpu: FAILED\n\n```\nRuntimeError: out of order" in report
    assert "## Benchmark: passed" in report


def test_another_growth_fails(gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = gpu_check.grow

    def crooked(name: str, generations: int, *, backend: str, cells: bool) -> object:
        growth = host(name, generations, backend=backend, cells=cells)
        if backend == "cuda":
            growth.checksums[5] += 1
        return growth

    monkeypatch.setattr(gpu_check, "grow", crooked)
    assert gpu_check.main() == 1
    assert "## nim to generation 70 equals NumPy's: FAILED" in (tmp_path / "report.md").read_text()


def test_wrong_use(gpu_check: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu-check"])
    assert gpu_check.main() == 2
    assert capsys.readouterr().err == "usage: scripts/gpu-check REPORT.md\n"
    monkeypatch.setattr(sys, "argv", ["gpu-check", "x.md"])
    monkeypatch.setattr(gpu_check, "cuda_obstacle", lambda: "there is no GPU")
    assert gpu_check.main() == 2
    assert capsys.readouterr().err == "gpu-check: there is no GPU\n"
