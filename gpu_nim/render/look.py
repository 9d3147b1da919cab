"""How a picture looks: the options that all drawing commands share, and errors for those that would have no effect."""

from collections.abc import Collection
from dataclasses import dataclass, fields

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import unknown
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.fonts import JOINERS
from gpu_nim.render.geometry import CUTS
from gpu_nim.render.standpoint import check_standpoint
from gpu_nim.render.styles import STYLES
from gpu_nim.render.styles.style import LARGEST_SIDE, Style
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import INSIDE, View

CINEMA = "cinema"
QUALITIES = ("draft", "final", CINEMA)
ENGINES = ("auto", "opengl", "numpy", "trace")
SMALLEST_SIDE = 16
_UNPRINTED = dict.fromkeys(map(ord, f"\n{JOINERS}"))


@dataclass(frozen=True, repr=False)
class Look:
    """The appearance of a picture.

    Args:
        resolution: width and height in pixels.
        view: a name of `views.VIEWS`, "AZIM,ELEV" in degrees, or a `View`; None is hero, or axis for flat bodies.
        theme: a name of `themes.THEMES`.
        colour: a name of `colourings.COLOURINGS`; None is rank.
        style: a name of `styles.STYLES`; None is the theme's own.
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
        width, height = self.resolution
        if not (min(self.resolution) >= SMALLEST_SIDE and max(self.resolution) <= LARGEST_SIDE):
            least, most = (f"{side}x{side}" for side in (SMALLEST_SIDE, LARGEST_SIDE))
            raise UsageError(f"resolution must be from {least} to {most} pixels, got {width}x{height}")
        check_standpoint(self)
        THEMES.find(self.theme)
        for name, value, known in (
            ("colour", self.colour, COLOURINGS),
            ("style", self.style, STYLES),
            ("quality", self.quality, QUALITIES),
            ("engine", self.engine, ENGINES),
            ("cut", self.cut, ("none", *CUTS)),
        ):
            if value is not None and value not in known:
                raise unknown(name, value, known)
        if self.quality == CINEMA and self.engine not in ("auto", "trace"):
            raise UsageError(f"engine must be auto or trace for quality {CINEMA}, got {self.engine!r}")
        for name, text in (("title", self.title), ("caption", self.caption)):
            if not text.translate(_UNPRINTED).isprintable():
                raise UsageError(f"{name} must be printable text, got {text!r}")

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
        return self.style or THEMES[self.theme].style

    @property
    def drawn_style(self) -> type[Style]:
        """The style that is drawn."""
        return STYLES[self.style_name]

    @property
    def traced(self) -> bool:
        """Whether rays are traced, whatever the source."""
        return self.engine == "trace" or self.quality == CINEMA or (self.engine == "auto" and self.puts_eye)

    @property
    def supersampling(self) -> int:
        """How many times finer than the picture is drawn, before it is reduced."""
        fine = self.quality == "final" and self.drawn_style.has_edges
        return 2 if fine and max(self.resolution) * 2 <= LARGEST_SIDE else 1


OPTIONS = frozenset(field.name for field in fields(Look))
"""The names of all options of a look."""

SHAPE_OPTIONS = frozenset(("generations", "cut"))
"""Those that change a body, in any format."""

MESH_OPTIONS = SHAPE_OPTIONS | {"theme", "colour"}
"""Those that change a mesh."""


def style_options(look: Look, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a still in the look's style in messages, and the options that it takes."""
    takes = OPTIONS - look.drawn_style.refuses
    if look.traced:
        return "a traced picture", takes
    return ("a flat body", takes - {"cut"}) if flat else (f"style {look.style_name}", takes)


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
