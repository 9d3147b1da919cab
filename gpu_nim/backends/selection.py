"""The choice of a backend by its name, and whether the CUDA backend can run here, or what to install if not."""

import ctypes
import os
from functools import cache
from importlib.util import find_spec

from gpu_nim.backends.interface import ALONE, Backend, Communicator
from gpu_nim.model.arguments import argument, integer, short_repr
from gpu_nim.model.errors import BackendError, UsageError, message_of

NAMES = ("auto", "cuda", "numpy")
_CUPY = 14  # 13 finds no NVRTC among Python's packages, and indexes an array with 32 bits
_OLDEST = (7, 5)  # the oldest compute capability that CUDA 13 compiles for
_NO_DEVICE, _CAPABILITY = 100, (75, 76)  # of cuda.h: an error, and the attributes with the two numbers of the compute capability
_FAULTS = {
    34: "libcuda.so.1 is the stub of a CUDA toolkit: take its folder stubs from LD_LIBRARY_PATH",
    802: "the GPUs are not set up yet (error 802): start NVIDIA's Fabric Manager, of the driver's version",
    803: "the driver in the kernel and its library are of two versions (error 803): reboot, or install both from one package",
    804: "the library of forward compatibility does not support this GPU (error 804): take cuda-compat from LD_LIBRARY_PATH",
    999: "the driver says unknown error (999): load its module nvidia_uvm, give a container all of /dev/nvidia*, or reboot",
}


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
    `gpu_nim.backends.numba.NumbaBackend`; 0 for NumPy alone). Of several GPUs it takes the one of this `number`, modulo how many
    there are, by default the current one.

    Where a GPU is there that cannot be used, "auto" says why by a warning of the logger "gpu_nim".

    Raises UsageError for another name, and BackendError, with what is missing and how to install it, where "cuda" cannot run.

    >>> select("numpy").name
    'numpy'
    """
    check_backend(name)
    if not isinstance(name, str):
        if threads is not None:
            raise UsageError("threads must be left out with a backend object, which has its own")
        return name
    if name == "cuda" and threads is not None:
        raise UsageError(f"threads is for {argument('backend')} numpy, got {short_repr(str(threads))} and backend 'cuda'")
    if name != "numpy" and threads is None:
        obstacle = cuda_obstacle(number or 0)
        if obstacle is None:
            from gpu_nim.backends.cuda import CudaBackend, CupyLauncher

            return CudaBackend(CupyLauncher(number=number), communicator)
        if name == "cuda":
            raise BackendError(obstacle)
        if isinstance(obstacle, Fault):
            _say(f"gpunim: {obstacle}; NumPy does the work")
    from gpu_nim.backends.numba import MAX_THREADS, NumbaBackend  # here, for their start-up time
    from gpu_nim.backends.numpy import NumpyBackend

    if threads is not None and integer("threads", threads, 0, MAX_THREADS) == 0:
        return NumpyBackend(communicator)
    return NumbaBackend(communicator, threads)


@cache
def _say(sentence: str) -> None:
    from logging import getLogger

    getLogger("gpu_nim").warning(sentence)  # which Python prints on stderr, unless the user has it do something else


class Fault(str):
    """An obstacle that keeps a GPU from being used which is there, or seems to be: worth a word where another backend works."""


@cache
def cuda_obstacle(number: int = 0) -> str | None:
    """Return None if the CUDA backend can run, otherwise one sentence: which of driver, device, CuPy, NVRTC is missing.

    Of several devices it takes the one of this number, modulo how many there are.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "the CUDA backend needs an NVIDIA driver, and libcuda.so.1 is not on this machine: install the driver from NVIDIA"
    count = ctypes.c_int(0)
    error = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if error not in (0, _NO_DEVICE):
        return Fault(
            f"the CUDA backend cannot use the NVIDIA driver: {_FAULTS.get(error, f'it refuses with error {error} of CUDA')}"
        )
    if not count.value:
        shown = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = "" if shown is None else f" (CUDA_VISIBLE_DEVICES is {shown!r})"
        return f"the CUDA backend needs an NVIDIA GPU, and the driver finds none{hint}: check nvidia-smi"
    capability = _capability(driver, number % count.value)
    if capability < _OLDEST:
        wanted, found = (".".join(map(str, each)) for each in (_OLDEST, capability))
        return Fault(f"the CUDA backend needs a GPU of compute capability {wanted} or newer, and this one has {found}")
    from gpu_nim.backends.cuda.launcher import INSTALL, import_cupy  # not above: the CUDA backend takes time to load

    if find_spec("cupy") is None:
        return f"the CUDA backend needs CuPy, which is not installed: {INSTALL}"
    try:
        cupy = import_cupy()
        if int(cupy.__version__.partition(".")[0]) < _CUPY:
            return Fault(f"the CUDA backend needs CuPy {_CUPY} or newer, got {cupy.__version__}: {INSTALL}")
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
        cupy.cuda.Device().compute_capability  # noqa: B018  # opens the device
    except ImportError as failure:
        return Fault(f"the CUDA backend needs CuPy, which is installed but does not load ({message_of(failure)}): {INSTALL}")
    except RuntimeError as failure:
        missing = "NVRTC" if "nvrtc" in str(failure).lower() else "a working CUDA device"
        return Fault(f"the CUDA backend needs {missing}, and CuPy says: {message_of(failure)}; {INSTALL}")
    return None


def _capability(driver: ctypes.CDLL, number: int) -> tuple[int, ...]:
    """The compute capability of a device, such as (9, 0)."""
    device, value, found = ctypes.c_int(), ctypes.c_int(), []
    driver.cuDeviceGet(ctypes.byref(device), number)
    for attribute in _CAPABILITY:
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        found.append(value.value)
    return tuple(found)


def driver_version() -> str | None:
    """Return the NVIDIA driver's version, such as "580.65.06", or None without one."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
