"""Points of light on dark themes, discs of ink on light ones; both add up in floating point, which OpenGL's picture lacks."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import middles
from gpu_nim.render.raster import Screen, draw_ink, draw_points
from gpu_nim.render.style import STYLES, CameraStyle
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.views import Camera

_DOT = 0.36  # of a cell: the radius of its point, drawn in ink
_BRIGHTNESS = np.float32(0.55)  # the mean light of a cell's area, drawn as a point of light


@STYLES.add
class Points(CameraStyle):
    """One point per block."""

    name = "points"
    summary = "a point of light a cell"
    engines: ClassVar = ("numpy",)

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        blocks, base = self.blocks, self.base
        centres = middles(blocks)
        distance, screen = camera.distance(centres), Screen(camera, self.width, self.height)
        if self.theme.light:
            radius = float(np.mean(_DOT * blocks.size / camera.pixel(np.maximum(distance, 1e-6), self.height)))
            return composited(self._reduced(draw_ink(centres, to_linear(base), radius, screen)))
        pixel = camera.pixel(np.array([distance.min(), distance.max()]), self.height)
        # The light of a cell is such that the object is equally bright for any number of cells.
        light = to_linear(base) * (np.float32(blocks.size / pixel.mean()) ** 2 * _BRIGHTNESS)
        picture = tone_mapped(self._reduced(draw_points(centres, light, screen, self.theme.glow)))
        picture[..., 3] *= self.look.transparent  # light is added to all of the background
        return picture

    def _reduced(self, picture: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the mean over the samples of each pixel: light and ink add up before they are mapped to colours."""
        (width, height), s = self.look.resolution, self.scale
        return np.asarray(picture.reshape(height, s, width, s, -1).mean(axis=(1, 3)))


def tone_mapped(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the picture of sums of light, (height, width, 3), sRGB and alpha (height, width, 4).

    They are unbounded: they are mapped to the range of a screen, with their hues until they are very bright.
    """
    peak = light.max(axis=2, keepdims=True)
    folded = light * ((1 - np.exp(-1.3 * peak)) / np.maximum(peak, 1e-9)) + 0.10 * np.maximum(peak - 1.0, 0) / (1 + peak)
    alpha = 1 - np.exp(-4 * folded.max(axis=2, keepdims=True))
    return np.concatenate([to_srgb(folded), alpha], axis=2)


def composited(ink: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the picture of sums of ink, linear colours times coverage and coverage, as sRGB times alpha and alpha."""
    alpha = 1 - np.exp(-2.2 * ink[..., 3:])
    return np.concatenate([to_srgb(ink[..., :3] / np.maximum(ink[..., 3:], 1e-9)) * alpha, alpha], axis=2)
