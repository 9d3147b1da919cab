"""The figures of the papers, and further ones: one function per figure, registered under the name after `figure:`.

A figure is drawn in vectors, for .pdf and .svg, and rasterised for other files; a slide is drawn in pixels only.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.ancestry import ancestry
from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import grow
from gpu_nim.counting.families import ByMaximum
from gpu_nim.games.inequality import sheared
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.provenance import call
from gpu_nim.model.registry import Registry
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.colours import Colour
from gpu_nim.render.framing import hull
from gpu_nim.render.geometry import Blocks, side, visible
from gpu_nim.render.image import Picture, check_ending, render, save
from gpu_nim.render.lettering import fit_words, title_of, write
from gpu_nim.render.lettering import width as pixels_wide
from gpu_nim.render.look import Look, require_drawn, require_effect
from gpu_nim.render.pixels import background, quantise
from gpu_nim.render.shading import Shader
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES, Theme
from gpu_nim.render.vector_drawing import SUFFIXES, VectorDrawing
from gpu_nim.render.views import View, fit
from gpu_nim.storage.atomic import check_writable

if TYPE_CHECKING:
    from PIL.Image import Image

_BYTES_A_PIXEL = 80  # of a slide, which is computed in floating point; a drawing takes a quarter of it
_GENERATIONS = 6
_CHOCOLATE = 127  # x, z <= this


@dataclass(frozen=True)
class Figure:
    """A figure: a drawing in vectors, or a slide in pixels.

    Args:
        about: a line for the help text.
        drawing: draws it under a theme; None for a slide.
        slide: draws it in a look; None for a drawing.
    """

    about: str
    drawing: Callable[[Theme], VectorDrawing] | None = None
    slide: "Callable[[Look], Image] | None" = None


FIGURES = Registry[Figure]("figure")


def figure(name: str, about: str) -> Callable[[Callable[[Theme], VectorDrawing]], Callable[[Theme], VectorDrawing]]:
    """Return a decorator that registers a function of a theme as a figure in vectors.

    Args:
        name: the figure's name, after `figure:`.
        about: a line for the help text.
    """

    def register(drawing: Callable[[Theme], VectorDrawing]) -> Callable[[Theme], VectorDrawing]:
        FIGURES.add(name, Figure(about, drawing=drawing))
        return drawing

    return register


def figure_options(name: str, suffix: str) -> tuple[str, frozenset[str]]:
    """Return the name of a figure in messages, for a file of that ending, and the options that it takes."""
    if FIGURES[name].slide:
        return f"figure:{name}", frozenset(("theme", "size", "title", "quality", "engine"))
    return f"figure:{name} as {suffix}", frozenset(("theme",) if suffix in SUFFIXES else ("theme", "size"))


def save_figure(name: str, path: Path, look: Look) -> dict[str, object]:
    """Draw a figure into a file, and return a report of it; UsageError for an unknown name or ending."""
    check_figure(name, path, look)
    found = FIGURES[name]
    if found.slide is None and path.suffix.lower() in SUFFIXES:
        drawing = draw_figure(name, look.theme)
        drawing.save(path)
        size = [round(drawing.width), round(drawing.height)]
    else:
        width, height = look.size
        needed = _BYTES_A_PIXEL * width * height
        require_memory(needed, host_memory(), f"drawing figure:{name} at {width}x{height}", "a smaller --size takes less")
        image = found.slide(look) if found.slide else draw_figure(name, look.theme).image(width, height)
        save(Picture(image, "numpy", 0, 0, "", call("figures.save_figure", name, str(path), look)), path)
        size = list(image.size)
    return {"source": f"figure:{name}", "out": str(path), "size": size, "note": ""}


def check_figure(name: str, path: Path, look: Look, given: Collection[str] = ()) -> None:
    """Raise what `save_figure` would raise before it draws; `given` names the options that were given (see `require_effect`)."""
    suffix = path.suffix.lower()
    if FIGURES.find(name).slide or suffix not in SUFFIXES:
        check_ending(path, look.size)
    require_effect(*figure_options(name, suffix), look, given)
    require_drawn(f"figure:{name}", look)
    check_writable(path)


def draw_figure(name: str, theme: str = "paper") -> VectorDrawing:
    """Return a figure as a drawing in vectors.

    Args:
        name: a name of `FIGURES`.
        theme: a name of `gpu_nim.render.themes.THEMES`.

    Raises:
        UsageError: a name is unknown, or the figure is a slide.

    >>> sum("circle" in line for line in draw_figure("NF1").svg().splitlines())  # A130665(6) = 37 cells
    37
    """
    draw = FIGURES.find(name).drawing
    if draw is None:
        raise UsageError(f"figure {name} is a slide of pixels, not a drawing")
    drawing = draw(THEMES.find(theme))
    drawing.call = call("draw_figure", name, theme)
    return drawing


def _grown(automaton: str) -> tuple[NDArray[np.integer], NDArray[np.integer], list[tuple[int, int]]]:
    """Return the cells of an automaton's first generations, their generations, and the edges (parent, child) between them."""
    growth = grow(automaton, _GENERATIONS, backend="numpy", cells=True)
    born = np.repeat(np.arange(_GENERATIONS + 1), growth.births.astype(np.intp))
    parents = np.concatenate([parents for _, parents in ancestry(find(automaton).rule, iter(growth))]).tolist()
    return growth.cells(), born, [(parent, child) for child, parent in enumerate(parents) if parent >= 0]


