"""Styles, one a module: each registers a class in `STYLES` under the name that the option `style` takes.

Every module of this folder is imported, so a new style is one new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from gpu_nim.render.look import OPTIONS, STYLES, Look, Style

__all__ = ["STYLES", "style_of", "style_options"]

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)


def style_of(look: Look) -> type[Style]:
    """Return the style that a look is drawn in; UsageError where it names none."""
    return STYLES.find(look.style_name)


def style_options(look: Look, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a still in the look's style in messages, and the options that it takes."""
    takes = OPTIONS - style_of(look).refuses
    if look.traced:
        return "a traced picture", takes
    return ("a flat body", takes - {"cut"}) if flat else (f"style {look.style_name}", takes)
