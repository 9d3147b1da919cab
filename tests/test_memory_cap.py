"""The user's cap on memory, what a plan says of memory, and a device whose memory others take in the meantime."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda import CudaBackend, CupyLauncher
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.cli import main
from gpu_nim.jobs.growth_job import GrowthJob
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.memory import VARIABLE, capped, host_memory, memory_cap
from tests.cuda_host import HostLauncher, compiler

GiB = 2**30


def invoke(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env=environment)


def held() -> int:
    """What this process holds in main memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_without_a_cap_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert memory_cap() is None
    monkeypatch.setenv(VARIABLE, "")
    assert memory_cap() is None


@pytest.mark.parametrize("text", ["", "8 G", "GiB", "-1GiB", "0", "0.0001KB", "8GiBs", "1e30", "8 apples", "nan GB", "١GB", "1/0"])
def test_what_is_no_size_is_refused_in_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = invoke("info", "--memory", text)
    assert result.exit_code == 2
    expected = f"expected a size of memory such as 8GiB, 500MB or a number of bytes, got {text!r}"
    of_click = result.stderr.replace(" (env var: 'GPUNIM_MEMORY')", "")  # from some version on
    assert of_click == f"gpunim: Invalid value for '--memory': {expected}.\n"
    if text:
        assert invoke("grow", GPUNIM_MEMORY=text).exit_code == 2
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(UsageError, match=r"^GPUNIM_MEMORY: expected a size of memory"):
            host_memory()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux what this process holds")
def test_the_cap_bounds_what_the_process_holds_in_all() -> None:
    cap = held() + 10**8
    with capped(cap):
        assert host_memory() > 5 * 10**7
        assert abs(host_memory() + held() - cap) < 10**7
    with capped(10**6):
        assert host_memory() == 0
    assert memory_cap() is None


def test_work_past_the_cap_is_refused(tmp_path: Path) -> None:
    arguments = ("grow", "edge", "--gen", "1024", "--backend", "numpy", "--out", str(tmp_path / "edge.csv"))
    for result in (invoke(*arguments, "--memory", "1MB"), invoke(*arguments, GPUNIM_MEMORY="1MB")):
        assert result.exit_code == 2
        assert result.stderr.startswith("gpunim: the table of 1,024 generations needs 204,800 bytes, 0 are free")
    assert list(tmp_path.iterdir()) == []
    assert VARIABLE not in os.environ


def test_every_command_has_the_option() -> None:
    for name in main.list_commands(None):
        assert "GPUNIM_MEMORY" in invoke(name, "--help").output


def test_a_growth_s_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NumpyBackend, "free_memory", lambda self: 1000)
    plan = json.loads(invoke("grow", "--gen", "1024", "--backend", "numpy", "--plan", "--json").stdout)
    assert plan["plan"] == {"memory": 8 * 1025 * 17 + 110 * (3**10 // 11), "free_memory": 1000}
    assert (plan["automaton"], plan["generations"], plan["backend"]) == ("nim", 1024, "numpy")
    text = invoke("grow", "edge", "--gen", "64", "--backend", "numpy", "--plan").stdout
    assert " bytes, which does not fit: 1,000 bytes are free on " in text
    text = invoke("grow", "rule750", "--gen", "64", "--backend", "numpy", "--plan").stdout
    assert text.startswith("rule750 to generation 64 takes memory as it grows, while there is any: ")
    far = ("--offsets", "1000000000,0,0;0,1,0;0,0,1", "--gen", "1", "--backend", "numpy")  # no room for a table of bricks
    monkeypatch.setattr(NumpyBackend, "free_memory", lambda self: 10**6)
    assert invoke("grow", *far, "--plan").stdout.startswith("own to generation 1 takes memory as it grows, while there is any: ")
    assert invoke("grow", "--plan", "--resume", "folder").exit_code == 2


def test_a_count_s_plan() -> None:
    words = ("count", "D", "--piles", "4", "--range", "0:10^12", "--plan", "--json")
    plan = json.loads(invoke(*words).stdout)["plan"]
    assert 8 * 2**22 < plan["memory"] < 10**8 < plan["bytes"]
    plan = json.loads(invoke(*words, "--reduce", "residues:1000003,histogram,sum").stdout)["plan"]
    assert 1.8e8 < plan["memory"] < 2.2e8  # a list of all classes, of which 184 MB were measured


@pytest.mark.parametrize("name", ["nim", "edge"])
@pytest.mark.parametrize("backend", [NumpyBackend(), CudaBackend(HostLauncher()) if compiler() else None])
def test_a_growth_asks_for_what_is_planned(name: str, backend: NumpyBackend | CudaBackend | None) -> None:
    if backend is None:
        pytest.skip("kernels cannot run on the CPU: no g++ (or $CXX)")
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        for module in ("numpy", "numpy.exactly_one", "cuda", "cuda.exactly_one"):
            patch.setattr(f"gpu_nim.backends.{module}.require_memory", lambda needed, *_: asked.append(needed))
        growing = GrowthProcess(name, 200, backend)
        growing.begin()
    assert asked[0] == growing.planned_memory() > 0


@pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
def test_on_a_device_the_files_take_main_memory(tmp_path: Path) -> None:
    device, path = CudaBackend(HostLauncher()), tmp_path / "a.vti"
    plain, plan = (GrowthJob("edge", 64, backend=device, out=out).plan() for out in (None, path))
    assert "main_memory" not in plain.costs
    assert plan.costs["memory"] == plain.costs["memory"] == GrowthProcess("edge", 64, device).planned_memory()
    assert 0 < plan.costs["main_memory"] <= GrowthJob("edge", 64, backend="numpy", out=path).plan().costs["memory"]
    assert str(plan).endswith(f"; writing {path} takes {plan.costs['main_memory']:,} bytes of main memory")


@pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
@pytest.mark.parametrize("name", ["nim", "edge", "rule750"])
def test_a_device_whose_memory_others_took_after_the_plan(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = HostLauncher()

    def taken(*_: object, **__: object) -> None:
        raise MemoryError("Out of memory allocating 4,096 bytes (allocated so far: 0 bytes).")  # as CuPy says it

    monkeypatch.setattr(launcher.xp, "zeros", taken)
    job = GrowthJob(name, 40, backend=CudaBackend(launcher), out=tmp_path / "growth.csv")
    with pytest.raises(InsufficientMemoryError, match=r"^[^\n]*: the device has too little free memory \(Out of memory"):
        job.grow()
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".lock"]


def test_a_device_s_memory_within_the_cap(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy.cuda.runtime, "memGetInfo", lambda: (70 * GiB, 140 * GiB))
    for name, size in (("free_bytes", 2 * GiB), ("used_bytes", 3 * GiB)):
        monkeypatch.setattr(cupy.get_default_memory_pool(), name, lambda size=size: size)
    launcher = CupyLauncher()
    assert launcher.free_memory() == 72 * GiB
    for cap, free in ((100, 72), (8, 5), (3, 0), (1, 0)):
        with capped(cap * GiB):
            assert launcher.free_memory() == free * GiB


def test_a_cap_ends_with_its_command_even_if_another_option_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert invoke("grow", "--memory", "1kB", "--gen", "x").exit_code == 2
    assert memory_cap() is None
