"""The figures of the papers, one module a paper: each registers functions in `FIGURES` under the name after `figure:`.

They are drawn in vectors, for .pdf and .svg, and rasterised for other files. Every module of this folder is imported, so that
figures may be added in a new file.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gpu_nim.model.files import call
from gpu_nim.model.registry import Registry, import_all
from gpu_nim.render.drawing import SUFFIXES, Drawing
from gpu_nim.render.themes import THEMES, Theme


@dataclass(frozen=True)
class Figure:
    """A figure.

    Args:
        name: its name, after `figure:`.
        summary: what it shows, in a line.
        drawing: draws it under a theme.
    """

    name: str
    summary: str
    drawing: Callable[[Theme], Drawing]


FIGURES = Registry[Figure]("figure")


def figure(name: str, summary: str) -> Callable[[Callable[[Theme], Drawing]], Callable[[Theme], Drawing]]:
    """Return a decorator that registers a function of a theme as a figure.

    Args:
        name: as for `Figure`.
        summary: as for `Figure`.
    """
    return FIGURES.decorator(lambda drawing: Figure(name, summary, drawing))


def figure_options(name: str, suffix: str) -> tuple[str, frozenset[str]]:
    """Return the name of a figure in messages, for a file of that ending, and the options that it takes."""
    return f"figure:{name} as {suffix}", frozenset(("theme",) if suffix in SUFFIXES else ("theme", "resolution"))


def draw_figure(name: str, theme: str = "paper") -> Drawing:
    """Return a figure as a drawing in vectors.

    Args:
        name: a name of `FIGURES`.
        theme: a name of `gpu_nim.render.themes.THEMES`.

    Raises:
        UsageError: a name is unknown.
        InsufficientMemoryError: it would not fit.

    >>> b"generations 0 to 6" in draw_figure("NF1").document(".svg")
    True
    """
    figure, colours = FIGURES.find(name), THEMES.find(theme)
    drawing = figure.drawing(colours)
    drawing.call = call("draw_figure", name, theme)
    return drawing


import_all(__path__, __name__)
