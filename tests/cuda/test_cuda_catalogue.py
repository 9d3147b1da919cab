"""All that the catalogues hold runs on the CUDA backend, on arrays as strict as CuPy's, and equals NumPy.

What is held here is the host's part; sanitizers run the kernels in other tests (`cuda_host`).
"""

from typing import Any

import numpy as np
import pytest

from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda import CudaBackend, exactly_one
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.ranges import Enumeration, Range
from gpu_nim.counting.reductions import Reduction, reduce_range
from gpu_nim.games import named_games as games
from gpu_nim.games.solve import solve
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


def grown(backend: Backend, name: str, generations: int, *, general: bool = False) -> tuple[object, ...]:
    """Births, checksums, cells and the count of a section, from the seeds and again from the state halfway."""
    rule = automata.find(name).rule
    facts: list[object] = []
    state = None
    for to in (generations // 2, generations):
        engine = backend.engine(rule, generations, state, general=general).make()
        batch = engine.advance(to, cells=True, section=(1, 0))
        assert batch.cells is not None
        assert batch.section is not None
        facts += [batch.births.tolist(), batch.checksums.tolist(), batch.cells.tolist(), batch.section.tolist()]
        state = engine.state()
    return tuple(facts)


@pytest.mark.parametrize(
    ("name", "general"),
    [(name, general) for general in (False, True) for name in automata.CATALOGUE if not (general and name == "nim")],
)
def test_every_automaton_grows(cuda: CudaBackend, name: str, general: bool) -> None:
    generations = 4 if general else 6 if automata.find(name).rule.dimension > 3 else 12
    assert grown(cuda, name, generations, general=general) == grown(NumpyBackend(), name, generations, general=general)


PARAMETERS: dict[str, dict[str, object]] = {"inequalities": {"where": "w <= 2x; y <= x + z/2"}, "nim": {"piles": 4}}
INEQUALITIES = [name for name, entry in games.CATALOGUE.items() if entry.on_backends]


@pytest.mark.parametrize("grundy", [False, True])
@pytest.mark.parametrize("name", INEQUALITIES)
def test_every_game_that_a_device_solves(cuda: CudaBackend, name: str, grundy: bool) -> None:
    size = 2 if name == "chocolate6" else 9
    one, other = (
        solve(name, size, grundy=grundy, backend=backend, **PARAMETERS.get(name, {})) for backend in (cuda, NumpyBackend())
    )
    assert one.p_positions.tolist() == other.p_positions.tolist()
    assert one.backend == "cuda"
    if grundy:
        assert np.array_equal(one.grundy, other.grundy)


# One limb, two, and more than the device takes.
@pytest.mark.parametrize("start", [1000, 2**40, 2**90])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_counted(cuda: CudaBackend, name: str, start: int) -> None:
    family, stop = find_family(name, 4), start + 3000
    wanted = [Reduction.parse(name) for name in ("sum", "max", "argmin", "residues:7")]
    one, other = (
        (values.values().tolist(), reduce_range(values, wanted))
        for values in (Range(family, start, stop, engine) for engine in (cuda.counting(), NumpyBackend().counting()))
    )
    assert one == other


@pytest.mark.parametrize("name", [name for name in FAMILIES if find_family(name, 3).enumerated_by is not None])
def test_every_enumeration(cuda: CudaBackend, name: str) -> None:
    family, limit = find_family(name, 3), 40
    trial = Enumeration(family, limit, cuda.counting())
    counts = trial.combine([trial.do(chunk) for chunk in trial.chunks()])
    assert counts.tolist() == [family.value(n) for n in range(limit + 1)]


def has_predicate(rule: Rule) -> bool:
    """Whether a growth applies a function to cells on the device: the rule's own, or the general engine that of an octant."""
    return rule.universe is not None or rule.touches is not None or (rule.octant and not rule.exactly_one)


PREDICATES = [name for name, entry in automata.CATALOGUE.items() if has_predicate(entry.rule)]


# What a whole `gpunim grow` asks of a backend, with checkpoints, and resumed.  A predicate is compiled by CuPy.
@pytest.mark.parametrize("name", [name for name in automata.CATALOGUE if name not in PREDICATES])
def test_a_growth_compiles_no_kernel_but_its_own(cuda: CudaBackend, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exactly_one, "_RECORDED", 3)
    generations = 66 if name == "nim" else 8  # more than are launched or recorded together
    with strict_cupy.recorded() as calls:
        growing = GrowthProcess(name, generations, cuda, every=generations // 2)
        snapshots = [growing.snapshot() for _ in growing]
        resumed = GrowthProcess(name, generations, cuda, resume=snapshots[-2])
        assert 0 < resumed.generation < generations
        for _ in resumed:
            pass
    assert growing.growth().digest == resumed.growth().digest
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
