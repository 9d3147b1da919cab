"""The checks of scripts/gpu-check, with the kernels on the CPU standing in for a GPU: what they compare and what they fail on.

Sanitizers run the kernels in other tests (`cuda_host`).
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim.automata.growth_process import Snapshot, grow
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.backends.host_counting import NumpyCounting
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Clock, Contender, Work
from gpu_nim.model.errors import InsufficientMemoryError
from scripts.lib import gpu_checks as checks
from tests.cuda_host import HostLauncher, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


@pytest.fixture
def launcher() -> HostLauncher:
    """What stands in for the GPU."""
    return HostLauncher()


@pytest.fixture
def gpu_checks(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch, launcher: HostLauncher) -> ModuleType:
    """The checks, on small growths."""
    backends = {"cuda": CudaBackend(launcher), "numpy": NumpyBackend()}
    monkeypatch.setattr(checks, "select", lambda name: backends.get(name, name))
    for where in ("automata.growth_process", "games.solvers"):
        monkeypatch.setattr(f"gpu_nim.{where}.select", lambda name: backends.get(name, name))
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

    @contextmanager
    def pool_limited(size: int) -> Iterator[None]:  # the process itself takes more than small growths
        with monkeypatch.context() as patch:
            patch.setattr(launcher, "free_memory", lambda: size)
            yield

    monkeypatch.setattr(checks, "pool_limited", pool_limited)
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


def test_checks_go_on_in_a_new_process_after_one_that_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> bool:
        raise RuntimeError("out of order")

    def replaced(_: str, words: tuple[str, ...]) -> None:
        raise SystemExit(checks.main(words[4], int(words[5]), words[6] == "failed"))

    every = [("a", lambda: True), ("b", broken), ("c", lambda: True)]
    monkeypatch.setitem(checks.PARTS, "compare", lambda: iter(every))
    monkeypatch.setattr(os, "execv", replaced)
    with pytest.raises(SystemExit) as left:
        checks.main("compare")
    assert left.value.code == 1
    assert re.sub(r"in .* s", "", capsys.readouterr().out).split("\n") == [
        *("### a", "passed ", "### b", "RuntimeError: out of order", "FAILED ", "### c", "passed ", "")
    ]


def test_the_largest_growths(gpu_checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_checks.main("large") == 0
    text = capsys.readouterr().out
    assert text.count("population: as published to generation 15\nsection z=0: as published to generation 15\n") == 3
    assert re.search(r"resumed from generation 20: .*\nof 14 generations .* have other checksums: none\n", text)
    assert "with less: a growth to generation 15 on kernels on the CPU needs 3,164 bytes, 2,847 are free\n" in text


def test_all_digests_are_read() -> None:
    assert list(checks.published_digests("edge")) == [512, 1024, 2048, 4096, 8192]
    assert checks.published_digests("fcc")[1024][0] == 1435773241


def test_every_kernel_is_launched(gpu_checks: ModuleType, launcher: HostLauncher) -> None:
    gpu_checks.every_kernel()
    assert set(launcher.launched) == set(KERNELS)


def test_what_does_not_fit_is_skipped(
    gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InsufficientMemoryError("it needs 7 bytes, 6 are free")

    monkeypatch.setattr(gpu_checks, "GrowthProcess", refuse)
    monkeypatch.setattr(gpu_checks, "solve", refuse)
    monkeypatch.setitem(
        gpu_checks.PARTS,
        "large",
        lambda: iter([("a", lambda: gpu_checks.largest("edge", 15)), ("b", lambda: gpu_checks.large_chocolate(3, 31, 342))]),
    )
    assert gpu_checks.main("large") == 3
    refusal = "skipped: it needs 7 bytes, 6 are free\n"
    assert capsys.readouterr().out == f"### a\n{refusal}### b\n{refusal}"


def test_a_work_that_gpunim_cannot_do_is_skipped(gpu_checks: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> int:
        raise InsufficientMemoryError("it needs 7 bytes, 6 are free")

    for ours, other in ((refuse, lambda: 7), (lambda: 7, refuse)):
        work = Work("seven", (Contender("gpunim", ours), Contender("rival", other)))
        with pytest.raises(gpu_checks.Skipped, match="it needs 7 bytes") if ours is refuse else nullcontext():
            assert gpu_checks.benchmark(work, Clock(), None)
        assert capsys.readouterr().out.count("seven | ") == 2


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


@pytest.mark.parametrize(
    ("known", "wrong", "check"),
    [
        ("published_digests", {7: (130, "0" * 64)}, lambda: checks.largest("edge", 15)),
        ("checksum", 0, lambda: checks.largest("nim", 40)),
        ("surface_births", 3, lambda: checks.by_delay("edge", 9)),
        ("late_births", 0, lambda: checks.by_delay("fcc", 9)),
        ("length_counts", {}, lambda: checks.long_range()),
        ("chocolate_first_difference", (1, 1, 2), lambda: checks.large_chocolate(3, 15, 86)),
    ],
)
def test_another_growth_or_count_than_the_known_one_fails(
    gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch, known: str, wrong: object, check: Callable[[], bool]
) -> None:
    assert check() is True
    monkeypatch.setattr(gpu_checks, known, lambda *_: wrong)
    assert check() is False


def test_another_number_than_the_known_one_fails(gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu_checks.large_chocolate(3, 15, 85) is False
    honest = gpu_checks.GrowthProcess
    monkeypatch.setattr(
        gpu_checks, "GrowthProcess", lambda *given, resume=None, **named: honest(*given, resume=spoilt(resume), **named)
    )
    assert gpu_checks.largest("edge", 15) is False


def spoilt(snapshot: Snapshot | None) -> Snapshot | None:
    return snapshot and replace(snapshot, checksums=snapshot.checksums + np.uint64(1))


def test_more_memory_than_planned_fails(gpu_checks: ModuleType, cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu_checks.within_memory("edge", 15) is True
    with monkeypatch.context() as patch:
        patch.setattr(cupy.get_default_memory_pool(), "total_bytes", lambda: 1 << 30)
        assert gpu_checks.within_memory("edge", 15) is False
    monkeypatch.setattr(gpu_checks, "pool_limited", nullcontext)
    assert gpu_checks.within_memory("edge", 15) is False


def test_another_value_fails(gpu_checks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = NumpyCounting.fill

    def crooked(engine: NumpyCounting, table: object, rows: object, skip: int, out: NDArray[np.uint64]) -> None:
        fill(engine, table, rows, skip, out)  # type: ignore[arg-type]
        out.flat[7] += np.uint64(1)

    assert gpu_checks.same_range(3) is True
    monkeypatch.setattr(NumpyCounting, "fill", crooked)
    assert gpu_checks.same_range(3) is False
    # The same mistake on both backends shows in the sum.
    monkeypatch.setattr(gpu_checks, "BACKENDS", ("numpy", "numpy"))
    assert gpu_checks.same_range(3) is False


@pytest.mark.parametrize(("failing", "passed"), [("none", True), ("racecheck", False)])
def test_the_tools_of_compute_sanitizer(
    gpu_checks: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failing: str,
    passed: bool,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_checks.main("sanitize") == 3
    assert capsys.readouterr().out.endswith("\nskipped: compute-sanitizer is not on PATH\n")
    # Each waits until all have begun.
    (tmp_path / "compute-sanitizer").write_text(f"""#!/bin/bash
cd "{tmp_path}"
>"$2"
until [[ -e memcheck && -e racecheck && -e initcheck && -e synccheck ]]; do :; done
echo "$@"
[[ $2 != {failing} ]] || exit 9
""")
    (tmp_path / "compute-sanitizer").chmod(0o755)
    assert gpu_checks.sanitized() is passed
    text = capsys.readouterr().out
    for tool in checks.SANITIZER_TOOLS:
        watched = "" if tool == "initcheck" else "--kernel-name-exclude kns=cupy_ "
        status = 9 if tool == failing else 0
        said = f"{tool}, exit status {status}:\n--tool {tool} --error-exitcode 9 {watched}{' '.join(checks.MYSELF)} kernels\n"
        assert said in text
