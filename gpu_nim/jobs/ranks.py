"""The ranks of this run: processes that mpirun started, each with its part of one growth.

A rank that fails tells the others at their next exchange, so that all of them end, and one of them says why. Rank 0 prints for all.
This module loads no MPI: `gpu_nim.jobs.mpi` does, once a command wants to use several ranks.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

# What Open MPI, and MPICH or Intel MPI, tell the processes that they start.
_VARIABLES = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))


@dataclass(frozen=True)
class Place:
    """The number of this process among those that were started together."""

    rank: int
    size: int


@dataclass
class Outcome:
    """How a command ended: its exit status, and the sentence that says why it failed."""

    status: int = 0
    sentence: str | None = None


def place() -> Place | None:
    """Return this process's place where it is one of several ranks, None where it is alone.

    >>> place()
    """
    for rank, size in _VARIABLES:
        numbers = os.environ.get(rank, ""), os.environ.get(size, "")
        if all(map(str.isdecimal, numbers)) and int(numbers[1]) > 1:
            return Place(*map(int, numbers))
    return None
