"""Whether the CUDA backend can run here, by increasingly expensive checks, and what to install if not."""

import ctypes
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from gpu_nim.model.errors import message_of

INSTALL = "install the extra cuda13, or cuda12 with a driver before 580"
_CUPY = 14  # 13 finds no NVRTC among Python's packages, and numbers the places of an array with 32 bits
_OLDEST = (7, 5)  # the oldest compute capability that CUDA 13 compiles for
_NO_DEVICE, _CAPABILITY = 100, (75, 76)  # of cuda.h: an error, and the attributes with the two numbers of the compute capability
_FAULTS = {
    34: "libcuda.so.1 is the stub of a CUDA toolkit: take its folder stubs from LD_LIBRARY_PATH",
    802: "the GPUs are not set up yet (error 802): start NVIDIA's Fabric Manager, of the driver's version",
    803: "the driver in the kernel and its library are of two versions (error 803): reboot, or install both from one package",
    804: "the library of forward compatibility does not support this GPU (error 804): take cuda-compat from LD_LIBRARY_PATH",
    999: "the driver says unknown error (999): load its module nvidia_uvm, give a container all of /dev/nvidia*, or reboot",
}


class Fault(str):
    """An obstacle that keeps a GPU from being used which is there, or seems to be: worth a word where another backend works."""


@cache
def cuda_obstacle(number: int = 0) -> str | None:
    """Return None if the CUDA backend can run, otherwise one sentence: which of driver, device, CuPy, NVRTC is missing.

    Of several devices it asks for the one of this number, modulo how many there are.
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


def import_cupy() -> Any:
    """Import CuPy, which makes its folder of compiled kernels then; where that cannot be written, it keeps them in memory.

    Unless the user has set CUPY_ACCELERATORS or imported CuPy before, CUB is off: NVRTC needs 3 seconds for each of its reductions
    and 0.2 for one of CuPy's own, and gpunim reduces little by CuPy.
    """
    os.environ.setdefault("CUPY_ACCELERATORS", "")  # CuPy reads it when it is imported
    folder = Path(os.environ.get("CUPY_CACHE_DIR", "~/.cupy/kernel_cache"))
    try:
        folder = folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):  # which is raised where there is no home
        writable = False
    if not writable:
        os.environ.update(CUPY_CACHE_DIR=gettempdir(), CUPY_CACHE_IN_MEMORY="1")  # a folder that is there, and stays as it is
    import cupy

    return cupy


def driver_version() -> str | None:
    """Return the NVIDIA driver's version, such as "580.65.06", or None without one."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
