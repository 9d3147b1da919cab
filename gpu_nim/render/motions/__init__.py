"""Movies as data, and the motions of movies: each is a class, registered in `MOTIONS` under the name that `motion` takes.

Here is what they have in common: the object, and cameras around one that turns. Every module of this folder is imported.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, import_all
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.growth_sources import ParsedSource
from gpu_nim.render.image import choose_engine, framed, prepare, require_traceable, with_shadow
from gpu_nim.render.look import OPTIONS, Look, require_effect
from gpu_nim.render.source import Source, read_source
from gpu_nim.render.style import CameraStyle
from gpu_nim.render.styles import STYLES
from gpu_nim.render.traced_object import Drawn, traced_object
from gpu_nim.render.views import INSIDE, Camera, Margins, View, fit

#: The end of the name of a motion during which the object turns once.
TURNING = "+turntable"

_ANGLES = 25  # of a turn, at which an object is framed


def movie_options(motion: str, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a movie with a motion in messages, and the options of a look that it takes."""
    takes = OPTIONS - {"eye", "look_at"} - MOTIONS[motion.removesuffix(TURNING)].refuses
    return (f"a {motion} of a flat object", takes - {"cut"}) if flat else (f"a {motion} movie", takes)


@dataclass(frozen=True, repr=False)
class Movie(Shown):
    """The contents of a movie.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        motion: a name of `motions.MOTIONS`, or one with +turntable, such as growth+turntable.
        frames: the number of frames.
        rate: frames a second, 1 to 120.
        look: the appearance of the frames.

    Raises:
        UsageError: a value is none of these, or there is no such movie of the source.

    >>> Movie("chocolate:a=1..4,size=31", "sweep", frames=90).rate
    30
    """

    source: Source
    motion: str = "turntable"
    frames: int = 240
    rate: int = 30
    look: Look = field(default_factory=Look)

    def __post_init__(self) -> None:
        motion = self.kind
        if self.turns and not motion.combines:
            able = " or ".join(name for name, known in MOTIONS.items() if known.combines)
            raise UsageError(f"motion {TURNING} needs {able} before it, got {self.motion!r}")
        if self.frames < 1 or not 1 <= self.rate <= 120:
            raise UsageError(f"a movie needs 1 or more frames at 1 to 120 a second, got {self.frames} at {self.rate}")
        motion.check(self)
        if not issubclass(STYLES.find(self.look.style), CameraStyle):
            raise UsageError(f"a movie cannot be made of {self.look.style}")
        self.check_effect(())

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "found"}
        return state | {"source": self.found.name} if self.found.read else state

    def check_effect(self, given: Collection[str]) -> None:
        """Raise UsageError where an option of the look would have no effect; see `gpu_nim.render.look.require_effect`."""
        name, takes = movie_options(self.motion, flat=self.found.dimension == 2)
        require_effect(name, takes - STYLES.find(self.look.style).refuses, self.look, given)

    @cached_property
    def found(self) -> ParsedSource:
        """Its source, read."""
        return read_source(self.source)

    @property
    def kind(self) -> "type[Motion]":
        """Its motion; UsageError where there is none of that name."""
        return MOTIONS.find(self.motion.removesuffix(TURNING))

    @property
    def turns(self) -> bool:
        """Whether the object turns once during another motion."""
        return self.motion.endswith(TURNING)

    @property
    def beat(self) -> int:
        """The frames of a quarter of a second: the longest pause."""
        return self.rate // 4

    @property
    def engine(self) -> str:
        """The engine that draws it on this machine."""
        return choose_engine(self.look, self.found)[0] if self.kind.draws_blocks else "trace"


class Motion(ABC):
    """Draws the frames of a movie, in any order: a frame depends on its number alone.

    The class attributes describe the motion:

    - name: its name.
    - summary: what it shows, in a line.
    - example: a source that it shows well.
    - refuses: the options of a look that would have no effect.
    - draws_blocks: whether OpenGL and NumPy draw it.
    - combines: whether the object can turn once during it.
    - turn: degrees that the object turns during it.

    Args:
        movie: the movie.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str] = "nim:63"
    refuses: ClassVar[frozenset[str]] = frozenset()
    draws_blocks: ClassVar[bool] = True
    combines: ClassVar[bool] = False
    turn: float = 0.0

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source and the look of a movie with this motion.

        Args:
            movie: the movie.

        Raises:
            UsageError: one of them does not suit.
        """
        if movie.look.view == INSIDE:
            raise UsageError(f"view must be from outside for a movie, got {INSIDE!r}")
        if movie.look.traced:
            require_traceable(movie.look)
        elif movie.look.engine != "auto" and not cls.draws_blocks:
            raise UsageError(f"engine must be auto or trace for a {movie.motion} movie, got {movie.look.engine!r}")

    def __init__(self, movie: Movie) -> None:
        self.movie, self.look, self.engine = movie, movie.look, movie.engine
        self.source = movie.found
        if movie.turns:
            self.turn = 360.0

    def angle(self, number: int) -> float:
        """Return the degrees from the view's own direction to that of a frame: 0 in the last."""
        return self.turn * ((number + 1) / self.movie.frames - 1)

    @abstractmethod
    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame.

        Args:
            number: counted from 0.
            progress: called for progress within the frame, where it is traced.
        """

    def object_of(self, source: ParsedSource) -> Drawn:
        """Return the object of a source, as blocks or to be traced.

        Args:
            source: the source.
        """
        return traced_object(source, self.look) if self.engine == "trace" else prepare(source, self.look)


MOTIONS = Registry[type[Motion]]("motion", also=f", some with {TURNING}")


def motion_of(movie: Movie) -> Motion:
    """Return the renderer of a movie."""
    return movie.kind(movie)


def orbit(obj: Blocks, look: Look, view: View, turn: float, margins: Margins) -> Callable[[float], Camera]:
    """Return the cameras around an object that turns about the vertical through its middle, by their angles in degrees from a view.

    It is in view of all, at one distance.

    Args:
        obj: the object.
        look: its appearance.
        view: the view at angle 0.
        turn: the degrees that it turns.
        margins: what is left free for words.
    """
    hull = framed(obj, look)
    middle = (hull.min(axis=0) + hull.max(axis=0)) / 2
    turned = np.concatenate([(hull - middle) @ _rotation(angle) for angle in np.linspace(-turn, 0, _ANGLES)])
    beside = fit(view, with_shadow(turned, view, look), look.aspect, margins=margins)

    def camera(angle: float) -> Camera:
        basis = beside.basis @ _rotation(angle).T
        return replace(beside, eye=middle + (beside.basis @ beside.eye) @ basis, basis=basis)

    return camera


def _rotation(angle: float) -> NDArray[np.float64]:
    """Return the matrix (3, 3) of a rotation about the vertical by degrees."""
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


import_all(__path__, __name__)
