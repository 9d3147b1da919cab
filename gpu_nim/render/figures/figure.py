"""The catalogue of figures, and how one is drawn into a file.

A figure is drawn in vectors, for .pdf and .svg, and rasterised for other files; a slide is drawn in pixels only.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import call
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.registry import Registry
from gpu_nim.render.drawing import SUFFIXES, Drawing
from gpu_nim.render.image import Picture, check_ending, save
from gpu_nim.render.look import Look, require_effect
from gpu_nim.render.themes import THEMES, Theme
from gpu_nim.storage.atomic import check_writable, claim

if TYPE_CHECKING:
    from PIL.Image import Image

_BYTES_A_PIXEL = 80  # of a slide, which is computed in floating point; a drawing takes a quarter of it


@dataclass(frozen=True)
class Figure:
    """A figure: a drawing in vectors, or a slide in pixels.

    Args:
        name: its name, after `figure:`.
        summary: what it shows, in a line.
        drawing: draws it under a theme; None for a slide.
        slide: draws it in a look; None for a drawing.
    """

    name: str
    summary: str
    drawing: Callable[[Theme], Drawing] | None = None
    slide: "Callable[[Look], Image] | None" = None


FIGURES = Registry[Figure]("figure")


def figure(name: str, summary: str) -> Callable[[Callable[[Theme], Drawing]], Callable[[Theme], Drawing]]:
    """Return a decorator that registers a function of a theme as a figure in vectors.

    Args:
        name: as for `Figure`.
        summary: as for `Figure`.
    """
    return FIGURES.decorator(lambda drawing: Figure(name, summary, drawing))


def figure_options(name: str, suffix: str) -> tuple[str, frozenset[str]]:
    """Return the name of a figure in messages, for a file of that ending, and the options that it takes."""
    if FIGURES[name].slide:
        return f"figure:{name}", frozenset(("theme", "resolution", "title", "quality", "engine"))
    return f"figure:{name} as {suffix}", frozenset(("theme",) if suffix in SUFFIXES else ("theme", "resolution"))


def save_figure(name: str, path: Path, look: Look, given: Collection[str] = ()) -> dict[str, object]:
    """Draw a figure into a file, and return a report of it as plain values.

    Args:
        name: a name of `FIGURES`.
        path: the file; its ending names the format.
        look: its theme, and where the file has pixels the resolution; of a slide also the title, the quality and the engine.
        given: as for `gpu_nim.render.look.require_effect`.

    Raises:
        UsageError: the name or the ending is unknown, or an option has no effect.
        FileError: the file cannot be written.
    """
    found, suffix = FIGURES.find(name), path.suffix.lower()
    in_vectors = found.slide is None and suffix in SUFFIXES
    if not in_vectors:
        check_ending(path, look.resolution)
    require_effect(*figure_options(name, suffix), look, given)
    check_writable(path)
    with claim(path):
        if in_vectors:
            drawing = draw_figure(name, look.theme)
            drawing.save(path)
            size = [round(drawing.width), round(drawing.height)]
        else:
            width, height = look.resolution
            needed = _BYTES_A_PIXEL * width * height
            require_memory(needed, host_memory(), f"drawing figure:{name} at {width}x{height}", "a smaller --resolution takes less")
            image = found.slide(look) if found.slide else draw_figure(name, look.theme).image(width, height)
            save(Picture(image, "numpy", 0, 0, "", call("figures.save_figure", name, str(path), look)), path)
            size = list(image.size)
    return {"source": f"figure:{name}", "out": str(path), "width": size[0], "height": size[1], "note": ""}


def draw_figure(name: str, theme: str = "paper") -> Drawing:
    """Return a figure as a drawing in vectors.

    Args:
        name: a name of `FIGURES`.
        theme: a name of `gpu_nim.render.themes.THEMES`.

    Raises:
        UsageError: a name is unknown, or the figure is a slide.

    >>> b"generations 0 to 6" in draw_figure("NF1").document(".svg")
    True
    """
    draw = FIGURES.find(name).drawing
    if draw is None:
        raise UsageError(f"figure {name} is a slide of pixels, not a drawing")
    drawing = draw(THEMES.find(theme))
    drawing.call = call("draw_figure", name, theme)
    return drawing
