"""A slide: one set of P-positions from four directions."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.figures.figure import FIGURES, Figure
from gpu_nim.render.image import render
from gpu_nim.render.look import Look
from gpu_nim.render.words import fit_words, unit

if TYPE_CHECKING:
    from PIL.Image import Image

_SOURCE = "nim:31"  # few enough positions to see each
_PANELS = (
    ("hero", "In space", "1,024 P-positions of three-pile Nim with piles below 32: a Sierpiński tetrahedron"),
    ("axis", "Along (0, 0, 1)", "every (a, b) exactly once: 32 × 32 cells without a gap, the table of a ⊕ b"),
    ("diagonal", "Along (1, 1, 1)", "4⁵ = 1,024 points: no two positions are in line"),
    ("gasket", "Along (0, 1, −1)", "3⁵ = 243 points: Sierpiński's gasket"),
)
_TITLE = "One set, four views:  { (a, b, c) : a ⊕ b ⊕ c = 0 }"
_NAME, _REMARK = 42.0, 36.0  # units: the sizes of letters


def draw_slide(look: Look) -> "Image":
    """Return the slide: Nim's P-positions from four directions, each with what is seen from there.

    Raises:
        UsageError: the picture is too small for its words.
    """
    width, height = look.resolution
    u = unit(width, height)
    frame = Annotations(replace(look, title=look.title or _TITLE))
    slide = frame.sheet()
    _, top, _, bottom = frame.space
    top, bottom = top + 20 * u, bottom - 30 * u
    wide = width >= height
    columns, rows = (2, 2) if wide else (1, 4)
    box_w, box_h = (width - 128 * u) / columns, (bottom - top) / rows
    cell = max(16, round(min(box_h - 12 * u, 0.48 * box_w)))
    for k, (view, name, remark) in enumerate(_PANELS):
        left, upper = 64 * u + k % columns * box_w, top + k // columns * box_h
        part = replace(look, resolution=(cell, cell), view=view, transparent=True, title="", style="cubes")
        slide.alpha_composite(render(_SOURCE, part).image, (round(left), round(upper + (box_h - cell) / 2)))
        words = (left + cell + 24 * u, upper, box_w - cell - 48 * u, box_h)
        about = fit_words(name, words, max(_NAME * u, 10.0))
        said = fit_words(remark, (words[0], 0.0, words[2], 0.75 * box_h), max(_REMARK * u, 9.0))
        if about is None or said is None:
            raise UsageError(f"resolution must be larger for the words of figure:views, got {width}x{height}")
        high = about.bottom - about.top + 14 * u + said.bottom - said.top
        about = replace(about, top=upper + (box_h - high) / 2)
        frame.words.set(about)
        frame.words.set(replace(said, top=about.bottom + 14 * u))
    return frame.finished(slide)


FIGURES.add(Figure("views", "one set of P-positions, four views: a slide", slide=draw_slide))
