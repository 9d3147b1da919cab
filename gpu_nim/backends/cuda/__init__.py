"""The CUDA backend: hand-written kernels, launched through one checked door.

Each capability module is written against a `Launcher` (`launcher.py`) and knows neither CuPy nor NumPy by name: it
allocates with `launcher.xp` and calls `launcher(kernel, grid, block, args)`. Production passes the CuPy launcher; the
tests pass one that runs the very same `.cu` files on the CPU.
"""

from gpu_nim.automata.lattice import Rule
from gpu_nim.backends.base import Engine, State
from gpu_nim.backends.counting import Counting
from gpu_nim.backends.cuda.counting import CudaCounting
from gpu_nim.backends.cuda.launcher import CupyLauncher, Launcher
from gpu_nim.backends.cuda.nim import NimEngine, device_bytes
from gpu_nim.backends.memory import require_memory
from gpu_nim.errors import BackendError

__all__ = ["CudaBackend", "CupyLauncher", "Launcher"]


class CudaBackend:
    """A CUDA device, through a launcher."""

    name = "cuda"

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    @property
    def device(self) -> str:
        """Return the device's own name."""
        return self._launcher.device

    def free_memory(self) -> int:
        """Return the bytes of device memory that are free."""
        return self._launcher.free_memory()

    def nim(self, last: int, state: State | None = None) -> Engine:
        """Start three-pile Nim by [B]'s first rule, to grow no further than generation `last`."""
        require_memory(device_bytes(last), self.free_memory(), f"nim to generation {last} on {self.device}")
        return NimEngine(self._launcher, last, state)

    def automaton(self, rule: Rule, last: int, state: State | None = None, *, general: bool = False) -> Engine:
        """Start any rule, to grow no further than generation `last`: on the fast path for exactly-one growth where it applies."""
        raise BackendError("the CUDA backend grows nim alone so far: use --backend numpy")

    def counting(self) -> Counting:
        """Return the engine that fills ranges, surveys them and tries tuples."""
        return CudaCounting(self._launcher)
