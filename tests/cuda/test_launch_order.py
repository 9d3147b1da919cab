"""What engines ask of their device: the order of launches, waits, turns of warps, and the growth of all of the catalogue."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim import grow
from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.cuda import CudaBackend, exactly_one, general, nim
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.interface import Engine
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.backends.numpy.nim import NimEngine as NumpyNim
from gpu_nim.backends.shared.bricks import Bricks, positions
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from scripts.lib.budgets import FREQUENCIES
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.helpers import same_batches
from tests.lattices import EDGE, FCC, RULE750, TRIANGULAR
from tests.strict_cupy import Need

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
GROW, TICK = "exactly_one_grow", "exactly_one_tick"
WAITS = {"asnumpy", "ndarray.get", "ndarray.item", "ndarray.tolist"}  # copies to the host


def watched(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> HostLauncher:
    """A launcher whose `launched` has "wait" where `module` copies from the device, which waits for all that is queued."""
    launcher, copy = HostLauncher(), module.to_host

    def to_host(array: object) -> object:
        if launcher.launched[-1:] != ["wait"]:  # what comes next finds nothing to wait for
            launcher.launched.append("wait")
        return copy(array)

    monkeypatch.setattr(module, "to_host", to_host)
    return launcher


class TestExactlyOne:
    def test_a_batch_is_graphs_and_a_rest_and_then_one_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        launcher = watched(monkeypatch, exactly_one)
        engine = exactly_one.ExactlyOneEngine(launcher, DeviceBricks(FCC, 20))
        engine.recorded = 4
        graph = [GROW] * 4 + [TICK]
        for to, expected in (
            (10, ["exactly_one_lay", *graph, *graph, GROW, GROW, TICK, "wait"]),
            (14, [*graph, "wait"]),
            (15, [GROW, TICK, "wait"]),
            (20, [*graph, GROW, TICK, "wait"]),
        ):
            launcher.launched.clear()
            with strict_cupy.recorded() as calls:
                engine.advance(to)
            assert launcher.launched == expected
            # The lists' lengths and the reports, one after the other.
            assert sum(count for (name, _), count in calls.items() if name in WAITS) == 2

    @pytest.mark.parametrize("sections", [((2, 0), (2, 1), (2, 2)), ((0, 1), (1, 1), (0, 1))], ids=["levels", "axes"])
    def test_each_section_has_its_own_graph(self, sections: tuple[tuple[int, int], ...]) -> None:
        engine = exactly_one.ExactlyOneEngine(HostLauncher(), DeviceBricks(EDGE, 18))
        engine.recorded = 2
        engines = engine, NumpyExactlyOne(Bricks(EDGE, 18))
        for to, section in zip((5, 11, 17), sections, strict=True):
            found, expected = (engine.advance(to, section=section).section.tolist() for engine in engines)
            assert found == expected


@pytest.mark.cuda_host
class TestNim:
    def test_a_batch_waits_for_its_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        launcher = watched(monkeypatch, nim)
        engine = nim.NimEngine(launcher, 200)
        for to, launches in ((100, 4), (101, 1), (165, 2), (200, 2)):
            launcher.launched.clear()
            with strict_cupy.recorded() as calls:
                engine.advance(to)
            assert launcher.launched == ["nim_advance"] * launches + ["wait"]
            assert sum(count for (name, _), count in calls.items() if name in WAITS) == 2  # births and checksums

    def test_few_warps_go_through_many_tiles(self) -> None:
        last, middle = 500, 130
        host = NumpyNim(last)
        host.advance(middle)
        resumed = nim.NimEngine(HostLauncher(multiprocessors=1), last, host.state())
        same_batches(resumed.advance(last, cells=True), host.advance(last, cells=True))


class TestGeneral:
    STEP = ("general_touch", "general_decide", "wait", "general_survey")

    @pytest.mark.parametrize("rule", [RULE750, TRIANGULAR], ids=["rule 750", "a universe"])
    def test_a_generation_waits_once(self, monkeypatch: pytest.MonkeyPatch, rule: Rule) -> None:
        launcher = watched(monkeypatch, general)
        engine = general.GeneralEngine(launcher, rule, 5)
        engine.advance(1)
        launcher.launched.clear()
        with strict_cupy.recorded() as calls:
            engine.advance(5)
        assert launcher.launched == [*self.STEP * 4, "wait"]
        # Nothing but `to_host` waits: four times, and for the reports.
        assert sum(count for (name, _), count in calls.items() if name in WAITS) == 5


@pytest.mark.parametrize(
    ("start", "source"),
    [
        (partial(nim.NimEngine, last=9), "nim.cu"),
        (partial(exactly_one.ExactlyOneEngine, bricks=DeviceBricks(FCC, 9)), "exactly_one.cu"),
        (partial(general.GeneralEngine, rule=RULE750, last=9), "general.cu"),
    ],
    ids=["nim", "exactly one", "general"],
)
def test_a_growth_compiles_one_module(start: Callable[..., Engine], source: str) -> None:
    launcher = HostLauncher()
    first = start(launcher)
    first.advance(4, cells=True)
    start(launcher, state=first.state()).advance(9, section=(0, 1))
    assert [module for module, _ in launcher.modules] == [source]


LAST = 256


def in_turns(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Values of listed bricks in turns of eight, shape (turns, 8), filled up with 0."""
    return np.pad(values.astype(np.int64), (0, -len(values) % 8)).reshape(-1, 8)


