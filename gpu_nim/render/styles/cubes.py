"""Lit cubes, or flat tiles."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks, Quads, middles, sparse, tiles
from gpu_nim.render.look import STYLES, CameraStyle, Look
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import draw_quads, reduce_pixels
from gpu_nim.render.shading import Shader
from gpu_nim.render.views import Camera


@STYLES.add
class Cubes(CameraStyle):
    """The sides of each block that face the eye, lit; flat objects as tiles, of two pixels or more if sparse."""

    name = "cubes"
    summary = "lit cubes; the cells of flat objects as tiles"
    engines: ClassVar = ("numpy", "opengl", "trace")

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height) if engine == "opengl" else None
        self._shader = None if blocks.flat else Shader(blocks, base, self.theme, fine=look.quality == "final")

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        quads = self._shader.quads(camera, progress) if self._shader else self._tiles(camera)
        pixels = self._canvas.draw(quads, camera) if self._canvas else draw_quads(quads, camera, self.width, self.height)
        return reduce_pixels(pixels, self.scale)

    def _tiles(self, camera: Camera) -> Iterator[Quads]:
        # Narrower tiles of few cells fade into the background.
        least = 2 * camera.pixel(camera.distance(middles(self.blocks)), self.look.resolution[1]).max()
        flat, owners = tiles(self.blocks, max(0.92, float(least)) if sparse(self.blocks, len(self.blocks)) else 0.92)
        base = np.rint(np.clip(self.base[owners], 0, 1) * 255).astype(np.uint8)
        yield flat, np.broadcast_to(base[:, None], flat.shape)