def _back(theme: Theme) -> Colour:
    return theme.top if theme.light else theme.bottom


def _colour(theme: Theme, value: float) -> Colour:
    r, g, b = theme.map(np.array([value]))[0].tolist()
    return r, g, b


def _graph(
    theme: Theme, flat: NDArray[np.floating], born: NDArray[np.integer], edges: list[tuple[int, int]], caption: str
) -> VectorDrawing:
    """Draw a graph of cells at places (N, 2), older ones first."""
    margin, room = 36.0, 40.0
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = 480 / (high - low).max()
    width, height = (scale * (high - low) + 2 * margin).tolist()
    drawing = VectorDrawing(width, height + room, _back(theme))
    places = (flat - low) * scale + [margin, margin + room]
    for parent, child in edges:
        drawing.line([places[parent], places[child]], theme.muted, 0.05 * scale if scale < 60 else 3.0)
    for place, generation in zip(places, born, strict=True):
        drawing.disc(place, min(0.2 * scale, 8.0), _colour(theme, generation / max(int(born.max()), 1)))
    drawing.words(caption, (width / 2, margin * 0.9), 13, theme.text, "middle")
    return drawing


@figure("NF1", "Khovanova and Xiong, Figure 1: the Ulam-Warburton automaton without its south branch")
def _nf1(theme: Theme) -> VectorDrawing:
    cells, born, edges = _grown("ulam-warburton-3")
    return _graph(theme, cells.astype(float), born, edges, "Ulam-Warburton automaton without its south branch, generations 0 to 6")


