"""Translucent objects, traced: a ray goes on behind each cell that it meets, so that the inside is seen without a cut.

The cells are glass for the style volume, and light or ink for points. A ray meets few of a set whose cells are like a surface: on
the mean 1.7 of Nim's, at any size.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import START, Cones, Doubles, Hits, Rays, surface
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.raster import bloom
from gpu_nim.render.shading import COOL, STEP, WARM, tone_map
from gpu_nim.render.themes import Theme, to_linear, to_srgb
from gpu_nim.render.trace import Linear, Traced, TracedFrame, beyond, cubes_hit
from gpu_nim.render.traced_object import TracedObject

#: Of a cell: the radius of its point, drawn in ink.
DOT = 0.36
#: The mean light of a cell's area, drawn as a point of light.
BRIGHTNESS = np.float32(0.55)

_LAYERS = 32  # of cells that a ray goes through
_DARK = 0.02  # the part of its light at which a ray ends
_OLDEST, _NEWEST = 0.85, 0.12  # opacities of cells of the first and the last generation, where a ray meets so many:
_USUAL = 16
_POWERS = 0.25, 4  # by which they are less or more opaque in objects of more or fewer
_SUN_PASSES = np.float32(0.8) ** np.arange(16, dtype=np.float32)  # what so many cubes that are not empty leave of the sun's light
_SHINE = 1.5  # how brightly the oldest cells of glass shine
_BALL = 0.2  # of a cell: the standard deviation of its ball of light


class Translucent(Traced):
    """A translucent object ready to be traced from any number of cameras; `absorbs` is whether what is behind a cell is dimmed."""

    absorbs: ClassVar[bool] = True

    def sample(self, frame: TracedFrame, rays: Rays, number: int) -> NDArray[np.float32]:
        """See `Traced.sample`."""
        seen = np.zeros((len(rays), 4), np.float32)
        passed, pixels = np.ones(len(rays), np.float32), np.arange(len(rays))
        hits = self.tracer.trace(rays)
        seen[hits.faces == START, 3] = 1  # where the eye is in a cell, it is black
        for _ in range(_LAYERS):
            which = hits.met
            pixels = pixels[which]
            low, side = cubes_hit(self.obj, hits, which)
            further, way, axis = beyond(rays, which, low, low + side)
            layer = self.layer(frame, rays, hits, which, (way - hits.distances[which]) / side)
            seen[pixels] += passed[pixels, None] * layer
            if self.absorbs:
                passed[pixels] *= 1 - layer[:, 3]
            onwards = np.flatnonzero(passed[pixels] > _DARK)
            if not len(onwards):
                break
            pixels, axis = pixels[onwards], axis[onwards]
            rays = further.take(onwards)
            hits = self.tracer.trace(rays)
            hits.faces[:] = np.where(hits.faces == START, axis, hits.faces)
        return seen

    @abstractmethod
    def layer(self, frame: TracedFrame, rays: Rays, hits: Hits, which: Ints, ways: Doubles) -> NDArray[np.float32]:
        """Return the light that cells send along rays that meet them, linear, times alpha, and alpha, float32 (m, 4).

        Args:
            frame: the light.
            rays: the rays.
            hits: the cells.
            which: the rays that meet one, (m,).
            ways: how long each is in its cell, in sides of it, (m,).
        """


def opacities(obj: Blocks, ages: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the opacities of cells of an object as glass, straight through, by their ages: 0 for the newest, 1 for the oldest."""
    a, b, c = np.subtract(*obj.bounds()[::-1]).tolist()
    faces = obj.population if isinstance(obj, TracedObject) else int((obj.sizes.astype(np.int64) ** 2).sum())
    met = 4.5 * faces / (a * b + b * c + c * a)  # by a ray, on the mean: a cube has a mean shadow of 1.5 faces
    return np.asarray(1 - (1 - _NEWEST - (_OLDEST - _NEWEST) * ages**2) ** min(max(_USUAL / met, _POWERS[0]), _POWERS[1]))


def glass_light(base: Linear, ages: Doubles, blocked: Ints, facing: Doubles | float, theme: Theme) -> Linear:
    """Return the light that cells of glass send to the eye, linear (n, 3).

    Args:
        base: their colours, linear (n, 3).
        ages: as for `opacities`, (n,).
        blocked: how many cubes that are not empty dim the sun before them, (n,).
        facing: how much they face the sun, 0 to 1.
        theme: the light.
    """
    warm = (theme.key * _SUN_PASSES[np.minimum(blocked, len(_SUN_PASSES) - 1)] * facing)[:, None] * WARM
    return tone_map((base * (0.5 * theme.ambient * COOL + warm + (_SHINE * ages)[:, None])).astype(np.float32))


class Glass(Translucent):
    """Older cells are more opaque and shine; the sun's light is dimmed by the cells that it goes through."""

    def layer(self, frame: TracedFrame, rays: Rays, hits: Hits, which: Ints, ways: Doubles) -> NDArray[np.float32]:
        """See `Translucent.layer`."""
        cells, levels, axis = hits.cells[:, which], hits.levels[which], hits.faces[which].astype(np.intp)
        age, sun = 1 - self.obj.born(cells, levels) / max(self.obj.span[1], 1), frame.lights.key
        blocked = self.tracer.blocked(Cones(*surface(rays, hits, which), levels, np.float64(STEP) * sun[None]))[0]
        facing = 0.5 - 0.5 * np.sign(rays.directions[:, which][axis, np.arange(len(which))]) * sun[axis]
        light = glass_light(to_linear(self.obj.colours(cells, levels)), age, blocked, facing, self.theme)
        opacity = 1 - (1 - opacities(self.obj, age)[:, None]) ** ways[:, None]
        return np.concatenate([light * opacity, opacity], axis=1).astype(np.float32)


class Lights(Translucent):
    """Each cell is a ball of light, or of ink on a light theme."""

    absorbs = False
    luminous = True

    def layer(self, frame: TracedFrame, rays: Rays, hits: Hits, which: Ints, ways: Doubles) -> NDArray[np.float32]:
        """See `Translucent.layer`."""
        low, side = cubes_hit(self.obj, hits, which)
        middle = (low - rays.cells[:, which] - rays.fractions[:, which]) / side + 0.5
        off = (middle * middle).sum(axis=0) - (middle * rays.directions[:, which]).sum(axis=0) ** 2  # squared, of the ray
        if self.theme.light:
            alpha = (off < DOT**2).astype(np.float32)[:, None]
        else:
            alpha = (np.exp(-off / (2 * _BALL**2)) / (2 * np.pi * _BALL**2)).astype(np.float32)[:, None] * BRIGHTNESS
        colours: Linear = to_linear(self.obj.colours(hits.cells[:, which], hits.levels[which]))
        return np.concatenate([colours * alpha, alpha], axis=1)

    def resolved(self, seen: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `Traced.resolved`."""
        return composited(seen) if self.theme.light else tone_mapped(bloom(seen[..., :3], self.theme.glow))


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
