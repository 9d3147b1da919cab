"""Styles, one a module: each registers a class in `STYLES` under the name that the option `style` takes.

Every module of this folder is imported, so a new style is one new file.
"""

from gpu_nim.model.registry import import_all
from gpu_nim.render.style import STYLES, style_options

__all__ = ["STYLES", "style_options"]

import_all(__path__, __name__)
