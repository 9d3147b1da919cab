"""Bodies as translucent volumes: traced as glass, or by PyVista a grid of lit colours and opacities that rays are cast through.

The grid has one point per cell, or several in each direction if there are few cells, so that the blur does not hide them.  It has
at most 512 points per cell, which suffices to draw the P-positions of Nim below 256 cell by cell, and 64 in a draft: sparse sets
are made coarser, so that no dense grid is built for them.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks, VolumeGrid, coarsen
from gpu_nim.render.look import OPENGL_BYTES, STYLES, TRACED_COST, CameraStyle, Cost, Look
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import reduce_pixels
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.translucent import SHINE, Glass, opacities
from gpu_nim.render.views import Camera

_POINTS_LIMIT = 264**3
_POINTS_A_CELL = {"draft": 64, "final": 512}
_STEPS_A_POINT = {"draft": 1.2, "final": 2.5}
_FINE_LIMIT = 132**3  # points: a finer grid than of cells is built up to here
_FINEST = 8  # points a cell, each way
_MOST = 5.5  # the extinction that an opacity of 254 of 255 is

# Lamps that are fixed in the world, above on the left and low on the right of the hero view: toward, brightness.
_LAMPS = (((-0.26, -0.53, 0.81), 1.9), ((0.94, 0.28, 0.19), 0.95))
_AMBIENT = 0.45


@STYLES.add
class Volume(CameraStyle):
    """A translucent volume; flat bodies have no interior. What OpenGL draws has no edges to smooth."""

    name = "volume"
    summary = "a translucent volume, whose older cells are more opaque and shine"
    costs: ClassVar = {"opengl": Cost(OPENGL_BYTES, 62, 700, 300), "trace": TRACED_COST}
    traced = Glass
    draws_flat = False
    has_edges = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._volume = volume_of(blocks, base, _fineness(blocks, look.quality))

    @staticmethod
    def prepared(blocks: Blocks, quality: str) -> Blocks:
        """Return the blocks, made coarser until their grid is small enough for their number."""
        size = int(blocks.sizes.max())
        while np.prod(_spans(blocks) + 4) > min(_POINTS_LIMIT, max(_POINTS_A_CELL[quality] * len(blocks), 1 << 12)):
            size *= 2
            blocks = coarsen(blocks, size)
        return blocks

    @staticmethod
    def framed(hull: NDArray[np.float32], blocks: Blocks, quality: str) -> NDArray[np.float32]:
        """Return points that frame the volume, which reaches a point of its grid beyond the points that frame the blocks."""
        low, high = blocks.bounds()
        beyond = np.where(hull > (low + high) / 2, 1, -1) * (float(blocks.sizes.max()) / _fineness(blocks, quality))
        return np.asarray(hull + beyond, dtype=np.float32)

    @staticmethod
    def bytes_before(blocks: Blocks, quality: str) -> int:
        """Return the bytes of memory that the volume takes while it is made."""
        return 52 * int(np.prod(_fineness(blocks, quality) * _spans(blocks) + 4))

    def draw(self, camera: Camera, on_step: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        return reduce_pixels(self._canvas.draw_volume(self._volume, camera, _STEPS_A_POINT[self.look.quality]), 1)


def _spans(blocks: Blocks) -> NDArray[np.int64]:
    """Return the extent of blocks of one size, in blocks."""
    low, high = blocks.bounds()
    return (high - low) // int(blocks.sizes.max())


def _fineness(blocks: Blocks, quality: str) -> int:
    """Return the number of points along a side of a block: several if their grid is still fast to draw, and no draft."""
    fine = [n for n in range(1, _FINEST + 1) if np.prod(n * _spans(blocks) + 4) <= _FINE_LIMIT]
    return max(fine, default=1) if quality == "final" else 1


def volume_of(blocks: Blocks, base: NDArray[np.float32], fine: int = 1) -> VolumeGrid:
    """Return the volume of blocks of one size in their colours, as opaque as glass.

    Light is computed here, from the gradient of the density and from the surroundings.

    Args:
        blocks: the blocks.
        base: their colours, sRGB float32 (N, 3).
        fine: the number of points along a side of a block.

    >>> from gpu_nim.render.source import blocks_of
    >>> cells = blocks_of("nim:7")
    >>> volume = volume_of(cells, np.ones((64, 3), np.float32))
    >>> volume.colours.shape, bool((volume.colours[..., 3] > 0).any())
    ((12, 12, 12, 4), True)
    """
    size = int(blocks.sizes.max())
    low, _ = blocks.bounds()
    cells = tuple(_spans(blocks).tolist())
    x, y, z = ((blocks.corners - low) // size).T
    age = 1 - blocks.generations / max(int(blocks.generations.max()), 1)

    def on_grid(values: NDArray[np.floating] | float) -> NDArray[np.float32]:
        grid = np.zeros(cells, dtype=np.float32)
        grid[x, y, z] = values
        for axis in range(3) if fine > 1 else ():
            grid = np.asarray(grid.repeat(fine, axis), dtype=np.float32)
        return np.pad(grid, 2)  # a rim of empty points all around, for the blurs

    # Half of all cells can never live in the automata on even sums: without a blur they would show as a pattern.
    density = _blur(on_grid(1.0))
    extinction = _blur(on_grid(-np.log(1 - opacities(blocks, age))))
    filled = density > 0
    light = _light(density)[filled] + (_blur(on_grid(SHINE * age))[filled] / density[filled])
    colours = np.zeros((*density.shape, 4), dtype=np.uint8)
    linear = to_linear(base)
    for channel in range(3):
        # Colours are averaged over living cells only, so that empty cells do not darken them.
        shone = _blur(on_grid(linear[:, channel]))[filled] / density[filled] * light
        colours[filled, channel] = np.rint(255 * np.clip(to_srgb(shone / (1 + shone / 4)), 0, 1))
    most, spacing = float(extinction.max()), size / fine
    colours[..., 3] = np.rint(255 * (1 - np.exp(-_MOST / most * extinction)))
    return VolumeGrid(colours, np.asarray(low - 2 * spacing, dtype=np.float64), spacing, _MOST / most * size)


def _blur(grid: NDArray[np.float32]) -> NDArray[np.float32]:
    for axis in range(3):
        grid = np.asarray((np.roll(grid, 1, axis) + 2 * grid + np.roll(grid, -1, axis)) / 4, dtype=np.float32)
    return grid


def _light(density: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the brightness of each point of a density, from the angle of its gradient to the lamps and from its openness."""
    soft = _blur(density)
    slopes = [-np.gradient(soft, axis=axis) for axis in range(3)]
    steep = np.maximum(np.sqrt(sum(slope * slope for slope in slopes)), np.float32(1e-3))
    light = np.full(density.shape, _AMBIENT, dtype=np.float32)
    for toward, brightness in _LAMPS:
        facing = sum(slope * np.float32(part) for slope, part in zip(slopes, toward, strict=True)) / steep
        light += np.float32(brightness) * np.clip(facing, 0, None)
    for _ in range(3):
        soft = _blur(_blur(soft))
        light *= np.exp(np.float32(-0.6) * soft)
    return light
