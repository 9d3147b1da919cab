"""Three-pile Nim and the Ulam-Warburton automaton in two panels of one picture: their growth, and the walks of [NF] 5.4."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.entries import INTEGERS, Parameter, ParameterType
from gpu_nim.games.nim.positions import is_p_position
from gpu_nim.games.nim.walk import cells_of, walk
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.defined_scenes import nims_generation
from gpu_nim.render.framing import aim
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import DrawnBody, Frame, prepare
from gpu_nim.render.look import Look
from gpu_nim.render.motions.growth import HOLD, GrowingBody, generation_words
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, hold_option, pause, places
from gpu_nim.render.themes import distinct_colours
from gpu_nim.render.views import View

#: Along (1, 1, 1), where no two P-positions are in line: their three branches set out as east, north and west do in the plane.
_FROM_THE_SEED = View((-1, -1, -1), up=(1, 0, 1), parallel=True)


class Panels:
    """The layout of two panels between a title and a caption, one above the other where the picture is upright.

    Args:
        look: the appearance of the whole picture; that of a panel is then the attribute `look`.
    """

    def __init__(self, look: Look) -> None:
        width, height = look.resolution
        self._words = Annotations(replace(look, legend=False, axes=False))
        _, top, _, bottom = self._words.space
        self._top = round(top)
        self._beside = width >= height
        room = round(bottom) - self._top
        size = (width // 2, room) if self._beside else (width, room // 2)
        self.look = replace(look, resolution=size, title="", caption="", transparent=True)

    def join(self, one: Frame, other: Frame) -> Frame:
        """Return the picture of two panels.

        Args:
            one: the panel on the left, or above, RGBA.
            other: the other panel.
        """
        whole = self._words.sheet()
        second = (whole.width - other.width, self._top) if self._beside else (0, self._top + one.height)
        for panel, place in ((one, (0, self._top)), (other, second)):
            whole.alpha_composite(panel, place)
        return self._words.finished(whole)


def positions_of_nim(source: str, motion: str, look: Look) -> Blocks:
    """Return three-pile Nim, with a block for each P-position.

    Raises:
        UsageError: the source is another body, or too large for that.
    """
    if nims_generation(source) is None:
        raise UsageError(f"a {motion} movie needs nim:GENERATION, got {source!r}")
    blocks = prepare(source, look)
    if int(blocks.sizes.max()) > 1:
        raise UsageError(f"a {motion} movie needs every P-position by itself, and {source} is {blocks.note}")
    return blocks


@MOTIONS.add
class SideBySide(Motion):
    """Nim's P-positions, and their cells of the Ulam-Warburton automaton without its south branch, in the same colours.

    The bijection of [NF] Theorem 25 maps generations to generations, so equally many are born on either side.
    """

    name = "side-by-side"
    summary = "three-pile Nim and its image, the Ulam-Warburton automaton without its south branch, grow side by side"
    options = (HOLD,)
    refuses = frozenset(("cut",))

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self.panels = Panels(movie.look)
        look = self.panels.look
        nim = positions_of_nim(movie.source, movie.motion, look)
        colours = look.colours_of(nim)
        # The colours mean the same on both sides, and one legend says what.
        looks = (replace(look, view=look.view or _FROM_THE_SEED, legend=False), replace(look, view=None))
        names = ("three-pile Nim", "Ulam-Warburton, no south branch")
        self.bodies = [
            GrowingBody(self, blocks, seen, partial(_caption, name), colours)
            for blocks, seen, name in zip((nim, image_of(nim)), looks, names, strict=True)
        ]

    def frame(self, number: int, on_step: OnStep = unreported) -> Frame:
        """Return one frame."""
        return self.panels.join(*(body.frame(number) for body in self.bodies))


def image_of(nim: Blocks) -> Blocks:
    """Return the cells of the Ulam-Warburton automaton that P-positions of three-pile Nim walk to, in the same order."""
    cells = np.pad(cells_of(nim.corners), ((0, 0), (0, 1))).astype(np.int32)
    return replace(nim, name=f"ulam-warburton-3:{nim.name.partition(':')[2]}", corners=cells, flat=True, coordinates=("x", "y"))


def _caption(name: str, blocks: Blocks, generation: int) -> str:
    born, whole = int((blocks.generations == generation).sum()), int((blocks.generations <= generation).sum())
    return f"{name}\n{generation_words(generation)}\n{born:,} born    {whole:,} in all"


_FINE = 4  # parts of a cell: those of the walk are whole, the others are cubes of half its width, so that it is seen among them


def _position(text: str) -> tuple[int, int, int]:
    a, b, c = INTEGERS.read(text)
    if not is_p_position((a, b, c)):
        raise ValueError
    return a, b, c


_P_POSITION = ParameterType("a,b,c", "a P-position of three piles such as 14,11,5", _position)


@MOTIONS.add
class Walk(Motion):
    """The ancestors of a P-position, step by step among all P-positions, and beside them the walk of its cell [NF] 5.4.

    Each power of two in the generation is a leg of as many steps, in which two of the piles grow; at its end the walk in the plane
    turns, or goes straight on. The legs have their own colours, the same on both sides.
    """

    name = "walk"
    summary = "the walk from (0, 0, 0) to a P-position of three-pile Nim, and that of its cell in the plane"
    options = (
        Parameter("position", _P_POSITION, "14,11,5", "the P-position where the walk ends"),
        hold_option("at the end of each leg"),
    )
    refuses = frozenset(("cut", "colour", "generations", "legend", "axes"))

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the position and the pauses."""
        super().check(movie)
        cls._places(movie)

    @staticmethod
    def _places(movie: Movie) -> list[tuple[int, Fraction]]:
        stops = len(walk(movie.values["position"])) + 1
        return places(stops, movie.frames, pause(stops, movie.frames, movie.values["hold"]))

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self.position: tuple[int, int, int] = movie.values["position"]
        self.legs = walk(self.position)
        self.panels = Panels(movie.look)
        look = self.panels.look
        nim = positions_of_nim(movie.source, movie.motion, look)
        self.path = path_to(self.position)
        generation = len(self.path) - 1
        if generation > int(nim.generations.max()):
            raise UsageError(f"position must be among those of {movie.source}, got {self.position} of generation {generation}")
        self.ends = list(accumulate((leg.steps for leg in self.legs), initial=0))
        self.places = self._places(movie)
        theme = look.drawn_theme
        colours = np.array([theme.text, *distinct_colours(theme, len(self.legs))], dtype=np.float32)
        base = np.concatenate([np.full((len(nim), 3), theme.dim), colours[np.searchsorted(self.ends, range(len(self.path)))]])
        self.cells = np.pad(cells_of(self.path), ((0, 0), (0, 1)))
        on_path = (nim.corners == self.path[nim.generations.clip(max=generation)]).all(axis=1)
        self._reached = np.where(on_path, nim.generations, len(self.path))
        self.bodies = []
        words = self._captions(len(self.legs) - 1, generation)
        for whole, path, caption, view in (
            (nim, self.path, words[0], look.view),
            (image_of(nim), self.cells, words[1], None),
        ):
            part = replace(look, view=view)
            body = _marked(whole, path)
            drawn = DrawnBody(body, part, self.engine, base.astype(np.float32), running=caption)
            self.bodies.append((aim(body, part, caption), drawn))

    def step(self, number: int) -> tuple[int, int]:
        """Return the leg and the step that a frame shows; a pause at the end of a leg belongs to it.

        Args:
            number: the frame, counted from 0.
        """
        stop, way = self.places[number]
        if not way:
            return max(stop - 1, 0), self.ends[stop]
        return stop, self.ends[stop] + int(way * self.legs[stop].steps)

    def frame(self, number: int, on_step: OnStep = unreported) -> Frame:
        """Return one frame."""
        leg, step = self.step(number)
        shown = np.concatenate([self._reached > step, np.arange(len(self.path)) <= step])
        captions = self._captions(leg, step)
        views = zip(self.bodies, captions, strict=True)
        return self.panels.join(*(drawn.frame(camera, shown, caption) for (camera, drawn), caption in views))

    def _captions(self, leg: int, step: int) -> tuple[str, str]:
        walked = [(done.steps, done.direction) for done in self.legs[:leg]]
        if step > self.ends[leg]:
            walked.append((step - self.ends[leg], self.legs[leg].direction))
        here, (x, y, _), n = tuple(self.path[step].tolist()), self.cells[step].tolist(), len(self.path) - 1
        return (
            f"{here}    step {step:,} of {n:,} to {self.position}",
            f"({x}, {y})    {', '.join(f'{steps:,} {direction}' for steps, direction in walked)}",
        )


def path_to(position: tuple[int, int, int]) -> NDArray[np.int64]:
    """Return the walk of a three-pile P-position of generation n, step by step: its ancestors and itself, int64 (n + 1, 3).

    >>> path_to((3, 2, 1)).tolist()
    [[0, 0, 0], [1, 1, 0], [2, 2, 0], [3, 2, 1]]
    """
    steps = [np.zeros((1, 3), dtype=np.int64)]
    for leg in walk(position):
        steps.append(np.repeat([[pile in leg.piles for pile in range(3)]], leg.steps, axis=0).astype(np.int64))
    return np.cumsum(np.concatenate(steps), axis=0)


def _marked(whole: Blocks, path: NDArray[np.integer]) -> Blocks:
    """Return all cells at half their width, and then those of a path, in parts of a cell."""
    half = _FINE // 2
    return replace(
        whole,
        corners=np.concatenate([whole.corners * _FINE + half // 2, path * _FINE]).astype(np.int32),
        sizes=np.repeat(np.array([half, _FINE], dtype=np.int32), (len(whole), len(path))),
        generations=np.concatenate([whole.generations, np.arange(len(path), dtype=np.int32)]),
        values={},
    )
