"""The NumPy backend with loops that numba compiles, where a growth or a game gains by them.

Loops that the process has loaded gain for any work, others from a size on at which they save more time than loading them takes.
"""

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import ALONE, Communicator, Engine, EngineChoice, State, Tracer
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy import games as whole_arrays
from gpu_nim.backends.numpy.macro_cells import MacroCells
from gpu_nim.backends.numpy.nim import most_words
from gpu_nim.backends.shared.bricks import COLUMN_BYTES, FIELD, Bricks
from gpu_nim.backends.shared.games import Wedge
from gpu_nim.model.arguments import integer
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import BackendError, message_of
from gpu_nim.model.work import OnStep, cores, host_memory, no_progress

if TYPE_CHECKING:
    from gpu_nim.backends.numba.trace import CompiledTracer
    from gpu_nim.backends.numpy.trace import NumpyTracer
    from gpu_nim.model.tracing import Cones, Hits, Rays, Scene

#: What numba and LLVM map while they load and compile the loops, measured; LLVM aborts the process where it gets none.
LOADED_BYTES = 320 << 20
MAX_THREADS = 1024
_PICTURE_BYTES = 4 * LOADED_BYTES  # with what the picture may take, which is planned without the loops
_AROUND = 3  # bricks along an axis that the newborns of one touch
_LISTED = 85  # a quarter more than measured of edge and fcc: the bricks with newborns, in shares of a generation of all bricks
_NIM_WORD_BYTES = 112  # of the arrays of a step, for a word that holds newborns
# The work from which on loops are loaded: generations of nim, cells in bricks, positions of games, rays.
_NIM_FROM, _BRICKS_FROM, _OUTCOMES_FROM, _GRUNDY_FROM, _RAYS_FROM = 1 << 12, 1 << 21, 1 << 26, 1 << 22, 1 << 18


