"""One picture: from a source and a look to an image and a file, and the camera of a look, with space for annotations."""

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.arguments import argument, counted, given_options
from gpu_nim.model.errors import InsufficientMemoryError, MissingDependency, UsageError
from gpu_nim.model.files import call, made_by
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import OnStep, host_memory, no_progress, require_memory, script_for
from gpu_nim.render import opengl
from gpu_nim.render.annotations import Annotations, annotations, on_picture
from gpu_nim.render.axes import box_of
from gpu_nim.render.colourings import BY_GENERATION
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.gathering import CELLS_LIMIT, shown
from gpu_nim.render.geometry import Blocks, cover, generations_unknown, tiles
from gpu_nim.render.growth_sources import ParsedSource
from gpu_nim.render.look import PATHTRACED, Look, require_effect
from gpu_nim.render.metadata import image_options, save_image
from gpu_nim.render.path_tracing import PathTraced
from gpu_nim.render.shading import ThreePointLighting, has_floor
from gpu_nim.render.source import Source, name_of, read_source
from gpu_nim.render.style import CameraStyle
from gpu_nim.render.styles import STYLES, Sections, style_options
from gpu_nim.render.trace import Traced, coloured_in_view
from gpu_nim.render.traced_object import Drawn, TracedObject, traced_object
from gpu_nim.render.views import INSIDE, Camera, Margins, Position, View, find_view, fit, parse_position, usual_view

_MOST_TILES = 1 << 17  # of vectors, beyond which programs take minutes to show a file
_EDGEWISE = 0.01  # the sine of the least elevation that a flat object is seen from
_ANGLE = 50.0  # degrees of the field of view, from bottom to top: wide, since the camera is close
# The view inside, in parts of the object's extent.
_STAND, _TARGET = (Fraction(1, 2), Fraction(47, 100), Fraction(53, 100)), (Fraction(17, 20), Fraction(3, 4), Fraction(1, 4))

_PIXEL_BYTES = 28  # of a pixel that is drawn: its colours and its depth
_OPENGL_BYTES, _OPENGL_CORE_BYTES = 900 << 20, 100 << 20  # that VTK and its driver map, and for each core's thread, measured


@dataclass(frozen=True)
class Picture:
    """A picture, and how it was drawn; a notebook shows it, and `numpy.asarray` has its pixels, uint8 (height, width, 3 or 4).

    Attributes:
        image: a Pillow image, RGB or RGBA; `image.show()` opens it in a window.
        engine: opengl, numpy or trace.
        drawn: the number of blocks drawn.
        population: the number of cells of the source, of the generations that are drawn.
        note: what was left out, or why another engine was used, or "".
        call: the call of the library that drew it.

    >>> render("nim:3", resolution=(64, 48), engine="numpy")
    Picture(64x48, 16 cells, numpy)
    """

    image: Image.Image
    engine: str
    drawn: int
    population: int
    note: str
    call: str

    def __repr__(self) -> str:
        width, height = self.image.size
        return f"Picture({width}x{height}, {counted(self.population, 'cell')}, {self.engine})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.image, dtype, copy=copy)

    def save(self, path: str | Path) -> None:
        r"""Write the picture to a file, atomically, with its provenance (see `gpu_nim.render.metadata`).

        Args:
            path: the file; its ending names the format.

        Raises:
            UsageError: the ending is of no format, or the format cannot hold this size or transparency.
            FileError: the file cannot be written.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     render("nim:7", resolution=(64, 48), engine="numpy").save(f"{folder}/nim.png")
        ...     Path(folder, "nim.png").read_bytes()[:4]
        b'\x89PNG'
        """
        save_image(self.image, Path(path), made_by(self.call))

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.image.save(content, "PNG", **image_options(".png", made_by(self.call)))
        return content.getvalue()


