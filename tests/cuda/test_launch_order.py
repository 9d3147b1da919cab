"""What engines ask of their device, alone and on ranks: the order of launches, waits, turns, what is sent, and the catalogue."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim import grow
from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends import selection
from gpu_nim.backends.cuda import CudaBackend, exactly_one, general, nim
from gpu_nim.backends.cuda import bricks as bricks_module
from gpu_nim.backends.cuda import exactly_one as engine_module
from gpu_nim.backends.cuda.bricks import DeviceBricks, exchange_parts
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.interface import Engine, free_per_rank
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.backends.numpy.nim import NimEngine as NumpyNim
from gpu_nim.backends.shared.bricks import FIELD, Bricks, positions
from gpu_nim.jobs.grow_job import Planned, plan_growth
from gpu_nim.jobs.mpi import select_on_rank
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule
from scripts.lib.budgets import FREQUENCIES
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.helpers import same_batches
from tests.lattices import EDGE, FCC, RULE750, TRIANGULAR
from tests.strict_cupy import Need
from tests.threads import on_ranks

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


def births(rule, last, ranks, *, directly=False):
    backend = CudaBackend(HostLauncher())

    def work(communicator):
        communicator.device_buffers = directly
        return backend.on_rank(communicator).engine(rule, last).make().advance(last).births.tolist()

    return on_ranks(ranks, work)[0]


def expected(rule, last):
    return NumpyBackend().engine(rule, last).make().advance(last).births.tolist()


def test_buffers_stay_on_the_device_where_the_communicator_takes_them(monkeypatch):
    monkeypatch.setattr(HostLauncher, "start_copy_to_host", lambda *_: pytest.fail("they need not go to the host"))
    assert births(EDGE, 20, 3, directly=True) == expected(EDGE, 20)


def test_what_ranks_tell_each_other_is_what_the_kernels_write():
    assert read_constants("exactly_one.cu")["FIELD"] == FIELD


def test_more_newborns_than_planned_are_refused_on_ranks(monkeypatch):
    monkeypatch.setattr(DeviceBricks, "capacity", lambda bricks, free: 20)
    with pytest.raises(InsufficientMemoryError, match="active bricks, 20 were planned for"):
        births(FCC, 63, 2)


def test_more_to_send_than_planned_is_refused(monkeypatch):
    monkeypatch.setattr(bricks_module, "_listed", lambda bricks: np.minimum(bricks, 2))
    monkeypatch.setattr(DeviceBricks, "capacity", lambda bricks, free: bricks.held)
    with pytest.raises(InsufficientMemoryError, match=r"^generation \d+ has \d+ bricks more to send than were planned for$"):
        births(FCC, 30, 3)


def busiest(rule, last, ranks):
    return DeviceBricks(rule, last, 0, ranks).busiest()


def test_ranks_divide_the_memory():
    for ranks in (2, 4, 8):
        assert busiest(EDGE, 2048, ranks).count < 1.1 * DeviceBricks(EDGE, 2048).count / ranks
        assert busiest(EDGE, 2048, ranks).device_bytes < busiest(EDGE, 2048, ranks // 2).device_bytes
    parts = [DeviceBricks(EDGE, 256, rank, 4) for rank in range(4)]
    assert sum(part.count for part in parts) == DeviceBricks(EDGE, 256).count
    backend = CudaBackend(HostLauncher()).on_rank(Planned(4))
    assert backend.engine(EDGE, 256).memory == busiest(EDGE, 256, 4).device_bytes
    assert CudaBackend(HostLauncher()).engine(EDGE, 256, general=True).memory is None


def test_ranks_that_share_a_device_share_its_memory():
    free = {"a": 900, "b": 500}
    assert on_ranks(3, lambda ranks: free_per_rank(ranks, "aba"[ranks.rank], free["aba"[ranks.rank]])) == [450, 500, 450]


def test_a_rank_takes_the_gpu_of_its_number(monkeypatch):
    made = []
    monkeypatch.setattr(selection, "cuda_obstacle", lambda number=0: None)
    monkeypatch.setattr("gpu_nim.backends.cuda.CupyLauncher", lambda number: made.append(number) or HostLauncher())
    ranks: Any = SimpleNamespace(rank=1, size=2, local_rank=1, exchange=lambda parts: list(parts))
    assert select_on_rank("cuda", ranks).communicator is ranks
    assert made == [1]
    # A refusal comes before a GPU is chosen.
    with pytest.raises(UsageError, match="threads is for backend numpy"):
        select_on_rank("cuda", ranks, threads=2)
    assert made == [1]
    assert selection.select("cuda").communicator.size == 1
    assert made == [1, None]


def test_the_plan_of_ranks_bounds_what_is_sent(monkeypatch):
    last, sizes = 60, []
    words = 1 + DeviceBricks(EDGE, last).words  # of a brick, with its place

    def exchanged(launch, ranks, sent, parts, received):
        arrived = exchange_parts(launch, ranks, sent, parts, received)
        sizes.append((ranks.rank, *(parts // words), arrived // words))
        return arrived

    monkeypatch.setattr(engine_module, "exchange_parts", exchanged)
    backend = CudaBackend(HostLauncher())
    births(EDGE, last, 3)
    for rank in range(3):
        *sent, received = np.array([found for number, *found in sizes if number == rank]).max(axis=0)
        planned, arriving = DeviceBricks(EDGE, last, rank, 3).exchanged
        assert 0 < received <= arriving
        assert (planned > 0).tolist() == (np.array(sent) > 0).tolist()
        assert (sent <= planned).all()
    bricks = busiest(EDGE, last, 3)
    assert plan_growth("edge", last, backend=backend, ranks=3).costs["memory"] == bricks.device_bytes
    nim = find("nim").rule
    assert plan_growth("nim", last, backend=backend, ranks=3).costs["memory"] == busiest(nim, last, 3).device_bytes
