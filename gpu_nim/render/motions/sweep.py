"""Sweeps over a parameter of a game."""

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np

from gpu_nim.games import catalogue as games
from gpu_nim.games.entries import Parameter, ParameterType
from gpu_nim.model.arguments import parse_rational
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.framing import aim, view_of
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import Frame, Renderer
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, hold_option, pause, schedule
from gpu_nim.render.source import read_source


def _ends(text: str) -> tuple[str, Fraction, Fraction]:
    """Return the name of a parameter, or "", and its first and last value: of 1..8 or a=1..8."""
    name, _, ends = text.rpartition("=")
    first, last = map(parse_rational, ends.split(".."))
    if min(first, last) <= 0:
        raise ValueError
    return name, first, last


_ENDS = ParameterType("[name=]first..last", "FIRST..LAST or NAME=FIRST..LAST, both greater than 0, such as 1..8 or a=1..8", _ends)


@MOTIONS.add
class Sweep(Motion):
    """A rational parameter of a game goes from one value to another; the larger of the first and the last object frames all."""

    name = "sweep"
    summary = "a rational parameter of a game changes, such as the a of a chocolate, with a pause at each whole value"
    example = "chocolate:size=31"
    options = (
        Parameter("sweep", _ENDS, "1..8", "the first and the last value of the parameter; NAME where the game has several"),
        hold_option("at the first, the last and every whole value"),
    )

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source, and the values of its parameter."""
        super().check(movie)
        cls._swept(movie)

    @classmethod
    def _swept(cls, movie: Movie) -> tuple[str, list[Fraction]]:
        """Return the parameter's name, and its value in each frame."""
        game, _, arguments = movie.source.partition(":")
        rational = _rational_parameters(game)
        if not rational:
            able = " or ".join(filter(_rational_parameters, games.CATALOGUE))
            raise UsageError(f"a sweep needs a game with a rational parameter, {able}, got {movie.source!r}")
        name, first, last = movie.values["sweep"]
        if (not name and len(rational) > 1) or (name and name not in rational):
            raise UsageError(f"sweep must name a rational parameter of {game}, {' or '.join(rational)}, got {name!r}")
        name = name or rational[0]
        if any(part.startswith(f"{name}=") for part in arguments.split(",")):
            raise UsageError(f"a sweep goes through values of {name}, got the source {movie.source!r} with one")
        return name, sweep_values(first, last, movie.frames, movie.values["hold"])

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self.parameter, self.sweep = self._swept(movie)
        ends = map(self._object, (self.sweep[0], self.sweep[-1]))
        self.largest = max(ends, key=lambda obj: np.subtract(*obj.bounds()[::-1]).sum())  # which frames all others
        self._running = self._caption(max(self.sweep), self.largest)
        self._toward = view_of(self.largest, self.look).basis()[2]
        self._camera = aim(self.largest.opened(self.look.cut, self._toward), self.look, self._running)
        self._picture = lru_cache(1)(self._draw)  # a pause is drawn once

    def frame(self, number: int, progress: OnStep = no_progress) -> Frame:
        """Return one frame."""
        return self._picture(self.sweep[number], progress)

    def _draw(self, value: Fraction, progress: OnStep) -> Frame:
        whole = self._object(value)
        drawn = Renderer(whole.opened(self.look.cut, self._toward), self.look, self.engine, running=self._running)
        return drawn.frame(self._camera, self._caption(value, whole), progress=progress)

    def _object(self, value: Fraction) -> Blocks:
        game, _, arguments = self.movie.source.partition(":")
        return self.object_of(read_source(f"{game}:{self.parameter}={value},{arguments}"))

    def _caption(self, value: Fraction, obj: Blocks) -> str:
        game = games.find(self.movie.source.partition(":")[0])
        return f"{game.summary.replace('<=', '≤')}    {self.parameter} = {float(value):.3f}    {obj.population:,} positions"


def _rational_parameters(game: str) -> list[str]:
    entry = games.CATALOGUE.get(game)
    return [parameter.name for parameter in entry.parameters if parameter.type.ranges] if entry else []


def sweep_values(first: Fraction, last: Fraction, frames: int, hold: int | None = None) -> list[Fraction]:
    """Return the value of each frame of a sweep, with a pause at each end and at every whole number between them.

    Args:
        first: the first value.
        last: the last value.
        frames: the number of frames.
        hold: the frames of each pause; None for a third of the movie, but one frame at least.

    Raises:
        UsageError: the pauses take more frames than there are.

    >>> [str(a) for a in sweep_values(Fraction(1), Fraction(3), 9, 2)]
    ['1', '1', '3/2', '2', '2', '7/3', '8/3', '3', '3']
    """
    low, high = min(first, last), max(first, last)
    whole = range(ceil(low), floor(high) + 1)
    needed = len(whole) + sum(end.denominator > 1 for end in {low, high})
    if frames < needed:
        raise UsageError(f"a sweep from {first} to {last} needs {needed:,} frames or more, one for each whole value, got {frames}")
    stops = sorted({low, high, *map(Fraction, whole)}, reverse=first > last)
    held = max(1, pause(len(stops), frames, None)) if hold is None else hold
    ahead = [*stops, stops[-1]]
    return [ahead[stop] + (ahead[stop + 1] - ahead[stop]) * way for stop, way in schedule(len(stops), frames, held)]
