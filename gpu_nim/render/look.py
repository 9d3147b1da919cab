"""How a picture looks: the options that all drawing commands share, errors for those that would have no effect, and styles.

A look names a style, and a style draws a look, so both are described here; each style is a module of `gpu_nim.render.styles`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arguments import integers, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import cores
from gpu_nim.model.registry import Registry, unknown
from gpu_nim.model.work import OnStep
from gpu_nim.render.colourings import COLOURINGS, DEFAULT, base_colours
from gpu_nim.render.geometry import CUTS, Blocks
from gpu_nim.render.themes import THEMES, Theme, matplotlib_map
from gpu_nim.render.views import INSIDE, Camera, View, parse_place, view_maker
from gpu_nim.render.words import JOINERS

if TYPE_CHECKING:
    from PIL.Image import Image

CINEMA = "cinema"
QUALITIES = ("draft", "final", CINEMA)
ENGINES = ("auto", "opengl", "numpy", "trace")
SMALLEST_SIDE = 16

#: The names of resolutions.
RESOLUTIONS = {"720p": (1280, 720), "1080p": (1920, 1080), "1440p": (2560, 1440), "4k": (3840, 2160), "8k": (7680, 4320)}

_UNPRINTED = dict.fromkeys(map(ord, f"\n{JOINERS}"))

#: The most pixels along a side of a picture, OpenGL's limit.
LARGEST_SIDE = 16384

#: Memory of VTK and its driver.
OPENGL_BYTES = 300 << 20


@dataclass(frozen=True)
class Cost:
    """The bytes of memory that a picture takes.

    Args:
        fixed: for any picture.
        pixel: for each pixel drawn, before the picture is reduced.
        block: for each block, up to `shading.MANY` blocks.
        block_of_many: for each block, of more blocks.
    """

    fixed: int
    pixel: int
    block: int
    block_of_many: int


#: What a traced picture takes.
TRACED_COST = Cost((12 << 20) * (1 + cores()), 24, 0, 0)


def parse_resolution(text: str) -> tuple[int, int]:
    """Return the width and height that WIDTHxHEIGHT, or a name of `RESOLUTIONS`, stands for; ValueError where it is neither.

    >>> parse_resolution("4k"), parse_resolution("640x480")
    ((3840, 2160), (640, 480))
    """
    if named := RESOLUTIONS.get(text.lower()):
        return named
    match = re.fullmatch(r"([0-9]{1,6})[x×]([0-9]{1,6})", text)
    if match is None:
        raise ValueError(f"expected WIDTHxHEIGHT such as 1920x1080, or one of {', '.join(RESOLUTIONS)}, got {text!r}")
    return int(match[1]), int(match[2])


class Style(ABC):
    """A way to draw bodies, registered in `STYLES`: subclass `CameraStyle` or `LaidOutStyle`.

    The class attributes describe it:

    - name: its name.
    - summary: what it draws, in a line.
    - costs: the engines that draw it, and the memory that each takes, measured, a little above the peak.
    - refuses: the options of a look that would have no effect.
    - draws_flat: whether it draws flat bodies.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    costs: ClassVar[Mapping[str, Cost]]
    refuses: ClassVar[frozenset[str]] = frozenset()
    draws_flat: ClassVar[bool] = True

    @staticmethod
    def prepared(blocks: Blocks, quality: str) -> Blocks:
        """Return the blocks that are drawn, coarser where the style needs it.

        Args:
            blocks: the blocks of the source.
            quality: draft or final.
        """
        return blocks

    @classmethod
    def supersampling(cls, look: "Look") -> int:
        """Return how many times finer than the picture is drawn, before it is reduced.

        Args:
            look: the appearance of the picture.
        """
        return 2 if look.quality == "final" and max(look.resolution) * 2 <= LARGEST_SIDE else 1


#: The styles by name, once their folder is imported.
STYLES = Registry[type[Style]]("style", plugins=("gpunim.styles", Style))


def _size(resolution: object) -> tuple[int, int]:
    if isinstance(resolution, str):
        try:
            return parse_resolution(resolution)
        except ValueError as error:
            raise UsageError(f"resolution: {error}") from None
    size = integers("resolution", resolution)
    if len(size) != 2:
        raise UsageError(f"resolution must be a width and a height, got {shown(resolution)}")
    return size[0], size[1]


