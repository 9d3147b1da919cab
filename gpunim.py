"""The package `gpu_nim` by its command's name, with the same objects: `import gpunim`. The command is `gpu_nim/__main__.py`."""

from typing import Any

import gpu_nim

__all__ = dir(gpu_nim)


def __getattr__(name: str) -> Any:
    return getattr(gpu_nim, name)


def __dir__() -> list[str]:
    return __all__