def render(source: Source, look: Look | None = None, *, progress: OnStep = no_progress, **options: object) -> Picture:
    """Return the picture of a source.

    Args:
        source: a text (see `gpu_nim.render.source`), a growth or a solved game.
        look: its appearance.
        progress: called for progress, as the source is grown, lit and drawn.
        options: arguments of `Look`, which replace those of `look`.

    Raises:
        UsageError: the source is unknown, or an option wrong or without effect.
        FileError: the source is a file that cannot be read.
        InsufficientMemoryError: the picture would not fit; raised before it is drawn.
        MissingDependency: OpenGL was requested and is not installed.

    >>> picture = render("nim:7", resolution=(64, 48), engine="numpy", quality="draft")
    >>> picture.image.size, picture.drawn, picture.engine
    ((64, 48), 64, 'numpy')
    """
    look = (look or Look()).changed(options)
    found, made = read_source(source), call("render", name_of(source), look)
    require_effect(*style_options(look, flat=found.dimension == 2), look, given_options(options))
    Annotations(look)  # before it is drawn: a title and a caption that do not fit are refused
    engine, reason = choose_engine(look, found)
    require_picture_memory(look, engine, found.name)
    obj: Drawn = traced_object(found, look, progress) if engine == "trace" else prepare(found, look, progress)
    if isinstance(obj, Blocks) and look.style == Sections.name:
        image = Sections(obj, look.colours_of(obj), look).image()
        return Picture(image, engine, len(obj), obj.population, obj.note, made)
    progress("light", 0, 1)
    if camera := standpoint(look, *obj.outline.bounds()):
        obj = coloured_in_view(obj, look, camera) if isinstance(obj, TracedObject) else obj
        drawn = renderer(obj.opened(look.cut, camera.basis[2]), look, engine)
    else:
        view = view_of(obj.outline, look)
        drawn = renderer(obj.opened(look.cut, view.basis()[2]), look, engine)
        camera = aim(drawn.blocks, look, view, drawn.annotations.margins)
    image = drawn.frame(camera, progress=progress, partly=True)
    how = "traced cell by cell" if engine == "trace" and not (look.traced or reason) else ""
    note = "; ".join(filter(None, (how, drawn.blocks.note, reason, drawn.shortfall)))
    population = obj.outline.population
    return Picture(image, engine, population if isinstance(obj, TracedObject) else len(obj), population, note, made)


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
    blocks = prepare(found, look, progress, limit=_MOST_TILES)
    colours = look.colours_of(blocks)
    if sections:
        drawing = Sections(blocks, colours, look).drawing()
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


def require_traceable(look: Look) -> None:
    """Raise UsageError for a style that cannot be traced, or whose paths cannot."""
    style = STYLES.find(look.style)
    if "trace" not in style.engines:
        eye = "an eye" if look.eye else f"view {INSIDE!r}"
        given = eye if look.sets_camera else "engine 'trace'" if look.engine == "trace" else f"quality {look.quality!r}"
        raise UsageError(f"style {look.style} cannot be traced, got {given}")


def prepare(source: Source, look: Look, progress: OnStep = no_progress, *, limit: int = CELLS_LIMIT) -> Blocks:
    """Return the blocks of a source that are drawn: of its generations, no finer than its style draws them.

    Args:
        source: as for `render`.
        look: what is drawn of it.
        progress: called for progress.
        limit: the most blocks.
    """
    found = read_source(source)
    if look.generations is not None and not found.dated:
        raise generations_unknown(found.name)  # before it is grown
    if found.dimension == 2 and not STYLES.find(look.style).draws_flat:
        raise UsageError(f"style {look.style} needs an object in space, and {found.name} is flat")
    return shown(found.blocks(limit, look.colour, progress), look)


def solid(blocks: Blocks, look: Look) -> Blocks:
    """Return blocks as objects in space, also flat ones, cut open as the look says."""
    return replace(blocks.opened(look.cut, view_of(blocks, look).basis()[2]), flat=False)


def choose_engine(look: Look, source: ParsedSource) -> tuple[str, str]:
    """Return the engine for a picture and, where OpenGL was preferred but not chosen, why.

    MissingDependency where OpenGL alone draws the style, or where only PyVista is missing, and the script that started gpunim
    installs it.
    Rays are traced as the look says, or where the cells of the source would otherwise be merged.
    """
    if look.traced:
        require_traceable(look)
        return "trace", ""
    engines, automatic = STYLES.find(look.style).engines, look.engine == "auto"
    if not automatic and look.engine not in engines:
        raise UsageError(f"style {look.style} is drawn by engine {one_of(engines)}, got engine {look.engine!r}")
    if automatic and "trace" in engines and look.colour in BY_GENERATION and source.has_many_cells():
        return "trace", ""
    if look.engine == "numpy" or "opengl" not in engines:
        return "numpy", ""
    automatic &= "numpy" in engines
    try:
        if automatic:
            require_picture_memory(look, "opengl", "")
        opengl.require_opengl()
    except (MissingDependency, InsufficientMemoryError) as error:
        if not automatic or script_for(getattr(error, "extra", None)):
            raise
        missing = isinstance(error, MissingDependency)
        why = str(error).partition(", or draw")[0].partition("; or")[0] if missing else "OpenGL needs more memory than is free"
        return "numpy", f"drawn without OpenGL, since {why}"
    return "opengl", ""


