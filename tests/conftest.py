"""Fixtures that run one test over several engines: NumPy, the kernels on the CPU in several orders, and a real device.

``launcher`` yields a launcher, ``backend`` a backend. What they run kernels on:

* host: the CPU, by `tests/cuda_host`, in the flavour that GPUNIM_CUDA_HOST names (default ubsan). These tests carry the
  marker ``cuda_host``; `scripts/check-sanitizers` runs them again under ASan and TSan, each in an order of its own.
* gpu: a CUDA device through CuPy. These carry the marker ``gpu`` and run only when asked for with ``-m gpu``.
"""

import re
import signal
import sys
from collections.abc import Iterator
from functools import partialmethod
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import settings

from gpu_nim.backends.cuda.launcher import import_cupy
from gpu_nim.backends.numba import NumbaBackend
from gpu_nim.model.errors import BackendError, MissingDependency
from tests import lattices
from tests.cuda_host import HostLauncher, compiler, default_flavour
from tests.strict_cupy import pool

collect_ignore = ["emulated_gpu"]  # whose processes import another CuPy
# Under a sanitizer an order that no other run has.
_HOST_ORDERS = {"asan": [("reverse", 0)], "tsan": [("shuffle", 2)]}.get(default_flavour(), [("forward", 0), ("shuffle", 1)])
_HOST = [
    pytest.param(
        ("host", order, seed),
        marks=[pytest.mark.cuda_host, *([pytest.mark.nightly] if further else [])],
        id=f"host-{order}{seed or ''}",
    )
    for further, (order, seed) in enumerate(_HOST_ORDERS)
]
_GPU = pytest.param(("gpu",), marks=pytest.mark.gpu, id="gpu")


if "mix_stderr" in signature(CliRunner).parameters:  # click 8.1: let its runner keep stderr apart, as that of 8.2 does
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda self: self.stdout + self.stderr)


settings.register_profile("gpunim", deadline=None)  # no test asserts a time
settings.load_profile("gpunim")


def pytest_configure(config: pytest.Config) -> None:
    # Under nohup, or in the background of a script, these are ignored, which programs that the tests start would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.addinivalue_line("markers", "cuda_host: runs kernels on the CPU; run again under ASan and TSan")
    if _asked_for_gpu(config):
        lattices.on_gpu = True
        # The versions of CuPy and NumPy on a machine with a GPU are not ours to choose: their warnings fail no test. Some are
        # raised by compiled code, so that they seem to come from ours.
        by_compiled = "::cupy._util.PerformanceWarning" if find_spec("cupy") and hasattr(import_cupy(), "_util") else ":::cupy"
        for warning in (":::cupy", ":::numpy", by_compiled):
            config.addinivalue_line("filterwarnings", f"default{warning}")


def _asked_for_gpu(config: pytest.Config) -> bool:
    """Whether the tests marked gpu are to run, by -m."""
    return re.search(r"(?<!not )\bgpu\b", config.option.markexpr) is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    without_gpu = not _asked_for_gpu(config)

    def left_out(item: pytest.Item) -> bool:
        # A size that runs no more code than a smaller one runs in one order of threads.
        further_order = item.get_closest_marker("larger") and item.get_closest_marker("nightly")
        return bool(further_order or (without_gpu and item.get_closest_marker("gpu")))

    # The longest begin first, so that no worker is left alone with one at the end.
    items.sort(key=lambda item: item.get_closest_marker("nightly") is None)
    deselected = [item for item in items if left_out(item)]
    if deselected:
        items[:] = [item for item in items if not left_out(item)]
        config.hook.pytest_deselected(items=deselected)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder, the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The CuPy of `tests/emulated_gpu`, for what imports CuPy in this test."""
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(Path(__file__).parent / "emulated_gpu")
    monkeypatch.setattr(pool, "_pool", None)  # which is the one of that CuPy from its import on
    for name in {"cupy", "cupy.cuda", *(name for name in sys.modules if name.startswith("cupy."))}:
        monkeypatch.setitem(sys.modules, name, None)  # so that what is imported now is removed in the end
        del sys.modules[name]
    return import_module("cupy")


def _launcher(engine: tuple[Any, ...]) -> Any:
    if engine[0] == "gpu":
        from gpu_nim.backends.cuda.launcher import CupyLauncher

        try:
            return CupyLauncher()
        except (BackendError, MissingDependency) as reason:
            pytest.skip(f"no CUDA device: {reason}")
    if compiler() is None:
        pytest.skip("kernels cannot run on the CPU: no g++ (or $CXX)")
    _, order, seed = engine
    return HostLauncher(order, seed)


@pytest.fixture(params=[*_HOST, _GPU])
def launcher(request: pytest.FixtureRequest) -> Any:
    """A launcher, host or device."""
    return _launcher(request.param)


def _backend(engine: tuple[Any, ...]) -> Any:
    if engine[0] == "numpy":
        from gpu_nim.backends.numpy import NumpyBackend

        return NumpyBackend()
    if engine[0] == "compiled":
        # Its loops are loaded, so that it chooses them however little the work.
        pytest.importorskip("numba", reason="numba is not installed")
        engine, *_ = (import_module(f"gpu_nim.backends.numba.{loops}") for loops in ("engine", "games", "trace"))
        engine._FEW = 0  # bricks that one thread grows sooner than several do
        return NumbaBackend(threads=3)
    from gpu_nim.backends.cuda import CudaBackend

    return CudaBackend(_launcher(engine))


@pytest.fixture(params=[pytest.param(("numpy",), id="numpy"), *_HOST, _GPU])
def backend(request: pytest.FixtureRequest) -> Any:
    """A backend: NumPy, or CUDA on a launcher."""
    return _backend(request.param)


@pytest.fixture(params=[pytest.param(("numpy",), id="numpy"), pytest.param(("compiled",), id="compiled"), *_HOST, _GPU])
def every_backend(request: pytest.FixtureRequest) -> Any:
    """The same, and NumPy with compiled loops wherever there are some."""
    return _backend(request.param)


@pytest.fixture
def no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files hold no command, so that those of different commands can be compared byte by byte."""
    monkeypatch.setattr("gpu_nim.model.files.one_line", lambda text: "")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, started once (see `tests.chromium`)."""
    from tests.chromium import Browser, chromium_driver

    folder = tmp_path_factory.mktemp("browser")
    with chromium_driver(folder) as driver:
        yield Browser(driver, folder)
