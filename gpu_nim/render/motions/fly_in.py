"""The flight into a body."""

from typing import TYPE_CHECKING

import numpy as np

from gpu_nim.render.framing import outline_of
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.motions.motion import MOTIONS, BodyMotion, Movie
from gpu_nim.render.views import Camera, View, fit

if TYPE_CHECKING:
    from PIL.Image import Image


@MOTIONS.add
class FlyIn(BodyMotion):
    """The camera flies into the body."""

    name = "fly-in"
    summary = "the camera flies into the body"
    draws_flat = False

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        _, up, toward = (tuple(row) for row in self.camera.basis.tolist())
        self.camera = fit(View(toward, up), self.hull, movie.look.aspect, margins=self.margins)

    def frame(self, number: int) -> "Image":
        """Return one frame."""
        return self.drawn_from(flight(self.camera, outline_of(self.body), self.part(number)))


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
