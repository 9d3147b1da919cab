"""Backends: where the work is done.  One interface, NumPy and CUDA behind it, and the choice between them."""

from gpu_nim.backends.base import Backend
from gpu_nim.errors import BackendError, UsageError

NAMES = ("auto", "cuda", "numpy")


def select(name: str = "auto") -> Backend:
    """Return the backend of that name; "auto" is CUDA where it runs and NumPy elsewhere.

    Raises UsageError for another name, and BackendError, saying what is missing and how to get it, where "cuda" cannot run.

    >>> select("numpy").name
    'numpy'
    """
    if name not in NAMES:
        raise UsageError(f"backend must be one of {', '.join(NAMES)}, got {name!r}")
    if name != "numpy":
        from gpu_nim.backends.probe import cuda_obstacle

        obstacle = cuda_obstacle()
        if obstacle is None:
            from gpu_nim.backends.cuda import CudaBackend, CupyLauncher

            return CudaBackend(CupyLauncher())
        if name == "cuda":
            raise BackendError(obstacle)
    from gpu_nim.backends.numpy import NumpyBackend

    return NumpyBackend()