@figure("NF2", "Khovanova and Xiong, Figure 2: the evolution of Nim, in space")
def _nf2(theme: Theme) -> VectorDrawing:
    cells, born, edges = _grown("nim")
    basis = View((1.0, -1.75, 0.8)).basis()
    seen = cells @ basis.T
    margin, room, scale = 40.0, 40.0, 52.0
    low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
    width, height = (scale * (high - low) + 2 * margin).tolist()
    drawing = VectorDrawing(width, height + room, _back(theme))
    places = (seen[:, :2] - low) * scale + [margin, margin + room]
    order = np.argsort(seen[:, 2], kind="stable")  # far ones first, each with the edge to its parent
    parent_of = {child: parent for parent, child in edges}
    near = (seen[:, 2] - seen[:, 2].min()) / np.ptp(seen[:, 2])
    for k in order.tolist():
        if k in parent_of:
            drawing.line([places[parent_of[k]], places[k]], theme.muted, 1.2 + 1.3 * float(near[k]))
    for k in order.tolist():
        drawing.disc(places[k], 5.0 + 2.5 * float(near[k]), _colour(theme, born[k] / _GENERATIONS))
    for k in order.tolist():
        if born[k] in (0, _GENERATIONS) or np.count_nonzero(cells[k]) == 2:
            a, b, c = cells[k].tolist()
            drawing.words(f"{a} {b} {c}", (float(places[k][0]) + 9, float(places[k][1]) - 10), 8, theme.muted)
    drawing.words("Nim with three piles after 6 generations", (width / 2, margin * 0.8), 13, theme.text, "middle")
    return drawing


def chocolate_graph(a: Fraction, size: int) -> Blocks:
    """Return the P-positions of a y <= x + z as in [V]'s pictures: (x, y, z) at (x, y, z - x)."""
    blocks = blocks_of(f"chocolate:a={a},size={size}")
    return replace(blocks, corners=sheared(blocks.corners).astype(np.int32))


def _solid(theme: Theme, blocks: Blocks, view: View, caption: str) -> VectorDrawing:
    """Draw blocks as polygons, the far ones first."""
    width, height, room = 540.0, 440.0, 30.0
    camera = fit(view, hull(blocks), width / height)
    light = Shader(blocks, base_colours(blocks, "rank", theme), theme, fine=True).frame(camera)
    drawing = VectorDrawing(width, height + room, _back(theme))
    parts = []
    for axis, end, which in visible(blocks, camera):
        chosen = blocks if isinstance(which, slice) else blocks.take(which)
        quads = side(chosen, axis, end)
        colours = light.colours(axis, end, which, quads).mean(axis=1) / 255
        parts.append((camera.project(quads), colours, camera.distance(chosen.centres())))
    seen, colours, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    for k in np.argsort(-far, kind="stable").tolist():
        places = seen[k, :, :2] * (height / 2) + [width / 2, height / 2 + room]
        r, g, b = colours[k].tolist()
        drawing.polygon(places, (r, g, b))
    drawing.words(caption, (width / 2, 20), 13, theme.text, "middle")
    return drawing


@figure("V4.1", "Matsui and others, Graph 4.1: P-positions of 3y <= x + z, from a general direction")
def _v41(theme: Theme) -> VectorDrawing:
    return _solid(
        theme,
        chocolate_graph(Fraction(3), _CHOCOLATE),
        View((1.6, -2.0, 0.9), parallel=True),
        "P-positions of 3y <= x + z at (x, y, z - x)",
    )


@figure("V4.2", "Graph 4.2: the same, turned towards the gasket")
def _v42(theme: Theme) -> VectorDrawing:
    return _solid(
        theme,
        chocolate_graph(Fraction(3), _CHOCOLATE),
        View((2.2, -0.75, 0.3), parallel=True),
        "The same, turned towards the first axis",
    )


@figure("V4.3", "Graph 4.3: the same along the first axis, Sierpinski's gasket")
def _v43(theme: Theme) -> VectorDrawing:
    blocks = chocolate_graph(Fraction(3), _CHOCOLATE)
    points, first = np.unique(blocks.corners[:, 1:], axis=0, return_index=True)
    width = 540.0
    low, high = points.min(axis=0), points.max(axis=0) + 1
    scale = (width - 60) / (high - low)[1]
    drawing = VectorDrawing(width, float(scale * (high - low)[0] + 90), _back(theme))
    shade = base_colours(blocks, "rank", theme)[first]
    for (y, z), colour in zip(points.tolist(), shade.tolist(), strict=True):
        x0, y0 = 30 + scale * (z - low[1]), 60 + scale * (y - low[0])
        drawing.polygon([(x0, y0), (x0 + scale, y0), (x0 + scale, y0 + scale), (x0, y0 + scale)], tuple(colour))
    drawing.words(
        f"Along the first axis: {len(blocks):,} P-positions on {len(points):,} points",
        (width / 2, 24),
        13,
        theme.text,
        "middle",
    )
    return drawing


