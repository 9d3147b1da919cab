"""The motions of movies: one class each, registered under the name that the option `motion` takes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games import catalogue as games
from gpu_nim.games.entries import Parameter, Rational
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_rational
from gpu_nim.model.registry import Registry
from gpu_nim.render.framing import aim, cut_open, hull, margins
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import Drawing, choose_engine, prepare
from gpu_nim.render.look import OPTIONS, require_effect
from gpu_nim.render.views import Camera, View, fit, from_angles

if TYPE_CHECKING:
    from PIL.Image import Image

    from gpu_nim.render.movie import Movie

_ELEVATION = 20.0  # degrees above the horizon of a turntable's camera
_HELD = 0.12  # the part of a growth's movie that shows its last generation
_STANDING = Fraction(1, 4)  # the part of the way from one whole value to the next in which a sweep pauses, at each end


def movie_options(motion: str, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a movie with a motion in messages, and the options of a look that it takes."""
    takes = OPTIONS - {"transparent"}
    return (f"a {motion} of a flat body", takes - {"cut"}) if flat else (f"a {motion} movie", takes)


class Motion(ABC):
    """Draws the frames of a movie, in any order.  A context manager: it holds a window.

    The class attributes describe the motion:

    - about: a line for the help text.
    - draws_flat: whether it can be made of flat bodies.
    - options: its own options, which become options of `gpunim movie` and are given in `Movie.options`.

    Args:
        movie: the movie.

    Raises:
        UsageError: the motion needs a body in space, and the movie's is flat.
    """

    about: ClassVar[str]
    draws_flat: ClassVar[bool] = True
    options: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def check(cls, movie: "Movie") -> None:
        """Check the options and the source of a movie with this motion.

        Args:
            movie: the movie.

        Raises:
            UsageError: an option has no effect, or a value or the source does not suit.
        """
        for name in movie.options.keys() - {option.name for option in cls.options}:
            takers = " or ".join(motion for motion, known in MOTIONS.items() if name in {option.name for option in known.options})
            raise UsageError(f"{name} would have no effect on motion {movie.motion}: motion {takers or 'none'} takes it")
        cls.values(movie)

    @classmethod
    def values(cls, movie: "Movie") -> dict[str, Any]:
        """Return the values of the motion's own options in a movie.

        Args:
            movie: the movie.

        Raises:
            UsageError: a text names no value.
        """
        texts = {option.name: movie.options.get(option.name, option.default) for option in cls.options}
        return {option.name: option.read(texts[option.name] or "") for option in cls.options}

    def __init__(self, movie: "Movie") -> None:
        self.movie = movie
        self.engine, self.note = choose_engine(movie.look)
        self.aspect = movie.look.size[0] / movie.look.size[1]
        self._drawing: Drawing | None = None
        blocks = self.framed_body()
        if blocks.flat:
            if not self.draws_flat:
                raise UsageError(f"a {movie.motion} movie needs a body in space, and {movie.source} is flat")
            require_effect(*movie_options(movie.motion, flat=True), movie.look)
        self.camera = aim(blocks, movie.look, self.widest_caption(blocks))
        self.blocks = cut_open(blocks, movie.look, self.camera.basis[2])
        self.hull = hull(self.blocks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawing is not None:
            self._drawing.__exit__(*error)

    def framed_body(self) -> Blocks:
        """Return the body that fills the picture."""
        return prepare(self.movie.source, self.movie.look)

    def widest_caption(self, blocks: Blocks) -> str:
        """Return the longest caption of any frame.

        Args:
            blocks: the body that fills the picture.
        """
        return ""

    @abstractmethod
    def frame(self, number: int) -> "Image":
        """Return one frame.

        Args:
            number: counted from 0.
        """

    def part(self, number: int) -> float:
        """Return how much of the movie is before a frame, 0 to 1.

        Args:
            number: the frame, counted from 0.
        """
        return number / max(self.movie.frames - 1, 1)

    def drawing(self) -> Drawing:
        """Return the body in its colours, made at the first call."""
        if self._drawing is None:
            self._drawing = Drawing(self.blocks, self.movie.look, self.engine)
        return self._drawing


MOTIONS = Registry[type[Motion]]("motion")


def motion_of(movie: "Movie") -> Motion:
    """Return the renderer of a movie."""
    return MOTIONS[movie.motion](movie)


@MOTIONS.register("turntable")
class Turntable(Motion):
    """The body turns once."""

    about = "the body turns once"

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        return self.drawing().frame(self.turned(number / self.movie.frames))

    def turned(self, turn: float) -> Camera:
        """Return the camera after a part of the turn."""
        x, y, z = self.camera.basis[2]
        azimuth = float(np.degrees(np.arctan2(y, x)))
        look = self.movie.look
        elevation = _ELEVATION if look.view is None else float(np.degrees(np.arcsin(np.clip(z, -1, 1))))
        parallel = look.view is not None and self.camera.parallel
        return orbit(self.hull, azimuth + 360 * turn, self.aspect, elevation, parallel=parallel, head=margins(look)[0])


@MOTIONS.register("growth")
class GrowthInTime(Motion):
    """The body grows, generation by generation."""

    about = "it grows, generation by generation"

    def widest_caption(self, blocks: Blocks) -> str:
        """Return the last caption."""
        return _grown_caption(blocks, int(blocks.generations.max()), len(blocks))

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        first, last = int(self.blocks.generations.min()), int(self.blocks.generations.max())
        generation = first + round(min(self.part(number) / (1 - _HELD), 1.0) * (last - first))
        shown = self.blocks.generations <= generation
        return self.drawing().frame(self.camera, shown, _grown_caption(self.blocks, generation, int(shown.sum())))


def _grown_caption(blocks: Blocks, generation: int, shown: int) -> str:
    whole = len(blocks) == blocks.population
    return f"generation {generation:,}" + (f"    population {shown:,}" if whole else "")


@MOTIONS.register("fly-in")
class FlyIn(Motion):
    """The camera flies into the body."""

    about = "the camera flies into it"
    draws_flat = False

    def __init__(self, movie: "Movie") -> None:
        super().__init__(movie)
        _, up, toward = (tuple(row) for row in self.camera.basis.tolist())
        self.camera = fit(View(toward, up), self.hull, self.aspect, head=margins(movie.look)[0])

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        return self.drawing().frame(flight(self.camera, self.blocks, self.part(number)))


@dataclass(frozen=True)
class Ends:
    """The first and the last value of a parameter, which may be named: 1:8 or a=1:8."""

    word: ClassVar[str] = "[name=]first:last"
    expected: ClassVar[str] = "FIRST:LAST or NAME=FIRST:LAST such as 1:8 or a=1:8"

    def read(self, text: str) -> tuple[str, Fraction, Fraction]:
        """The name, or "", and the values that a text names."""
        name, _, ends = text.rpartition("=")
        try:
            first, last = map(parse_rational, ends.split(":"))
        except ValueError:
            raise ValueError(self.expected) from None
        if min(first, last) <= 0:
            raise ValueError("values greater than 0")
        return name, first, last


@MOTIONS.register("sweep")
class Sweep(Motion):
    """A rational parameter of a game goes from one value to another; the larger body of the first and the last frames them all."""

    about = "a rational parameter of a game changes, such as the a of a chocolate"
    options = (Parameter("sweep", Ends(), "1:8", "the values of the parameter; NAME where the game has several"),)

    @classmethod
    def check(cls, movie: "Movie") -> None:
        """Check the source, and the values of its parameter."""
        super().check(movie)
        _, first, last = cls._range(movie)
        sweep_values(first, last, movie.frames)

    @classmethod
    def _range(cls, movie: "Movie") -> tuple[str, Fraction, Fraction]:
        """Return the parameter's name, and its first and last value."""
        game, _, arguments = movie.source.partition(":")
        rational = _rational_parameters(game)
        if not rational:
            able = " or ".join(filter(_rational_parameters, games.CATALOGUE))
            raise UsageError(f"a sweep needs a game with a rational parameter, {able}, got {movie.source!r}")
        name, first, last = cls.values(movie)["sweep"]
        if (not name and len(rational) > 1) or (name and name not in rational):
            raise UsageError(f"sweep must name a rational parameter of {game}, {' or '.join(rational)}, got {name!r}")
        name = name or rational[0]
        if any(part.startswith(f"{name}=") for part in arguments.split(",")):
            raise UsageError(f"a sweep goes through values of {name}, got the source {movie.source!r} with one")
        return name, first, last

    def framed_body(self) -> Blocks:
        """Return the larger body of the first and the last frame."""
        return max(map(self._body, self._range(self.movie)[1:]), key=lambda blocks: np.subtract(*blocks.bounds()[::-1]).sum())

    def widest_caption(self, blocks: Blocks) -> str:
        """Return the caption of the body that fills the picture, with the greatest value."""
        return self._caption(max(self._range(self.movie)[1:]), blocks)

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        look = self.movie.look
        _, first, last = self._range(self.movie)
        value = sweep_values(first, last, self.movie.frames)[number]
        blocks = cut_open(self._body(value), look, self.camera.basis[2])
        with Drawing(blocks, look, self.engine) as drawing:
            return drawing.frame(self.camera, None, self._caption(value, blocks))

    def _body(self, value: Fraction) -> Blocks:
        game, _, arguments = self.movie.source.partition(":")
        return prepare(f"{game}:{self._range(self.movie)[0]}={value},{arguments}", self.movie.look)

    def _caption(self, value: Fraction, blocks: Blocks) -> str:
        game = games.find(self.movie.source.partition(":")[0])
        return f"{game.summary}    {self._range(self.movie)[0]} = {float(value):.3f}    {len(blocks):,} positions"


def _rational_parameters(game: str) -> list[str]:
    entry = games.CATALOGUE.get(game)
    return [parameter.name for parameter in entry.parameters if isinstance(parameter.type, Rational)] if entry else []


def sweep_values(first: Fraction, last: Fraction, frames: int) -> list[Fraction]:
    """Return the value of each frame of a sweep: the ends and every whole number between them exactly, with a pause at each.

    Raises:
        UsageError: there are more of these than frames.

    >>> [str(a) for a in sweep_values(Fraction(1), Fraction(3), 9)]
    ['1', '1', '3/2', '2', '2', '2', '5/2', '3', '3']
    """
    low, high = min(first, last), max(first, last)
    whole = range(ceil(low), floor(high) + 1)
    needed = len(whole) + sum(end.denominator > 1 for end in {low, high})
    if frames < needed:
        raise UsageError(f"a sweep from {first} to {last} needs {needed:,} frames or more, one for each whole value, got {frames}")
    stops = sorted({low, high, *map(Fraction, whole)}, reverse=first > last)
    gaps = len(stops) - 1
    values = []
    for gap in range(gaps):
        steps = (gap + 1) * (frames - 1) // gaps - gap * (frames - 1) // gaps
        for step in range(steps):
            moved = (Fraction(step, steps) - _STANDING) / (1 - 2 * _STANDING)
            way = (stops[gap + 1] - stops[gap]) * min(max(moved, Fraction(0)), Fraction(1))
            values.append((stops[gap] + way).limit_denominator(1000) if 0 < moved < 1 else stops[gap] + way)
    return values + stops[-1:] * (frames - len(values))


def orbit(
    points: NDArray[np.floating],
    azimuth: float,
    aspect: float,
    elevation: float = _ELEVATION,
    *,
    parallel: bool = False,
    head: float = 0.0,
) -> Camera:
    """Return a turntable's camera, at a constant distance from the body's axis with all of the body in view.

    Args:
        points: the hull of the body, (N, 3).
        azimuth: in degrees.
        aspect: width over height of the picture.
        elevation: in degrees.
        parallel: whether sight lines are parallel.
        head: the part of the height that is left free for a title.
    """
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    # The body of revolution: every point at every angle, as rings.
    rings = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    arms = np.linalg.norm((points - middle)[:, :2], axis=1)
    swept = np.stack([arms[:, None] * np.cos(rings), arms[:, None] * np.sin(rings)], axis=-1)
    heights = np.broadcast_to((points - middle)[:, 2, None], swept.shape[:2])
    whole = np.concatenate([swept, heights[..., None]], axis=-1).reshape(-1, 3)
    still = fit(_from_the_side(0.0, elevation, parallel), whole, aspect, margin=0.04, head=head)
    basis = _from_the_side(azimuth, elevation, parallel).basis()
    return replace(still, eye=middle + (still.basis @ still.eye) @ basis, basis=basis)


def _from_the_side(azimuth: float, elevation: float, parallel: bool) -> View:
    """Return a view whose upward direction turns with it, so that the body turns even when seen from above."""
    up = from_angles(azimuth, elevation + 90)
    return replace(from_angles(azimuth, elevation), up=up.toward, parallel=parallel)


def flight(outside: Camera, blocks: Blocks, part: float) -> Camera:
    """Return the camera at a part, 0 to 1, of the way from `outside` into the body."""
    low, high = (corner.astype(np.float64) for corner in blocks.bounds())
    ease = part * part * (3 - 2 * part)
    inside = low + (high - low) * [0.62, -0.10, 0.30]
    target = low + (high - low) * [0.40, 0.55, 0.47]
    eye = outside.eye * (1 - ease) + inside * ease
    ahead = outside.eye - outside.basis[2] * ((outside.eye - (low + high) / 2) @ outside.basis[2])
    aimed = ahead * (1 - ease) + target * ease
    toward = eye - aimed
    toward /= np.linalg.norm(toward)
    upright = outside.basis[1] * (1 - ease) + np.array([0.0, 0.0, ease])
    x, y, z, *up = (float(component) for component in (*toward, *upright))
    angle = np.tan(np.arctan(outside.scale) * (1 - ease) + np.radians(28.0) * ease)
    return Camera(eye, View((x, y, z), (up[0], up[1], up[2])).basis(), float(angle), False)
