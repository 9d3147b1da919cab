"""Schedules: a movie that pauses at some stops, and moves from each to the next."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gpu_nim.games.entries import Parameter
from gpu_nim.model.errors import UsageError


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
