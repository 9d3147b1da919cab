"""Three-pile Nim and the Ulam-Warburton automaton, generation by generation."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_nim.games.nim.walk import cells_of
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.motions.growth import HOLD, GrowingBody, generation_words
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie
from gpu_nim.render.motions.panels import Panels, positions_of_nim
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import View

if TYPE_CHECKING:
    from PIL.Image import Image

_FROM_THE_SEED = View((-1, -1, -1), up=(1, 0, 1), parallel=True)
"""Along (1, 1, 1), where no two P-positions are in line: their three branches set out as east, north and west do in the plane."""


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
