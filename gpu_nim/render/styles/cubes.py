"""Lit cubes, or flat tiles."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.selection import select
from gpu_nim.model.tracing import MISS
from gpu_nim.model.work import OnStep
from gpu_nim.render.gathering import packed
from gpu_nim.render.geometry import Blocks, Quads, cover, middles, sparse, tiles, visible
from gpu_nim.render.look import Look
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import draw_tiles, reduce_pixels
from gpu_nim.render.shading import Shader
from gpu_nim.render.style import STYLES, CameraStyle
from gpu_nim.render.trace import in_batches, primary_rays
from gpu_nim.render.views import Camera


@STYLES.add
class Cubes(CameraStyle):
    """The sides of each block that face the eye, lit; flat objects as tiles, of two pixels or more if sparse."""

    name = "cubes"
    summary = "lit cubes; the cells of flat objects as tiles"
    engines: ClassVar = ("numpy", "opengl", "trace")

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height) if engine == "opengl" and not blocks.flat else None
        self._shader = None if blocks.flat else Shader(blocks, base, self.theme, fine=look.quality == "final")
        if self._shader and not self._canvas:
            self._scene, self._owners, self._unit = packed(blocks)

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        if not self._shader:
            return draw_tiles(self._tiles(camera), camera, *self.look.resolution)
        sides = self._shader.quads(camera, progress)
        pixels = self._canvas.draw(sides, camera) if self._canvas else self._by_rays(sides, camera, progress)
        return reduce_pixels(pixels, self.scale)

    def _by_rays(self, lit: Iterable[Quads], camera: Camera, progress: OnStep) -> NDArray[np.uint8]:
        """Return the picture, uint8 (height, width, 4): the sides that rays hit, each in one colour."""
        blocks, size = self.blocks, (self.width, self.height)
        sides = np.zeros((3, len(blocks), 3), np.uint8)
        for (axis, _, which), (_, colours) in zip(visible(blocks, camera), lit, strict=True):
            sides[axis, which] = np.rint(colours.mean(axis=1))
        tracer = select().tracer(self._scene)
        nearer = replace(camera, eye=camera.eye / self._unit, scale=camera.scale / (self._unit if camera.parallel else 1))

        def seen(pixels: NDArray[np.int64]) -> NDArray[np.uint8]:
            hits = tracer.trace(primary_rays(nearer, size, pixels, (0.5, 0.5)))
            met, picture = hits.met, np.zeros((len(pixels), 4), np.uint8)
            numbers = self._scene.numbers(self._scene.first_cells(hits.cells[:, met], hits.levels[met]))
            picture[met, :3] = sides[hits.faces[met], self._owners[numbers]]
            picture[hits.faces != MISS, 3] = 255
            return picture

        whole = np.empty((self.height * self.width, 4), np.uint8)
        for pixels, part in in_batches(tracer, size, seen):
            whole[pixels] = part
            progress("pixel", pixels.stop, len(whole))
        return whole.reshape(self.height, self.width, 4)

    def _tiles(self, camera: Camera) -> Quads:
        blocks = self.blocks
        # Narrower tiles of few cells fade into the background.
        least = 2 * camera.pixel(camera.distance(middles(blocks)), self.look.resolution[1]).max()
        flat, owners = tiles(blocks, max(0.92, float(least)) if sparse(blocks, len(blocks)) else 0.92)
        colours = np.insert(255 * np.clip(self.base, 0, 1), 3, 255 * cover(blocks), axis=1)
        return flat, np.broadcast_to(np.rint(colours).astype(np.uint8)[owners, None], (*flat.shape[:2], 4))
