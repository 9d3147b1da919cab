"""Movies as data, and what their motions have in common: the body, and the schedule of one that pauses at some stops."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gpu_nim.games.entries import Parameter
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.framing import aim, annotations, cut_open, framed, outline_of
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import DrawnBody, body_of, choose_engine, may_trace, require_traceable
from gpu_nim.render.look import OPTIONS, CameraStyle, Look, require_effect
from gpu_nim.render.source import only_traced
from gpu_nim.render.traced_body import TracedBody
from gpu_nim.render.views import INSIDE, Camera

if TYPE_CHECKING:
    from PIL.Image import Image


def movie_options(motion: str, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a movie with a motion in messages, and the options of a look that it takes."""
    takes = OPTIONS - {"transparent", "eye", "look_at"} - MOTIONS[motion].refuses
    return (f"a {motion} of a flat body", takes - {"cut"}) if flat else (f"a {motion} movie", takes)


@dataclass(frozen=True)
class Movie:
    """The contents of a movie.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        motion: a name of `motions.MOTIONS`.
        frames: the number of frames.
        rate: frames a second, 1 to 120.
        options: the motion's own options, as texts by name.
        look: the appearance of the frames.

    Raises:
        UsageError: a value is none of these, or there is no such movie of the source.

    >>> Movie("chocolate:size=31", "sweep", frames=90, options={"sweep": "1..4"}).rate
    30
    """

    source: str
    motion: str = "turntable"
    frames: int = 240
    rate: int = 30
    options: Mapping[str, str] = field(default_factory=dict)
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        motion = MOTIONS.find(self.motion)
        if self.frames < 1 or not 1 <= self.rate <= 120:
            raise UsageError(f"a movie needs 1 or more frames at 1 to 120 a second, got {self.frames} at {self.rate}")
        motion.check(self)
        require_effect(*movie_options(self.motion), self.look)
        if not issubclass(self.look.drawn_style, CameraStyle):
            raise UsageError(f"a movie cannot be made of {self.look.style_name}")


