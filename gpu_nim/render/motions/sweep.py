"""Sweeps over a parameter of a game."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.arguments import counted
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import annotations, legend_in
from gpu_nim.render.colourings import BY_GENERATION, COLOURINGS, DEFAULT, Bar
from gpu_nim.render.image import renderer, view_of
from gpu_nim.render.motions import MOTIONS, Motion, Movie, Orbit
from gpu_nim.render.source import SweepSource
from gpu_nim.render.traced_object import Drawn, TracedObject


@MOTIONS.add
class Sweep(Motion):
    """A parameter of a game goes from one value to another; the larger of the first and the last object frames all.

    A cell has one colour throughout: that of its value in the largest object.
    """

    name = "sweep"
    summary = "a parameter of a game goes through the range in the source, with a pause at each whole value"
    example = "chocolate:a=1..8,size=31"
    combines = True

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source, and the values of its parameter."""
        super().check(movie)
        found = movie.found
        if not isinstance(found, SweepSource):
            raise UsageError(f"a sweep needs a source with a range of a parameter, such as {cls.example}, got {found.name!r}")
        for value in sweep_values(found.first, found.last, movie.frames, movie.beat):
            found.at(value)

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        assert isinstance(self.source, SweepSource)  # as `check` has found
        self._source = self.source
        self.sweep = sweep_values(self._source.first, self._source.last, movie.frames, movie.beat)
        self._ends = {value: self.object_of(self._source.at(value)) for value in (self.sweep[0], self.sweep[-1])}
        # Which frames all others.
        self.largest = max(self._ends.values(), key=lambda obj: np.subtract(*obj.outline.bounds()[::-1]).sum())
        largest, view = self.largest, view_of(self.largest.outline, self.look)
        self._legend = legend_in(largest, self.look)
        self._running = self._caption(max(self.sweep), largest)
        self._toward, self._annotations = view.basis()[2], annotations(largest, self.look, self._running)
        frame = largest.opened(self.look.cut, self._toward)
        self._orbit = Orbit(frame.outline, self.look, view, self.turn, self._annotations.margins)

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        value = self.sweep[number]
        whole = self.object_at(value)
        part, base = self.coloured(whole.opened(self.look.cut, self._toward))
        drawn = renderer(part, self.look, self.engine, base, self._running)
        drawn.annotations = self._annotations
        return drawn.frame(self._orbit.camera(self.angle(number)), self._caption(value, whole), progress=progress)

    def coloured(self, obj: Drawn) -> tuple[Drawn, NDArray[np.float32] | None]:
        """Return an object and the colours of its blocks, by the scale of the largest object; None where there is no scale."""
        bar = self._legend
        if not isinstance(bar, Bar):
            return obj, None
        if not isinstance(obj, TracedObject):
            return obj, bar.colours_of(COLOURINGS.find(self.look.colour or DEFAULT).value(obj))
        born = obj.born
        if self.look.colour in BY_GENERATION:
            obj = replace(obj, colours=lambda *cubes: bar.colours_of(born(*cubes)))
        return obj, None

    def object_at(self, value: Fraction) -> Drawn:
        """Return the object at a value of the parameter."""
        return self._ends[value] if value in self._ends else self.object_of(self._source.at(value))

    def _caption(self, value: Fraction, obj: Drawn) -> str:
        summary, parameter = self._source.game.summary.replace("<=", "≤"), self._source.parameter
        return f"{summary}    {parameter} = {float(value):.3f}    {counted(obj.outline.population, 'position')}"


def sweep_values(first: Fraction, last: Fraction, frames: int, beat: int) -> list[Fraction]:
    """Return the value of each frame of a sweep, with a pause at each end and at every whole number between them.

    Args:
        first: the first value.
        last: the last value.
        frames: the number of frames.
        beat: the frames of each pause, or fewer, so that all are a third of the movie; but one at least.

    Raises:
        UsageError: the pauses take more frames than there are.

    >>> [str(a) for a in sweep_values(Fraction(1), Fraction(3), 18, 2)[:9]]
    ['1', '1', '8/7', '9/7', '10/7', '11/7', '12/7', '13/7', '2']
    """
    low, high = min(first, last), max(first, last)
    if frames < (needed := 1 + ceil(high) - floor(low)):
        raise UsageError(f"a sweep from {first} to {last} needs {needed:,} frames or more, one for each whole value, got {frames}")
    stops = sorted({low, high, *map(Fraction, range(ceil(low), floor(high) + 1))}, reverse=first > last)
    hold, ways = max(1, min(beat, frames // (3 * len(stops)))), len(stops) - 1
    moving, values = frames - hold * len(stops), list[Fraction]()
    for way, (start, end) in enumerate(pairwise(stops)):
        steps = (way + 1) * moving // ways - way * moving // ways
        values += [start] * hold + [start + (end - start) * Fraction(step, steps + 1) for step in range(1, steps + 1)]
    return values + [stops[-1]] * (frames - len(values))
