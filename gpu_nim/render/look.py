"""How a picture looks: the options that all drawing commands share, and errors for those that would have no effect."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.measures import earliest_generations
from gpu_nim.model.arguments import integers, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Named, Registry, unknown
from gpu_nim.model.shown import Shown
from gpu_nim.render.colourings import COLOURINGS, DEFAULT, Colouring, base_colours, nim_p
from gpu_nim.render.geometry import CUTS, Blocks
from gpu_nim.render.themes import THEMES, Theme, matplotlib_map
from gpu_nim.render.views import INSIDE, View, find_view, parse_position
from gpu_nim.render.words import JOINERS

PATHTRACED = "pathtraced"
QUALITIES = ("draft", "final", PATHTRACED)
ENGINES = ("auto", "opengl", "numpy", "trace")
SMALLEST_SIDE = 16

#: The names of resolutions.
RESOLUTIONS = {"720p": (1280, 720), "1080p": (1920, 1080), "1440p": (2560, 1440), "4k": (3840, 2160), "8k": (7680, 4320)}

_UNPRINTED = dict.fromkeys(map(ord, f"\n{JOINERS}"))

#: The most pixels along a side of a picture, OpenGL's limit.
LARGEST_SIDE = 16384


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


def _size(resolution: Any) -> tuple[int, int]:
    try:
        size = parse_resolution(resolution) if isinstance(resolution, str) else integers("resolution", resolution)
    except ValueError as error:
        raise UsageError(f"resolution: {error}") from None
    if len(size) != 2:
        raise UsageError(f"resolution must be a width and a height, got {short_repr(resolution)}")
    if not (min(size) >= SMALLEST_SIDE and max(size) <= LARGEST_SIDE):
        least, most = (f"{side}x{side}" for side in (SMALLEST_SIDE, LARGEST_SIDE))
        raise UsageError(f"resolution must be from {least} to {most} pixels, got {size[0]}x{size[1]}")
    return size[0], size[1]


def _span(generations: Any) -> tuple[int, int]:
    if len(span := integers("generations", generations)) != 2:
        raise UsageError(f"generations must be the first and the one after the last, got {short_repr(generations)}")
    return span[0], span[1]


#: What makes a cell of a volume opaque: functions that return the opacity of each block, between 0 and 1, (N,).
#:
#: It is the part of the light that a cell absorbs where a ray meets as many as `gpu_nim.render.styles.Glass` says; cells shine
#: in proportion to it. UsageError where the blocks have not what it reads.
OPACITIES = Registry[Named[Callable[[Blocks], NDArray[np.floating]]]]("opacity")


@OPACITIES.decorator(partial(Named, "generation", "older cells"))
def by_generation(blocks: Blocks) -> NDArray[np.floating]:
    """Return 0.85 for the first generation, and less for later ones, down to 0.12 for the last."""
    return np.asarray(0.12 + 0.73 * (1 - blocks.generations / max(blocks.span[1], 1)) ** 2)


@OPACITIES.decorator(partial(Named, "shell", "cells born at a power of two, or one generation before or after it"))
def by_shell(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities of the generations within one of a power of two, less for outer shells."""
    shells = 2 ** np.arange(31)[:, None] + [-1, 0, 1]
    return np.where(np.isin(blocks.generations, shells), 0.3 + 0.6 * by_generation(blocks), 0.02)


