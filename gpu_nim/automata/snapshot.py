"""Snapshots of a growth, to resume from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.backends.interface import State
from gpu_nim.model.arrays import ArrayValue


@dataclass(frozen=True, eq=False)
class Snapshot(ArrayValue):
    """A growth after some generation: all that is needed to resume it, on any backend.

    Attributes:
        automaton: the automaton.
        generations: the last generation of the growth.
        births: uint64, one per generation, up to the last one done.
        checksums: uint64, one per generation, likewise.
        state: the state of the engine, packed.
        columns: the columns that are recorded.
        measured: the state of their `ColumnRecorder`.
        mismatch: as in `GrowthProcess`.
        tested: as in `GrowthProcess`.
        seconds: the time so far.
    """

    automaton: Automaton
    generations: int
    births: NDArray[np.uint64]
    checksums: NDArray[np.uint64]
    state: State
    columns: tuple[str, ...]
    measured: State
    mismatch: int | None
    tested: int
    seconds: float

    @property
    def generation(self) -> int:
        """The last generation done."""
        return len(self.births) - 1