class Motion(ABC):
    """Draws the frames of a movie, in any order: a frame depends on its number alone.

    A context manager, which closes what was entered into the stack `windows`.

    The class attributes describe the motion:

    - name: its name.
    - summary: what it shows, in a line.
    - example: a source that it shows well.
    - options: its own options, which become options of `gpunim movie` and are given in `Movie.options`.
    - refuses: the options of a look that would have no effect.
    - traces: whether it can be traced.

    Args:
        movie: the movie.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str] = "nim:63"
    options: ClassVar[tuple[Parameter, ...]] = ()
    refuses: ClassVar[frozenset[str]] = frozenset()
    traces: ClassVar[bool] = False

    @classmethod
    def engine_of(cls, movie: Movie) -> str:
        """Return the engine that draws a movie with this motion.

        Args:
            movie: the movie.
        """
        if cls.traces and may_trace(movie.look) and only_traced(movie.source):
            return "trace"
        return choose_engine(movie.look)[0]

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the options and the source of a movie with this motion.

        Args:
            movie: the movie.

        Raises:
            UsageError: an option has no effect, or a value or the source does not suit.
        """
        for name in movie.options.keys() - {option.name for option in cls.options}:
            takers = " or ".join(motion for motion, known in MOTIONS.items() if name in {option.name for option in known.options})
            if not takers:
                raise UsageError(f"no motion has an option {name}")
            raise UsageError(f"{name} would have no effect on motion {movie.motion}: motion {takers} takes it")
        cls.values(movie)
        if movie.look.view == INSIDE:
            raise UsageError(f"view must be from outside for a movie, got {INSIDE!r}")
        if movie.look.traced:
            require_traceable(movie.look)
            if not cls.traces:
                able = ", ".join(name for name, motion in MOTIONS.items() if motion.traces)
                raise UsageError(f"motion must be one of {able} for a traced movie, got {movie.motion!r}")

    @classmethod
    def values(cls, movie: Movie) -> dict[str, Any]:
        """Return the values of the motion's own options in a movie.

        Args:
            movie: the movie.

        Raises:
            UsageError: a text names no value.
        """
        texts = {option.name: movie.options.get(option.name, option.default) for option in cls.options}
        return {option.name: option.read(texts[option.name] or "") for option in cls.options}

    def __init__(self, movie: Movie) -> None:
        self.movie = movie
        self.engine = self.engine_of(movie)
        self.windows = ExitStack()
        self.on_step: OnStep = unreported
        """Called for progress within a frame, where it is traced."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.windows.close()

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


class BodyMotion(Motion):
    """A motion that shows one body.

    The class attribute `draws_flat` says whether it can be made of flat bodies. The body is drawn as blocks, or traced.

    Args:
        movie: the movie.

    Raises:
        UsageError: the motion needs a body in space, and the movie's is flat.
    """

    draws_flat: ClassVar[bool] = True
    traces = True

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self.whole = self.framed_body()
        if outline_of(self.whole).flat:
            if not self.draws_flat:
                raise UsageError(f"a {movie.motion} movie needs a body in space, and {movie.source} is flat")
            require_effect(*movie_options(movie.motion, flat=True), movie.look)
        self.running = self.widest_caption(self.whole)
        self.margins = annotations(self.whole, movie.look, self.running).margins
        self.camera = aim(self.whole, movie.look, margins=self.margins)
        self.body = cut_open(self.whole, movie.look, self.camera.basis[2])
        self.hull = framed(outline_of(self.body), movie.look)

    def framed_body(self) -> Blocks | TracedBody:
        """Return the body that fills the picture."""
        return body_of(self.movie.source, self.movie.look, self.engine)

    def widest_caption(self, body: Blocks | TracedBody) -> str:
        """Return the longest caption of any frame.

        Args:
            body: the body that fills the picture.
        """
        return ""

    def drawn_from(self, camera: Camera) -> "Image":
        """Return the picture of the body from a camera.

        Args:
            camera: the camera.
        """
        return self._drawn.frame(camera, on_step=self.on_step)

    @cached_property
    def _drawn(self) -> DrawnBody:
        return self.windows.enter_context(DrawnBody(self.body, self.movie.look, self.engine, running=self.running))


_OF_COMMAND = {"out", "motion", "seconds", "fps", "workers", "scheduler", "json", "as_json", "quiet", "memory", "help"}
RESERVED = OPTIONS | {"source"} | _OF_COMMAND
"""What every movie takes: no option of a motion may have such a name."""


def _check_names(motion: type[Motion]) -> None:
    for option in motion.options:
        if option.name.replace("-", "_") in RESERVED:
            raise UsageError(f"an option of motion {motion.name} cannot be called {option.name}, which is an option of every movie")


MOTIONS = Registry[type[Motion]]("motion", check=_check_names)


def motion_of(movie: Movie) -> Motion:
    """Return the renderer of a movie."""
    return MOTIONS[movie.motion](movie)


@dataclass(frozen=True)
class Schedule:
    """The place of each frame on the way over `stops` stops, each of them shown by `hold` frames in a row.

    The other frames are divided evenly among the ways between stops; without pauses (`hold` 0), all frames are.

    Args:
        stops: the number of stops, 1 or more.
        frames: the number of frames.
        hold: the frames of each pause.

    Raises:
        UsageError: the pauses take more frames than there are.
    """

    stops: int
    frames: int
    hold: int

    def __post_init__(self) -> None:
        if self.frames < self.stops * self.hold:
            raise UsageError(
                f"hold: {self.stops:,} pauses of {self.hold:,} frames take {self.stops * self.hold:,} frames, "
                f"but the movie has {self.frames:,}"
            )

    def place(self, number: int) -> tuple[int, Fraction]:
        """Return the place of a frame: the index of the stop that it is at or has passed, and the part of the way to the next one.

        Args:
            number: the frame, counted from 0.

        >>> [f"{stop} + {way}" for stop, way in map(Schedule(2, 7, 2).place, range(7))]
        ['0 + 0', '0 + 0', '0 + 1/4', '0 + 1/2', '0 + 3/4', '1 + 0', '1 + 0']
        """
        ways = self.stops - 1
        if not ways:
            return 0, Fraction(0)
        if not self.hold:
            stop, rest = divmod(number * ways, max(self.frames - 1, 1))
            return stop, Fraction(rest, max(self.frames - 1, 1))
        moving = self.frames - self.stops * self.hold
        for stop in range(ways):
            steps = (stop + 1) * moving // ways - stop * moving // ways
            if number < self.hold + steps:
                return stop, Fraction(max(number - self.hold + 1, 0), steps + 1)
            number -= self.hold + steps
        return ways, Fraction(0)


@dataclass(frozen=True)
class Pause:
    """A number of frames; auto is None."""

    word: ClassVar[str] = "frames"
    expected: ClassVar[str] = "a number of frames, 1 or more, or auto"

    def read(self, text: str) -> int | None:
        """Return the number that a text names."""
        if text == "auto":
            return None
        if not (text.isascii() and text.isdigit() and int(text)):
            raise ValueError(self.expected)
        return int(text)


def hold_option(places: str) -> Parameter:
    """Return the option `hold` of a motion that pauses at these places; by default a third of the movie are pauses."""
    return Parameter("hold", Pause(), "auto", f"the frames of each pause, {places}")


def scheduled(stops: int, frames: int, hold: int | None) -> Schedule:
    """Return the schedule of that many stops and frames, with pauses of a third of them unless `hold` says how long.

    >>> scheduled(8, 240, None).hold
    10
    """
    return Schedule(stops, frames, frames // (3 * stops) if hold is None else hold)
