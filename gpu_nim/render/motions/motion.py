"""Movies as data, and what their motions have in common: the object, and the schedule of one that pauses at some stops."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from gpu_nim.games.entries import Parameter, ParameterType, integer_type
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.geometry import Blocks, generations_unknown
from gpu_nim.render.image import Frame, choose_engine, prepare, require_traceable
from gpu_nim.render.look import OPTIONS, CameraStyle, Look, require_effect
from gpu_nim.render.source import ParsedSource, read_source
from gpu_nim.render.traced_object import traced_object
from gpu_nim.render.views import INSIDE


def movie_options(motion: str, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a movie with a motion in messages, and the options of a look that it takes."""
    takes = OPTIONS - {"transparent", "eye", "look_at"} - MOTIONS[motion].refuses
    return (f"a {motion} of a flat object", takes - {"cut"}) if flat else (f"a {motion} movie", takes)


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

    @property
    def values(self) -> dict[str, Any]:
        """The values of the motion's own options, by name."""
        options = MOTIONS[self.motion].options
        return {option.name: option.read(self.options.get(option.name, option.default or "")) for option in options}

    @property
    def beat(self) -> int:
        """The frames of a quarter of a second: the longest pause."""
        return self.rate // 4

    @property
    def engine(self) -> str:
        """The engine that draws it on this machine."""
        return choose_engine(self.look, read_source(self.source))[0] if MOTIONS[self.motion].draws_blocks else "trace"


class Motion(ABC):
    """Draws the frames of a movie, in any order: a frame depends on its number alone.

    The class attributes describe the motion:

    - name: its name.
    - summary: what it shows, in a line.
    - example: a source that it shows well.
    - options: its own options, which become options of `gpunim movie` and are given in `Movie.options`.
    - refuses: the options of a look that would have no effect.
    - draws_blocks: whether OpenGL and NumPy draw it.

    Args:
        movie: the movie.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str] = "nim:63"
    options: ClassVar[tuple[Parameter, ...]] = ()
    refuses: ClassVar[frozenset[str]] = frozenset()
    draws_blocks: ClassVar[bool] = True

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
        _ = movie.values  # each can be read
        if movie.look.view == INSIDE:
            raise UsageError(f"view must be from outside for a movie, got {INSIDE!r}")
        if movie.look.traced:
            require_traceable(movie.look)
        elif movie.look.engine != "auto" and not cls.draws_blocks:
            raise UsageError(f"engine must be auto or trace for a {movie.motion} movie, got {movie.look.engine!r}")

    def __init__(self, movie: Movie) -> None:
        self.movie, self.look, self.engine = movie, movie.look, movie.engine
        self.source = read_source(movie.source)

    @abstractmethod
    def frame(self, number: int, progress: OnStep = no_progress) -> Frame:
        """Return one frame.

        Args:
            number: counted from 0.
            progress: called for progress within the frame, where it is traced.
        """

    def object_of(self, source: ParsedSource, *, growing: bool = False) -> Blocks:
        """Return the object of a source, as blocks or to be traced.

        Args:
            source: the source.
            growing: as for `gpu_nim.render.traced_object.traced_object`.

        Raises:
            UsageError: it is flat, and the look has an option that has no effect on it.
        """
        obj = traced_object(source, self.look, growing=growing) if self.engine == "trace" else prepare(source, self.look)
        if growing and obj.colouring == "density":
            raise generations_unknown(source.name)
        if obj.flat:
            require_effect(*movie_options(self.movie.motion, flat=True), self.look)
        return obj


MOTIONS = Registry[type[Motion]]("motion")


def motion_of(movie: Movie) -> Motion:
    """Return the renderer of a movie."""
    return MOTIONS[movie.motion](movie)


def schedule(stops: int, frames: int, hold: int) -> list[tuple[int, Fraction]]:
    """Return for each frame the index of the stop that it is at or has passed, and the part of the way to the next one.

    Each stop has `hold` frames in a row, and the others are divided evenly among the ways between stops; without pauses
    (`hold` 0), all frames are.

    Args:
        stops: the number of stops, 1 or more.
        frames: the number of frames.
        hold: the frames of each pause.

    Raises:
        UsageError: the pauses take more frames than there are.

    >>> [f"{stop} + {way}" for stop, way in schedule(2, 7, 2)]
    ['0 + 0', '0 + 0', '0 + 1/4', '0 + 1/2', '0 + 3/4', '1 + 0', '1 + 0']
    """
    moving, ways, last = frames - stops * hold, stops - 1, max(frames - 1, 1)
    if moving < 0:
        pauses = f"{stops:,} pause{'s' * (stops > 1)} of {hold:,} frames"
        raise UsageError(f"hold: {pauses} take {stops * hold:,} frames, but the movie has {frames:,}")
    if not ways:
        return [(0, Fraction(0))] * frames
    if not hold:
        return [(number * ways // last, Fraction(number * ways % last, last)) for number in range(frames)]
    found = []
    for stop in range(ways):
        steps = (stop + 1) * moving // ways - stop * moving // ways
        found += [(stop, Fraction(0))] * hold + [(stop, Fraction(step, steps + 1)) for step in range(1, steps + 1)]
    return found + [(ways, Fraction(0))] * hold


def hold_option(stops: str) -> Parameter:
    """Return the option `hold` of a motion that pauses at these stops; by default a third of the movie are pauses."""
    frames = ParameterType(
        "frames", "a number of frames, 1 or more, or auto", lambda text: None if text == "auto" else integer_type(1).read(text)
    )
    return Parameter("hold", frames, "auto", f"the frames of each pause, {stops}")


def pause(stops: int, frames: int, hold: int | None) -> int:
    """Return the frames of each pause, by default of a third of the movie in all.

    >>> pause(8, 240, None)
    10
    """
    return frames // (3 * stops) if hold is None else hold
