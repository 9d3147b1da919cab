"""Motions past an object that stays as it is: a plane that cuts it, the turntable, and the zoom into three-pile Nim, as a loop.

The P-positions of Nim with piles below 2^m, in units of 2^m, are four copies of themselves at half the size: the set is kept by
the maps x -> (x + v) / 2 to its corners v. Those to (1, 1, 0), (1, 0, 1) and (0, 1, 1) in turn are a map with one fixed point,
about which the set is the same after a zoom by 8: so that movie loops.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log2

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.arguments import counted
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST_BITS
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import Annotations, annotations
from gpu_nim.render.drawing import Drawing, lay_over
from gpu_nim.render.geometry import CUTS, Blocks
from gpu_nim.render.growth_sources import NimSource, TreeSource
from gpu_nim.render.image import aim, renderer, view_of
from gpu_nim.render.look import Look
from gpu_nim.render.motions import MOTIONS, Motion, Movie, orbit
from gpu_nim.render.styles import STYLES
from gpu_nim.render.traced_object import CellColours, traced_object
from gpu_nim.render.views import Camera, Position, View, basis_of, fit
from gpu_nim.render.words import label_size, number, unit

#: Draws a frame by its number.
ZoomFrame = Callable[[int, OnStep], Image.Image]

_NEAR = 2.0 ** (LARGEST_BITS - 14)  # cells from the eye to the fixed point in the first frame: neither end of the scales is near
_FIXED, _LOOP = (6, 5, 3), 3  # the fixed point, in sevenths of the set's size, and the octaves of its loop
_SLANT = 0.5  # the tangent of the angle between the line of sight and the normal of the face that the eye is before
_ANGLE = 40.0  # degrees of the field of view
_OUTLINE = 1 << 18  # blocks that frame a tree
_CLOSEST = 12.0  # cells from the middle of the picture to its upper border at the end
_MARGIN = 1.05  # of what is drawn about a picture
_BODY = 0.52  # of the width: what is left for the object, beside the section
_FRONT = View((0, 0, 1), up=(0, 1, 0), parallel=True)


@MOTIONS.add
class Clip(Motion):
    """An upright plane moves through the object, away from the eye, and removes what is before it."""

    name = "clip"
    summary = "a plane moves through the object, and its section is shown beside what is left"
    example = "fcc:48"
    refuses = frozenset(("cut",))

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        obj = None if self.source.dimension == 2 else self.object_of(self.source)
        if not isinstance(obj, Blocks) or len(obj) < obj.population:
            raise UsageError(f"a clip movie needs an object in space whose cells are drawn as blocks, got {self.source.name!r}")
        self.obj, view = obj, view_of(obj, self.look)
        right, _, toward = view.basis()
        (self.axis,) = CUTS["half"].of(toward)
        self._base, self._sign = self.look.colours_of(obj), -1 if toward[self.axis] > 0 else 1
        self._depths = self._sign * obj.corners[:, self.axis]
        self.layers = np.unique(self._depths)
        across = obj.corners[:, 1 - self.axis]
        across = across if right[1 - self.axis] > 0 else -across - obj.size
        self.section = replace(obj, corners=np.column_stack([across, obj.corners[:, 2], 0 * across]), flat=True)
        self._annotations = annotations(obj, self.look, max(map(self._caption, self.layers[[0, -1]].tolist()), key=len), self._base)
        margins = self._annotations.margins
        self.camera = aim(obj, self.look, view=view, margins=replace(margins, right=max(margins.right, 1 - _BODY)))
        self.front = fit(_FRONT, self.section.hull(), self.look.aspect, margins=replace(margins, left=max(margins.left, _BODY)))

    def layer(self, number: int) -> int:
        """Return how deep the plane is in a frame, from the eye: the first layer is in the first, the last in the last."""
        return int(self.layers[number * (len(self.layers) - 1) // max(self.movie.frames - 1, 1)])

    def _caption(self, layer: int) -> str:
        cells = counted(int(np.count_nonzero(self._depths == layer)), "cell")
        return f"{self.obj.coordinates[self.axis]} = {number(self._sign * layer)}    {cells}"

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        layer = self.layer(number)
        left, here = self._depths >= layer, self._depths == layer
        drawn = renderer(self.obj.take(left), self.look, self.engine, self._base[left])
        drawn.annotations = self._annotations
        tiles = renderer(self.section.take(here), replace(self.look, style="cubes"), self.engine, self._base[here])
        pixels = drawn.draw(self.camera, progress) + tiles.draw(self.front, no_progress)
        return drawn.frame(self.camera, self._caption(layer), seen=pixels)


@MOTIONS.add
class Turntable(Motion):
    """The object turns once."""

    name = "turntable"
    summary = "the object turns once"
    turn = 360.0

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        obj = self.object_of(self.source)
        view = view_of(obj.outline, self.look)
        self._drawn = renderer(obj.opened(self.look.cut, view.basis()[2]), self.look, self.engine)
        self._orbit = orbit(self._drawn.obj.outline, self.look, view, self.turn, self._drawn.annotations.margins)

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        return self._drawn.frame(self.camera(number), progress=progress)

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame; that after the last is the first again."""
        return self._orbit(self.angle(number))


