"""The NumPy backend: every capability on the CPU, without compilation."""

from contextlib import suppress
from functools import partial
from platform import node
from typing import TYPE_CHECKING

from gpu_nim.backends.communicator import ALONE, Communicator, free_per_rank
from gpu_nim.backends.interface import Engine, EngineChoice, State, Tracer
from gpu_nim.backends.numpy import brick_tables, exactly_one, games
from gpu_nim.backends.numpy import nim as nim_planes
from gpu_nim.backends.numpy.compilation import fits, installed
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.numpy.general import GeneralEngine
from gpu_nim.backends.numpy.nim import NimEngine
from gpu_nim.backends.shared.bricks import Bricks, supports
from gpu_nim.backends.shared.engines import kind_of
from gpu_nim.model.arguments import integer
from gpu_nim.model.process import cores, host_memory
from gpu_nim.model.rule import Rule

if TYPE_CHECKING:
    from gpu_nim.backends.host_counting import HostCounting
    from gpu_nim.model.tracing import Scene

MAX_THREADS = 1024


class NumpyBackend:
    """The CPU, through NumPy.

    Args:
        communicator: the ranks that grow together with this one; alone by default.
        threads: the number of numba threads; 0 turns numba off; by default one per core, and one on each of several ranks.
    """

    name = "numpy"

    def __init__(self, communicator: Communicator = ALONE, threads: int | None = None) -> None:
        self.communicator = communicator
        most = cores() if communicator.size == 1 else 1
        self.threads = most if threads is None else integer("threads", threads, 0, MAX_THREADS)

    @property
    def device(self) -> str:
        """Return the processor's name and the number of its cores that this process may use."""
        name, usable = "CPU", cores()
        with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
        return f"{name}, {usable} core{'s' if usable != 1 else ''}"

    def on_rank(self, communicator: Communicator) -> "NumpyBackend":
        """Return the backend as one of several ranks has it."""
        return NumpyBackend(communicator, self.threads)

    def free_memory(self) -> int:
        """Return the bytes of main memory that the kernel says are available."""
        return host_memory()

    def engine(
        self, rule: Rule, last: int, state: State | None = None, *, general: bool = False, cells: bool = False
    ) -> EngineChoice:
        """Choose an engine for any rule, to grow no further than generation `last`: a fast one where it applies."""
        ranks, threads = self.communicator, self.threads
        kind = kind_of(rule, ranks, state, general=general, bricks=supports(rule))
        free = host_memory() if ranks.size == 1 else free_per_rank(ranks, node(), host_memory())
        if kind == "touches":
            return EngineChoice(partial(GeneralEngine, rule, last, state, ranks), None, free)
        if kind == "planes":
            gains = threads > 0 and last >= nim_planes.COMPILED_FROM
            loops = gains and fits()
            memory = nim_planes.required_bytes(last, loops=loops)
            return EngineChoice(partial(NimEngine, last, state, loops=loops), memory, free, gains and not installed())
        bricks = Bricks(rule, last, ranks.rank, ranks.size)
        gains = threads > 0 and 64 * bricks.words * bricks.total >= exactly_one.COMPILED_FROM
        loops = gains and fits()
        busiest = bricks.busiest()
        memory = (brick_tables if loops else exactly_one).required_bytes(busiest)
        make = partial(_compiled_engine if loops else ExactlyOneEngine, bricks, state, ranks, threads)
        return EngineChoice(make, memory, free, gains and not installed())

    wedge_outcomes, wedge_grundy = staticmethod(games.wedge_outcomes), staticmethod(games.wedge_grundy)
    inequality_outcomes, inequality_grundy = staticmethod(games.inequality_outcomes), staticmethod(games.inequality_grundy)

    def counting(self) -> "HostCounting":
        """Return the engine that fills and counts ranges and tries tuples."""
        from gpu_nim.backends.host_counting import HostCounting  # here, for its start-up time

        return HostCounting()

    def tracer(self, scene: "Scene") -> Tracer:
        """Return what traces rays through a scene."""
        from gpu_nim.backends.numpy.trace import NumpyTracer  # here, for its start-up time

        return NumpyTracer(scene)


def _compiled_engine(bricks: Bricks, state: State | None, ranks: Communicator, threads: int) -> Engine:
    from gpu_nim.backends.numpy.compiled_engine import CompiledEngine  # here, for numba's start-up time

    return CompiledEngine(bricks, state, ranks, threads)
