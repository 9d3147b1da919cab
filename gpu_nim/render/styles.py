"""Styles: the ways to draw an object, each a class that is registered in `STYLES` under the name that the option `style` takes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.backends.selection import select
from gpu_nim.model.registry import Registry
from gpu_nim.model.tracing import MISS
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.axes import Projection, box_of, draw_axes, reach
from gpu_nim.render.colourings import legend_of
from gpu_nim.render.drawing import Drawing
from gpu_nim.render.gathering import packed
from gpu_nim.render.geometry import Blocks, Quads, cover, middles, sparse, tiles, visible
from gpu_nim.render.look import OPACITIES, OPTIONS, Look
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.raster import Screen, draw_ink, draw_points, draw_tiles, reduce_pixels
from gpu_nim.render.shading import Shader
from gpu_nim.render.style import CameraStyle, Style
from gpu_nim.render.themes import to_linear, to_srgb
from gpu_nim.render.trace import in_batches, primary_rays
from gpu_nim.render.views import Camera
from gpu_nim.render.words import number, unit

_DOT = 0.36  # of a cell: the radius of its point, drawn in ink
_BRIGHTNESS = np.float32(0.55)  # the mean light of a cell's area, drawn as a point of light
_MOST = 12
_FEWEST = 16  # a section with fewer cells than this part of the fullest one is left out
_NARROWEST = 2.0  # pixels of a cell of a sparse section
_FLAT = np.array([1, 1, 0])
_USUAL = 20  # cells on the way of a ray, where opacities are meant; where there are more, each is less opaque
_LIGHT, _SHINE = 2.8, 3.0  # how bright a cell is that lets all light through, and how much more one that lets none

#: The styles by name.
STYLES = Registry[type[Style]]("style")


def style_options(look: Look, *, flat: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of a still in the look's style in messages, and the options that it takes; UsageError where it names none."""
    takes = OPTIONS - STYLES.find(look.style).refuses
    if look.traced:
        return "a traced picture", takes
    return ("a flat object", takes - {"cut"}) if flat else (f"style {look.style}", takes)


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


