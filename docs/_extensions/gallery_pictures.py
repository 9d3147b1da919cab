"""Pictures of gpunim in the examples: what ends a block and shows itself as a PNG becomes its picture."""

from pathlib import Path
from typing import Any

import pyvista
from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper() -> Any:
    """Return the scraper, as Sphinx-Gallery asks a module that its configuration names."""
    return _scrape


def _scrape(block: tuple[str, str, int], names: dict[str, Any], gallery: dict[str, Any]) -> str:
    _forget_closed_plotters()
    shown = names["example_globals"].get("___")  # what the last block that ends with a value ends with
    if not hasattr(shown, "_repr_png_") or shown is names.get("shown before"):
        return ""
    names["shown before"] = shown
    path = Path(next(names["image_path_iterator"]))
    path.write_bytes(shown._repr_png_())
    return str(figure_rst([str(path)], gallery["src_dir"]))


def _forget_closed_plotters() -> None:
    """Hide from PyVista's scraper the plotters with which gpunim has drawn, and which it has closed."""
    plotters = pyvista.plotting.plotter._ALL_PLOTTERS
    for key, plotter in list(plotters.items()):
        if plotter.render_window is None and plotter.last_image is None:
            del plotters[key]
