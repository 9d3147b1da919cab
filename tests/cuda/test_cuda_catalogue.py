"""All automata of the catalogue grow on the CUDA backend, on arrays as strict as CuPy's, and equal NumPy's growth.

What is held here is the host's part; sanitizers run the kernels in other tests (`cuda_host`).
"""

from typing import Any

import numpy as np
import pytest

from gpu_nim import grow
from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.strict_cupy import Need

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


@pytest.fixture
def cuda() -> CudaBackend:
    """The CUDA backend, its kernels on the CPU in one order."""
    return CudaBackend(HostLauncher())


def has_predicate(rule: Rule) -> bool:
    """Whether a growth applies a function to cells on the device: the rule's own, or the general engine that of an octant."""
    return rule.universe is not None or rule.touches is not None or (rule.octant and not rule.exactly_one)


PREDICATES = [name for name, entry in automata.CATALOGUE.items() if has_predicate(entry.rule)]


@pytest.mark.parametrize("name", automata.CATALOGUE)
def test_a_growth_equals_numpys_and_compiles_no_kernel_but_its_own(
    cuda: CudaBackend, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a whole `gpunim grow` asks of a backend, with checkpoints, and resumed. A predicate is compiled by CuPy."""
    monkeypatch.setattr(ExactlyOneEngine, "recorded", 3)
    generations = 66 if name == "nim" else 8  # more than are launched or recorded together
    with strict_cupy.recorded() as calls:
        growing = GrowthProcess(name, generations, cuda, every=generations // 2)
        snapshots = [growing.snapshot() for _ in growing]
        resumed = GrowthProcess(name, generations, cuda, resume=snapshots[-2])
        assert 0 < resumed.generation < generations
        for _ in resumed:
            pass
    assert growing.growth() == resumed.growth() == grow(name, generations, backend="numpy")
    if name not in PREDICATES:
        # The general engine saves the filled slots of its table, which CuPy picks out.
        saving = set() if automata.find(name).rule.exactly_one else {"not_equal", "ndarray.__getitem__"}
        assert {function for function, need in calls if need is Need.KERNEL} == saving
        assert any(need is Need.MEMORY for _, need in calls)


def hosts(cells: Any, *_: object) -> Any:
    """A predicate that only NumPy's arrays pass."""
    return np.asarray(cells)[:, 0] >= 0


@pytest.mark.parametrize("predicate", ["universe", "touches"])
@pytest.mark.parametrize("general", [False, True])
def test_a_predicate_that_no_device_takes(cuda: CudaBackend, predicate: str, general: bool) -> None:
    square = automata.find("ulam-warburton").rule
    rule = Rule(2, square.offsets, square.births, square.seeds, **{predicate: hosts})
    message = f"^{predicate} must take the device's arrays, by operators and indexing alone, got TypeError .*--backend numpy"
    with pytest.raises(UsageError, match=message):
        cuda.engine(rule, 5, general=general).make().advance(3)
    assert NumpyBackend().engine(rule, 5, general=general).make().advance(3).births.tolist()[:2] == [
        1,
        3 if predicate == "universe" else 4,
    ]
