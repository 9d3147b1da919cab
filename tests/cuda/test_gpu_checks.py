"""The checks of scripts/gpu-check, with the kernels on the CPU standing in for a GPU: what they compare and what they fail on.

Sanitizers run the kernels in other tests (`cuda_host`).
"""

import os
import re
from types import ModuleType
from typing import Any

import pytest

from gpu_nim.backends.cuda.launcher import pooled
from gpu_nim.backends.cuda.table import KERNELS
from gpu_nim.jobs.grow_job import grow
from scripts.lib import gpu_checks as checks
from tests.cuda_host import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


@pytest.fixture
def gpu_checks(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The checks, on small growths."""
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
