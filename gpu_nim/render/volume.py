"""Bodies as clouds: a grid of colours and densities that rays are cast through, by NumPy for both engines.

The grid holds at most 64 points a cell and 2^24 in all: a dense grid is never built for a sparse set, which is made
coarser instead.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.geometry import Blocks, coarsen
from gpu_nim.render.views import Camera

_POINTS_LIMIT = 1 << 24
_POINTS_A_CELL = 64


@dataclass(frozen=True)
class Cloud:
    """A grid: `colours` uint8 (x, y, z, 4), red, green, blue and opacity, whose first point has its middle at
    `origin`.
    """

    colours: NDArray[np.uint8]
    origin: NDArray[np.float64]
    spacing: int


def solid_enough(blocks: Blocks) -> Blocks:
    """Return the blocks, made coarser until their grid is small enough for how many they are."""
    size = int(blocks.sizes.max())
    while True:
        low, high = blocks.bounds()
        points = int(np.prod((high - low) // size + 4))
        if points <= min(_POINTS_LIMIT, max(_POINTS_A_CELL * len(blocks), 1 << 12)):
            return blocks
        size *= 2
        blocks = coarsen(blocks, size)


def cloud_of(blocks: Blocks, base: NDArray[np.float32]) -> Cloud:
    """Return the cloud of blocks of one size in their colours: the older a cell, the denser, so that the young let
    light in.

    >>> from gpu_nim.render.source import blocks_of
    >>> cells = blocks_of("nim:7")
    >>> cloud = cloud_of(cells, np.ones((64, 3), np.float32))
    >>> cloud.colours.shape, bool((cloud.colours[..., 3] > 0).any())
    ((12, 12, 12, 4), True)
    """
    size = int(blocks.sizes.max())
    low, high = blocks.bounds()
    shape = (high - low) // size + 4  # a rim of two empty points all around, one for the blur
    x, y, z = ((blocks.corners - low) // size + 2).T
    first, last = int(blocks.generations.min()), int(blocks.generations.max())
    age = 1 - (blocks.generations - first) / max(last - first, 1)
    # Colours weighted by density, so that where they are mixed the emptiness between cells has no colour.
    thick = np.zeros((*shape.tolist(), 4), dtype=np.float32)
    thick[x, y, z, 3] = 0.12 + 0.88 * age**2
    thick[x, y, z, :3] = base * thick[x, y, z, 3:]
    for axis in range(3):
        # Half of all cells can never live in the automata on even sums: without a blur they would show as a weave.
        thick = (np.roll(thick, 1, axis) + 2 * thick + np.roll(thick, -1, axis)) / 4
    colours = np.zeros(thick.shape, dtype=np.uint8)
    density = thick[..., 3:]
    colours[..., :3] = np.rint(
        255 * np.divide(thick[..., :3], density, out=np.zeros_like(thick[..., :3]), where=density > 0)
    )
    colours[..., 3] = np.rint(255 * np.clip(density[..., 0] * 1.6, 0, 1))
    return Cloud(colours, np.asarray(low - 2 * size, dtype=np.float64), size)


def cast(cloud: Cloud, camera: Camera, width: int, height: int, steps_a_point: float) -> NDArray[np.float32]:
    """Return the cloud seen from a camera, premultiplied sRGB and alpha, float32 (height, width, 4) in 0 to 1.

    Light falls off along each ray as exp(-density x length); a ray ends where it leaves the grid or is all but used up.
    """
    shape = np.array(cloud.colours.shape[:3])
    right, up, toward = camera.basis
    x = (np.arange(width) + 0.5 - width / 2) * 2 / height * camera.scale
    y = (height / 2 - np.arange(height) - 0.5) * 2 / height * camera.scale
    screen = x[None, :, None] * right + y[:, None, None] * up
    if camera.parallel:
        start = (camera.eye + screen).reshape(-1, 3)
        along = np.broadcast_to(-toward, start.shape)
    else:
        along = (screen - toward).reshape(-1, 3)
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        start = np.broadcast_to(camera.eye, along.shape)
    start = (start - cloud.origin) / cloud.spacing  # in grid points from here on
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = -start / along, (shape - start) / along
    enter = np.nanmax(np.minimum(first, second), axis=1).clip(0)
    leave = np.nanmin(np.maximum(first, second), axis=1)
    rays = np.flatnonzero(enter < leave)
    result = np.zeros((height * width, 4), dtype=np.float32)
    step = 1 / steps_a_point
    falloff = np.exp(-_thickness(cloud) * step * np.arange(256) / 255).astype(np.float32)
    packed = cloud.colours.view(np.uint32).ravel()
    at = (start[rays] + along[rays] * (enter[rays] + step / 2)[:, None]).astype(np.float32)
    move = (along[rays] * step).astype(np.float32)
    left = np.ceil((leave - enter)[rays] * steps_a_point).astype(np.int32)
    light, colour = np.ones(len(rays), dtype=np.float32), np.zeros((3, len(rays)), dtype=np.float32)
    top = (shape - 1).astype(np.int32)
    taken = 0
    while len(rays):
        i, j, k = (np.clip(at[:, axis].astype(np.int32), 0, top[axis]) for axis in range(3))
        found = packed[(i * shape[1] + j) * shape[2] + k]
        passed = falloff[found >> 24]
        share = light * (1 - passed) * np.float32(1 / 255)
        for channel in range(3):
            colour[channel] += share * (found >> (8 * channel) & 255).astype(np.float32)
        light *= passed
        at += move
        taken += 1
        if taken % 8 == 0:
            done = (left <= taken) | (light < 0.01)
            if done.any():
                result[rays[done], :3], result[rays[done], 3] = colour[:, done].T, 1 - light[done]
                keep = ~done
                rays, at, move, left, light, colour = (
                    rays[keep],
                    at[keep],
                    move[keep],
                    left[keep],
                    light[keep],
                    colour[:, keep],
                )
    return result.reshape(height, width, 4)


def _thickness(cloud: Cloud) -> float:
    """Return how strongly density keeps light back, so that the body's mean column keeps back all but e^-3 of it."""
    columns = cloud.colours[..., 3].sum(axis=2, dtype=np.int64) / 255
    return 3.0 / max(float(columns[columns > 0].mean()), 1e-6)
