"""Objects of glass: each cell is a cube that absorbs the same part of the light wherever a ray meets it.

A ray enters a cube through one of the sides that face the eye. So these sides, drawn from the farthest cell to the nearest, each
over what is behind it, are the exact picture of the glass. They are lit as those of solid cubes are: sun, sky and shadow show its
form.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.geometry import Blocks, Quads, visible
from gpu_nim.render.look import Look
from gpu_nim.render.opacities import OPACITIES
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import reduce_pixels
from gpu_nim.render.shading import Shader
from gpu_nim.render.style import STYLES, CameraStyle
from gpu_nim.render.views import Camera

_USUAL = 20  # cells on the way of a ray, where opacities are meant; where there are more, each is less opaque
_LIGHT, _SHINE = 2.8, 3.0  # how bright a cell is that lets all light through, and how much more one that lets none


class Glass:
    """An object of glass.

    Args:
        blocks: the object.
        base: its colours, sRGB float32 (N, 3).
        look: its theme, opacity and quality.

    Attributes:
        depths: the optical depth of each block, float64 (N,): the logarithm of how many times less light comes out of it.

    >>> from gpu_nim.render.source import blocks_of
    >>> glass = Glass(blocks_of("nim:7"), np.ones((64, 3), np.float32), Look())
    >>> np.exp(-glass.depths).round(2).tolist()[:2]  # the oldest cell of few lets hardly any light through
    [0.0, 0.01]
    """

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look) -> None:
        opacity = np.asarray(OPACITIES[look.opacity].of(blocks), np.float64)
        extent = np.subtract(*blocks.bounds()[::-1])
        # Cells that a ray meets, on the mean: a cube has a mean shadow of 1.5 faces.
        met = 4.5 * len(blocks) * blocks.size**2 / (extent * np.roll(extent, 1)).sum()
        self.depths = -np.log1p(-opacity) * np.clip(_USUAL / met, 0.25, 4)
        gain = np.asarray(_LIGHT + _SHINE * opacity, np.float32)
        self._blocks = blocks
        self._shader = Shader(blocks, base, look.drawn_theme, fine=look.quality == "final", gain=gain[:, None])

    def quads(self, camera: Camera, progress: OnStep = no_progress) -> tuple[Quads, NDArray[np.intp]]:
        """Return the sides that face the camera, the farthest first, with colours uint8 (M, 4, 4), and the block of each, (M,)."""
        blocks, sides = self._blocks, list(self._shader.quads(camera, progress))
        owners = np.concatenate([np.arange(len(blocks))[which] for _, _, which in visible(blocks, camera)])
        centres = blocks.centres()
        # Along a ray no coordinate comes nearer to the eye: of two cubes of one lattice the nearer one covers the other.
        away = camera.distance(centres) if camera.parallel else np.linalg.norm(centres - camera.eye, axis=1)
        order = np.argsort(-away[owners], kind="stable")
        owners = owners[order]
        alpha = np.rint(255 * -np.expm1(-self.depths[owners])).astype(np.uint8)
        points, colours = (np.concatenate(parts)[order] for parts in zip(*sides, strict=True))
        return (points, np.concatenate([colours, np.broadcast_to(alpha[:, None, None], (len(alpha), 4, 1))], axis=2)), owners


@STYLES.add
class Volume(CameraStyle):
    """Cells of glass; flat objects have no interior."""

    name = "volume"
    summary = "cells of glass, whose more opaque ones shine"
    engines: ClassVar = ("opengl",)
    refuses = frozenset[str]()
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._glass = Glass(blocks, base, look)

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        quads, _ = self._glass.quads(camera, progress)
        return reduce_pixels(self._canvas.draw([quads], camera), self.scale)
