"""CUDA kernels executed on the CPU, for tests: see `cuda_host.hpp` for how, `cuda_host.py` for the launcher."""

from tests.cuda_host.cuda_host import (
    FLAVOURS,
    HostLauncher,
    KernelDefect,
    compiler,
    default_flavour,
    files_that_run_kernels,
    sanitized,
    signatures,
)

__all__ = [
    "FLAVOURS",
    "HostLauncher",
    "KernelDefect",
    "compiler",
    "default_flavour",
    "files_that_run_kernels",
    "sanitized",
    "signatures",
]
