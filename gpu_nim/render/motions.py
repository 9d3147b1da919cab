"""Kinds of movies: one class each, registered under the name that the option `kind` takes."""

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.render.framing import aim, cut_open, hull, margins
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import Drawing, choose_engine, prepare
from gpu_nim.render.look import OPTIONS, require_heard
from gpu_nim.render.views import Camera, View, fit, from_angles

if TYPE_CHECKING:
    from PIL.Image import Image

    from gpu_nim.render.movie import Movie

SWEEP = (Fraction(1), Fraction(8))
_ELEVATION = 20.0  # degrees above the horizon of a turntable's camera
_HELD = 0.12  # the part of a growth's movie that shows its last generation
_STANDING = Fraction(1, 4)  # the part of the way from one whole a to the next in which a sweep pauses, at each end


def movie_options(kind: str, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a kind of movie in messages, and the options that it takes."""
    takes = OPTIONS - {"transparent"}
    return (f"a {kind} of a flat body", takes - {"cut"}) if flat else (f"a {kind} movie", takes)


class FrameRenderer(ABC):
    """Draws the frames of a movie, in any order.  A context manager: it holds a window.

    The class attributes describe the kind:

    - about: a line for the help text.
    - draws_flat: whether it can be made of flat bodies.
    - takes_sweep: whether it goes through values of a.

    Args:
        movie: the movie.

    Raises:
        UsageError: the kind needs a body in space, and the movie's is flat.
    """

    about: ClassVar[str]
    draws_flat: ClassVar[bool] = True
    takes_sweep: ClassVar[bool] = False

    @classmethod
    def check(cls, movie: "Movie") -> None:
        """Check the options of a movie of this kind.

        Args:
            movie: the movie.

        Raises:
            UsageError: the kind does not take one of them.
        """
        if not cls.takes_sweep and movie.sweep != SWEEP:
            swept = " or ".join(name for name, kind in KINDS.items() if kind.takes_sweep)
            raise UsageError(f"only a {swept} takes sweep, got kind {movie.kind!r}")

    def __init__(self, movie: "Movie") -> None:
        self.movie = movie
        self.engine, self.note = choose_engine(movie.look)
        self.aspect = movie.look.size[0] / movie.look.size[1]
        self._drawing: Drawing | None = None
        blocks = prepare(self.framed_source(), movie.look)
        if blocks.flat:
            if not self.draws_flat:
                raise UsageError(f"a {movie.kind} movie needs a body in space, and {movie.source} is flat")
            require_heard(*movie_options(movie.kind, flat=True), movie.look)
        self.camera = aim(blocks, movie.look, self.widest_caption(blocks))
        self.blocks = cut_open(blocks, movie.look, self.camera.basis[2])
        self.hull = hull(self.blocks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawing is not None:
            self._drawing.__exit__(*error)

    def framed_source(self) -> str:
        """Return the source that fills the picture."""
        return self.movie.source

    def widest_caption(self, blocks: Blocks) -> str:
        """Return the longest caption of any frame.

        Args:
            blocks: the body of the source that fills the picture.
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


KINDS = Registry[type[FrameRenderer]]("kind")


def frame_renderer(movie: "Movie") -> FrameRenderer:
    """Return what draws the frames of a movie."""
    return KINDS[movie.kind](movie)


@KINDS.register("turntable")
class Turntable(FrameRenderer):
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


@KINDS.register("growth")
class GrowthInTime(FrameRenderer):
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


@KINDS.register("fly-in")
class FlyIn(FrameRenderer):
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


@KINDS.register("sweep")
class Sweep(FrameRenderer):
    """A chocolate's a goes from one value to another; the widest body, of the smallest a, frames them all."""

    about = "the a of a chocolate changes"
    takes_sweep = True

    @classmethod
    def check(cls, movie: "Movie") -> None:
        """Check the source, and the values of a."""
        if not movie.source.startswith("chocolate:"):
            raise UsageError(f"a sweep needs a source chocolate:size=NUMBER, got {movie.source!r}")
        if min(movie.sweep) <= 0:
            raise UsageError(f"a sweep needs values of a greater than 0, got {movie.sweep[0]}:{movie.sweep[1]}")
        if any(part.startswith("a=") for part in movie.source.partition(":")[2].split(",")):
            raise UsageError(f"a sweep goes through values of a, got the source {movie.source!r} with one")
        sweep_values(*movie.sweep, movie.frames)

    def framed_source(self) -> str:
        """Return the source that fills the picture."""
        return self._swept(min(self.movie.sweep))

    def widest_caption(self, blocks: Blocks) -> str:
        """Return the caption of the widest body."""
        return _swept_caption(min(self.movie.sweep), blocks)

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        look = self.movie.look
        a = sweep_values(*self.movie.sweep, self.movie.frames)[number]
        blocks = cut_open(prepare(self._swept(a), look), look, self.camera.basis[2])
        with Drawing(blocks, look, self.engine) as drawing:
            return drawing.frame(self.camera, None, _swept_caption(a, blocks))

    def _swept(self, a: Fraction) -> str:
        name, _, arguments = self.movie.source.partition(":")
        return f"{name}:a={a},{arguments}"


def _swept_caption(a: Fraction, blocks: Blocks) -> str:
    return f"{float(a):.3f} y ≤ x + z    {len(blocks):,} P-positions"


def sweep_values(first: Fraction, last: Fraction, frames: int) -> list[Fraction]:
    """Return the a of each frame of a sweep: the ends and every whole number between them exactly, with a pause at each.

    Raises:
        UsageError: there are more of these than frames.

    >>> [str(a) for a in sweep_values(Fraction(1), Fraction(3), 9)]
    ['1', '1', '3/2', '2', '2', '2', '5/2', '3', '3']
    """
    low, high = min(first, last), max(first, last)
    whole = range(ceil(low), floor(high) + 1)
    needed = len(whole) + sum(end.denominator > 1 for end in {low, high})
    if frames < needed:
        raise UsageError(f"a sweep from {first} to {last} needs {needed:,} frames or more, one for each whole a, got {frames}")
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
