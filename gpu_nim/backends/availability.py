"""Whether the CUDA backend can run here, by increasingly expensive checks, and what to install if not."""

import ctypes
import os
from functools import cache
from importlib.util import find_spec

from gpu_nim.model.errors import message_of

INSTALL = "install the extra cuda13, or cuda12 with a driver before 580"
_CUPY = 14  # 13 finds no NVRTC among Python's packages, and numbers the places of an array with 32 bits


@cache
def cuda_obstacle() -> str | None:
    """Return None if the CUDA backend can run, otherwise one sentence: which of driver, device, CuPy, NVRTC is missing."""
    count = device_count()
    if count is None:
        return "the CUDA backend needs an NVIDIA driver, and libcuda.so.1 is not on this machine: install the driver from NVIDIA"
    if count == 0:
        shown = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = "" if shown is None else f" (CUDA_VISIBLE_DEVICES is {shown!r})"
        return f"the CUDA backend needs an NVIDIA GPU, and the driver finds none{hint}: check nvidia-smi"
    if find_spec("cupy") is None:
        return f"the CUDA backend needs CuPy, which is not installed: {INSTALL}"
    try:
        import cupy

        if int(cupy.__version__.partition(".")[0]) < _CUPY:
            return f"the CUDA backend needs CuPy {_CUPY} or newer, got {cupy.__version__}: {INSTALL}"
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
        cupy.cuda.Device().compute_capability  # noqa: B018  # opens the device
    except ImportError as error:
        return f"the CUDA backend needs CuPy, which is installed but does not load ({message_of(error)}): {INSTALL}"
    except RuntimeError as error:
        missing = "NVRTC" if "nvrtc" in str(error).lower() else "a working CUDA device"
        return f"the CUDA backend needs {missing}, and CuPy says: {message_of(error)}; {INSTALL}"
    return None


def device_count() -> int | None:
    """Return the number of CUDA devices, None without a driver, from the driver itself; a millisecond if there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def driver_version() -> str | None:
    """Return the NVIDIA driver's version, such as "580.65.06", or None without one."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
