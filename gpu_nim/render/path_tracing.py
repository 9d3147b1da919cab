"""Pictures by path tracing: soft sun and sky, light that bounces between cells, a floor, rounded edges.

Each sample of a pixel follows one path: a ray from the eye, and from each cell that it meets a ray to a point on the sun and one
onwards, whose direction is drawn with the density of Lambert's law, so that the mean of the samples is the light that comes to the
eye (Kajiya 1986). Nothing is random (see `Sampler`), and since both backends trace the same hits, the picture does not depend on
the backend.

The picture is refined sample by sample, and an interrupt after the first keeps the samples that are complete.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import LARGEST, MISS, START, Doubles, Hits, Rays, surface
from gpu_nim.model.work import OnStep
from gpu_nim.render.denoise import BAND, REACH, denoised, luminance, noise_of
from gpu_nim.render.raster import background, unmultiplied
from gpu_nim.render.shading import COOL, WARM, ThreePointLighting, has_floor, tone_map
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.trace import Linear, Traced, cubes_hit, eye_of, in_batches, primary_rays
from gpu_nim.render.views import Camera

SAMPLES = 12
#: How often light is reflected from one cell to another before it reaches the eye.
BOUNCES = 2

_FINENESS = SAMPLES**0.25  # how many cells side by side a sample resolves in a pixel
#: The radius of the sun at distance 1, and the part of a side that is round, at each edge.
SUN, BEVEL = 0.035, 0.12
_SEEN_ROUND = 4.0  # pixels: the side of a cube from which on its edges are seen to be round
_WIDE = 0.02  # the spread of rays of bounced light, for which finer cells make no difference
_FLOOR = 6.0  # the reach of shadows on the floor, in diagonals of the object
_BELOW = 1 - 2.0**-20  # the floor, in the layer of cells below the object: rays from it enter the object from outside
_POOL = 0.13  # brightening of the floor near the object, as a fraction of the distance to white
_POOL_REACH = 0.8  # in diagonals of the object
_SKY = 64  # the root of the number of directions over which the sky's light on an open floor is summed
_AMBIENT = 0.4  # the part of the sky's light that is taken to come to cells from which a path does not go on

#: What is summed over the samples of a pixel. Of cells: their light, their colours, the normal, the depth, the luminance that they
#: would have if they were white, its square, and the number of samples that meet some. Of the floor and what is behind it: the
#: light, the square of its luminance, and the number of samples.
LIGHT, COLOUR, NORMAL, BESIDE = (slice(first, first + 3) for first in (0, 3, 6, 9))
DEPTH, WHITE, WHITE_SQUARE, CELLS, BESIDE_SQUARE, OPEN, SUMS = range(12, 19)
_DARKEST = np.float32(1 / 64)  # the least colour by which light is divided
_EDGES = 0.6, 0.3, 30.0  # differences that are edges: of normals, of the luminance of colours, and of depth, along a pixel

_PIXEL, _PATH = 0, 1  # uses of samples; a path has two for each bounce

_R2 = (0.7548776662466927, 0.5698402909980532)  # the inverses of the plastic number and of its square
_GOLDEN = 0.6180339887498949  # the inverse of the golden ratio


class Sampler:
    """Points in the unit square at which light is sampled, for each sample of each pixel and for each use that is made of one.

    They are those of the sequence R2 (Roberts 2018), numbered along a Z-order curve over the picture, so that those of one pixel
    and those of neighbouring pixels complement each other (Ahmed and Wonka 2020). Each use takes the samples in its own order. They
    are the same on every machine.

    Args:
        width: the width of the picture, below 2^15.
        samples: the number of samples a pixel.
        uses: the number of uses.
    """

    def __init__(self, width: int, samples: int, uses: int) -> None:
        self._width = width
        self._samples = samples
        self._order = [np.argsort(np.arange(1, samples + 1) * (use + 1) * _GOLDEN % 1.0) for use in range(uses)]

    def __call__(self, pixels: Ints, sample: int, use: int) -> tuple[Doubles, Doubles]:
        """Return a point for each pixel, coordinates from 0 to below 1, (n,) each.

        Args:
            pixels: numbers of pixels, row by row, (n,).
            sample: the number of the sample.
            use: the number of the use.

        >>> x, y = Sampler(width=2, samples=4, uses=1)(np.arange(2), 0, 0)
        >>> x.round(3).tolist(), y.round(3).tolist()
        ([0.755, 0.774], [0.57, 0.849])
        """
        number = z_order(pixels % self._width, pixels // self._width) * self._samples + self._order[use][sample]
        return (number * _R2[0] + use * _R2[1]) % 1.0, (number * _R2[1] + use * _R2[0]) % 1.0


def z_order(x: Ints, y: Ints) -> Ints:
    """Return the numbers whose binary digits are in turn those of y and of x, both below 2^16.

    >>> z_order(np.array([0, 1, 0, 1, 2]), np.array([0, 0, 1, 1, 0])).tolist()
    [0, 1, 2, 3, 4]
    """
    spread = []
    for digits in (x, y):
        for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
            digits = (digits | digits << shift) & mask
        spread.append(digits)
    return np.asarray(spread[0] | spread[1] << 1)


def sample_disc(point: tuple[Doubles, Doubles]) -> tuple[Doubles, Doubles]:
    """Return points of the unit disc for points of the unit square, equal areas for equal areas."""
    radius, turn = np.sqrt(point[0]), 2 * np.pi * point[1]
    return radius * np.cos(turn), radius * np.sin(turn)


def cosine_hemisphere(normals: Doubles, point: tuple[Doubles, Doubles]) -> Doubles:
    """Return directions (3, n) about normals (3, n), with a density in proportion to the cosine of the angle between (Lambert)."""
    across, along = tangents(normals)
    x, y = sample_disc(point)
    return np.asarray(across * x + along * y + normals * np.sqrt(1 - point[0]))


def tangents(normals: Doubles) -> tuple[Doubles, Doubles]:
    """Return two directions perpendicular to each normal (3, n) and to each other (Duff et al. 2017)."""
    x, y, z = normals
    sign = np.where(z < 0, -1.0, 1.0)
    a = -1 / (sign + z)
    b = x * y * a
    return np.stack([1 + sign * x * x * a, sign * b, -sign * x]), np.stack([b, sign + y * y * a, -y])


def unit(vectors: Doubles) -> Doubles:
    """Return vectors (3, n) at length 1."""
    return np.asarray(vectors / np.sqrt((vectors * vectors).sum(axis=0)))


class PathTraced(Traced):
    """An object ready to be path traced from any number of cameras.

    A picture has `SAMPLES` a pixel, or fewer where it was interrupted. Noise is taken out of `band` pixels at once.
    """

    band = BAND

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `Traced.draw`; the picture is opaque unless the look is transparent."""
        width, height = self.look.resolution
        count = width * height
        stage = Stage(self, camera)
        sums = np.zeros((count, SUMS), np.float32)
        self.shortfall = ""
        try:
            for sample in range(SAMPLES):
                for pixels, light in in_batches(self.tracer, self.look.resolution, partial(stage.light, sample=sample)):
                    sums[pixels] += light
                    progress("path", sample * count + pixels.stop, SAMPLES * count)
        except KeyboardInterrupt:
            if not sample:
                raise
            self.shortfall = f"interrupted: {sample} of {SAMPLES} samples a pixel"
        # In bands, of which each holds what the filter reaches beyond it.
        picture = np.empty((height, width, 4), np.float32)
        rows = max(self.band // width, 1)
        for first in range(0, height, rows):
            above, stop = max(first - REACH, 0), min(first + rows, height)
            band = slice(above * width, (stop + REACH) * width)
            picture[first:stop] = stage.resolved(sums[band].reshape(-1, width, SUMS), band)[first - above :][: stop - first]
        return picture


@dataclass(frozen=True)
class _Points:
    """Points on sides of cells, from which paths go on: cells (3, n) before the sides and fractions (3, n) of them.

    Attributes:
        cells: see above.
        fractions: see above.
        levels: of the cubes that the sides are of, (n,).
        sides: the directions that the sides face, (3, n).
        normals: the same, where edges are round.
        pixels: the pixels whose paths they are on, (n,).
    """

    cells: Ints
    fractions: Doubles
    levels: NDArray[np.int8]
    sides: Doubles
    normals: Doubles
    pixels: Ints

    def rays(self, directions: Doubles, spread: float, which: Any = slice(None)) -> Rays:
        return Rays(self.cells[:, which], self.fractions[:, which], directions[:, which], self.levels[which], spread)


class Stage:
    """An object, a camera, and the light about them.

    Attributes:
        sun: the direction to it.
        key: its light.
        floor: the least height of a cell of the object, of a level plane of the background's colour that shadows darken, or None.
    """

    def __init__(self, drawing: PathTraced, camera: Camera) -> None:
        look, theme = drawing.look, drawing.theme
        self._camera, self._eye, self._look = camera, eye_of(camera), look
        self._pixel = 2 * camera.scale / look.resolution[1]
        self._tracer, self._object = drawing.tracer, drawing.obj
        self._sampler = Sampler(look.resolution[0], SAMPLES, _PATH + 2 * (BOUNCES + 1))
        lights = ThreePointLighting.of(camera.basis)
        self.sun, self._rim = lights.key, lights.rim
        self._sun_axes = tangents(self.sun[:, None])
        low, high = (part.astype(np.float64) for part in self._object.outline.bounds())
        self._backdrop = to_linear(background(theme, *look.resolution)).reshape(-1, 3)
        self.key, self._ambient = WARM * np.float32(theme.key), COOL * np.float32(theme.ambient)
        self.floor: int | None = None
        self._up = camera.basis[1]
        if not camera.parallel and camera.eye[2] >= low[2] and has_floor(camera.basis, self.sun):
            middle = (low + high) / 2
            middle[2] = low[2]
            self._diagonal = float(np.linalg.norm(high - low))
            self._reach = min(_FLOOR * self._diagonal, 2.0 * LARGEST - np.abs(middle).max())  # how far out paths light it
            self.floor, self._below = int(low[2]), middle - camera.eye  # the point below the middle of the object, from the eye
            self._up = np.array([0.0, 0.0, 1.0])
        over = cosine_hemisphere(np.repeat([[0.0], [0.0], [1.0]], _SKY**2, axis=1), Sampler(_SKY, 1, 1)(np.arange(_SKY**2), 0, 0))
        self._unshaded = self.key * np.float32(self.sun[2]) + self.sky(over).mean(axis=0)
        pool = to_linear(np.array(theme.top))
        self._pool = pool / pool.max() * np.float32(_POOL)

    def light(self, pixels: Ints, sample: int) -> NDArray[np.float32]:
        """Return one sample of pixels: what is summed of each, float32 (n, SUMS)."""
        rays = self.primary(pixels, sample)
        hits = self._tracer.trace(rays)
        out = np.zeros((len(pixels), SUMS), np.float32)
        out[hits.faces == START, CELLS] = 1  # the eye is in a cell: black
        met = hits.met
        depth = hits.distances[met] * -(self._camera.basis[2] @ rays.directions[:, met])
        # In steps that are as many from pixel to pixel, wherever a plane is.
        depth = (depth if self._camera.parallel else np.log(np.maximum(depth, 1e-9))) / self._pixel
        colours, points = self._colours(hits, met), self._points(rays, hits, met, pixels[met])
        light = self._path(rays, hits, colours, points, sample)
        colours = np.maximum(colours, _DARKEST)
        out[met, LIGHT] = light
        out[met, COLOUR] = colours
        out[met, NORMAL] = points.normals.T
        out[met, DEPTH] = depth
        out[met, WHITE] = luminance(light / colours)
        out[met, WHITE_SQUARE] = out[met, WHITE] ** 2
        out[met, CELLS] = 1
        missed = np.flatnonzero(hits.faces == MISS)
        shade, added = self._floor_light(rays, missed, pixels[missed], sample)
        out[missed, BESIDE] = floor = shade if self._look.transparent else self._backdrop[pixels[missed]] * shade + added
        out[missed, OPEN] = 1
        out[missed, BESIDE_SQUARE] = luminance(floor) ** 2
        return out

    def resolved(self, sums: NDArray[np.float32], pixels: slice) -> NDArray[np.float32]:
        """Return the picture of sums of samples (height, width, sums) without its noise, premultiplied sRGB and alpha.

        Args:
            sums: those of some rows of the picture.
            pixels: the numbers of their pixels.
        """
        cells, beside = sums[..., CELLS], sums[..., OPEN]
        count, alpha = cells + beside, np.ones((*cells.shape, 1), np.float32)
        colours = sums[..., COLOUR]
        white = np.divide(sums[..., LIGHT], colours, out=np.zeros_like(colours), where=colours > 0)
        means = np.moveaxis(sums / np.maximum(cells, 1)[..., None], 2, 0).astype(np.float32)
        normal, colour, step = map(np.float32, _EDGES)
        guides = np.stack([*means[NORMAL] / normal, luminance(np.moveaxis(means[COLOUR], 0, 2)) / colour])
        noise = noise_of(sums[..., WHITE], sums[..., WHITE_SQUARE], cells)
        light = denoised(white, noise, cells, guides, means[DEPTH, None] / step) * colours
        noise = noise_of(luminance(sums[..., BESIDE]), sums[..., BESIDE_SQUARE], beside)
        floor = (sums[..., BESIDE] / np.maximum(beside, 1)[..., None]).astype(np.float32)
        floor = denoised(floor, noise, beside, guides[:0], guides[:0])
        if self._look.transparent:
            alpha -= (beside * np.minimum(floor.mean(axis=2), 1) / count)[..., None]
        else:
            light += floor * beside[..., None]
        seen = np.concatenate([light / count[..., None], alpha], axis=2)
        return np.concatenate([to_srgb(tone_map(unmultiplied(seen))) * alpha, alpha], axis=2)

    def primary(self, pixels: Ints, sample: int) -> Rays:
        """Return rays from the eye through the pixels."""
        return primary_rays(self._camera, self._look.resolution, pixels, self._sampler(pixels, sample, _PIXEL), _FINENESS)

    def _path(self, rays: Rays, hits: Hits, colours: Linear, points: _Points, sample: int) -> Linear:
        """Return the light that comes along rays from the cells that they meet.

        Args:
            rays: rays.
            hits: what they hit.
            colours: the colours of the cells that they meet.
            points: where they meet them.
            sample: the number of the sample.
        """
        which, pixels = hits.met, points.pixels
        light = np.zeros((len(which), 3), np.float32)
        weight = np.ones((len(which), 3), np.float32)
        path = np.arange(len(which))
        for use in range(_PATH, _PATH + 2 * (BOUNCES + 1), 2):
            if use != _PATH:
                colours, points = self._colours(hits, which), self._points(rays, hits, which, pixels[path])
            weight[path] *= colours
            light[path] += weight[path] * self._sunlight(points, rays.spread, sample, use)
            onwards = cosine_hemisphere(points.normals, self._sampler(points.pixels, sample, use + 1))
            # A rounded edge reflects nothing into its own cube.
            onwards -= 2 * np.minimum((onwards * points.sides).sum(axis=0), 0) * points.sides
            rays = points.rays(onwards, _WIDE)
            hits = self._tracer.trace(rays)
            missed = hits.faces == MISS
            light[path[missed]] += weight[path[missed]] * self.sky(onwards[:, missed])
            which = hits.met
            path = path[which]
        return light

    def _colours(self, hits: Hits, which: Any) -> Linear:
        return to_linear(self._object.colours(hits.cells[:, which], hits.levels[which]))

    def _points(self, rays: Rays, hits: Hits, which: NDArray[np.intp], pixels: Ints) -> _Points:
        """Return the points where rays meet cells, whose edges are round where they are seen to be."""
        axis, each = hits.faces[which].astype(np.intp), np.arange(len(which))
        directions, distances, levels = rays.directions[:, which], hits.distances[which], hits.levels[which]
        sides = np.zeros((3, len(which)))
        sides[axis, each] = -np.sign(directions[axis, each])
        low, width = cubes_hit(self._object, hits, which)
        at = (rays.fractions[:, which] + directions * distances - (low - rays.cells[:, which])) / width
        tilt = np.clip((at - 1) / BEVEL + 1, 0, 1) ** 2 - np.clip(1 - at / BEVEL, 0, 1) ** 2
        tilt[axis, each] = 0
        pixels_wide = width / np.maximum(rays.spread * distances * _FINENESS, 1e-300)
        normals = unit(sides + tilt * np.clip(pixels_wide / _SEEN_ROUND - 1, 0, 1))
        return _Points(*surface(rays, hits, which), levels, sides, normals, pixels)

    def _sunlight(self, points: _Points, spread: float, sample: int, use: int) -> Linear:
        """Return the light of the sun that points reflect if they are white and matt, (n, 3)."""
        x, y = sample_disc(self._sampler(points.pixels, sample, use))
        across, along = self._sun_axes
        sun = unit(self.sun[:, None] + (across * x + along * y) * SUN)
        facing = (points.normals * sun).sum(axis=0)
        faced = np.flatnonzero((facing > 0) & ((points.sides * sun).sum(axis=0) > 0))
        lit = faced[self._tracer.trace(points.rays(sun, spread, faced)).faces == MISS]
        light = np.zeros((len(facing), 3), np.float32)
        light[lit] = self.key * facing[lit, None]
        return light

    def sky(self, directions: Doubles) -> Linear:
        """Return the light that comes from directions (3, n) in which there is no cell: of the sky, or of the floor below it."""
        up = self._up @ directions
        rim = np.clip(self._rim @ directions, 0, 1) ** 4
        return np.asarray((self._ambient * (0.62 + 0.38 * up)[:, None] + 0.6 * rim[:, None]).astype(np.float32))

    def _floor_light(self, rays: Rays, which: NDArray[np.intp], pixels: Ints, sample: int) -> tuple[Linear, Linear]:
        """Return the part of the background that rays see on the floor, 1 where they see none, and the light added to it."""
        shade, added = np.ones((len(which), 3), np.float32), np.zeros((len(which), 3), np.float32)
        if self.floor is None:
            return shade, added
        cell, fraction = self._eye
        start = rays.cells[:, which] - cell + rays.fractions[:, which]
        down = np.minimum(rays.directions[2, which], -1e-9)
        distance = (self.floor - cell[2] - start[2]) / down
        at = start + rays.directions[:, which] * distance
        away = np.hypot(*(at - fraction - self._below[:, None])[:2])
        near = np.flatnonzero((rays.directions[2, which] < 0) & (away < self._reach))
        if not len(near):
            return shade, added
        at, away, pixels = at[:, near], away[near], pixels[near]
        cells, fractions = cell + np.floor(at).astype(np.int64), at - np.floor(at)
        cells[2], fractions[2] = self.floor - 1, _BELOW
        levels = np.log2(np.maximum(rays.spread * distance[near], 1)).astype(np.int8)
        up = np.zeros_like(at)
        up[2] = 1
        points = _Points(cells, fractions, levels, up, up, pixels)
        light = self._sunlight(points, rays.spread, sample, _PATH)
        onwards = cosine_hemisphere(up, self._sampler(pixels, sample, _PATH + 1))
        hits = self._tracer.trace(points.rays(onwards, _WIDE))
        free, met = np.flatnonzero(hits.faces == MISS), hits.met
        light[free] += self.sky(onwards[:, free])
        light[met] += self._colours(hits, met) * self._ambient * np.float32(_AMBIENT)
        fade = np.clip(2 - 2 * away / self._reach, 0, 1)[:, None].astype(np.float32)
        shade[near] = 1 + (light / self._unshaded - 1) * fade
        pool = np.exp(-((away / (_POOL_REACH * self._diagonal)) ** 2)).astype(np.float32)[:, None]
        added[near] = shade[near] * pool * self._pool * (1 - self._backdrop[pixels])
        return shade, added
