"""Three-pile Nim and the Ulam-Warburton automaton, generation by generation, in two panels of one picture."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_nim.games.nim.walk import cells_of
from gpu_nim.model.errors import UsageError
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.defined_scenes import nims_generation
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.motions.growth import HOLD, GrowingBody, generation_words
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import View

if TYPE_CHECKING:
    from PIL.Image import Image

_FROM_THE_SEED = View((-1, -1, -1), up=(1, 0, 1), parallel=True)
"""Along (1, 1, 1), where no two P-positions are in line: their three branches set out as east, north and west do in the plane."""


class Panels:
    """The layout of two panels between a title and a caption, one above the other where the picture is upright.

    Args:
        look: the appearance of the whole picture.
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
        """The appearance of a panel."""

    def join(self, one: "Image", other: "Image") -> "Image":
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
        colours = base_colours(nim, look.colour, THEMES[look.theme])
        # The colours mean the same on both sides, and one legend says what.
        looks = (replace(look, view=look.view or _FROM_THE_SEED, legend=False), replace(look, view=None))
        names = ("three-pile Nim", "Ulam-Warburton, no south branch")
        self.bodies = [
            GrowingBody(self, blocks, seen, partial(_caption, name), colours)
            for blocks, seen, name in zip((nim, image_of(nim)), looks, names, strict=True)
        ]

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        one, other = (body.frame(number) for body in self.bodies)
        return self.panels.join(one, other)


def image_of(nim: Blocks) -> Blocks:
    """Return the cells of the Ulam-Warburton automaton that P-positions of three-pile Nim walk to, in the same order."""
    cells = np.pad(cells_of(nim.corners), ((0, 0), (0, 1))).astype(np.int32)
    return replace(nim, name=f"ulam-warburton-3:{nim.name.partition(':')[2]}", corners=cells, flat=True, coordinates=("x", "y"))


def _caption(name: str, blocks: Blocks, generation: int) -> str:
    born, whole = int((blocks.generations == generation).sum()), int((blocks.generations <= generation).sum())
    return f"{name}\n{generation_words(generation)}\n{born:,} born    {whole:,} in all"
