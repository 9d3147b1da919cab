"""gpunim, the laboratory for Nim fractals: grow, count, solve and draw the P-positions of Nim.

>>> import gpu_nim
>>> gpu_nim.grow("nim", 1023).population  # the P-positions of total up to 2046, 4^10 of them
1048576
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpu_nim._version import __version__
from gpu_nim.model.presentation import present_by

if TYPE_CHECKING:
    from gpu_nim.automata.growth import Growth
    from gpu_nim.automata.growth_process import grow
    from gpu_nim.games.solution import Solution
    from gpu_nim.games.solve import solve
    from gpu_nim.oeis.count import count
    from gpu_nim.storage.save_load import load, save

__all__ = ["Growth", "Solution", "__version__", "count", "grow", "load", "save", "solve"]

# Names are imported when first used, so that `import gpu_nim` costs nothing.
_HOMES = {
    "Growth": "gpu_nim.automata.growth",
    "Solution": "gpu_nim.games.solution",
    "count": "gpu_nim.oeis.count",
    "grow": "gpu_nim.automata.growth_process",
    "load": "gpu_nim.storage.save_load",
    "save": "gpu_nim.storage.save_load",
    "solve": "gpu_nim.games.solve",
}

present_by("gpu_nim.render.notebook")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
