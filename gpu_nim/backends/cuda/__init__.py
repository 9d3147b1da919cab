"""The CUDA backend: hand-written kernels, each launch checked.

Each capability module uses a `Launcher` (`launcher.py`) and imports no CuPy: it allocates with `launcher.xp` and binds its
kernels with `launcher.bind`. Production passes the CuPy launcher; the tests pass one that runs the same `.cu` files on the CPU.
"""

from functools import partial

from gpu_nim.backends.cuda import games
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.counting import CudaCounting
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.general import GeneralEngine
from gpu_nim.backends.cuda.launcher import CupyLauncher, Launcher
from gpu_nim.backends.cuda.nim import NimEngine, device_bytes
from gpu_nim.backends.cuda.trace import CudaTracer
from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.backends.interface import ALONE, Communicator, EngineChoice, State, free_per_rank
from gpu_nim.backends.shared.engines import kind_of
from gpu_nim.model.rule import Rule
from gpu_nim.model.tracing import Scene

__all__ = ["CudaBackend", "CupyLauncher", "Launcher"]


class CudaBackend:
    """A CUDA device, through a launcher.

    Args:
        launcher: of the device.
        communicator: the ranks that grow together with this one; alone by default.
    """

    name = "cuda"

    def __init__(self, launcher: Launcher, communicator: Communicator = ALONE) -> None:
        self._launcher, self.communicator, self.device = launcher, communicator, launcher.device
        self.wedge_outcomes, self.wedge_grundy = partial(games.wedge_outcomes, launcher), partial(games.wedge_grundy, launcher)
        self.inequality_outcomes = partial(games.inequality_outcomes, launcher)
        self.inequality_grundy = partial(games.inequality_grundy, launcher)

    def on_rank(self, communicator: Communicator) -> "CudaBackend":
        """Return the same device as one of several ranks has it."""
        return CudaBackend(self._launcher, communicator)

    def free_memory(self) -> int:
        """Return the bytes of device memory that are free."""
        return self._launcher.free_memory()

    def engine(
        self, rule: Rule, last: int, state: State | None = None, *, general: bool = False, cells: bool = False
    ) -> EngineChoice:
        """Choose an engine for any rule, to grow no further than generation `last`: a fast one where it applies."""
        launcher, ranks = self._launcher, self.communicator
        kind = kind_of(rule, ranks, state, general=general)
        free = free_per_rank(ranks, launcher.identity, launcher.free_memory())
        if kind == "planes":
            return EngineChoice(partial(NimEngine, launcher, last, state, cells=cells), device_bytes(last, cells=cells), free)
        if kind == "bricks":
            bricks = DeviceBricks(rule, last, ranks.rank, ranks.size)
            make = partial(ExactlyOneEngine, launcher, bricks, state, ranks, free)
            return EngineChoice(make, bricks.busiest().device_bytes, free)
        return EngineChoice(partial(GeneralEngine, launcher, rule, last, state, ranks), None, free)

    def counting(self) -> HostCounting:
        """Return the engine that fills and counts ranges and tries tuples."""
        return CudaCounting(self._launcher)

    def tracer(self, scene: Scene) -> CudaTracer:
        """Return what traces rays through a scene."""
        return CudaTracer(self._launcher, scene)