class NumbaBackend(NumpyBackend):
    """The CPU, through NumPy and numba.

    Args:
        communicator: the ranks that grow together with this one; alone by default.
        threads: the number of threads; by default one per core, and one on each of several ranks.
    """

    def __init__(self, communicator: Communicator = ALONE, threads: int | None = None) -> None:
        super().__init__(communicator)
        most = cores() if communicator.size == 1 else 1
        self.threads = most if threads is None else integer("threads", threads, 1, MAX_THREADS)

    def on_rank(self, communicator: Communicator) -> "NumbaBackend":
        """Return the backend as one of several ranks has it."""
        return NumbaBackend(communicator, self.threads)

    def _planes(self, last: int, state: State | None, free: int) -> EngineChoice:
        if not _gains("engine", last, _NIM_FROM) or not fits():
            return super()._planes(last, state, free)._replace(lacks_numba=last >= _NIM_FROM and not installed())

        def make() -> Engine:
            from gpu_nim.backends.numba.engine import CompiledNimEngine  # here, for numba's start-up time

            return CompiledNimEngine(last, state)

        return EngineChoice(make, _loading("engine") + most_words(last) * _NIM_WORD_BYTES, free)

    def _in_bricks(self, bricks: Bricks, state: State | None, free: int) -> EngineChoice:
        cells = 64 * bricks.words * bricks.total
        if not _gains("engine", cells, _BRICKS_FROM) or not fits() or bricks.longest > 1 << FIELD:
            return super()._in_bricks(bricks, state, free)._replace(lacks_numba=cells >= _BRICKS_FROM and not installed())

        def make() -> Engine:
            from gpu_nim.backends.numba.engine import CompiledEngine  # here, for numba's start-up time

            return CompiledEngine(bricks, state, self.communicator, self.threads)

        return EngineChoice(make, _loading("engine") + required_bytes(bricks.busiest()), free)

    def tracer(self, scene: "Scene") -> Tracer:
        """Return what traces rays through a scene."""
        return NumbaTracer(scene)

    def wedge_outcomes(self, top: Ints, progress: OnStep = no_progress) -> Ints:
        """Return the P-positions of a wedge."""
        found: Ints = _games(top, _OUTCOMES_FROM).wedge_outcomes(top, progress)
        return found

    def wedge_grundy(self, top: Ints, progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
        """Return the Grundy values of a wedge."""
        values: NDArray[np.signedinteger] = _games(top, _GRUNDY_FROM).wedge_grundy(top, progress)
        return values


class NumbaTracer:
    """Traces rays through a scene by NumPy, and by compiled loops once there were so many that these gain."""

    def __init__(self, scene: "Scene") -> None:
        from gpu_nim.backends.numpy.trace import NumpyTracer  # here, for its start-up time

        self.batch, self.threads = NumpyTracer.batch, cores()
        self._scene, self._traced, self._compiled, self._choosing = scene, 0, False, Lock()
        self._tracer: CompiledTracer | NumpyTracer = self._by_loops() or NumpyTracer(scene)

    def trace(self, rays: "Rays") -> "Hits":
        """Return what the rays hit."""
        return self._chosen(len(rays)).trace(rays)

    def blocked(self, cones: "Cones") -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box and not known to be empty."""
        return self._chosen().blocked(cones)

    def _chosen(self, rays: int = 0) -> "CompiledTracer | NumpyTracer":
        """What traces best now that there are so many rays more."""
        with self._choosing:  # so that of several threads one compiles, and makes what the others use
            self._traced += rays
            if not self._compiled:
                self._tracer = self._by_loops() or self._tracer
            return self._tracer

    def _by_loops(self) -> "CompiledTracer | None":
        """A compiled tracer if it gains."""
        self._compiled = _gains("trace", self._traced, _RAYS_FROM) and host_memory() > _PICTURE_BYTES and fits()
        if not self._compiled:
            return None
        from gpu_nim.backends.numba.trace import CompiledTracer  # here, for numba's start-up time

        return CompiledTracer(self._scene)


def fastest_macro_cells() -> type[MacroCells]:
    """Return the kind of macro-cells that grows fastest here: by compiled loops, if they fit beside as many bytes of blocks."""
    if host_memory() <= 2 * LOADED_BYTES or not fits():
        return MacroCells
    from gpu_nim.backends.numba.macro_cells import CompiledMacroCells  # here, for numba's start-up time

    return CompiledMacroCells


def _games(top: Ints, least: int) -> Any:
    """The module that solves a wedge fastest."""
    if not _gains("games", Wedge(top).positions, least) or not fits():
        return whole_arrays
    from gpu_nim.backends.numba import games  # here, for numba's start-up time and its memory

    return games


def _gains(loops: str, work: int, least: int) -> bool:
    return work >= least or not _loading(loops)


def _loading(loops: str) -> int:
    """The bytes that a module of loops takes when it is imported; 0 where it is."""
    return 0 if f"{__name__}.{loops}" in sys.modules else LOADED_BYTES


def required_bytes(bricks: Bricks) -> int:
    """Return the planned bytes of the growth: touched cells, columns, three slabs a thread, lists as large as measured."""
    brick = 8 * bricks.words
    lists = 2 * (brick + 8) * room(bricks, _LISTED * bricks.count // (bricks.last + 1))
    scratch = 3 * (brick + 9) * bricks.largest * cores()
    columns = (8 + COLUMN_BYTES) * (bricks.slabs + 2) * (bricks.wide + 2) + 72 * (bricks.slabs + 2)
    return brick * bricks.count + lists + scratch + columns


def room(bricks: Bricks, listed: int) -> int:
    """Return how many bricks a list needs room for, after one of so many."""
    around: int = _AROUND**bricks.rule.dimension
    return min(bricks.count, listed * around)


def installed() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def fits() -> bool:
    """Return whether numba is installed, loaded or small enough for the free memory, and not told to compile nothing.

    Raises BackendError where it does not load with the settings that it finds.
    """
    if not installed() or ("numba" not in sys.modules and host_memory() < LOADED_BYTES):
        return False
    try:
        from numba import config  # here, for its start-up time
    except ValueError as error:
        raise BackendError(f"numba refuses its settings, NUMBA_* or those of .numba_config.yaml: {message_of(error)}") from error
    return not config.DISABLE_JIT  # type: ignore[attr-defined]


def compiled(function: Callable[..., Any]) -> Any:
    """Return the function, compiled when it is first called, and kept for later processes where there is a folder for that.

    Args:
        function: of numbers, arrays and tuples of these. Threads run it side by side; divisors are not compared with 0.
    """
    from numba import njit  # here, for its start-up time

    try:
        made: Any = njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor the user's own is writable
        return njit(nogil=True, error_model="numpy")(function)
    if hasattr(made._cache, "_load_overload"):
        made._cache.load_overload = partial(_loaded, made._cache)
    return made


def _loaded(cache: Any, signature: Any, context: Any) -> Any:
    """Load a compiled function without numba's registries, which it reads again when it compiles: a third of the start-up."""
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(context)
    return cache._load_overload(signature, context)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Return the function as one that compiled functions call: it returns its signature and what writes its LLVM code."""
    from numba.extending import intrinsic

    return intrinsic(function)