@OPACITIES.decorator(partial(Named, "delay", "cells born later than they could first be reached"))
def by_delay(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by the generation less the earliest one, see `gpu_nim.automata.measures.earliest_generations`."""
    if blocks.rule is None or blocks.size > blocks.unit:
        raise UsageError(f"opacity delay needs single cells that grew by a rule of offsets, got {blocks.name}")
    delays = blocks.generations - earliest_generations(blocks.rule, blocks.positions[:, : blocks.rule.dimension])
    return np.asarray(0.05 + 0.8 * delays / max(int(delays.max()), 1))


@OPACITIES.decorator(partial(Named, "nim-p", "the P-positions of Nim"))
def by_nim_p(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by which cells are P-positions of Nim, see `gpu_nim.render.colourings.nim_p`."""
    return np.where(nim_p(blocks), 0.97, 0.05)


@OPACITIES.decorator(partial(Named, "depth", "cells near the middle"))
def by_depth(blocks: Blocks) -> NDArray[np.floating]:
    """Return opacities by the distance from the middle, in parts of the farthest."""
    low, high = blocks.bounds()
    away = np.linalg.norm((blocks.centres() - (low + high) / 2) / (high - low), axis=1)
    return np.asarray(0.05 + 0.8 * (1 - away / max(float(away.max()), 1e-9)) ** 2)


@dataclass(frozen=True, repr=False)
class Look(Shown):
    """The appearance of a picture.

    Args:
        resolution: width and height in pixels, or a name of `RESOLUTIONS`.
        view: a name of `gpu_nim.render.views.VIEWS`, or "AZIM,ELEV" in degrees, or a `View`; by default one that suits the object.
        eye: the camera's position in cells, "A,B,C", exact; traced, as is view inside.
        look_at: the focal point, likewise; by default the middle of the object.
        theme: a name of `gpu_nim.render.themes.THEMES`.
        colour: a name of `gpu_nim.render.colourings.COLOURINGS`, by default rank.
        cmap: a colour map of matplotlib, by default the theme's.
        style: a name of `gpu_nim.render.style.STYLES`.
        opacity: a name of `OPACITIES`: the opaque cells of a volume.
        generations: the first to be drawn, and the one after the last; by default all.
        cut: none, or a name of `gpu_nim.render.geometry.CUTS`: what is cut away to show the inside.
        quality: one of `QUALITIES`.
        engine: one of `ENGINES`.
        title: a text above the object.
        caption: a text below the object.
        legend: whether it shows what the colours stand for.
        axes: whether it shows the coordinates, with ticks at both ends, 0 and the powers of two.
        transparent: whether it has an alpha channel in place of the background.

    Raises:
        UsageError: a value is none of these.

    >>> Look(resolution=(640, 480), theme="paper").aspect
    1.3333333333333333
    >>> Look(theme="papyrus")
    Traceback (most recent call last):
        ...
    gpu_nim.model.errors.UsageError: theme must be one of dark, ..., got 'papyrus'; did you mean paper?
    """

    resolution: tuple[int, int] = (1920, 1080)
    view: str | View | None = None
    eye: str | None = None
    look_at: str | None = None
    theme: str = "dark"
    colour: str | None = None
    cmap: str | None = None
    style: str = "cubes"
    opacity: str = "generation"
    generations: tuple[int, int] | None = None
    cut: str = "none"
    quality: str = "final"
    engine: str = "auto"
    title: str = ""
    caption: str = ""
    legend: bool = False
    axes: bool = False
    transparent: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", _size(self.resolution))
        if self.generations is not None:
            object.__setattr__(self, "generations", _span(self.generations))
        THEMES.find(self.theme)
        OPACITIES.find(self.opacity)
        COLOURINGS.find(DEFAULT if self.colour is None else self.colour)
        for name, known in (("cut", ("none", *CUTS)), ("quality", QUALITIES), ("engine", ENGINES)):
            if (value := getattr(self, name)) not in known:
                raise unknown(name, value, known)
        for name in ("title", "caption"):
            if not isinstance(value := getattr(self, name), str) or not value.translate(_UNPRINTED).isprintable():
                raise UsageError(f"{name} must be printable text, got {value!r}")
        view = None if isinstance(self.view, View) else self.view
        for name, text in {"view": view, "eye": self.eye, "look_at": self.look_at, "cmap": self.cmap}.items():
            if not isinstance(text, str | None):
                raise UsageError(f"{name} must be text, got {short_repr(text)}")
        if view not in (None, INSIDE):
            find_view(view)  # an unknown one is refused before anything is grown or drawn
        for name, position in (("eye", self.eye), ("look-at", self.look_at)):
            if position is not None:
                parse_position(name, position)
        if self.sets_camera and self.engine not in ("auto", "trace"):
            raise UsageError(f"an eye and view {INSIDE} need engine trace, got engine {self.engine!r}")
        if self.eye and self.view is not None:
            raise UsageError(f"view would have no effect with an eye, got {self.view!r}")
        if self.look_at and not self.sets_camera:
            raise UsageError(f"look_at needs an eye or view {INSIDE}, got {self.look_at!r} alone")
        if self.cmap is not None:
            if self.colouring.named is not None:
                raise UsageError(f"cmap would have no effect: colour {self.colour} has no scale, got {short_repr(self.cmap)}")
            matplotlib_map(self.cmap)
        if self.quality == PATHTRACED and self.engine not in ("auto", "trace"):
            raise UsageError(f"engine must be auto or trace for quality {PATHTRACED}, got {self.engine!r}")

    @property
    def aspect(self) -> float:
        """The width over the height of the picture."""
        return self.resolution[0] / self.resolution[1]

    @property
    def sets_camera(self) -> bool:
        """Whether the camera's position is given, instead of fitted to the object."""
        return self.eye is not None or self.view == INSIDE

    @property
    def colouring(self) -> Colouring:
        """The colouring that it is drawn in."""
        return COLOURINGS[self.colour or DEFAULT]

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
        if strange := [name for name in options if name not in OPTIONS]:
            raise unknown("option", strange[0], sorted(OPTIONS))
        return replace(self, **options) if options else self

    def colours_of(self, blocks: Blocks) -> NDArray[np.float32]:
        """Return the colours of blocks, sRGB float32 (N, 3); see `gpu_nim.render.colourings.base_colours`.

        Args:
            blocks: the blocks.
        """
        return base_colours(blocks, self.colour, self.drawn_theme)

    @property
    def traced(self) -> bool:
        """Whether rays are traced, whatever the source."""
        return self.engine == "trace" or self.quality == PATHTRACED or (self.engine == "auto" and self.sets_camera)


#: The names of all options of a look.
OPTIONS = frozenset(each.name for each in fields(Look))

#: Those that change an object, in any format.
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
    chosen = {each.name for each in fields(look) if getattr(look, each.name) != each.default} | set(given)
    if useless := sorted(chosen - set(takes)):
        *others, last = sorted(takes)
        names = f"{', '.join(others)} and {last}" if others else f"only {last}"
        raise UsageError(f"{', '.join(useless)} would have no effect: {what} takes {names}")
