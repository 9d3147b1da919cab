"""Pictures of growths and games: stills, movies, figures, exports.

Geometry, light and views are NumPy alone; PyVista, Pillow and imageio are imported where something is drawn or written.

>>> from gpu_nim import render
>>> render.render("nim:15", resolution=(80, 60), engine="numpy").image.size
(80, 60)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_nim.render.exports import export
    from gpu_nim.render.figures import draw_figure
    from gpu_nim.render.image import Picture, render, save
    from gpu_nim.render.look import Look
    from gpu_nim.render.movie import Movie, make_movie
    from gpu_nim.render.notebook import add_body, embed, to_pyvista
    from gpu_nim.render.source import blocks_of

__all__ = [
    "Look",
    "Movie",
    "Picture",
    "add_body",
    "blocks_of",
    "draw_figure",
    "embed",
    "export",
    "make_movie",
    "render",
    "save",
    "to_pyvista",
]

# Names are imported when first used, so that importing one does not import the others' modules.
_HOMES = {
    **dict.fromkeys(("Picture", "render", "save"), "gpu_nim.render.image"),
    "Look": "gpu_nim.render.look",
    **dict.fromkeys(("Movie", "make_movie"), "gpu_nim.render.movie"),
    **dict.fromkeys(("add_body", "embed", "to_pyvista"), "gpu_nim.render.notebook"),
    "blocks_of": "gpu_nim.render.source",
    "draw_figure": "gpu_nim.render.figures",
    "export": "gpu_nim.render.exports",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
