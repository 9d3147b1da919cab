"""The choice of a backend by its name."""

from functools import cache

from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.interface import Backend
from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import BackendError, UsageError

NAMES = ("auto", "cuda", "numpy")


def check_backend(backend: object) -> None:
    """Raise UsageError for anything but a backend or the name of one, for work that does not use it.

    >>> check_backend("gpu")
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: backend must be one of auto, cuda, numpy, got 'gpu'
    """
    if not (backend in NAMES if isinstance(backend, str) else isinstance(backend, Backend)):
        raise UsageError(f"backend must be one of {', '.join(NAMES)}, got {short_repr(backend)}")


def select(
    name: str | Backend = "auto",
    communicator: Communicator = ALONE,
    number: int | None = None,
    threads: int | None = None,
) -> Backend:
    """Return the backend of that name; "auto" is CUDA if it is available and NumPy otherwise.  A backend is returned unchanged.

    It grows together with the ranks of the communicator, by default alone, and, on NumPy, by so many `threads` (see
    `gpu_nim.backends.numpy.NumpyBackend`). Of several GPUs it takes the one of this `number`, modulo how many there are, by default
    the current one.

    Where a GPU is there that cannot be used, "auto" says why by a warning of the logger "gpu_nim".

    Raises UsageError for another name, and BackendError, with what is missing and how to install it, where "cuda" cannot run.

    >>> select("numpy").name
    'numpy'
    """
    check_backend(name)
    if not isinstance(name, str):
        return name
    if name == "cuda" and threads is not None:
        raise UsageError(f"threads is for growth on NumPy, with --backend numpy, got {short_repr(str(threads))} and backend 'cuda'")
    if name != "numpy" and threads is None:
        from gpu_nim.backends.availability import Fault, cuda_obstacle

        obstacle = cuda_obstacle(number or 0)
        if obstacle is None:
            from gpu_nim.backends.cuda import CudaBackend, CupyLauncher

            return CudaBackend(CupyLauncher(number=number), communicator)
        if name == "cuda":
            raise BackendError(obstacle)
        if isinstance(obstacle, Fault):
            _say(f"gpunim: {obstacle}; NumPy does the work")
    from gpu_nim.backends.numpy import NumpyBackend

    return NumpyBackend(communicator, threads)


@cache
def _say(sentence: str) -> None:
    from logging import getLogger

    getLogger("gpu_nim").warning(sentence)  # which Python prints on stderr, unless the user has it do something else
