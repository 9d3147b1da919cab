"""The font of an SVG document, within it: only the glyphs of its words."""

from base64 import b64encode
from collections.abc import Iterable
from importlib import import_module
from io import BytesIO
from typing import Any

from gpu_nim.render.fonts import FIRST_FACE, has, sized

FAMILY = "gpunim"
"""The name of the embedded font."""


def font_face(texts: Iterable[str]) -> str:
    """Return an SVG style element with the glyphs of these texts, or "" where fontTools is not installed.

    Characters that the font lacks are left to the viewer's fonts.
    """
    characters = {c for text in texts for c in text if has(FIRST_FACE, c)}
    if not characters:
        return ""
    try:
        subset: Any = import_module("fontTools.subset")
    except ImportError:
        return ""
    options = subset.Options(flavor="woff", hinting=False, notdef_outline=True, recalc_timestamp=False)
    options.drop_tables += ["FFTM"]  # dates of FontForge
    content = BytesIO()
    with subset.load_font(FIRST_FACE.file, options) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=sorted(map(ord, characters)))
        subsetter.subset(font)
        subset.save_font(font, content, options)
    data = b64encode(content.getvalue()).decode("ascii")
    return f'<style>@font-face{{font-family:"{FAMILY}";src:url(data:font/woff;base64,{data})}}</style>'


def embedded_width(text: str) -> float:
    """Return how wide a line of text is in that font at size 1."""
    return float(sized(FIRST_FACE, 100).getlength(text)) / 100