def rounds(look: Look, point: Position, octaves: int) -> CellColours:
    """Return colours by the logarithm of the distance from a point, up the map and down again in each round of some octaves."""
    middle = np.array([int(part) for part in point])[:, None]

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.float32]:
        distances = np.linalg.norm((cells - middle).astype(np.float64), axis=0)
        phase = np.log2(np.maximum(distances, 1.0)) / octaves % 1.0
        return look.drawn_theme.map(1 - np.abs(2 * phase - 1))

    return colours


def zoom_in_plane(movie: Movie, tree: TreeSource) -> ZoomFrame:
    """Return the zoom from all of a tree of the plane into its seed, which stays where it is in the picture.

    It is slow at both ends, pixels are means of their areas, and a bar says how long so many cells are.
    """
    look, (width, height) = movie.look, movie.look.resolution
    whole = aim(tree.blocks(_OUTLINE, "density"), look)

    def frame(at: int, progress: OnStep) -> Image.Image:
        part = at / max(movie.frames - 1, 1)
        times = (_CLOSEST / whole.scale) ** (part * part * (3 - 2 * part))
        camera = replace(whole, eye=whole.eye * times, scale=whole.scale * times)
        half = np.array([width / height, 1.0]) * camera.scale * _MARGIN
        (left, bottom), (right, top) = camera.eye[:2] - half, camera.eye[:2] + half
        if tree.lattice != "square":  # the cells of a parallelogram that holds the picture
            left, right, bottom, top = left - top / 3**0.5, right - bottom / 3**0.5, bottom * 2 / 3**0.5, top * 2 / 3**0.5
        box = np.floor([left, bottom]).astype(np.int64), np.ceil([right, top]).astype(np.int64)
        pixel = 2 * camera.scale / height
        blocks = tree.blocks(4 * width * height, level=ceil(log2(max(pixel, 1.0))), box=box)
        image = renderer(blocks, look, "numpy").frame(camera, progress=progress)
        draw_scale(image, look, pixel)
        return image

    return frame


def zoom_into_nim(movie: Movie) -> ZoomFrame:
    """Return the zoom to the fixed point in a straight line, which begins before the face through it.

    A pixel has four times as many samples as a still's, since what is below a pixel flickers; a bar says how long so many cells are
    at the distance of the fixed point, and is all that differs from one round to the next.
    """
    samples = STYLES.find(movie.look.style).supersampling(movie.look)
    width, height = (side * samples for side in movie.look.resolution)
    look = replace(movie.look, resolution=(width, height))
    x, y, z = (Fraction(part, 7) * 2**LARGEST_BITS for part in _FIXED)
    toward = np.ones(3) / 3**0.5 + _SLANT * np.array([1.0, -1.0, 0.0]) / 2**0.5
    offset, basis = _NEAR * toward / np.linalg.norm(toward), basis_of(toward)
    obj = traced_object(f"nim:2^{LARGEST_BITS}-1", look)
    drawn = renderer(replace(obj, colours=rounds(look, (x, y, z), _LOOP)), look, "trace")

    def frame(at: int, progress: OnStep) -> Image.Image:
        a, b, c = (offset * 2.0 ** (-_LOOP * at / movie.frames)).tolist()
        eye: Position = (x + Fraction(a), y + Fraction(b), z + Fraction(c))
        camera = Camera(np.array(eye, float), basis, float(np.tan(np.radians(_ANGLE / 2))), False, eye)
        image = drawn.frame(camera, progress=progress).reduce(samples)
        draw_scale(image, movie.look, float(camera.pixel(np.linalg.norm([a, b, c]), image.height)))
        return image

    return frame


@MOTIONS.add
class Zoom(Motion):
    """The camera approaches a fixed point in a loop; colours are periodic in the logarithm of the distance from that point.

    Of a tree of the plane, it begins with all of it and ends at a cell.
    """

    name = "zoom"
    summary = (
        "a zoom into three-pile Nim, as a loop: the source is nim; or from all of a flat growth such as hexagonal:2^20 to a cell"
    )
    example = "nim"
    refuses = frozenset(("axes", "colour", "cut", "generations", "legend", "style", "view"))
    draws_blocks = False

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source."""
        super().check(movie)
        found = movie.found
        if isinstance(found, NimSource) and found.automaton.name == found.name:
            return
        if not isinstance(found, TreeSource) or found.has_many_cells():
            raise UsageError(f"a zoom movie needs the source nim, or a flat growth drawn by macro-cells, got {found.name!r}")

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self._frame = zoom_in_plane(movie, self.source) if isinstance(self.source, TreeSource) else zoom_into_nim(movie)

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame; of Nim, that after the last is the first again."""
        return self._frame(number, progress)


def draw_scale(image: Image.Image, look: Look, pixel: float) -> None:
    """Draw a bar of a power of two of cells, from an eighth to a quarter of the width, where a pixel is so many cells wide."""
    (width, height), theme = look.resolution, look.drawn_theme
    cells = 1 << max(floor(log2(width * pixel / 4)), 0)
    size, edge = label_size(width, height), 64 * unit(width, height)
    right, foot = width - edge, Annotations(look).space[3] - edge
    drawing = Drawing(theme, width, height, halo=not look.transparent)
    drawing.line((right - cells / pixel, foot), (right, foot), theme.text, 0.15 * size)
    drawing.words(f"{number(cells)} cells", (right, foot - 0.5 * size), size, anchor="right")
    lay_over(image, drawing.pixels())
