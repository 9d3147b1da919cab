"""The figures of the papers, one module a paper: each registers functions in `FIGURES` under the name after `figure:`.

Every module of this folder is imported, so that figures may be added in a new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from gpu_nim.render.figures.figure import FIGURES, Figure, draw_figure, figure, figure_options

__all__ = ["FIGURES", "Figure", "draw_figure", "figure", "figure_options"]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
