"""gpunim, the laboratory for Nim fractals."""

from gpu_nim._version import __version__

__all__ = ["__version__"]
