"""Flat objects and sections as vectors, for papers and slides: their tiles and annotations as a drawing."""

import numpy as np

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import call
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import annotations, on_picture
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.geometry import cover, tiles
from gpu_nim.render.image import aim, prepare
from gpu_nim.render.look import Look, require_effect
from gpu_nim.render.source import Source, name_of, read_source
from gpu_nim.render.styles import style_options
from gpu_nim.render.styles.sections import Sections

_MOST = 1 << 17  # tiles, beyond which programs take minutes to show a file


def vector_options(look: Look) -> tuple[str, frozenset[str]]:
    """Return what is drawn in messages, and the options that it takes, as `style_options` does for pixels."""
    takes = style_options(look, flat=look.style != Sections.name)[1]
    return "an object in vectors", takes - {"engine", "quality"}


def draw_vectors(source: Source, look: Look | None = None, *, progress: OnStep = no_progress, **options: object) -> Drawing:
    """Return the drawing of a plane automaton, of a game of two coordinates, or of sections, which `save` writes as .svg or .pdf.

    Args:
        source: as for `gpu_nim.render.render`.
        look: its appearance; a pixel of its resolution is a point.
        progress: called for progress.
        options: arguments of `Look`, which replace those of `look`.

    Raises:
        UsageError: the source has too many cells or is not flat, or an option is wrong or without effect.

    >>> draw_vectors("hexagonal:7", resolution=(320, 240), theme="paper").document(".svg")[:5]
    b'<?xml'
    """
    look = (look or Look()).changed(options)
    require_effect(*vector_options(look), look)
    found, sections = read_source(source), look.style == Sections.name
    if not sections and found.dimension != 2:
        raise UsageError(f"vectors show a flat object, or style {Sections.name}, and {found.name} is in space")
    blocks = prepare(found, look, progress, limit=_MOST)
    colours = look.colours_of(blocks)
    if sections:
        drawing = Sections.draw(blocks, colours, look)
    else:
        said = annotations(blocks, look)
        place = on_picture(aim(blocks, look, margins=said.margins), *look.resolution)
        drawing, (corners, owners) = said.plain(), tiles(blocks)
        ink = np.column_stack([colours, cover(blocks)])[owners]
        drawing.polygons(place(corners.reshape(-1, 3)).reshape(-1, 4, 2), ink)
        for words in (said.words, said.changing("", place)):
            drawing.add(words)
    drawing.call = call("render.draw_vectors", name_of(source), look)
    return drawing
