"""The NumPy backend: every capability on the CPU, without compilation."""

from contextlib import suppress
from functools import partial
from platform import node
from typing import TYPE_CHECKING

from gpu_nim.backends.interface import ALONE, Communicator, EngineChoice, State, Tracer, free_per_rank
from gpu_nim.backends.numpy import exactly_one, games
from gpu_nim.backends.numpy import nim as nim_planes
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.numpy.general import GeneralEngine
from gpu_nim.backends.numpy.nim import NimEngine
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.backends.shared.engines import kind_of
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import cores, host_memory

if TYPE_CHECKING:
    from gpu_nim.backends.host_counting import HostCounting
    from gpu_nim.model.tracing import Scene


class NumpyBackend:
    """The CPU, through NumPy.

    Args:
        communicator: the ranks that grow together with this one; alone by default.
    """

    name = "numpy"

    def __init__(self, communicator: Communicator = ALONE) -> None:
        self.communicator = communicator

    @property
    def device(self) -> str:
        """Return the processor's name and the number of its cores that this process may use."""
        name, usable = "CPU", cores()
        with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
        return f"{name}, {usable} core{'s' if usable != 1 else ''}"

    def on_rank(self, communicator: Communicator) -> "NumpyBackend":
        """Return the backend as one of several ranks has it."""
        return NumpyBackend(communicator)

    def free_memory(self) -> int:
        """Return the bytes of main memory that the kernel says are available."""
        return host_memory()

    def engine(
        self, rule: Rule, last: int, state: State | None = None, *, general: bool = False, cells: bool = False
    ) -> EngineChoice:
        """Choose an engine for any rule, to grow no further than generation `last`: a fast one where it applies."""
        ranks = self.communicator
        kind = kind_of(rule, ranks, state, general=general)
        free = free_per_rank(ranks, node(), self.free_memory())
        if kind == "touches":
            return EngineChoice(partial(GeneralEngine, rule, last, state, ranks), None, free)
        if kind == "planes":
            return self._planes(last, state, free)
        return self._in_bricks(Bricks(rule, last, ranks.rank, ranks.size), state, free)

    def _planes(self, last: int, state: State | None, free: int) -> EngineChoice:
        return EngineChoice(partial(NimEngine, last, state), nim_planes.required_bytes(last), free)

    def _in_bricks(self, bricks: Bricks, state: State | None, free: int) -> EngineChoice:
        make = partial(ExactlyOneEngine, bricks, state, self.communicator)
        return EngineChoice(make, exactly_one.required_bytes(bricks.busiest()), free)

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