@STYLES.add
class Points(CameraStyle):
    """One point per block: of light on dark themes, a disc of ink on light ones.

    Both add up in floating point, which OpenGL's picture lacks.
    """

    name = "points"
    summary = "a point of light a cell"
    engines: ClassVar = ("numpy",)

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        blocks, base = self.blocks, self.base
        centres = middles(blocks)
        distance, screen = camera.distance(centres), Screen(camera, self.width, self.height)
        if self.theme.light:
            radius = float(np.mean(_DOT * blocks.size / camera.pixel(np.maximum(distance, 1e-6), self.height)))
            return composited(self._reduced(draw_ink(centres, to_linear(base), radius, screen)))
        pixel = camera.pixel(np.array([distance.min(), distance.max()]), self.height)
        # The light of a cell is such that the object is equally bright for any number of cells.
        light = to_linear(base) * (np.float32(blocks.size / pixel.mean()) ** 2 * _BRIGHTNESS)
        picture = tone_mapped(self._reduced(draw_points(centres, light, screen, self.theme.glow)))
        picture[..., 3] *= self.look.transparent  # light is added to all of the background
        return picture

    def _reduced(self, picture: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the mean over the samples of each pixel: light and ink add up before they are mapped to colours."""
        (width, height), s = self.look.resolution, self.scale
        return np.asarray(picture.reshape(height, s, width, s, -1).mean(axis=(1, 3)))


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


@STYLES.add
class Sections(Style):
    """Up to a dozen sections of an object in space: at 0, the powers of two and one below them, side by side.

    Args:
        blocks: the object.
        base: the colours of blocks, sRGB float32 (N, 3).
        look: its appearance.
    """

    name = "sections"
    summary = "sections at powers of two and one below, side by side"
    engines: ClassVar = ("numpy",)
    refuses = frozenset(("view", "cut", "opacity", "quality"))
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look) -> None:
        self.blocks, self.base = blocks, base
        self._annotations = annotations = Annotations(look, legend_of(blocks, base, look.colour) if look.legend else None)
        u = unit(*look.resolution)
        _, top, right, bottom = annotations.space
        top += (20 if look.title else 40) * u
        low, high = blocks.bounds()
        wide, deep = (high - low)[:2].tolist()
        label, gap = 1.7 * annotations.size, 28 * u
        box = replace(box_of(blocks), names=blocks.coordinates[:2])
        beside, below = reach(box, annotations.size) if look.axes else (0.0, 0.0)
        layers = len(section_heights(blocks))

        def room(columns: int, rows: int) -> tuple[float, float]:
            return (right - gap) / columns - gap - beside, (bottom - top - gap) / rows - gap - label - below

        def covered(layout: tuple[int, int]) -> float:
            w, h = room(*layout)
            return float(len(section_heights(blocks, layout[0] * layout[1])) * max(min(w / wide, h / deep), 0) ** 2)

        fitting = [(c, r) for c in range(1, _MOST + 1) for r in range(1, _MOST + 1) if min(6, layers) <= c * r <= _MOST]
        columns, rows = max(fitting, key=covered)
        cell_w, cell_h = room(columns, rows)
        heights = section_heights(blocks, columns * rows)
        self._scale = scale = max(min(cell_w / wide, cell_h / deep), 1 / max(wide, deep))
        foot = (cell_h - deep * scale) / 2
        drawn_w = max(1, round(wide * scale))
        self._places: dict[int, tuple[int, int]] = {}  # the upper left corner of the section at each height
        for k, z in enumerate(heights):
            row, column = divmod(k, columns)
            in_row = min(columns, len(heights) - row * columns)
            left = right / 2 + (column - in_row / 2) * (cell_w + gap + beside) + beside + (cell_w + gap - drawn_w) / 2
            upper = top + row * (cell_h + gap + label + below) + label + foot
            self._places[z] = round(left), round(upper)
            words = f"{blocks.coordinates[2]} = {number(z)}"
            annotations.words.label(words, (left, upper - 0.3 * annotations.size), annotations.size, "left")
            if look.axes:
                level = replace(box, low=box.low * _FLAT, high=box.high * _FLAT)
                draw_axes(level, self._on_section(z), annotations.words, annotations.size)

    def image(self) -> Image.Image:
        """Return the sections on one picture, as large as fits, each with its height."""
        blocks, scale, canvas = self.blocks, self._scale, self._annotations.sheet()
        wide, deep = (max(1, round(side * scale)) for side in np.ptp(blocks.bounds(), axis=0)[:2].tolist())
        for z, place in self._places.items():
            few = sparse(blocks, int(np.count_nonzero(blocks.corners[:, 2] == z)))
            pixels = section(blocks, self.base, z, max(_NARROWEST / scale / blocks.size, 1.0) if few else 1.0)
            factor = -(-wide // pixels.shape[1])  # whole pixels first, so that cells stay square, then down to size
            grown = pixels.repeat(factor, axis=0).repeat(factor, axis=1)
            tile = Image.fromarray(grown, "RGBA").convert("RGBa").resize((wide, deep), Image.Resampling.BOX).convert("RGBA")
            canvas.alpha_composite(tile, place)
        return self._annotations.finished(canvas)

    def drawing(self) -> Drawing:
        """Return the sections as a drawing."""
        drawing, blocks = self._annotations.plain(), self.blocks
        for z in self._places:
            here = blocks.corners[:, 2] == z
            seen = self._on_section(z)(blocks.corners[here])
            square = self._scale * blocks.size * np.array([[0, 0], [1, 0], [1, -1], [0, -1]])
            drawing.polygons(seen[:, None] + square, self.base[here])
        drawing.add(self._annotations.words)
        return drawing

    def _on_section(self, height: int) -> Projection:
        """Return where points (x, y, 0) are on a section."""
        low, high = self.blocks.extent()
        (left, upper), scale, top = self._places[height], self._scale, high[1] + 1
        return lambda points: np.column_stack([left + (points[:, 0] - low[0]) * scale, upper + (top - points[:, 1]) * scale])


def section_heights(blocks: Blocks, most: int = _MOST) -> list[int]:
    """Return up to `most` heights z of sections: the one nearest 0, and the greatest powers of two and one below them.

    Those with few cells are left out, and of an object that is as full below z = 0 as above those below.

    >>> from gpu_nim.render.source import blocks_of
    >>> section_heights(blocks_of("nim:15"), 6), section_heights(blocks_of("fcc:20"))
    ([0, 3, 4, 7, 8, 15], [0, 1, 2, 3, 4, 7, 8, 15, 16])
    """
    size = blocks.size
    heights, counts = np.unique(blocks.corners[:, 2], return_counts=True)
    nearest, reach = int(heights[np.abs(heights).argmin()]), int(np.abs(heights).max()) + size
    if np.array_equal(heights, -heights[::-1]) and np.array_equal(counts, counts[::-1]):
        heights, counts = heights[heights >= 0], counts[heights >= 0]
    full = {*heights[counts * _FEWEST >= counts.max()].tolist()}
    powers = (sign * ((1 << m) - less) for m in reversed(range(reach.bit_length())) for less in (0, 1) for sign in (1, -1))
    return sorted([z for z in dict.fromkeys([nearest, *(value // size * size for value in powers)]) if z in full][:most])


def section(blocks: Blocks, colours: NDArray[np.float32], height: int, shrunk: float = 1.0) -> NDArray[np.uint8]:
    """Return a section as pixels, uint8 (y, x, 4) with the greatest y first and alpha 0 where nothing is.

    Args:
        blocks: the object.
        colours: the colours of the blocks, sRGB (N, 3).
        height: that of the section.
        shrunk: how many blocks are along a pixel, 1 or more.
    """
    size = blocks.size * shrunk
    low, high = blocks.bounds()
    width, depth = np.ceil((high - low)[:2] / size).astype(int).tolist()
    picture = np.zeros((depth, width, 4), dtype=np.uint8)
    here = blocks.corners[:, 2] == height
    x, y = ((blocks.corners[here, :2] - low[:2]) / size).astype(int).T
    picture[depth - 1 - y, x, :3] = np.rint(colours[here] * 255)
    picture[depth - 1 - y, x, 3] = 255
    return picture


class Glass:
    """An object of glass: each cell is a cube that absorbs the same part of the light wherever a ray meets it.

    A ray enters a cube through one of the sides that face the eye. So these sides, drawn from the farthest cell to the nearest,
    each over what is behind it, are the exact picture of the glass. They are lit as those of solid cubes are: sun, sky and shadow
    show its form.

    Args:
        blocks: the object.
        base: its colours, sRGB float32 (N, 3).
        look: its theme, opacity and quality.

    Attributes:
        depths: the optical depth of each block, float64 (N,): the logarithm of how many times less light comes out of it.

    >>> from gpu_nim.render.source import blocks_of
    >>> glass = Glass(blocks_of("nim:7"), np.ones((64, 3), np.float32), Look())
    >>> np.exp(-glass.depths).round(2).tolist()[:2]  # the oldest cell of few lets hardly any light through
    [0.0, 0.01]
    """

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look) -> None:
        opacity = np.asarray(OPACITIES[look.opacity].of(blocks), np.float64)
        extent = np.subtract(*blocks.bounds()[::-1])
        # Cells that a ray meets, on the mean: a cube has a mean shadow of 1.5 faces.
        met = 4.5 * len(blocks) * blocks.size**2 / (extent * np.roll(extent, 1)).sum()
        self.depths = -np.log1p(-opacity) * np.clip(_USUAL / met, 0.25, 4)
        gain = np.asarray(_LIGHT + _SHINE * opacity, np.float32)
        self._blocks = blocks
        self._shader = Shader(blocks, base, look.drawn_theme, fine=look.quality == "final", gain=gain[:, None])

    def quads(self, camera: Camera, progress: OnStep = no_progress) -> tuple[Quads, NDArray[np.intp]]:
        """Return the sides that face the camera, the farthest first, with colours uint8 (M, 4, 4), and the block of each, (M,)."""
        blocks, sides = self._blocks, list(self._shader.quads(camera, progress))
        owners = np.concatenate([np.arange(len(blocks))[which] for _, _, which in visible(blocks, camera)])
        centres = blocks.centres()
        # Along a ray no coordinate comes nearer to the eye: of two cubes of one lattice the nearer one covers the other.
        away = camera.distance(centres) if camera.parallel else np.linalg.norm(centres - camera.eye, axis=1)
        order = np.argsort(-away[owners], kind="stable")
        owners = owners[order]
        alpha = np.rint(255 * -np.expm1(-self.depths[owners])).astype(np.uint8)
        points, colours = (np.concatenate(parts)[order] for parts in zip(*sides, strict=True))
        return (points, np.concatenate([colours, np.broadcast_to(alpha[:, None, None], (len(alpha), 4, 1))], axis=2)), owners


@STYLES.add
class Volume(CameraStyle):
    """Cells of glass; flat objects have no interior."""

    name = "volume"
    summary = "cells of glass, whose more opaque ones shine"
    engines: ClassVar = ("opengl",)
    refuses = frozenset[str]()
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._glass = Glass(blocks, base, look)

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        quads, _ = self._glass.quads(camera, progress)
        return reduce_pixels(self._canvas.draw([quads], camera), self.scale)
