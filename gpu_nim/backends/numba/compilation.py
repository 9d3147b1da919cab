"""Loops that numba compiles, which take a fraction of the time of whole arrays, once numba is loaded."""

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from gpu_nim.model.errors import BackendError, message_of
from gpu_nim.model.work import host_memory

#: What numba and LLVM map while they load and compile the loops, measured; LLVM aborts the process where it gets none.
LOADED_BYTES = 320 << 20


def installed() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def fits() -> bool:
    """Return whether numba is installed, loaded or small enough for the free memory, and not told to compile nothing.

    Raises BackendError where it does not load with the settings that it finds.
    """
    if not installed() or ("numba" not in sys.modules and host_memory() < LOADED_BYTES):
        return False
    try:
        from numba import config  # here, for its start-up time
    except ValueError as error:
        raise BackendError(f"numba refuses its settings, NUMBA_* or those of .numba_config.yaml: {message_of(error)}") from error
    return not config.DISABLE_JIT  # type: ignore[attr-defined]


def compiled(function: Callable[..., Any]) -> Any:
    """Return the function, compiled when it is first called, and kept for later processes where there is a folder for that.

    Args:
        function: of numbers, arrays and tuples of these. Threads run it side by side; divisors are not compared with 0.
    """
    from numba import njit  # here, for its start-up time

    try:
        made: Any = njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor the user's own is writable
        return njit(nogil=True, error_model="numpy")(function)
    if hasattr(made._cache, "_load_overload"):
        made._cache.load_overload = partial(_loaded, made._cache)
    return made


def _loaded(cache: Any, signature: Any, context: Any) -> Any:
    """Load a compiled function without numba's registries, which it reads again when it compiles: a third of the start-up."""
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(context)
    return cache._load_overload(signature, context)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Return the function as one that compiled functions call: it returns its signature and what writes its LLVM code."""
    from numba.extending import intrinsic

    return intrinsic(function)
