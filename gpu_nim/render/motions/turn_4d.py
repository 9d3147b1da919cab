"""A turn in four dimensions and more."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.framing import annotations, framed, view_of
from gpu_nim.render.geometry import Blocks, generations_between
from gpu_nim.render.image import DrawnBody, Frame
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie
from gpu_nim.render.projection import middles_of, one_at_each_place, placed
from gpu_nim.render.source import blocks_of
from gpu_nim.render.styles import style_of
from gpu_nim.render.views import fit

_LOOKS = 24  # angles of the turn at which the body is framed


@MOTIONS.add
class TurnIn4D(Motion):
    """A body of four coordinates or more turns once about its middle, through what its projection leaves out.

    Each direction that is lost takes the place of one that is seen, at a quarter of the turn: of four coordinates the total becomes
    the height, with the seed of Nim at the bottom. At half the turn the body is mirrored in these directions, and at the end it is
    back.
    """

    name = "turn-4d"
    summary = "a body of four coordinates or more turns through those that its projection leaves out"
    example = "nim-4:15"
    refuses = frozenset(("cut", "axes"))

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        look = movie.look
        blocks = blocks_of(movie.source, colour=look.colour)
        if blocks.cells is None:
            raise UsageError(f"a {movie.motion} movie needs a body of 4 or more coordinates, and {movie.source} has fewer")
        self.blocks = blocks if look.generations is None else generations_between(blocks, *look.generations)
        self.base = look.colours_of(self.blocks)
        middles = middles_of(self.blocks)
        self._middles = middles - (middles.min(axis=0) + middles.max(axis=0)) / 2
        turns = [self._body(k / _LOOKS)[0] for k in range(_LOOKS)]
        points = np.concatenate([framed(body, look) for body in turns])
        space = annotations(self.blocks, look, self._caption(0), self.base).margins
        self.camera = fit(view_of(turns[0], look), points, look.aspect, margins=space)

    def frame(self, number: int, on_step: OnStep = unreported) -> Frame:
        """Return one frame."""
        turn = number / self.movie.frames
        blocks, base = self._body(turn)
        return DrawnBody(blocks, self.look, self.engine, base).frame(self.camera, self._caption(turn))

    def _body(self, turn: float) -> tuple[Blocks, NDArray[np.float32]]:
        """Return the body after a part of the turn, and its colours."""
        numbered = replace(self.blocks, values={**self.blocks.values, "number": np.arange(len(self.blocks))})
        body = placed(numbered, turned(self._middles, turn))
        style = style_of(self.look)
        shown = style.prepared(one_at_each_place(body), self.look.quality)
        return shown, self.base[shown.values["number"]]

    def _caption(self, turn: float) -> str:
        return f"turned by {360 * turn:.0f}° in {self._middles.shape[1]} dimensions"


def turned(points: NDArray[np.floating], turn: float) -> NDArray[np.float64]:
    """Return what is seen of points of k > 3 coordinates after a part of a turn, (N, 3).

    Args:
        points: (N, k), of which the first three coordinates are seen before the turn.
        turn: 0 to 1. The last of the three turns with a fourth coordinate, and others with further ones.

    >>> turned(np.array([[1.0, 2.0, 3.0, 4.0]]), 0.25).round(9).tolist()
    [[1.0, 2.0, 4.0]]
    >>> turned(np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), 0.25).round(9).tolist()
    [[4.0, 5.0, 6.0]]
    """
    lost = min(3, points.shape[1] - 3)
    seen = np.array(points[:, :3], dtype=np.float64)
    angle = 2 * np.pi * turn
    seen[:, 3 - lost :] = np.cos(angle) * seen[:, 3 - lost :] + np.sin(angle) * points[:, 3 : 3 + lost]
    return seen
