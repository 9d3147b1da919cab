"""The package `gpu_nim` by the name of its command: `import gpunim` has the same names, which are the same objects. The command is `gpu_nim`."""

from typing import Any

import gpu_nim

__all__ = dir(gpu_nim)


def __getattr__(name: str) -> Any:
    return getattr(gpu_nim, name)


def __dir__() -> list[str]:
    return __all__
