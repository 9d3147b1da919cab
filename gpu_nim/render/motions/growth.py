"""Growth in time, with a camera that goes out as the object grows."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.colourings import glow_by_age
from gpu_nim.render.framing import aim, annotations, view_of
from gpu_nim.render.geometry import Blocks, middles
from gpu_nim.render.image import Frame, Renderer
from gpu_nim.render.look import Look
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, hold_option, pause, schedule
from gpu_nim.render.views import Camera
from gpu_nim.render.words import power_of_two

_NEAREST = 3  # generations of the object that the camera keeps in view, as if they were there from the beginning
_SPHERE = 0.87  # of a side: the radius of the sphere around a cube


class Pullback:
    """The camera of a growth: it goes out from each stop to the next, and the cells that are drawn are always in view.

    The extent of a growth is proportional to its generations, or nearly so, and it doubles from 2^m - 1 to 2^(m+1) - 1: in each of
    these spans the picture repeats itself on twice the scale, and takes equally long.

    Args:
        obj: the whole object.
        look: its appearance.
        frames: the number of frames.
        hold: the frames of each pause; None for a third of the movie.
        caption: the longest caption.
    """

    def __init__(self, obj: Blocks, look: Look, frames: int, hold: int | None, caption: str = "") -> None:
        first, last = obj.span
        self.stops = growth_stops(first, last)
        self._hold = pause(len(self.stops), frames, hold)
        self.schedule = schedule(len(self.stops), frames, self._hold)
        view = view_of(obj, look)
        self.toward = view.basis()[2]
        parts = [obj.until(max(stop, first + _NEAREST)).opened(look.cut, self.toward) for stop in self.stops]
        space = annotations(obj, look, caption).margins
        self._cameras = [aim(part, look, view=view, margins=space) for part in parts]
        self._ways = [
            _ways_out(part, span, cameras, look.aspect)
            for part, span, cameras in zip(parts[1:], pairwise(self.stops), pairwise(self._cameras), strict=True)
        ]

    def frame(self, number: int) -> tuple[int, Camera]:
        """Return the generation of a frame, and its camera.

        Args:
            number: the frame, counted from 0.
        """
        stop, part = self.schedule[number]
        if not part:
            return self.stops[stop], self._cameras[stop]
        way = float(part)
        eased = way * way * (3 - 2 * way) if self._hold else way
        first, last = self.stops[stop : stop + 2]
        time = (first + 1) * ((last + 1) / (first + 1)) ** eased - 1
        way_out = float(np.interp(time, *self._ways[stop]))
        return min(int(time + 1e-9), last), between(self._cameras[stop], self._cameras[stop + 1], way_out)


def growth_stops(first: int, last: int) -> list[int]:
    """Return the generations at which a movie from one generation to another pauses: the ends, and each 2^m - 1 between.

    >>> growth_stops(0, 20), growth_stops(2, 3), growth_stops(5, 5)
    ([0, 1, 3, 7, 15, 20], [2, 3], [5])
    """
    complete = (2**m - 1 for m in range((last + 1).bit_length()))
    return sorted({first, last, *(generation for generation in complete if first < generation)})


def between(one: Camera, other: Camera, way: float) -> Camera:
    """Return a camera between two of the same directions: what is in view of both is in view of it."""
    return replace(one, eye=one.eye * (1 - way) + other.eye * way, scale=one.scale * (1 - way) + other.scale * way)


def _ways_out(
    blocks: Blocks, span: tuple[int, int], cameras: tuple[Camera, Camera], aspect: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return generations of a span, and how far the camera is on its way from one end of the span to the other when each is drawn.

    It is in proportion, or farther where a cell would be out of view.
    """
    first, last = span
    here = (blocks.generations > first) & (blocks.generations <= last)
    generations, of = np.unique(blocks.generations[here], return_inverse=True)
    centres, radii = middles(blocks)[here], _SPHERE * blocks.sizes[here]
    # The distance of a cell from each border of the picture is linear in the way of the camera.
    start, end = (_clear(centres, radii, camera, aspect) for camera in cameras)
    back = np.where(end > start, np.clip(start / np.minimum(start - end, -1e-9), 0, 1), 1.0)
    needed = np.where(start >= 0, 0.0, back).max(axis=0)
    ways = (generations - first) / (last - first)
    np.maximum.at(ways, of, needed)
    return np.array([first, *generations, last]), np.array([0.0, *np.maximum.accumulate(ways), 1.0])


def _clear(centres: NDArray[np.floating], radii: NDArray[np.floating], camera: Camera, aspect: float) -> NDArray[np.floating]:
    """Return how far each sphere is from the left, right, lower and upper border, (4, N), in the world at its distance."""
    x, y, z = ((centres - camera.eye.astype(np.float32)) @ camera.basis.T.astype(np.float32)).T
    half = camera.scale if camera.parallel else camera.scale * (-z - radii)
    return np.asarray(np.stack([half * aspect + x, half * aspect - x, half + y, half - y]) - radii)


def _power(generation: int) -> int:
    """Return m where the generation is 2^m - 1, or 0."""
    power = (generation + 1).bit_length() - 1
    return power if generation + 1 == 1 << power else 0


def generation_words(generation: int) -> str:
    """Return the number of a generation in words.

    >>> generation_words(6), generation_words(7)
    ('generation 6', 'generation 7 = 2³ − 1')
    """
    power = _power(generation)
    return f"generation {generation:,}" + (f" = {power_of_two(power)} − 1" if power else "")


def grown_caption(obj: Blocks, generation: int) -> str:
    """Return the caption of a generation: its population, and at 2^m - 1 why the movie pauses.

    After such a generation growth by one touch begins again, with few cells.

    >>> from gpu_nim.render.source import blocks_of
    >>> grown_caption(blocks_of("nim:8"), 6)
    'generation 6    population 37'
    >>> grown_caption(blocks_of("nim:8"), 7)
    'generation 7 = 2³ − 1    population 64    27 born, then 3'
    """
    words = [generation_words(generation)]
    if (count := obj.population_until) is not None:
        whole = count(generation)
        words.append(f"population {whole:,}")
        if _power(generation) and generation < obj.span[1]:
            words.append(f"{whole - count(generation - 1):,} born, then {count(generation + 1) - whole:,}")
    return "    ".join(words)


@MOTIONS.add
class GrowthMotion(Motion):
    """The object grows, generation by generation, and the camera moves back."""

    name = "growth"
    summary = "the object grows and the camera moves back, with pauses at generations 2^m - 1"
    options = (hold_option("at generations 0, 1, 3, 7 and so on"),)

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self._whole = obj = self.object_of(self.source, growing=True)
        self._longest = max((grown_caption(obj, generation) for generation in growth_stops(*obj.span)), key=len)
        self.pullback = Pullback(obj, self.look, movie.frames, movie.values["hold"], self._longest)

    def frame(self, number: int, progress: OnStep = no_progress) -> Frame:
        """Return one frame."""
        generation, camera = self.pullback.frame(number)
        words = grown_caption(self._whole, generation)
        part, base = self._whole.until(generation).opened(self.look.cut, self.pullback.toward), None
        if self.engine != "trace":
            base = glow_by_age(self.look.colours_of(part), part.generations, generation, self.look.drawn_theme)
        return Renderer(part, self.look, self.engine, base, self._longest).frame(camera, words, progress=progress)
