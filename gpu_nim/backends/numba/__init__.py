"""The NumPy backend with loops that numba compiles, where a growth or a game gains by them.

Loops that the process has loaded gain for any work, others from a size on at which they save more time than loading them takes.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import Engine, EngineChoice, State
from gpu_nim.backends.numba.compilation import LOADED_BYTES, fits, installed
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.macro_cells import MacroCells
from gpu_nim.backends.numpy.nim import most_words
from gpu_nim.backends.shared.bricks import COLUMN_BYTES, FIELD, Bricks
from gpu_nim.backends.shared.games import Wedge
from gpu_nim.model.arguments import integer
from gpu_nim.model.arrays import Ints
from gpu_nim.model.work import OnStep, cores, host_memory, no_progress

MAX_THREADS = 1024
_AROUND = 3  # bricks along an axis that the newborns of one touch
_LISTED = 85  # a quarter more than measured of edge and fcc: the bricks with newborns, in shares of a generation of all bricks
_NIM_WORD_BYTES = 112  # of the arrays of a step, for a word that holds newborns
# The work from which on loops are loaded: generations of nim, cells in bricks, positions of games.
_NIM_FROM, _BRICKS_FROM, _OUTCOMES_FROM, _GRUNDY_FROM = 1 << 12, 1 << 21, 1 << 26, 1 << 22


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
        if not _gains("nim", last, _NIM_FROM) or not fits():
            return super()._planes(last, state, free)._replace(lacks_numba=last >= _NIM_FROM and not installed())

        def make() -> Engine:
            from gpu_nim.backends.numba.nim import CompiledNimEngine  # here, for numba's start-up time

            return CompiledNimEngine(last, state)

        return EngineChoice(make, _loading("nim") + most_words(last) * _NIM_WORD_BYTES, free)

    def _in_bricks(self, bricks: Bricks, state: State | None, free: int) -> EngineChoice:
        cells = 64 * bricks.words * bricks.total
        if not _gains("engine", cells, _BRICKS_FROM) or not fits() or bricks.longest > 1 << FIELD:
            return super()._in_bricks(bricks, state, free)._replace(lacks_numba=cells >= _BRICKS_FROM and not installed())

        def make() -> Engine:
            from gpu_nim.backends.numba.engine import CompiledEngine  # here, for numba's start-up time

            return CompiledEngine(bricks, state, self.communicator, self.threads)

        return EngineChoice(make, _loading("engine") + required_bytes(bricks.busiest()), free)

    def wedge_outcomes(self, top: Ints, progress: OnStep = no_progress) -> Ints:
        """Return the P-positions of a wedge."""
        if not _gains("games", Wedge(top).positions, _OUTCOMES_FROM) or not fits():
            return super().wedge_outcomes(top, progress)
        from gpu_nim.backends.numba import games  # here, for numba's start-up time and its memory

        return games.wedge_outcomes(top, progress)

    def wedge_grundy(self, top: Ints, progress: OnStep = no_progress) -> NDArray[np.signedinteger]:
        """Return the Grundy values of a wedge."""
        if not _gains("games", Wedge(top).positions, _GRUNDY_FROM) or not fits():
            return super().wedge_grundy(top, progress)
        from gpu_nim.backends.numba import games

        return games.wedge_grundy(top, progress)


def macro_cells() -> type[MacroCells]:
    """Return the kind of macro-cells that grows fastest here: by compiled loops, if they fit beside as many bytes of blocks."""
    if host_memory() <= 2 * LOADED_BYTES or not fits():
        return MacroCells
    from gpu_nim.backends.numba.macro_cells import CompiledMacroCells  # here, for numba's start-up time

    return CompiledMacroCells


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
