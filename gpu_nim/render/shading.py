"""Light on blocks, computed in the world and not on the screen: open sky and shadow.

Both engines draw the colours of this module, so they agree; and since the light is attached to the object and not to the pixels, it
does not flicker when the camera moves.

Ambient occlusion: cones are cast from each side into a pyramid of grids, each coarser by two. A grid cell of side s with n cells
lets a ray pass with probability exp(-n / s^2): n unit cubes have n times the mean projected area of one, and the grid cell s^2
times. For the P-positions of Nim n = s^2 at every level, so that every level of the fractal is equally dark. The finest grid has
at most 2^24 cells, a blurred copy of the set.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.geometry import Blocks, Quads, side, visible
from gpu_nim.render.themes import Theme, to_linear, to_srgb
from gpu_nim.render.views import Camera, basis_of

_GRID_LIMIT = 1 << 24
#: The number of blocks beyond which each is about a pixel, and light is computed once a side.
MANY = 1 << 18

#: Radians from each point of a disc to the next, by which they cover it evenly (Vogel 1979).
GOLDEN_ANGLE = 2.399963

#: The colours of the directed light and of light from the sky, linear.
WARM, COOL = (np.array(colour, dtype=np.float32) for colour in ((1.0, 0.93, 0.82), (0.72, 0.84, 1.0)))

_LOW_SUN = 0.1  # the sine of the least elevation of a sun that casts shadows on a floor
_CHUNK = 1 << 17  # sides that are lit at once
_SHADOW_SIZE = 2048  # texels along the longer side of the shadow map, at most
_FINEST = 8  # texels along a block, at most


class AmbientOcclusion:
    """How much of the sky each side of each block sees, 0 to 1, by cone tracing.

    Args:
        blocks: the blocks.
        corners: whether to compute it at the four corners of each side, or once a side.
    """

    def __init__(self, blocks: Blocks, *, corners: bool = True) -> None:
        low, high = blocks.bounds()
        self._base = blocks.size
        extent = (high.astype(np.int64) - low).tolist()
        while True:
            shape = tuple(length // self._base + 1 for length in extent)
            if prod(shape) <= _GRID_LIMIT and prod(side + 2 * _RIM for side in shape) <= 4 * _GRID_LIMIT:
                break
            self._base *= 2
        self._low = low
        index = np.ravel_multi_index(tuple(((blocks.corners - low) // self._base).T.astype(np.intp)), shape)
        self._blocks, self._corners = blocks, corners
        grid = (np.bincount(index, minlength=prod(shape)) * float(blocks.size) ** 2).astype(np.float32).reshape(shape)
        self._levels = [_opaque(grid, self._base)]
        while max(grid.shape) > 2:
            grid = _halve(grid)
            self._levels.append(_opaque(grid, self._base << len(self._levels)))
        self._visibility: dict[tuple[int, int], NDArray[np.uint8]] = {}

    def visibility(self, axis: int, end: int) -> NDArray[np.uint8]:
        """Return the open part of the sky before one side of every block, uint8 (N, 4) at its corners or (N, 1), in 1/255."""
        if (axis, end) in self._visibility:
            return self._visibility[axis, end]
        cones, parts = hemisphere_cones(axis, end), []
        for first in range(0, len(self._blocks), _CHUNK):
            blocks = self._blocks.take(np.arange(first, min(first + _CHUNK, len(self._blocks))))
            points = samples(side(blocks, axis, end), self._corners, 0.75)
            start = [points[..., k] - np.float32(self._low[k]) for k in range(3)]
            start[axis] += end * np.float32(0.02)
            total = np.zeros(start[0].shape, dtype=np.float32)
            free = np.ones((len(cones), *total.shape), dtype=np.float32)
            for level, opaque in enumerate(self._levels):
                width = self._base << level
                # The grids have an empty rim, wider than the step: nothing falls outside.
                at = [part * np.float32(1 / width) + np.float32(_RIM) for part in start]
                if not self._corners and level > 1:
                    # Many small sides: a random shift turns steps between grid cells into fine grain.
                    shift = np.random.default_rng(level).random((3, *total.shape), dtype=np.float32) - np.float32(0.5)
                    at = [part + moved for part, moved in zip(at, shift, strict=True)]
                for which, cone in enumerate(cones):
                    x, y, z = ((part + np.float32(STEP * way)).astype(np.int32) for part, way in zip(at, cone, strict=True))
                    free[which] *= 1 - opaque.ravel()[(x * opaque.shape[1] + y) * opaque.shape[2] + z]
            for which, cone in enumerate(cones):
                total += free[which] * np.float32(abs(cone[axis]))
            parts.append(np.rint(total * np.float32(255 / np.abs(cones[:, axis]).sum())).astype(np.uint8))
        return self._visibility.setdefault((axis, end), np.concatenate(parts))


STEP = 1.5  # of a grid's cell: the distance along a cone of its first sample, off the side that it starts from
_RIM = 3  # empty grid cells on every side
BLOCKED = 0.75  # a cone is wider than its samples: the most of it that is blocked


def samples(quads: NDArray[np.float32], corners: bool, spread: float) -> NDArray[np.float32]:
    """Return the points where light is computed on sides (M, 4, 3): near the corners, (M, 4, 3), or in the middle, (M, 1, 3)."""
    middle = (quads[:, :1] + quads[:, 2:3]) * np.float32(0.5)
    return quads * np.float32(spread) + middle * np.float32(1 - spread) if corners else middle


def _opaque(grid: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    return np.pad((1 - np.exp(-grid / np.float32(width) ** 2)) * np.float32(BLOCKED), _RIM)


def _halve(grid: NDArray[np.float32]) -> NDArray[np.float32]:
    padded = np.pad(grid, [(0, size % 2) for size in grid.shape])
    x, y, z = (size // 2 for size in padded.shape)
    return np.asarray(padded.reshape(x, 2, y, 2, z, 2).sum(axis=(1, 3, 5)))


def hemisphere_cones(axis: int, end: int) -> NDArray[np.float32]:
    """Five directions into the half space that a side faces."""
    cones = []
    for tilt in ((0, 0), (1, 0.3), (-0.3, 1), (-1, -0.3), (0.3, -1)):
        cone = np.insert(np.array(tilt, dtype=np.float64), axis, end * 0.9)
        cones.append(cone / np.linalg.norm(cone))
    return np.array(cones, dtype=np.float32)


class ShadowMap:
    """The points that a distant light reaches: a map of the nearest block along the light."""

    def __init__(self, blocks: Blocks, toward: NDArray[np.float64]) -> None:
        self._basis = basis_of(toward).astype(np.float32)
        centres = blocks.centres() @ self._basis.T
        self._low = centres[:, :2].min(axis=0) - blocks.size
        extent = centres[:, :2].max(axis=0) + blocks.size - self._low
        self.texel = max(float(extent.max()) / _SHADOW_SIZE, blocks.size / _FINEST)
        width, height = (np.ceil(extent / self.texel).astype(int) + 1).tolist()
        self._map = np.full((width, height), -np.inf, dtype=np.float32)
        centres = centres[np.argsort(centres[:, 2], kind="stable")]  # the nearest to the light is written last
        # A cube's mean shadow is 1.5 faces: a square of 1.22 sides.
        steps = max(1, round(1.22 * blocks.size / self.texel))
        texels = (centres[:, :2] - self._low) / np.float32(self.texel)
        x, y = np.rint(texels - steps / 2).astype(np.int32).clip(0, [width - 1, height - 1]).T
        self._map[x, y] = centres[:, 2]
        for along in (self._map, self._map.T):
            for _ in range(steps - 1):
                np.maximum(along[1:], along[:-1], out=along[1:])

    def lit(self, points: NDArray[np.float32], bias: float, softness: float, taps: int) -> NDArray[np.float32]:
        """Return the part of the light that reaches each point (..., 3): of `taps` samples in a disc of radius `softness`."""
        seen = points @ self._basis.T
        where = (seen[..., :2] - self._low) / np.float32(self.texel)
        depth = seen[..., 2] + np.float32(bias)
        total = np.zeros(depth.shape, dtype=np.float32)
        for k in range(taps):
            radius, turn = (softness / self.texel) * np.sqrt((k + 0.5) / taps), k * GOLDEN_ANGLE
            x = np.clip((where[..., 0] + np.float32(radius * np.cos(turn))).astype(np.int32), 0, self._map.shape[0] - 1)
            y = np.clip((where[..., 1] + np.float32(radius * np.sin(turn))).astype(np.int32), 0, self._map.shape[1] - 1)
            total += self._map[x, y] <= depth
        return total / np.float32(taps)


@dataclass(frozen=True)
class ThreePointLighting:
    """Lights that move with the camera: directions toward them, and their brightness on each side of a cube."""

    key: NDArray[np.float64]
    fill: NDArray[np.float64]
    rim: NDArray[np.float64]

    @classmethod
    def of(cls, basis: NDArray[np.float64]) -> "ThreePointLighting":
        """Return the lights of a camera: the key above and to the left, the fill low on the right, the rim behind and above.

        Args:
            basis: the camera's directions right, up and toward the eye, (3, 3).
        """
        right, up, toward = basis
        ways = right * -0.75 + up * 0.95 + toward * 0.5, toward * 0.7 + right * 0.95, up * 0.8 - toward
        return cls(*(way / np.linalg.norm(way) for way in ways))


def has_floor(basis: NDArray[np.float64], sun: NDArray[np.float64]) -> bool:
    """Return whether an object in perspective from above stands on a floor: its picture is upright, and the sun not too low."""
    return bool(basis[1, 2] > 0 and sun[2] > _LOW_SUN)


class Shader:
    """The colours of the sides of blocks under a theme's light.

    Args:
        blocks: the blocks.
        base: their colours, sRGB (N, 3).
        theme: the theme.
        fine: whether shadows are sampled finely.
        gain: how many times brighter each block is, float32 (N, 1), than one that reflects light.
    """

    def __init__(
        self, blocks: Blocks, base: NDArray[np.float32], theme: Theme, *, fine: bool, gain: NDArray[np.float32] | None = None
    ) -> None:
        self._blocks, self._theme = blocks, theme
        self._base = to_linear(base) if gain is None else to_linear(base) * gain
        self._taps = 16 if fine else 6
        self._corners = len(blocks) <= MANY
        self._occlusion = AmbientOcclusion(blocks, corners=self._corners)

    def quads(self, camera: Camera, progress: OnStep = no_progress) -> Iterator[Quads]:
        """Yield the sides that face the camera, as `visible` does, and the colours of their corners, sRGB uint8 (M, 4, 3)."""
        blocks, lights = self._blocks, ThreePointLighting.of(camera.basis)
        shadow = ShadowMap(blocks, lights.key)
        low, high = blocks.bounds()
        softness = 0.006 * float(np.linalg.norm(high - low))
        faces = list(visible(blocks, camera))
        for done, (axis, end, which) in enumerate(faces):
            progress("side", done, len(faces))
            light, open_sky = SideLight(self._theme, lights, camera, axis, end), self._occlusion.visibility(axis, end)
            quads = side(blocks if isinstance(which, slice) else blocks.take(which), axis, end)
            indices, colours = np.arange(len(blocks))[which], np.empty(quads.shape, dtype=np.uint8)
            for start in range(0, len(quads), _CHUNK):
                part = slice(start, start + _CHUNK)
                points, chosen = samples(quads[part], self._corners, 0.7), indices[part]
                lit = None
                if light.facing[0] > 0:
                    bias = 0.9 * blocks.size + 1.5 * shadow.texel
                    lit = shadow.lit(points, bias, softness, self._taps)
                sky = open_sky[chosen].astype(np.float32) / np.float32(255)
                reflected = light.reflected(self._base[chosen][:, None, :], sky, lit)
                colours[part] = np.rint(to_srgb(reflected) * 255).astype(np.uint8)
            yield quads, colours


def tone_map(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return light (..., 3), linear, compressed where it is bright, at most 1, in its hue.

    >>> tone_map(np.array([[0.4, 0.2, 0.1], [4, 2, 1]])).round(2).tolist()
    [[0.37, 0.19, 0.1], [1.0, 0.56, 0.31]]
    """
    folded = light * (1 + light * np.float32(0.25)) / (1 + light * np.float32(0.5))
    return np.asarray(folded / np.maximum(folded.max(axis=-1, keepdims=True), 1))


