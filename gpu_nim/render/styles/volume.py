"""Objects as translucent volumes: traced as glass, or by PyVista a grid of lit colours and opacities that rays are cast through.

The grid has a point per cell, which fills its cube. It has at most 512 points per cell, which suffices to draw the P-positions of
Nim below 256 cell by cell, and 64 in a draft: sparse sets are made coarser, so that no dense grid is built for them.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks, VolumeGrid, coarsen
from gpu_nim.render.look import STYLES, CameraStyle, Look
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import reduce_pixels
from gpu_nim.render.themes import Theme, to_linear, to_srgb
from gpu_nim.render.translucent import Glass, glass_light, opacities
from gpu_nim.render.views import Camera

_POINTS_LIMIT = 264**3
_POINTS_A_CELL = {"draft": 64, "final": 512}
_MOST = 5.5  # the extinction that an opacity of 254 of 255 is
_FACING = 0.7  # how much a cell faces the light


@STYLES.add
class Volume(CameraStyle):
    """A translucent volume; flat objects have no interior."""

    name = "volume"
    summary = "a translucent volume, whose older cells are more opaque and shine"
    engines: ClassVar = ("opengl", "trace")
    traced = Glass
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._volume = volume_of(blocks, base, self.theme)

    @staticmethod
    def prepared(blocks: Blocks, quality: str) -> Blocks:
        """Return the blocks, made coarser until their grid is small enough for their number."""
        size = int(blocks.sizes.max())
        while np.prod(_spans(blocks) + 2) > min(_POINTS_LIMIT, max(_POINTS_A_CELL[quality] * len(blocks), 1 << 12)):
            size *= 2
            blocks = coarsen(blocks, size)
        return blocks

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        return reduce_pixels(self._canvas.draw_volume(self._volume, camera), self.scale)


def _spans(blocks: Blocks) -> NDArray[np.int64]:
    """Return the extent of blocks of one size, in blocks."""
    low, high = blocks.bounds()
    return (high - low) // int(blocks.sizes.max())


def grid_of(blocks: Blocks) -> tuple[tuple[Any, ...], tuple[int, ...], NDArray[np.float64], int]:
    """Return the points of blocks of one size in their grid, its shape, the corner of the cells of its first point, and the size.

    It has a rim of empty points, since VTK draws from middle to middle.
    """
    size, low = int(blocks.sizes.max()), blocks.bounds()[0]
    origin = np.asarray(low - size, np.float64)
    return tuple(((blocks.corners - low) // size + 1).T), tuple((_spans(blocks) + 2).tolist()), origin, size


def volume_of(blocks: Blocks, base: NDArray[np.float32], theme: Theme) -> VolumeGrid:
    """Return the volume of blocks of one size in their colours, as opaque as glass, and lit likewise.

    Args:
        blocks: the blocks.
        base: their colours, sRGB float32 (N, 3).
        theme: the light.

    >>> from gpu_nim.render.source import blocks_of
    >>> from gpu_nim.render.themes import THEMES
    >>> volume = volume_of(blocks_of("nim:7"), np.ones((64, 3), np.float32), THEMES["dark"])
    >>> volume.colours.shape, int((volume.colours[..., 3] > 0).sum())
    ((10, 10, 10, 4), 64)
    """
    at, shape, origin, size = grid_of(blocks)
    age = 1 - blocks.generations / max(int(blocks.generations.max()), 1)
    extinction = -np.log(1 - opacities(blocks, age))
    colours = np.zeros((*shape, 4), dtype=np.uint8)
    colours[*at, 3] = np.rint(255 * (1 - np.exp(-_MOST / extinction.max() * extinction)))
    upwards = (colours[..., ::-1, 3] > 0).cumsum(axis=2, dtype=np.uint16)[..., ::-1][at] - 1  # cells that dim the light from above
    colours[*at, :3] = np.rint(255 * to_srgb(glass_light(to_linear(base), age, upwards, _FACING, theme)))
    return VolumeGrid(colours, origin, size, _MOST / float(extinction.max()) * size)