@figure("d3", "Khovanova and Xiong, section 4.1: d_3(n) in rows of 1, 2, 4, 8... numbers")
def _d3(theme: Theme) -> VectorDrawing:
    rows, cell, step, margin = 6, 27.0, 66.0, 24.0
    counts = ByMaximum(3)
    width = 2 ** (rows - 1) * cell
    drawing = VectorDrawing(width + 2 * margin, (rows + 1) * step + 84, _back(theme))
    lines = [[counts.value(0)], *([counts.value(n) for n in range(2**j, 2 ** (j + 1))] for j in range(rows))]
    largest = lines[-1][-1]
    for row, values in enumerate(lines):
        left = margin + (width - cell * len(values)) / 2
        foot = drawing.height - margin - (row + 1) * step
        for k, value in enumerate(values):
            x, tall = left + cell * k, 3 + 44 * (value / largest) ** 0.5
            bar = [(x + 1, foot), (x + cell - 1, foot), (x + cell - 1, foot + tall), (x + 1, foot + tall)]
            drawing.polygon(bar, _colour(theme, value / largest))
            drawing.words(str(value), (x + cell / 2, foot - 12), 9.5, theme.text, "middle")
    caption = "d_3(n), the P-positions of Nim whose largest of three piles is n: rows of 2^j numbers, each 3, 9, ..., 6c - 3"
    drawing.words(caption, (drawing.width / 2, 24), 14, theme.text, "middle")
    return drawing


def draw_slide(look: Look) -> "Image":
    """Return the slide: Nim's P-positions below 256 from four directions."""
    from PIL import Image

    theme = THEMES[look.theme]
    width, height = look.size
    u = min(width / 1920, height / 1080)
    title = title_of(look.title or "One set, four views:  { (a, b, c) : a ⊕ b ⊕ c = 0 }", width, height)
    below = (64 * u, title.bottom + 14 * u, width - 128 * u, 100 * u)
    said = "the 65,536 P-positions of three-pile Nim with piles below 256, coloured by generation (a+b+c)/2"
    about = fit_words(said, below, 25 * u)
    head = max((height - 1080 * u) / 2, (about or title).bottom - 300 * u)

    def centred(text: str, middle: float, baseline: float, size: float, colour: Colour) -> None:
        size *= min(1.0, cell / pixels_wide(text, size))
        write(slide, text, (middle, baseline), size, colour, "ms")

    slide = Image.fromarray(quantise(background(theme, width, height))).convert("RGBA")
    cell = round(min(width / 4 * 0.92, 440 * u))
    panels = (
        ("hero", "perspective", "a Sierpiński tetrahedron"),
        ("axis", "along (0, 0, 1)", "every (a, b) exactly once: the XOR table"),
        ("diagonal", "along (1, 1, 1)", "4⁸ points: no two share a line of sight"),
        ("gasket", "along (0, 1, −1)", "3⁸ points: Sierpiński's gasket"),
    )
    for k, (view, name, remark) in enumerate(panels):
        part = replace(look, size=(cell, cell), view=view, transparent=True, title="", style="cubes", generations=None, cut="none")
        middle = width * (2 * k + 1) / 8
        slide.alpha_composite(render("nim:255", part).image, (round(middle - cell / 2), round(head + 330 * u)))
        centred(name, middle, head + 850 * u, 25 * u, theme.text)
        centred(remark, middle, head + 890 * u, 18 * u, theme.muted)
    title.draw(slide, theme.text)
    if about:
        about.draw(slide, theme.muted)
    return slide.convert("RGB")


FIGURES.add("views", Figure("one set of P-positions, four views: a slide", slide=draw_slide))
