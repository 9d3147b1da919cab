"""Flights around a body and into it: the turntable, and its camera, and the flight in."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.geometry import Blocks
from gpu_nim.render.motions.motion import MOTIONS, CameraMotion, Movie
from gpu_nim.render.views import NO_MARGINS, Camera, Margins, View, fit, from_angles

_ELEVATION = 20.0  # degrees above the horizon


@MOTIONS.add
class Turntable(CameraMotion):
    """The body turns once."""

    name = "turntable"
    summary = "the body turns once"

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame; that after the last is the first again."""
        x, y, z = self.still.basis[2]
        azimuth = float(np.degrees(np.arctan2(y, x))) + 360 * number / self.movie.frames
        elevation = _ELEVATION if self.look.view is None else float(np.degrees(np.arcsin(np.clip(z, -1, 1))))
        parallel = self.look.view is not None and self.still.parallel
        return orbit(self.hull, azimuth, self.look.aspect, elevation, parallel=parallel, margins=self.margins)


def orbit(
    points: NDArray[np.floating],
    azimuth: float,
    aspect: float,
    elevation: float = _ELEVATION,
    *,
    parallel: bool = False,
    margins: Margins = NO_MARGINS,
) -> Camera:
    """Return a turntable's camera, at a constant distance from the body's axis with all of the body in view.

    Args:
        points: the hull of the body, (N, 3).
        azimuth: in degrees.
        aspect: width over height of the picture.
        elevation: in degrees.
        parallel: whether sight lines are parallel.
        margins: what is left free for words.
    """
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    # The body of revolution: every point at every angle, as rings.
    rings = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    arms = np.linalg.norm((points - middle)[:, :2], axis=1)
    swept = np.stack([arms[:, None] * np.cos(rings), arms[:, None] * np.sin(rings)], axis=-1)
    heights = np.broadcast_to((points - middle)[:, 2, None], swept.shape[:2])
    whole = np.concatenate([swept, heights[..., None]], axis=-1).reshape(-1, 3)
    still = fit(_from_the_side(0.0, elevation, parallel), whole, aspect, margin=0.04, margins=margins)
    basis = _from_the_side(azimuth, elevation, parallel).basis()
    return replace(still, eye=middle + (still.basis @ still.eye) @ basis, basis=basis)


def _from_the_side(azimuth: float, elevation: float, parallel: bool) -> View:
    """Return a view whose upward direction turns with it, so that the body turns even when seen from above."""
    up = from_angles(azimuth, elevation + 90)
    return replace(from_angles(azimuth, elevation), up=up.toward, parallel=parallel)


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
    toward = eye - aimed
    toward /= np.linalg.norm(toward)
    upright = outside.basis[1] * (1 - ease) + np.array([0.0, 0.0, ease])
    x, y, z, *up = (float(component) for component in (*toward, *upright))
    angle = np.tan(np.arctan(outside.scale) * (1 - ease) + np.radians(28.0) * ease)
    return Camera(eye, View((x, y, z), (up[0], up[1], up[2])).basis(), float(angle), False)