@dataclass(frozen=True, repr=False)
class Look:
    """The appearance of a picture.

    Args:
        resolution: width and height in pixels; also as text, such as "1920x1080", or a name of `RESOLUTIONS`, such as "4k".
        view: a name of `views.VIEWS`, "AZIM,ELEV" in degrees, or a `View`; None is the default of the body (`views.TELLING_VIEWS`).
        theme: a name of `themes.THEMES`.
        colour: a name of `colourings.COLOURINGS`; None is rank.
        cmap: a name of matplotlib's colour maps in place of the theme's, for colours with a scale; None for the theme's.
        style: a name of `styles.STYLES`, which is looked up where the look is drawn; None is the theme's own.
        quality: draft, final, or cinema, which is path traced (see `gpu_nim.render.cinema`).
        engine: auto, opengl, numpy or trace.
        cut: a name of `geometry.CUTS`, or none.
        generations: draw only the generations from the first to before the second; None for all.
        transparent: an alpha channel in place of the background.
        title: a text above the body.
        caption: a text below it.
        legend: show what the colours stand for.
        axes: show the coordinates, with ticks at 0 and the powers of two.
        eye: where the eye is, as "A,B,C" in cells, such as "2^39,100,5/2"; None for a view that shows all of the body.
        look_at: what it looks at, likewise; None is the middle of the body.

    Raises:
        UsageError: a value is none of these.

    >>> Look(resolution=(640, 480), theme="paper").style_name
    'cubes'
    >>> Look(theme="papyrus")
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: theme must be one of dark, paper, neon, got 'papyrus'; did you mean paper?
    """

    resolution: tuple[int, int] = (1920, 1080)
    view: str | View | None = None
    theme: str = "dark"
    colour: str | None = None
    cmap: str | None = None
    style: str | None = None
    quality: str = "final"
    engine: str = "auto"
    cut: str = "none"
    generations: tuple[int, int] | None = None
    transparent: bool = False
    title: str = ""
    caption: str = ""
    legend: bool = False
    axes: bool = False
    eye: str | None = None
    look_at: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", _size(self.resolution))
        width, height = self.resolution
        if not (min(self.resolution) >= SMALLEST_SIDE and max(self.resolution) <= LARGEST_SIDE):
            least, most = (f"{side}x{side}" for side in (SMALLEST_SIDE, LARGEST_SIDE))
            raise UsageError(f"resolution must be from {least} to {most} pixels, got {width}x{height}")
        for name in ("view", "colour", "cmap", "style", "eye", "look_at"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str) or (name == "view" and isinstance(value, View))):
                raise UsageError(f"{name} must be text, got {shown(value)}")
        if self.generations is not None:
            if len(span := integers("generations", self.generations)) != 2:
                raise UsageError(f"generations must be the first and the one after the last, got {shown(self.generations)}")
            object.__setattr__(self, "generations", span)
        self._check_eye()
        if isinstance(self.view, str) and self.view != INSIDE:
            view_maker(self.view)  # an unknown one is refused before anything is grown or drawn
        THEMES.find(self.theme)
        for name, value, known in (
            ("colour", self.colour, COLOURINGS),
            ("quality", self.quality, QUALITIES),
            ("engine", self.engine, ENGINES),
            ("cut", self.cut, ("none", *CUTS)),
        ):
            if value is not None and value not in known:
                raise unknown(name, value, known)
        if self.cmap is not None:
            if COLOURINGS[self.colour or DEFAULT].named is not None:
                raise UsageError(f"cmap would have no effect: colour {self.colour} has no scale, got {shown(self.cmap)}")
            matplotlib_map(self.cmap)
        if self.quality == CINEMA and self.engine not in ("auto", "trace"):
            raise UsageError(f"engine must be auto or trace for quality {CINEMA}, got {self.engine!r}")
        for name, text in (("title", self.title), ("caption", self.caption)):
            if not isinstance(text, str) or not text.translate(_UNPRINTED).isprintable():
                raise UsageError(f"{name} must be printable text, got {text!r}")

    def _check_eye(self) -> None:
        """Raise UsageError for an eye or a look-at that is no place, or has no effect."""
        if self.puts_eye and self.engine not in ("auto", "trace"):
            raise UsageError(f"an eye and view {INSIDE} need engine trace, got engine {self.engine!r}")
        if self.eye:
            parse_place("eye", self.eye)
            if self.view is not None:
                raise UsageError(f"view would have no effect with an eye, got {self.view!r}")
        if self.look_at:
            parse_place("look-at", self.look_at)
            if not self.puts_eye:
                raise UsageError(f"look-at needs an eye or view {INSIDE}, got {self.look_at!r} alone")

    def __repr__(self) -> str:
        given = (field.name for field in fields(self) if getattr(self, field.name) != field.default)
        return f"Look({', '.join(f'{name}={getattr(self, name)!r}' for name in given)})"

    @property
    def aspect(self) -> float:
        """The width over the height of the picture."""
        return self.resolution[0] / self.resolution[1]

    @property
    def puts_eye(self) -> bool:
        """Whether the camera's position is given, instead of fitted to the body."""
        return self.eye is not None or self.view == INSIDE

    @property
    def style_name(self) -> str:
        """The name of the style, by default the theme's own."""
        return self.style or self.drawn_theme.style

    @property
    def drawn_style(self) -> type[Style]:
        """The style that it is drawn in; UsageError where it names none."""
        return STYLES.find(self.style or self.drawn_theme.style)

    @property
    def drawn_theme(self) -> Theme:
        """The theme that it is drawn in."""
        theme = THEMES[self.theme]
        return theme if self.cmap is None else replace(theme, map=matplotlib_map(self.cmap))

    def changed(self, options: Mapping[str, Any]) -> "Look":
        """Return the look with other options.

        Args:
            options: fields of the look, by name.

        Raises:
            UsageError: one is unknown or wrong.
        """
        for name in options:
            if name not in OPTIONS:
                raise unknown("option", name, sorted(OPTIONS))
        return replace(self, **options)

    def colours_of(self, blocks: Blocks) -> NDArray[np.float32]:
        """Return the colours of blocks, sRGB float32 (N, 3); see `gpu_nim.render.colourings.base_colours`.

        Args:
            blocks: the blocks.
        """
        return base_colours(blocks, self.colour, self.drawn_theme)

    @property
    def traced(self) -> bool:
        """Whether rays are traced, whatever the source."""
        return self.engine == "trace" or self.quality == CINEMA or (self.engine == "auto" and self.puts_eye)


