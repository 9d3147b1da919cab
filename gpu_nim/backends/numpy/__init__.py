"""The NumPy backend: every capability on the CPU, without compilation."""

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.host_counting import NumpyCounting
from gpu_nim.backends.interface import Engine, State
from gpu_nim.backends.numpy import games
from gpu_nim.backends.numpy import nim as nim_planes
from gpu_nim.backends.numpy.compilation import LOADED_BYTES as LOADED_BYTES
from gpu_nim.backends.numpy.compilation import installed
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine, compiled, gains_by_loops, required_bytes
from gpu_nim.backends.numpy.general import GeneralEngine
from gpu_nim.backends.numpy.nim import COMPILED_FROM, NimEngine
from gpu_nim.backends.numpy.trace import NumpyTracer
from gpu_nim.backends.shared.bricks import supports
from gpu_nim.backends.shared.engines import Kind, kind_of
from gpu_nim.model.arguments import integer
from gpu_nim.model.memory import cores, host_memory, require_memory
from gpu_nim.model.rule import Rule
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
        """Return the processor's name."""
        return processor_name()

    def on_rank(self, communicator: Communicator) -> "NumpyBackend":
        """Return the backend as one of several ranks has it."""
        return NumpyBackend(communicator, self.threads)

    def free_memory(self) -> int:
        """Return the bytes of main memory that the kernel says are available."""
        return host_memory()

    def growth_memory(self, rule: Rule, last: int, *, general: bool = False) -> int | None:
        """Return the bytes that a growth from its seeds is planned to take; None if they are not known before."""
        kind = self._kind(rule, general)
        if kind == "planes":
            return nim_planes.required_bytes(last, plain=self.threads == 0)
        if kind == "touches":
            return None
        return required_bytes(rule, last, self.communicator.size, loops=compiled(rule, last, self.threads))

    def lacks_numba(self, rule: Rule, last: int, *, general: bool = False) -> bool:
        """Return whether numba's compiled loops would grow it faster, were it installed."""
        if self.threads == 0 or installed():
            return False
        kind = self._kind(rule, general)
        return last >= COMPILED_FROM if kind == "planes" else kind == "bricks" and gains_by_loops(rule, last)

    def automaton(self, rule: Rule, last: int, state: State | None = None, *, general: bool = False) -> Engine:
        """Start any rule, to grow no further than generation `last`: on a fast path where one applies."""
        kind = self._kind(rule, general, state)
        if kind == "planes":
            plain = self.threads == 0
            require_memory(nim_planes.required_bytes(last, plain=plain), host_memory(), f"nim to generation {last}")
            return NimEngine(last, state, plain=plain)
        if kind == "bricks":
            if not compiled(rule, last, self.threads):
                return ExactlyOneEngine(rule, last, state, self.communicator)
            from gpu_nim.backends.numpy.compiled_engine import CompiledEngine  # here, for numba's start-up time

            return CompiledEngine(rule, last, state, self.communicator, self.threads)
        return GeneralEngine(rule, last, state, self.communicator)

    def _kind(self, rule: Rule, general: bool, state: State | None = None) -> Kind:
        bricks = supports(rule, beside=self.communicator.size > 1)
        return kind_of(rule, self.communicator, state, general=general, bricks=bricks)

    wedge_outcomes, wedge_grundy = staticmethod(games.wedge_outcomes), staticmethod(games.wedge_grundy)
    inequality_outcomes, inequality_grundy = staticmethod(games.inequality_outcomes), staticmethod(games.inequality_grundy)

    def counting(self) -> NumpyCounting:
        """Return the engine that fills and counts ranges and tries tuples."""
        return NumpyCounting()

    def tracer(self, scene: Scene) -> NumpyTracer:
        """Return what traces rays through a scene."""
        return NumpyTracer(scene)


def processor_name() -> str:
    """Return the processor's name and the number of its cores that this process may use."""
    name = "CPU"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    usable = cores()
    return f"{name}, {usable} core{'s' if usable != 1 else ''}"
