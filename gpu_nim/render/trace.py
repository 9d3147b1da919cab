"""Pictures by rays: for each sample of a pixel one to the object, and one from there to the light.

The light is that of `gpu_nim.render.shading`, and so is ambient occlusion: cones are cast from each hit into cubes of the scene
that are empty or not, each twice as wide as the one before.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import floor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import Tracer
from gpu_nim.backends.selection import select
from gpu_nim.backends.shared.brick_scenes import exponent
from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import CONE_CUBES, MISS, START, Cones, Doubles, Hits, Rays, surface
from gpu_nim.model.work import OnStep
from gpu_nim.render.colourings import BY_GENERATION, COLOURINGS, DEFAULT, Bar
from gpu_nim.render.geometry import SIDES
from gpu_nim.render.look import Look
from gpu_nim.render.raster import unmultiplied
from gpu_nim.render.shading import BLOCKED, GOLDEN_ANGLE, STEP, SideLight, ThreePointLighting, hemisphere_cones
from gpu_nim.render.style import CameraStyle
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.traced_object import CellBox, TracedObject
from gpu_nim.render.views import Camera

#: Linear light, (n, 3).
Linear = NDArray[np.float32]

Part = float | NDArray[np.float64]
Pixels = TypeVar("Pixels")

_SAMPLES = {"draft": ((0.5, 0.5),), "final": ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))}
_PROBES = 64  # pixels along each side of the picture that tell which generations are in view
_SUN = 0.012  # the radius of the key light at distance 1, where a pixel has several samples
_SHADE = BLOCKED * (1 - np.exp(-1.0))  # what a cube that is not empty takes from a cone: a level of Nim (see `shading`)
_PASSES = np.float32(1 - _SHADE) ** np.arange(CONE_CUBES + 1, dtype=np.float32)  # what so many leave


def eye_of(camera: Camera) -> tuple[Ints, Doubles]:
    """Return the position of a camera, exact however far out: a cell (3, 1), and a fraction of it, 0 to 1, (3, 1)."""
    position = camera.eye.tolist() if camera.position is None else camera.position
    return np.array([[floor(part)] for part in position]), np.array([[float(part - floor(part))] for part in position])


def primary_rays(
    camera: Camera, size: tuple[int, int], pixels: NDArray[np.int64], at: tuple[Part, Part], fineness: float = 1.0
) -> Rays:
    """Return the rays through pixels.

    Args:
        camera: the camera.
        size: width and height of the picture.
        pixels: the numbers of the pixels, row by row from the top left, (n,).
        at: the point in each pixel, 0 to 1 to the right and down: one for all, or (n,) each.
        fineness: how many cubes may be side by side in a pixel before they count as one.
    """
    width, height = size
    x = (2 * (pixels % width + at[0]) - width) / height * camera.scale
    y = (height - 2 * (pixels // width + at[1])) / height * camera.scale
    right, up, toward = camera.basis[:, :, None]
    offset = right * x + up * y
    cells, fractions = eye_of(camera)
    spread = 2 * camera.scale / height / fineness
    if camera.parallel:
        whole = np.floor(fractions + offset)
        directions = np.repeat(-toward, len(pixels), axis=1)
        level = max(0, int(np.floor(np.log2(spread))))
        return Rays(cells + whole.astype(np.int64), fractions + offset - whole, directions, np.full(len(pixels), level, np.int8))
    directions = offset - toward
    directions /= np.sqrt((directions * directions).sum(axis=0))
    starts = np.broadcast_to(cells, offset.shape), np.broadcast_to(fractions, offset.shape)
    return Rays(*starts, directions, np.zeros(len(pixels), np.int8), spread)


def coloured_in_view(obj: TracedObject, look: Look, camera: Camera) -> TracedObject:
    """Return an object in colours by the generations that an eye sees, whose range is narrow before cells of an object of 2^60.

    They are those of a few pixels, in which the object is coloured as if it were all that there is.
    """
    if look.colour not in BY_GENERATION:
        return obj
    width, height = look.resolution
    x, y = (((np.arange(_PROBES) + 0.5) * side / _PROBES).astype(np.int64) for side in (width, height))
    hits = select().tracer(obj.scene).trace(primary_rays(camera, look.resolution, (y[:, None] * width + x).ravel(), (0.5, 0.5)))
    seen, counts = np.unique(obj.born(hits.cells[:, hits.met], hits.levels[hits.met]), return_counts=True)
    if not len(seen):
        return obj
    palette = COLOURINGS[look.colour or DEFAULT].colours(seen, counts.astype(np.float64), look.drawn_theme)

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.float32]:
        return np.asarray(palette[np.minimum(np.searchsorted(seen, obj.born(cells, levels)), len(seen) - 1)])

    title = obj.legend.title  # of generations, or of what stands for them
    return replace(obj, colours=colours, legend=Bar(title, tuple(seen.tolist()), palette))


class CutTracer:
    """Traces rays through a scene without the cells of a box, which a cut removes.

    A box is convex, so that a ray is in it for one stretch of its way. A ray that hits a cell of the box goes on where it leaves
    the box, from the cell there and a fraction of it: a cut costs one more ray at most, on any backend, and is as exact as the
    tracer. If that cell is in the set, it is seen on the section.

    Args:
        tracer: traces rays through the whole scene.
        box: the cells that are removed.
    """

    def __init__(self, tracer: Tracer, box: CellBox) -> None:
        self._tracer, self._box = tracer, box
        self.batch, self.threads = tracer.batch, tracer.threads

    def trace(self, rays: Rays) -> Hits:
        """Return what the rays hit."""
        hits = self._tracer.trace(rays)
        again = np.flatnonzero((hits.faces != MISS) & self._box.holds(hits.cells))
        if not len(again):
            return hits
        onwards, way, axis = self._beyond(rays, again)
        further = self._tracer.trace(onwards)
        hits.distances[again] = way + further.distances
        hits.cells[:, again], hits.levels[again] = further.cells, further.levels
        hits.faces[again] = np.where(further.faces == START, axis, further.faces)
        return hits

    def _beyond(self, rays: Rays, which: Ints) -> tuple[Rays, Doubles, Ints]:
        """Return some rays where they leave the box, how far that is, (m,), and the axis of the side where they do, (m,)."""
        first, stop = self._box.first[:, None], self._box.stop[:, None]
        cells, fractions, directions = rays.cells[:, which], rays.fractions[:, which], rays.directions[:, which]
        ahead, each = directions > 0, np.arange(len(which))
        side = np.where(ahead, stop, first)
        with np.errstate(divide="ignore"):
            ways = np.where(directions == 0, np.inf, (side - cells - fractions) / directions)
        axis = ways.argmin(axis=0)
        way = np.maximum(ways[axis, each], 0.0)
        moved = fractions + directions * way
        reached = np.clip(cells + np.floor(moved).astype(np.int64), first, stop - 1)
        fractions = np.clip(moved - (reached - cells), 0.0, 1.0)
        out = ahead[axis, each]
        reached[axis, each] = side[axis, each] - np.logical_not(out)
        fractions[axis, each] = np.where(out, 0.0, 1.0)
        levels = np.maximum(rays.levels[which], exponent(way * rays.spread)).astype(np.int8)
        return Rays(reached, fractions, directions, levels, rays.spread), way, axis

    def blocked(self, cones: Cones) -> NDArray[np.uint8]:
        """Return how many of the cubes along each cone are in the box of the scene and not known to be empty."""
        first, stop = ((int(a), int(b), int(c)) for a, b, c in (self._box.first, self._box.stop))
        return self._tracer.blocked(replace(cones, hole=(first, stop)))


def cubes_hit(obj: TracedObject, hits: Hits, which: Any) -> tuple[Ints, Ints]:
    """Return the least cells of the cubes that rays hit, (3, m), and the sides of these, (m,)."""
    levels, corner = hits.levels[which].astype(np.int64), np.array(obj.scene.corner)[:, None]
    return ((hits.cells[:, which] - corner) >> levels << levels) + corner, np.left_shift(1, levels)


def in_batches(
    tracer: Tracer, size: tuple[int, int], work: Callable[[NDArray[np.int64]], Pixels], samples: int = 1
) -> Iterator[tuple[slice, Pixels]]:
    """Yield what `work` returns for the numbers of the pixels of a picture, batch by batch in order; threads share the work.

    Args:
        tracer: traces the rays.
        size: width and height of the picture.
        work: takes the numbers of pixels.
        samples: how many rays it traces at once for each.
    """
    pixels, batch = np.arange(size[0] * size[1]), tracer.batch // samples
    parts = [slice(start, min(start + batch, len(pixels))) for start in range(0, len(pixels), batch)]
    with ThreadPoolExecutor(tracer.threads) as pool:
        results: Any = pool.map(work, (pixels[part] for part in parts))  # a generator, which keeps nothing that was taken
        with closing(results):  # what has not begun is cancelled
            yield from zip(parts, results, strict=True)


class Traced(CameraStyle):
    """An object ready to be traced from any number of cameras.

    Args:
        obj: the object.
        look: the appearance of the pictures.
    """

    obj: TracedObject

    def __init__(self, obj: TracedObject, look: Look) -> None:
        super().__init__(obj.outline, np.empty((0, 3), np.float32), look, "trace")
        self.obj = obj
        self.tracer: Tracer = select().tracer(obj.scene)
        if obj.removed is not None:
            self.tracer = CutTracer(self.tracer, obj.removed)
        self._samples = _SAMPLES.get(look.quality, ())

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        width, height = self.look.resolution
        picture = np.empty((width * height, 4), np.float32)
        frame = TracedFrame(self, camera)
        for pixels, seen in in_batches(self.tracer, self.look.resolution, partial(self._seen, frame), len(self._samples)):
            picture[pixels] = seen
            progress("pixel", pixels.stop, len(picture))
        seen = picture.reshape(height, width, 4)
        return np.concatenate([to_srgb(unmultiplied(seen)) * seen[..., 3:], seen[..., 3:]], axis=-1)

    def _seen(self, frame: "TracedFrame", pixels: NDArray[np.int64]) -> NDArray[np.float32]:
        """The mean of the samples of pixels: linear light, multiplied by alpha, and alpha, float32 (n, 4)."""
        count, points = len(self._samples), np.repeat(self._samples, len(pixels), axis=0)
        rays = primary_rays(frame.camera, self.look.resolution, np.tile(pixels, count), (points[:, 0], points[:, 1]), count**0.5)
        hits = self.tracer.trace(rays)
        seen = np.zeros((count * len(pixels), 4), np.float32)
        seen[hits.met, :3] = frame.light(rays, hits)
        seen[hits.faces != MISS, 3] = 1  # where the eye is in a cell, it is black
        return np.asarray(seen.reshape(count, -1, 4).mean(axis=0))


class TracedFrame:
    """The light of one picture."""

    def __init__(self, drawing: Traced, camera: Camera) -> None:
        self.camera = camera
        self._drawing = drawing
        lights = ThreePointLighting.of(camera.basis)
        self._sides = {side: SideLight(drawing.theme, lights, camera, *side) for side in SIDES}
        self._sunny = np.array([side.facing[0] > 0 for side in self._sides.values()])
        samples = len(drawing._samples)
        right = np.cross(lights.key, camera.basis[1])
        turns = np.pi / 4 + np.arange(samples) * GOLDEN_ANGLE
        radii = _SUN * np.sqrt((np.arange(samples) + 0.5) / samples) if samples > 1 else np.zeros(1)
        above = np.cross(right, lights.key)
        sun = lights.key[:, None] + radii * (np.cos(turns) * right[:, None] + np.sin(turns) * above[:, None])
        self._suns = sun / np.linalg.norm(sun, axis=0)

    def light(self, rays: Rays, hits: Hits) -> Linear:
        """Return the light that comes along the rays that meet a cell, linear (m, 3); the rays are the samples of some pixels."""
        drawing, which = self._drawing, hits.met
        result, levels = np.empty((len(which), 3), np.float32), hits.levels[which]
        cells, fractions = surface(rays, hits, which)
        base = to_linear(drawing.obj.colours(hits.cells[:, which], levels))
        # The number of the side in `SIDES` that each meets, and of its sample.
        axes, sample = hits.faces[which], which // (len(rays) // self._suns.shape[1])
        met = 2 * axes + (rays.directions[axes, which] < 0)
        sunny = np.flatnonzero(self._sunny[met])
        shadow = Rays(cells[:, sunny], fractions[:, sunny], self._suns[:, sample[sunny]], levels[sunny], rays.spread)
        lit = np.zeros(len(which), np.float32)
        lit[sunny] = np.isinf(drawing.tracer.trace(shadow).distances)
        for number, (side, light) in enumerate(self._sides.items()):
            mine = np.flatnonzero(met == number)
            # The open part of the sky before each point.
            cones = hemisphere_cones(*side)
            blocked = drawing.tracer.blocked(Cones(cells[:, mine], fractions[:, mine], levels[mine], np.float64(STEP) * cones))
            weight, sky = np.abs(cones[:, side[0]]), np.zeros(len(mine), np.float32)
            for share, of_cone in zip(weight / weight.sum(), blocked, strict=True):
                sky += (share * _PASSES)[of_cone]
            result[mine] = light.reflected(base[mine], sky, lit[mine] if self._sunny[number] else None)
        return result