class CameraStyle(Style):
    """A style that looks at a body from a camera; an object holds one body in its colours.

    `traced` is the class that draws a body which is traced, as `gpu_nim.render.trace.Traced` does, or None.

    Args:
        blocks: the body.
        base: its colours, sRGB float32 (N, 3).
        look: its appearance.
        engine: what draws it.
    """

    traced: ClassVar[Any] = None

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        self.blocks = blocks
        self.base = base
        self.look = look
        self.theme = look.drawn_theme
        self.scale = self.supersampling(look)
        self.width, self.height = (part * self.scale for part in look.resolution)

    @abstractmethod
    def draw(self, camera: Camera, on_step: OnStep) -> NDArray[np.float32]:
        """Return the body from a camera, premultiplied sRGB and alpha, float32 (height, width, 4) in 0 to 1.

        Args:
            camera: the camera.
            on_step: called for progress.
        """

    def background_weight(self, alpha: NDArray[np.float32]) -> NDArray[np.float32] | np.float32:
        """Return the weight of the background at each pixel.

        Args:
            alpha: the body's alpha, float32 (height, width, 1).
        """
        return 1 - alpha


class LaidOutStyle(Style):
    """A style that lays out a whole picture without a camera, so that there are no movies in it."""

    @classmethod
    @abstractmethod
    def lay_out(cls, blocks: Blocks, base: NDArray[np.float32], look: Look) -> "Image":
        """Return the picture on its background and with its title.

        Args:
            blocks: the blocks.
            base: their colours, sRGB float32 (N, 3).
            look: the appearance of the picture.
        """


#: The names of all options of a look.
OPTIONS = frozenset(field.name for field in fields(Look))

#: Those that change a body, in any format.
SHAPE_OPTIONS = frozenset(("generations", "cut"))

#: Those that change a mesh.
MESH_OPTIONS = SHAPE_OPTIONS | {"theme", "colour", "cmap"}


def require_effect(what: str, takes: Collection[str], look: Look, given: Collection[str] = ()) -> None:
    """Raise UsageError where an option of the look would have no effect.

    Args:
        what: what is drawn, in words.
        takes: the options that change it.
        look: the look.
        given: options that were given explicitly, though they may repeat the default.

    >>> require_effect("figure:NF1 as .svg", ["theme"], Look(theme="paper", view="axis", title="Nim"))
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: title, view would have no effect: figure:NF1 as .svg takes only theme
    """
    asked = {field.name for field in fields(look) if getattr(look, field.name) != field.default} | set(given)
    if useless := sorted(asked - set(takes)):
        *others, last = sorted(takes)
        names = f"{', '.join(others)} and {last}" if others else f"only {last}"
        raise UsageError(f"{', '.join(useless)} would have no effect: {what} takes {names}")


def style_options(look: Look, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a still in the look's style in messages, and the options that it takes."""
    takes = OPTIONS - look.drawn_style.refuses
    if look.traced:
        return "a traced picture", takes
    return ("a flat body", takes - {"cut"}) if flat else (f"style {look.style_name}", takes)
