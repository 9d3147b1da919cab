"""Flights of the camera: the turntable, around a body; the flight into it; and the zoom into three-pile Nim, as a loop.

The P-positions of Nim with piles below 2^m, in units of 2^m, are four copies of themselves at half the size: the set is kept by
the maps x -> (x + v) / 2 to its corners v. A word of n corners is a map with one fixed point, about which the set is the same after
a zoom by 2^n: so that movie loops.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.entries import Parameter, ParameterType
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST_BITS
from gpu_nim.model.work import OnStep, unreported
from gpu_nim.render.defined_scenes import is_nim
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import DrawnBody, Frame
from gpu_nim.render.motions.motion import MOTIONS, CameraMotion, Motion, Movie
from gpu_nim.render.traced_body import traced_body
from gpu_nim.render.views import Camera, Place, View, basis_of, fit, from_angles

_ELEVATION = 20.0  # degrees above the horizon
_NEAR = 2.0 ** (LARGEST_BITS - 14)  # cells from the eye to the fixed point in the first frame: neither end of the scales is near
_CORNERS = {"0": (0, 0, 0), "1": (1, 1, 0), "2": (1, 0, 1), "3": (0, 1, 1)}
_SLANT = 0.5  # the tangent of the angle between the line of sight and the normal of the face that the eye is before
_ANGLE = 40.0  # degrees of the field of view


@MOTIONS.add
class Turntable(CameraMotion):
    """The body turns once."""

    name = "turntable"
    summary = "the body turns once"

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        x, y, z = self.still.basis[2]
        self._azimuth = float(np.degrees(np.arctan2(y, x)))
        self._elevation = _ELEVATION if self.look.view is None else float(np.degrees(np.arcsin(np.clip(z, -1, 1))))
        self._middle = (self.hull.min(axis=0) + self.hull.max(axis=0)) / 2
        whole = _revolved(self.hull - self._middle)
        self._beside = fit(self._view(0.0), whole, self.look.aspect, margin=0.04, margins=self.margins)

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame, at a constant distance from the body's axis; that after the last is the first again."""
        beside, basis = self._beside, self._view(self._azimuth + 360 * number / self.movie.frames).basis()
        return replace(beside, eye=self._middle + (beside.basis @ beside.eye) @ basis, basis=basis)

    def _view(self, azimuth: float) -> View:
        """Return a view whose upward direction turns with it, so that the body turns even when seen from above."""
        up = from_angles(azimuth, self._elevation + 90).toward
        return View(from_angles(azimuth, self._elevation).toward, up, self.look.view is not None and self.still.parallel)


def _revolved(points: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return points that frame all places of points (N, 3) that turn about the vertical through (0, 0, 0)."""
    rings = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    arms = np.linalg.norm(points[:, :2], axis=1)
    swept = np.stack([arms[:, None] * np.cos(rings), arms[:, None] * np.sin(rings)], axis=-1)
    heights = np.broadcast_to(points[:, 2, None], swept.shape[:2])
    return np.concatenate([swept, heights[..., None]], axis=-1).reshape(-1, 3)


@MOTIONS.add
class FlyIn(CameraMotion):
    """The camera flies into the body."""

    name = "fly-in"
    summary = "the camera flies into the body"
    draws_flat = False

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        _, up, toward = (tuple(row) for row in self.still.basis.tolist())
        self.outside = fit(View(toward, up), self.hull, self.look.aspect, margins=self.margins)

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame."""
        return flight(self.outside, self.outline, number / max(self.movie.frames - 1, 1))


def flight(outside: Camera, blocks: Blocks, part: float) -> Camera:
    """Return the camera at a part, 0 to 1, of the way from `outside` into the body."""
    low, high = (corner.astype(np.float64) for corner in blocks.bounds())
    ease = part * part * (3 - 2 * part)
    inside = low + (high - low) * [0.62, -0.10, 0.30]
    target = low + (high - low) * [0.40, 0.55, 0.47]
    eye = outside.eye * (1 - ease) + inside * ease
    ahead = outside.eye - outside.basis[2] * ((outside.eye - (low + high) / 2) @ outside.basis[2])
    aimed = ahead * (1 - ease) + target * ease
    upright = outside.basis[1] * (1 - ease) + np.array([0.0, 0.0, ease])
    angle = np.tan(np.arctan(outside.scale) * (1 - ease) + np.radians(28.0) * ease)
    return Camera(eye, basis_of(eye - aimed, upright), float(angle), False)


def _corners(text: str) -> str:
    if not (1 <= len(text) <= 8 and set(text) < set(_CORNERS)):
        raise ValueError
    return text


_FACE = "1 to 8 corners, all of one face: of 0 (0, 0, 0), 1 (1, 1, 0), 2 (1, 0, 1) and 3 (0, 1, 1), such as 123"
_WORD = ParameterType("corners", _FACE, _corners)


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
        basis = basis_of(self.offset)
        return Camera(np.array([float(a), float(b), float(c)]), basis, float(np.tan(np.radians(_ANGLE / 2))), False, (a, b, c))

    def _colours(self, cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.float32]:
        """Colour by the logarithm of the distance from the fixed point, up the map and down again in each round."""
        point = np.array([int(part) for part in self.point])[:, None]
        distances = np.linalg.norm((cells - point).astype(np.float64), axis=0)
        phase = np.log2(np.maximum(distances, 1.0)) / self.octaves % 1.0
        return self.look.drawn_theme.map(1 - np.abs(2 * phase - 1))
