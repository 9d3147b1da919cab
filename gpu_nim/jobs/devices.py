"""The device of each rank: one GPU each, or NumPy on all."""

from pathlib import Path

from gpu_nim.backends.communicator import share
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.jobs.mpi import MpiCommunicator
from gpu_nim.model.errors import BackendError, UsageError


def select_on_rank(name: str, communicator: MpiCommunicator, disk: Path | None = None) -> Backend:
    """Return the backend of that name for this rank: on a GPU, the one whose number is this rank's on its machine.

    Args:
        name: of `gpu_nim.backends.selection.NAMES`.
        communicator: all ranks, which call this together.
        disk: a folder for tables; on NumPy only.

    Raises:
        BackendError: a machine has fewer GPUs than ranks, or the backend cannot run.
        UsageError: the ranks have different backends.
    """
    if name != "numpy" and disk is None:
        from gpu_nim.backends.availability import cuda_obstacle, device_count

        if cuda_obstacle() is None:
            rank, size = communicator.on_this_machine
            devices = device_count() or 0
            if size > devices:
                raise BackendError(f"{size} ranks of this machine need a GPU each, it has {devices}: --backend numpy needs none")
            import cupy

            cupy.cuda.Device(rank).use()
    backend = select(name, communicator, disk)
    names = share(communicator, backend.name)
    if len({*names}) > 1:
        found = ", ".join(f"{each} on rank {rank}" for rank, each in enumerate(names))
        raise UsageError(f"backend must be the same on all ranks, got {found}: choose one by --backend")
    return backend
