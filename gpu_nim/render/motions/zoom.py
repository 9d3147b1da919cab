"""A zoom into three-pile Nim, as a loop.

Its P-positions with piles below 2^m, in units of 2^m, are four copies of themselves at half the size: the set is kept by the maps
x -> (x + v) / 2 to its corners v. A word of n corners is a map with one fixed point, about which the set is the same after a zoom
by 2^n: so the movie loops.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.entries import Parameter
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST_BITS
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.defined_scenes import is_nim
from gpu_nim.render.image import DrawnBody, Frame
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, Read
from gpu_nim.render.themes import THEMES
from gpu_nim.render.traced_body import traced_body
from gpu_nim.render.views import Camera, Place, View

_NEAR = 2.0 ** (LARGEST_BITS - 14)  # cells from the eye to the fixed point in the first frame: neither end of the scales is near
_CORNERS = {"0": (0, 0, 0), "1": (1, 1, 0), "2": (1, 0, 1), "3": (0, 1, 1)}
_SLANT = 0.5  # the tangent of the angle between the line of sight and the normal of the face that the eye is before
_ANGLE = 40.0  # degrees of the field of view


def _corners(text: str) -> str:
    if not (1 <= len(text) <= 8 and set(text) < set(_CORNERS)):
        raise ValueError
    return text


_FACE = "1 to 8 corners, all of one face: of 0 (0, 0, 0), 1 (1, 1, 0), 2 (1, 0, 1) and 3 (0, 1, 1), such as 123"
_WORD = Read("corners", _FACE, _corners)


def fixed_point(word: str) -> Place:
    """Return the point that the map of a word of corners keeps, in units of the set's size.

    >>> fixed_point("1"), fixed_point("12")
    ((Fraction(1, 1), Fraction(1, 1), Fraction(0, 1)), (Fraction(1, 1), Fraction(2, 3), Fraction(1, 3)))
    """
    a, b, c = (
        Fraction(sum(_CORNERS[corner][axis] << len(word) - 1 - place for place, corner in enumerate(word)), 2 ** len(word) - 1)
        for axis in range(3)
    )
    return a, b, c


@MOTIONS.add
class Zoom(Motion):
    """The camera approaches a fixed point in a loop; colours are periodic in the logarithm of the distance from that point."""

    name = "zoom"
    summary = "a zoom into three-pile Nim, as a loop: the source is nim"
    example = "nim"
    options = (Parameter("into", _WORD, "123", "the corners whose maps keep the point that the zoom goes to"),)
    refuses = frozenset(("axes", "colour", "cut", "generations", "legend", "style", "view"))
    draws_blocks = False
    traces = True

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source and the corners."""
        super().check(movie)
        if not is_nim(movie.source):
            raise UsageError(f"a zoom movie needs the source nim, got {movie.source!r}")

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        word = movie.values["into"]
        self.octaves = len(word)
        self.point = tuple(part * 2**LARGEST_BITS for part in fixed_point(word))
        left_out = np.array(_CORNERS[min(set(_CORNERS) - set(word))], float)
        normal = 0.5 - left_out  # from the corner across, through the middle, out of the face
        along = np.cross(normal, (0.0, 0.0, 1.0))
        self.offset = normal / np.linalg.norm(normal) + _SLANT * along / np.linalg.norm(along)
        self.offset *= _NEAR / np.linalg.norm(self.offset)
        body = traced_body(f"nim:2^{LARGEST_BITS}-1", movie.look)
        self._drawn = DrawnBody(replace(body, colours=self._colours), movie.look, "trace")

    def frame(self, number: int, on_step: OnStep = unreported) -> Frame:
        """Return one frame; that after the last is the first again."""
        return self._drawn.frame(self.camera(Fraction(number, self.movie.frames)), on_step=on_step)

    def camera(self, part: Fraction) -> Camera:
        """Return the camera at a part of the movie: 0 and 1 differ by a zoom by a power of two."""
        offset = self.offset * 2.0 ** float(-self.octaves * part)
        a, b, c = (point + Fraction(moved) for point, moved in zip(self.point, offset.tolist(), strict=True))
        x, y, z = self.offset.tolist()
        basis = View((x, y, z)).basis()
        return Camera(np.array([float(a), float(b), float(c)]), basis, float(np.tan(np.radians(_ANGLE / 2))), False, (a, b, c))

    def _colours(self, cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.float32]:
        """Colour by the logarithm of the distance from the fixed point, up the map and down again in each round."""
        point = np.array([int(part) for part in self.point])[:, None]
        distances = np.linalg.norm((cells - point).astype(np.float64), axis=0)
        phase = np.log2(np.maximum(distances, 1.0)) / self.octaves % 1.0
        return THEMES[self.movie.look.theme].map(1 - np.abs(2 * phase - 1))