def rounds(values: NDArray[np.integer], lanes: int) -> int:
    """How many rounds all turns have in which each brick's lanes take one of its values each, until none are left."""
    return int((-(-in_turns(values) // lanes)).max(axis=1).sum())


def test_the_frequencies_are_those_of_real_lists() -> None:
    bricks = DeviceBricks(find("edge").rule, LAST)
    engine = ExactlyOneEngine(HostLauncher(), bricks)
    engine.advance(0)
    found = Counter[str]()
    for generation in range(1, LAST + 1):
        # Bricks beside a wall are at the list's end.
        listed = slice(start := generation % 2 * engine._capacity, start + int(to_host(engine._counts)[2 * generation]))
        numbers = bricks.number(positions(to_host(engine._lists[listed])))
        known = to_host(engine._growth["incoming"])[generation % 2 * bricks.count + numbers]
        engine.advance(generation)
        words = to_host(engine._newborn[4 * listed.start : 4 * listed.stop]).reshape(-1, 4)
        cells = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        reached = np.bitwise_or.reduce(cells * bricks.reach, axis=1)
        births, halves = cells.sum(axis=1, dtype=np.int64), np.bitwise_count(words.view(np.uint32))
        found += Counter(
            {
                "turn": len(in_turns(births)),
                "birth": int(births.sum()),
                "for (u32 left = g.dealt(known": rounds(np.bitwise_count(known), 4),
                "for (u32 left = static_cast<u32>(born & ~near)": rounds(halves[:, 0::2].max(axis=1), 1),
                "for (u32 left = static_cast<u32>((born & ~near) >> 32)": rounds(halves[:, 1::2].max(axis=1), 1),
                "for (u32 k = lane; k < queued": int((-(-in_turns(births).sum(axis=1) // 32)).sum()),
                "for (u32 left = dealt(reached": rounds(np.bitwise_count(reached), 4),
            }
        )
    average = {part: round(times / found["turn"], 2) for part, times in found.items()}
    assert average["birth"] == 53.49  # of docs/performance.md
    budgeted = FREQUENCIES["exactly_one_grow"]
    assert {part: often for part, often in budgeted.items() if part in average} == {
        part: often for part, often in average.items() if part not in ("turn", "birth")
    }


@pytest.mark.cuda_host
def test_more_births_in_a_turn_than_its_queue_holds() -> None:
    """Every second layer of 16 bricks bears the others: 256 cells of each brick, and 1024 of a turn of four."""
    rule = Rule(3, ((0, 1, 0),), frozenset({1}), tuple(product(range(32), range(0, 32, 2), range(8))))
    device, host = ExactlyOneEngine(HostLauncher(), DeviceBricks(rule, 4)), NumpyExactlyOne(Bricks(rule, 4))
    found, expected = device.advance(4), host.advance(4)
    assert expected.births[1] == 16 * 256 > 4 * read_constants("exactly_one.cu")["QUEUE"]
    same_batches(found, expected)


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
