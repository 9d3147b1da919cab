"""Motions in which the object changes: it grows, or a parameter of its game goes through a range."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.arguments import counted
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import annotations, legend_in
from gpu_nim.render.colourings import BY_GENERATION, COLOURINGS, DEFAULT, Bar, glow_by_age
from gpu_nim.render.geometry import Blocks, generations_unknown
from gpu_nim.render.image import renderer, view_of
from gpu_nim.render.look import SMALLEST_SIDE
from gpu_nim.render.motions import MOTIONS, Motion, Movie, orbit
from gpu_nim.render.raster import bloom, enlarged
from gpu_nim.render.source import SweepSource
from gpu_nim.render.traced_object import Drawn, TracedObject
from gpu_nim.render.views import Camera

_BEGUN = 3  # generations that are there in the first frame
_BITS = 4  # significant binary digits of one more than the generations at which the camera is fitted
_NEW = 16  # parts of a growth's age, the last of which lights what is around it
_GLOW = 0.9  # the strength of that light


def stops_around(generation: int) -> tuple[int, int]:
    """Return the last generation up to one at which the camera is fitted, and the next.

    >>> stops_around(7), stops_around(17), stops_around(1000)
    ((7, 8), (17, 19), (959, 1023))
    """
    unit = 1 << max((generation + 1).bit_length() - _BITS, 0)
    before = (generation + 1) // unit * unit - 1
    return before, before + unit


def grown_caption(obj: Blocks, generation: int) -> str:
    """Return the caption of a generation, with its population.

    >>> from gpu_nim.render.source import blocks_of
    >>> grown_caption(blocks_of("nim:8"), 6)
    'generation 6    population 37'
    """
    counted = "" if obj.population_until is None else f"    population {obj.population_until(generation):,}"
    return f"generation {generation:,}{counted}"


@MOTIONS.add
class GrowthMotion(Motion):
    """The object grows, generation by generation, and the camera moves back.

    The extent of a growth is proportional to its generations, or nearly so, and doubles from 2^m - 1 to 2^(m+1) - 1: in each of
    these spans the picture repeats itself on twice the scale, and takes equally long.
    """

    name = "growth"
    summary = "the object grows and turns a little, in one take, and the camera moves back"
    combines = True
    turn = 60.0

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source."""
        super().check(movie)
        if not movie.found.dated:
            raise generations_unknown(movie.found.name)

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self._whole = obj = self.object_of(self.source)
        if obj.outline.flat and not movie.turns:
            self.turn = 0.0
        (self._first, last), self._view = obj.span, view_of(obj.outline, self.look)
        self._longest = grown_caption(obj.outline, last)
        self._margins = annotations(obj, self.look, self._longest).margins
        self._orbit = lru_cache(4)(self._orbit_from)
        width, height = (max(side // 4, SMALLEST_SIDE) for side in self.look.resolution)
        self._small = replace(self.look, resolution=(width, height), quality="draft")

    def until(self, generation: int) -> Drawn:
        """Return the object without the generations after one, cut open as the look says."""
        whole, theme = self._whole.until(generation), self.look.drawn_theme
        part: Drawn = whole
        if isinstance(whole, TracedObject):
            part = replace(whole, colours=lambda *at: glow_by_age(whole.colours(*at), whole.born(*at), generation, theme))
        return part.opened(self.look.cut, self._view.basis()[2])

    def moment(self, number: int) -> tuple[float, int]:
        """Return how far the growth is in a frame, each doubling of which takes equally long, and its generation."""
        frames, last = self.movie.frames, self._whole.span[1]
        way = min(number / max(frames - 1 - min(self.movie.beat, frames // 8), 1), 1.0)
        time = (min(self._first + _BEGUN, last) + 1) ** (1 - way) * (last + 1) ** way - 1
        return time, min(int((time + 1) * (1 + 1e-12)) - 1, last)

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame: between two, of which both have in view all that is grown until the next stop."""
        time, generation = self.moment(number)
        before, after = stops_around(generation)
        one, other = (self._orbit(stop)(self.angle(number)) for stop in (before, after))
        way = (time - before) / (after - before)
        return replace(one, eye=one.eye * (1 - way) + other.eye * way, scale=one.scale * (1 - way) + other.scale * way)

    def _orbit_from(self, stop: int) -> Callable[[float], Camera]:
        seen = self.until(min(stops_around(stop)[1], self._whole.span[1]))
        return orbit(seen.outline, self.look, self._view, self.turn, self._margins)

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        time, generation = self.moment(number)
        camera, part, base = self.camera(number), self.until(generation), None
        if isinstance(part, Blocks):
            base = glow_by_age(self.look.colours_of(part), part.generations, generation, self.look.drawn_theme)
        drawn = renderer(part, self.look, self.engine, base)
        drawn.annotations = annotations(part, self.look, self._longest, base)
        pixels, light = drawn.draw(camera, progress), self._light(part, base, generation, camera)
        if light is not None:
            pixels = pixels + light * np.float32(2 ** (generation - time)) * (1 - pixels)
        return drawn.frame(camera, grown_caption(self._whole.outline, generation), seen=pixels)

    def _light(self, part: Drawn, base: NDArray[np.float32] | None, generation: int, camera: Camera) -> NDArray[np.float32] | None:
        """Return the light that the newest cells cast on what is around them, on a dark theme, as `CameraStyle.draw`; or None."""
        first = generation - generation // _NEW
        if self.look.drawn_theme.light:
            return None
        if isinstance(part, TracedObject):
            colours, born = part.colours, part.born
            newest: Drawn = replace(part, colours=lambda *cubes: colours(*cubes) * (born(*cubes) >= first)[:, None])
        else:
            new = part.generations >= first
            newest, base = part.take(new), None if base is None else base[new]
            if not new.any():  # cut away, or merged with earlier ones
                return None
        seen = renderer(newest, self._small, self.engine, base).draw(camera, no_progress)[..., :3]
        halo, (width, height) = bloom(seen.copy(), _GLOW) - seen, self.look.resolution
        light = np.stack([enlarged(halo[..., k], height, width) for k in range(3)], axis=-1)
        return np.concatenate([light, light.max(axis=2, keepdims=True) * self.look.transparent], axis=2)


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
        self._orbit = orbit(frame.outline, self.look, view, self.turn, self._annotations.margins)

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        value = self.sweep[number]
        whole = self.object_at(value)
        part, base = self.coloured(whole.opened(self.look.cut, self._toward))
        drawn = renderer(part, self.look, self.engine, base)
        drawn.annotations = self._annotations
        return drawn.frame(self._orbit(self.angle(number)), self._caption(value, whole), progress=progress)

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
