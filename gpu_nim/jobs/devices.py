"""The device of each rank: a GPU each, as far as there are as many, or NumPy on all."""

from pathlib import Path

from gpu_nim.backends.communicator import share
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.jobs.mpi import MpiCommunicator
from gpu_nim.model.errors import UsageError


def select_on_rank(name: str, communicator: MpiCommunicator, disk: Path | None = None) -> Backend:
    """Return the backend of that name for this rank: on GPUs, rank i of a machine takes GPU i modulo their number.

    Ranks that have a GPU in common have equal shares of its free memory.

    Args:
        name: of `gpu_nim.backends.selection.NAMES`.
        communicator: all ranks, which call this together.
        disk: a folder for tables; on NumPy only.

    Raises:
        BackendError: the backend cannot run.
        UsageError: the ranks have different backends.
    """
    backend = select(name, communicator, disk, communicator.on_this_machine[0])
    names = share(communicator, backend.name)
    if len({*names}) > 1:
        found = ", ".join(f"{each} on rank {rank}" for rank, each in enumerate(names))
        raise UsageError(f"backend must be the same on all ranks, got {found}: choose one by --backend")
    return backend
