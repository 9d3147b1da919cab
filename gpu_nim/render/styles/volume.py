"""Objects as translucent volumes: a medium that absorbs light, lit from within and by the sun through it, on a grid of points.

A point is the mean over the cells within it, a power of two along each side, so that the grid is about as fine as the picture and
never finer than the cells; between points the medium is interpolated, so that the lattice does not beat with the pixels. PyVista's
volume mapper draws the grid.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.look import Look
from gpu_nim.render.opacities import OPACITIES
from gpu_nim.render.opengl import Canvas, VolumeGrid
from gpu_nim.render.shading import COOL, WARM, ThreePointLighting, tone_map
from gpu_nim.render.style import STYLES, CameraStyle
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.views import Camera

#: The most points of a grid along its longest side.
POINTS = 256

_PARTS = 16  # points along a cell, at most; for more than 4 the grid must remain small

_USUAL = 16  # cells on the way of a ray, where opacities are meant; where there are more, each is less opaque
_SHARP = 0.9  # the opacity from which single cells are seen in a crowd
_CROWD = 4  # cells on the way of a ray, above which single ones are not seen
_MOST = 5.5  # the optical depth that an opacity of 254 of 255 is
_AMBIENT, _SHINE = 0.5, 1.5


def grid_of(blocks: Blocks, most: int) -> tuple[NDArray[np.intp], tuple[int, ...], NDArray[np.float64], int]:
    """Return the number of each block's point in a grid, the grid's shape, its first point, and the side of a point in cells.

    It has at most so many points along the longest side of the blocks, and a rim of empty ones, so that what is interpolated ends.
    """
    size, (low, high) = blocks.size, blocks.bounds()
    while (high - low).max() > most * size:
        size *= 2
    shape = tuple((-(-(high - low) // size) + 2).tolist())
    at = np.ravel_multi_index(tuple(((blocks.corners - low) // size + 1).T), shape)
    return at, shape, np.asarray(low - size / 2, np.float64), size


class Medium:
    """The medium of an object.

    Args:
        blocks: the object.
        base: its colours, sRGB float32 (N, 3).
        look: its theme and opacity, and the resolution, beyond which points are not finer.

    >>> from gpu_nim.render.source import blocks_of
    >>> volume = Medium(blocks_of("nim:7"), np.ones((64, 3), np.float32), Look()).lit(np.eye(3))
    >>> volume.colours.shape, int((volume.colours[..., 3] > 0).sum())
    ((160, 160, 160, 4), 262144)
    """

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look) -> None:
        most = min(POINTS, *look.resolution) // (2 if look.quality == "draft" else 1)
        at, self._shape, self._origin, self._size = grid_of(blocks, most)
        self._theme, self._parts, extent = look.drawn_theme, _PARTS, np.subtract(*blocks.bounds()[::-1])
        while self._parts > 1 and self._parts * extent.max() > min(most, POINTS // (2 if self._parts > 4 else 1)) * self._size:
            self._parts //= 2
        self._points, which = np.unique(at, return_inverse=True)
        opacity = np.asarray(OPACITIES[look.opacity].of(blocks), np.float64)
        # Cells that a ray meets, on the mean: a cube has a mean shadow of 1.5 faces.
        met = 4.5 * len(blocks) * blocks.size**2 / (extent * np.roll(extent, 1)).sum()
        power = float(np.clip(_USUAL / met, 0.25, 4))
        depths = -np.log(1 - opacity) * (blocks.size / self._size) ** 2 * power
        self._shade = 1 / max(power, 1)  # few cells, which are more opaque, cast no more shade
        sums = np.bincount(which, depths)
        shining = np.stack([np.bincount(which, each * depths) / sums for each in (*to_linear(base).T, opacity)], axis=1)
        self._base, self._glow = shining[:, :3], shining[:, 3:]
        self.depths = self._grid(sums)
        fine = self._fine(self.depths)
        if met > _CROWD and self._size == blocks.size:
            glass = self._fine(self._grid(np.where(shining[:, 3] < _SHARP, sums, 0)))
            fine -= glass
            half = max(self._parts // 2, 1)
            for axis in range(3):
                beside = np.roll(glass, half, axis) + np.roll(glass, -half, axis)
                glass = beside / 2 if self._parts > 1 else beside / 4 + glass / 2
            fine += glass
        self._reach = _MOST / float(fine.max())
        self._alpha = np.ceil(255 * (1 - np.exp(-self._reach * fine))).astype(np.uint8)

    def _grid(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return values of the points that have cells, (n, ...), in the grid, 0 elsewhere."""
        grid = np.zeros((*self._shape, *values.shape[1:]), np.float32)
        grid.reshape(-1, *values.shape[1:])[self._points] = values
        return grid

    def _fine(self, grid: NDArray[Any]) -> NDArray[Any]:
        """Return a grid with several points for each along each axis."""
        return grid.repeat(self._parts, 0).repeat(self._parts, 1).repeat(self._parts, 2)

    def lit(self, basis: NDArray[np.float64]) -> VolumeGrid:
        """Return the medium in the light of a camera, of its directions right, up and toward the eye, (3, 3)."""
        sun = np.exp(-self._shade * self.shadow(ThreePointLighting.of(basis).key).ravel()[self._points, None])
        light = self._theme.key * sun * WARM + self._theme.ambient * _AMBIENT * COOL + _SHINE * self._glow
        colours = self._grid(1 + 254 * to_srgb(tone_map((self._base * light).astype(np.float32)))).astype(np.uint8)
        for axis in range(3):  # empty points have the colours of those beside them, or what is between would be darker
            for way in (1, -1):
                colours = np.where(colours[..., :1] == 0, np.roll(colours, way, axis), colours)
        fine = np.concatenate([self._fine(colours), self._alpha[..., None]], axis=3)
        spacing = self._size / self._parts
        return VolumeGrid(fine, self._origin + (spacing - self._size) / 2, spacing, self._reach * self._size)

    def shadow(self, toward: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the optical depth from each point toward a distant light: plane by plane from it, each shifted on the way."""
        axis = int(np.abs(toward).argmax())
        found = np.empty_like(self.depths)
        order = slice(None, None, -1 if toward[axis] > 0 else 1)
        down, right = np.delete(toward, axis) / abs(toward[axis])
        above = np.zeros(np.delete(self._shape, axis), np.float32)
        for plane, behind in zip(np.moveaxis(self.depths, axis, 0)[order], np.moveaxis(found, axis, 0)[order], strict=True):
            behind[:] = above
            total = Image.fromarray(above + plane / np.float32(abs(toward[axis])))
            shift = (1, 0, right, 0, 1, down)
            above = np.asarray(total.transform(total.size, Image.Transform.AFFINE, shift, Image.Resampling.BILINEAR))
        return found


@STYLES.add
class Volume(CameraStyle):
    """A translucent volume; flat objects have no interior."""

    name = "volume"
    summary = "a translucent volume, whose more opaque cells shine"
    engines: ClassVar = ("opengl",)
    refuses = frozenset[str]()
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._medium = Medium(blocks, base, look)

    @classmethod
    def supersampling(cls, look: Look) -> int:
        """See `Style.supersampling`: the medium is smooth."""
        return 1

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        volume = self._medium.lit(camera.basis)
        return self._canvas.draw_volume(volume, camera).astype(np.float32) / np.float32(255)