class SideLight:
    """The light on sides that face one way.

    Args:
        theme: the theme.
        lights: the lights.
        camera: the camera, whose upward direction is that of the sky.
        axis: the axis that the sides are perpendicular to.
        end: -1 or 1, which end of the axis they face.

    `facing` is how much they face the key, the fill and the rim light: not at all below 0.
    """

    def __init__(self, theme: Theme, lights: ThreePointLighting, camera: Camera, axis: int, end: int) -> None:
        self._theme = theme
        normal = np.zeros(3)
        normal[axis] = end
        self.facing = [float(normal @ light) for light in (lights.key, lights.fill, lights.rim)]
        self._above = 0.5 + 0.5 * float(normal @ camera.basis[1])

    def reflected(
        self, base: NDArray[np.float32], sky: NDArray[np.float32], lit: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Return the light that comes to the eye, linear float32 (..., 3).

        Args:
            base: the colours of the sides, linear, (..., 3).
            sky: the open part of the sky before them, (...).
            lit: the part of the key light that reaches them, (...); None where they face away from it.
        """
        theme = self._theme
        open_ = np.float32(theme.bounce) + np.float32(1 - theme.bounce) * sky ** np.float32(1.4)
        light = np.empty((*sky.shape, 3), dtype=np.float32)
        cool = open_ * np.float32(theme.ambient * (0.55 + 0.45 * self._above))
        white = warm = np.zeros_like(sky)
        if lit is not None:
            warm = lit * np.float32(theme.key * self.facing[0]) * (np.float32(0.35) + np.float32(0.65) * np.sqrt(sky))
        if self.facing[1] > 0:
            cool = cool + sky * np.float32(0.62 * self.facing[1])
        if self.facing[2] > 0:
            white = sky * np.float32(0.25 * self.facing[2])
        for k in range(3):
            light[..., k] = base[..., k] * (cool * COOL[k] + warm * WARM[k] + white)
        return tone_map(light)
