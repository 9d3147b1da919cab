"""Styles, one a module: each registers a class in `STYLES` under the name that the option `style` takes.

Every module of this folder is imported, so a new style is one new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from gpu_nim.render.look import STYLES, style_options

__all__ = ["STYLES", "style_options"]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