def require_picture_memory(look: Look, engine: str, name: str, *, at_once: int = 1) -> None:
    """Raise InsufficientMemoryError where pictures do not fit in memory: checked before OpenGL, which aborts where it gets none.

    Args:
        look: their appearance.
        engine: what draws them.
        name: that of their source, for the message.
        at_once: how many are drawn at a time.
    """
    (width, height), scale = look.resolution, STYLES.find(look.style).supersampling(look)
    work = f"drawing {name} at {width}x{height}" + (f" in {at_once} processes" if at_once > 1 else "")
    less = f"a smaller {argument('resolution')}" + (f" or {argument('quality')} draft" if scale > 1 else "") + " takes less"
    needed = _PIXEL_BYTES * width * height * scale**2
    if engine == "opengl":
        needed += _OPENGL_BYTES + _OPENGL_CORE_BYTES * (os.cpu_count() or 1)
        other = f"{argument('engine')} numpy or " if "numpy" in STYLES.find(look.style).engines else ""
        work, less = f"{work} with OpenGL", other + less
    require_memory(at_once * needed, host_memory(), work, less)


def renderer(obj: Drawn, look: Look, engine: str, base: NDArray[np.float32] | None = None) -> CameraStyle:
    """Return an object in its colours, ready to be drawn from any number of cameras.

    Args:
        obj: the object, as blocks or to be traced.
        look: its appearance.
        engine: opengl, numpy or trace.
        base: the colour of each block, sRGB float32 (N, 3); None for those of the look.
    """
    if isinstance(obj, TracedObject):
        return (PathTraced if look.quality == PATHTRACED else Traced)(obj, look)
    style = STYLES.find(look.style)
    assert issubclass(style, CameraStyle)  # others are laid out as stills, and refused for movies
    return style(obj, look.colours_of(obj) if base is None else base, look, engine)


def view_of(blocks: Blocks, look: Look) -> View:
    """Return the view of the look, for these blocks."""
    wanted = look.view if look.view is not None else usual_view(blocks.automaton, flat=blocks.flat)
    view = find_view(wanted)(blocks.corners) if isinstance(wanted, str) else wanted
    if blocks.flat and abs(view.basis()[2, 2]) < _EDGEWISE:
        raise UsageError(f"view must show more than the edge of a flat object, got {wanted!r} for {blocks.name}")
    return view


def aim(blocks: Blocks, look: Look, view: View | None = None, margins: Margins | None = None) -> Camera:
    """Return the camera of the look, or of a view, fitted to an object, with space for the look's annotations.

    Args:
        blocks: the object.
        look: its appearance.
        view: where to look from; by default the look's view.
        margins: the space; by default that of `annotations`.
    """
    if camera := standpoint(look, *blocks.bounds()):
        return camera
    space = margins or annotations(blocks, look).margins
    view = view or view_of(blocks, look)
    return fit(view, with_shadow(framed(blocks, look), view, look), look.aspect, margins=space)


def with_shadow(points: NDArray[np.floating], view: View, look: Look) -> NDArray[np.floating]:
    """Return points (N, 3) and, where the look has a floor below them, the ends of their shadows on it."""
    basis = view.basis()
    sun = ThreePointLighting.of(basis).key
    if look.quality != PATHTRACED or view.parallel or basis[2, 2] < 0 or not has_floor(basis, sun):
        return points
    heights = points[:, 2:] - points[:, 2].min()
    return np.concatenate([points, points - sun * (heights / sun[2])])


def standpoint(look: Look, low: NDArray[np.int64], high: NDArray[np.int64]) -> Camera | None:
    """Return the camera of a look that gives its position, for an object between two corners, or None.

    Args:
        look: the look.
        low: the least coordinates of the object, (3,).
        high: those beyond the greatest, (3,).

    Raises:
        UsageError: the eye is where it looks.
    """
    if not look.sets_camera:
        return None
    corners = [(Fraction(int(first)), Fraction(int(stop))) for first, stop in zip(low, high, strict=True)]
    eye: Position = parse_position("eye", look.eye) if look.eye else _within(corners, _STAND)
    target = _within(corners, (Fraction(1, 2),) * 3 if look.eye else _TARGET)
    if look.look_at:
        target = parse_position("look_at", look.look_at)
    toward = [float(at - to) for at, to in zip(eye, target, strict=True)]
    if not any(toward):
        raise UsageError(f"look_at must be another point than the eye, got {look.look_at or 'the middle of the object'!r}")
    view = View((toward[0], toward[1], toward[2]))
    return Camera(np.array(eye, dtype=np.float64), view.basis(), float(np.tan(np.radians(_ANGLE / 2))), False, eye)


def _within(corners: list[tuple[Fraction, Fraction]], parts: Position) -> Position:
    a, b, c = (first + (stop - first) * part for (first, stop), part in zip(corners, parts, strict=True))
    return a, b, c


def framed(blocks: Blocks, look: Look) -> NDArray[np.float32]:
    """Return points that frame what the look shows of the blocks, its axes included."""
    points = blocks.hull()
    return np.concatenate([points, box_of(blocks).corners().astype(np.float32)]) if look.axes else points
