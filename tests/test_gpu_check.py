"""scripts/gpu-check, with the kernels on the CPU standing in for a GPU: what it compares, reports and fails on."""

import importlib.util
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim.automata.growth_process import grow
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.counting import NumpyCounting
from gpu_nim.model.errors import InsufficientMemoryError
from tests.cuda_host import HostLauncher, compiler

pytestmark = [
    pytest.mark.cuda_host,
    pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)"),
]

ROOT = Path(__file__).parent.parent


class Watched(HostLauncher):
    """Keeps the names of the kernels that it launches."""

    def __init__(self) -> None:
        super().__init__()
        self.launched: set[str] = set()

    def __call__(self, kernel: str, grid: tuple[int, ...], *rest: object, **more: object) -> None:
        super().__call__(kernel, grid, *rest, **more)  # type: ignore[arg-type]
        if 0 not in grid:
            self.launched.add(kernel)


@pytest.fixture
def launcher() -> Watched:
    """What stands in for the GPU."""
    return Watched()


@pytest.fixture
def gpu_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, launcher: Watched) -> ModuleType:
    """The script as a module, on a small growth and without the checks that need a device of their own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    loader = SourceFileLoader("gpu_check", str(ROOT / "scripts" / "gpu-check"))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    backends = {"cuda": CudaBackend(launcher), "numpy": NumpyBackend()}
    monkeypatch.setattr(module, "select", lambda name: backends.get(name, name))
    for where in ("automata.growth_process", "games.solvers"):
        monkeypatch.setattr(f"gpu_nim.{where}.select", lambda name: backends.get(name, name))
    stand_ins = {
        "cuda_obstacle": lambda: None,
        "facts": lambda: iter(["- device: the CPU"]),
        "gpu_tests": lambda: (True, "3 passed"),
        "benchmark": lambda what: (True, f"{what} 64"),
        "GROWTHS": (("nim", 70, True), ("rule750", 12, True)),
        "LARGEST": (("edge", 15, 826),),
        "INDICES": 1000,
        "CHOCOLATE": 31,
        "CHOCOLATE_GRUNDY": 15,
        "SANITIZER_TOOLS": (),
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
    assert "## rule750 to generation 12 equals NumPy's: passed" in report
    assert "## D_4 over 1,000 indices equals NumPy's, and adds up: passed" in report
    assert "## Chocolate 3y <= x + z to 31 equals NumPy's: passed" in report
    assert "342 P-positions" in report
    assert "nim to generation 70 equals NumPy's: passed in" in capsys.readouterr().err


def test_every_kernel_is_launched(gpu_check: ModuleType, launcher: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu-check", "--every-kernel"])
    assert gpu_check.main() == 0
    assert launcher.launched == set(KERNELS)


def test_what_does_not_fit_is_not_run(gpu_check: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InsufficientMemoryError("it needs 7 bytes, 6 are free")

    monkeypatch.setattr(gpu_check, "grow", refuse)
    assert gpu_check.largest("edge", 15, 826) == (True, "not run: it needs 7 bytes, 6 are free")


def test_another_population_at_1024_fails(gpu_check: ModuleType) -> None:
    assert gpu_check.largest("edge", 15, 827)[0] is False


def test_another_value_fails(gpu_check: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Crooked(NumpyCounting):
        def fill(self, table: object, rows: object, skip: int, out: NDArray[np.uint64]) -> None:
            super().fill(table, rows, skip, out)
            out.flat[7] += np.uint64(1)

    honest = gpu_check.select
    crooked = SimpleNamespace(counting=Crooked)
    monkeypatch.setattr(gpu_check, "select", lambda name: crooked if name == "cuda" else honest(name))
    assert gpu_check.same_range(3)[0] is False
    # The same mistake on both backends shows in the sum.
    monkeypatch.setattr(gpu_check, "BACKENDS", ("cuda", "cuda"))
    assert gpu_check.same_range(3)[0] is False


def test_another_p_position_fails(gpu_check: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    host = gpu_check.solve

    def crooked(game: object, size: int, *, grundy: bool = False, backend: str) -> object:
        solution = host(game, size, grundy=grundy, backend=backend)
        if backend == "cuda" and not grundy:
            solution.p_positions[5] += 1
        return solution

    monkeypatch.setattr(gpu_check, "solve", crooked)
    assert gpu_check.same_chocolate()[0] is False


@pytest.mark.thorough
def test_no_package_but_the_few_is_needed() -> None:
    """Growing, counting, solving and collecting the GPU's tests, as if nothing else were installed."""
    missing = ("zarr", "rich", "pyvista", "vtk", "vtkmodules", "PIL", "scipy", "networkx", "dask", "distributed", "matplotlib")
    alone = f"""
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in {missing} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
    options = ["-m", "gpu", "--collect-only", "-q", "-o", "addopts=", "-p", "no:cacheprovider", "--import-mode=importlib", "tests"]
    for program in (
        "from gpu_nim.cli import main; main(['grow', '--gen', '9', '--backend', 'numpy', '--quiet'])",
        "from gpu_nim.cli import main; main(['count', 'D', '--piles', '4', '--range', '0:9'])",
        "from gpu_nim.cli import main; main(['solve', 'chocolate', '--size', '15'])",
        f"import pytest; sys.exit(pytest.main({options}))",
    ):
        done = subprocess.run([sys.executable, "-c", alone + program], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_failure_is_reported_and_the_rest_still_runs(
    gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> object:
        raise RuntimeError("out of order")

    monkeypatch.setattr(gpu_check, "gpu_tests", broken)
    assert gpu_check.main() == 1
    report = (tmp_path / "report.md").read_text()
    assert "## Tests marked gpu: FAILED\n\n```\nRuntimeError: out of order" in report
    assert "## Benchmark of counting: passed" in report


def test_another_growth_fails(gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = gpu_check.grow

    def crooked(name: str, generations: int, *, backend: str, cells: bool = False) -> object:
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
