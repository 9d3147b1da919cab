"""Flights of the camera: the turntable, around an object; and the zoom into three-pile Nim, as a loop.

The P-positions of Nim with piles below 2^m, in units of 2^m, are four copies of themselves at half the size: the set is kept by
the maps x -> (x + v) / 2 to its corners v. Those to (1, 1, 0), (1, 0, 1) and (0, 1, 1) in turn are a map with one fixed point,
about which the set is the same after a zoom by 8: so that movie loops.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor, log2

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.backends.selection import select
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST_BITS
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.drawing import Drawing, lay_over
from gpu_nim.render.framing import aim, view_of
from gpu_nim.render.geometry import middles
from gpu_nim.render.image import Frame, Renderer
from gpu_nim.render.look import Look
from gpu_nim.render.motions.motion import MOTIONS, Motion, Movie, Orbit
from gpu_nim.render.raster import Screen, draw_points
from gpu_nim.render.source import NimSource, TreeSource, read_source
from gpu_nim.render.trace import primary_rays
from gpu_nim.render.traced_object import CellColours, traced_object
from gpu_nim.render.trees import Tree, blocks_of_tree
from gpu_nim.render.views import NO_MARGINS, Camera, Position, View, basis_of
from gpu_nim.render.words import counted_cells, label_size, unit

#: Draws the frame at a part of the way, and returns half its height in cells where the zoom goes to.
ZoomFrame = Callable[[Fraction, OnStep], tuple[Frame, float]]

_NEAR = 2.0 ** (LARGEST_BITS - 14)  # cells from the eye to the fixed point in the first frame: neither end of the scales is near
_FIXED, _LOOP = (6, 5, 3), 3  # the fixed point, in sevenths of the set's size, and the octaves of its loop
_TILE = {"square": 0.85, "hexagonal": 0.73, "triangular": 1.10}  # the areas of cells, as tiles with gaps between them
_SLANT = 0.5  # the tangent of the angle between the line of sight and the normal of the face that the eye is before
_ANGLE = 40.0  # degrees of the field of view
_OUTLINE = 1 << 18  # blocks that frame a tree
_CLOSEST = 12.0  # cells from the middle of the picture to its upper border, or from the eye to a cell, at the end
_OCTAVES = 6  # of the distance from that cell, in which colours go up the map and down again
_MARGIN = 1.05  # of what is drawn about a picture


@MOTIONS.add
class Turntable(Motion):
    """The object turns once."""

    name = "turntable"
    summary = "the object turns once"
    turn = 360.0

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        obj = self.object_of(self.source)
        view = view_of(obj, self.look)
        self._drawn = Renderer(obj.opened(self.look.cut, view.basis()[2]), self.look, self.engine)
        self._orbit = Orbit(self._drawn.blocks, self.look, view, self.turn, self._drawn.annotations.margins)

    def frame(self, number: int, progress: OnStep = no_progress) -> Frame:
        """Return one frame."""
        return self._drawn.frame(self.camera(number), progress=progress)

    def camera(self, number: int) -> Camera:
        """Return the camera of a frame; that after the last is the first again."""
        return self._orbit.camera(self.angle(number))


def rounds(look: Look, point: Position, octaves: int) -> CellColours:
    """Return colours by the logarithm of the distance from a point, up the map and down again in each round of some octaves."""
    middle = np.array([int(part) for part in point])[:, None]

    def colours(cells: NDArray[np.int64], levels: NDArray[np.int8]) -> NDArray[np.float32]:
        distances = np.linalg.norm((cells - middle).astype(np.float64), axis=0)
        phase = np.log2(np.maximum(distances, 1.0)) / octaves % 1.0
        return look.drawn_theme.map(1 - np.abs(2 * phase - 1))

    return colours


def zoom_in_plane(movie: Movie, tree: Tree) -> ZoomFrame:
    """Return the zoom from all of a tree of the plane into its seed, which stays where it is in the picture."""
    look, (width, height) = movie.look, movie.look.resolution
    whole = aim(blocks_of_tree(movie.source, tree, _OUTLINE), look)
    part_of_cell = _TILE[tree.automaton.lattice]

    def frame(part: Fraction, progress: OnStep) -> tuple[Frame, float]:
        times = (_CLOSEST / whole.scale) ** float(part)
        camera = replace(whole, eye=whole.eye * times, scale=whole.scale * times)
        half = np.array([width / height, 1.0]) * camera.scale * _MARGIN
        (left, bottom), (right, top) = camera.eye[:2] - half, camera.eye[:2] + half
        if tree.automaton.lattice != "square":  # the cells of a parallelogram that holds the picture
            left, right, bottom, top = left - top / 3**0.5, right - bottom / 3**0.5, bottom * 2 / 3**0.5, top * 2 / 3**0.5
        box = np.floor([left, bottom]).astype(np.int64), np.ceil([right, top]).astype(np.int64)
        pixel = 2 * camera.scale / height
        blocks = blocks_of_tree(movie.source, tree, 4 * width * height, level=int(np.log2(max(pixel, 1.0))), box=box)
        pixels = None
        if pixel > 1:  # blocks are smaller than pixels, and add up there
            areas = blocks.values["density"] / 1e6 * (blocks.sizes / pixel) ** 2 * part_of_cell
            covered = draw_points(middles(blocks), np.repeat(areas[:, None], 4, axis=1), Screen(camera, width, height), 0.0)
            pixels = np.minimum(covered, 1) * np.append(look.drawn_theme.map(np.array(1.0)), np.float32(1))
        return Renderer(blocks, look, "numpy").frame(camera, pixels=pixels, progress=progress), camera.scale

    return frame


def zoom_in_space(
    drawn: Renderer, point: Position, offset: NDArray[np.float64], octaves: float, basis: NDArray[np.float64], scale: float
) -> ZoomFrame:
    """Return the zoom to a point, in a straight line, by some octaves of the distance from it.

    Args:
        drawn: the object, in colours that are periodic in the logarithm of that distance.
        point: the point.
        offset: from the point to the eye at the beginning, (3,).
        octaves: by which the distance falls.
        basis: as for `Camera`.
        scale: as for `Camera`.
    """

    def frame(part: Fraction, progress: OnStep) -> tuple[Frame, float]:
        moved = offset * 2.0 ** float(-octaves * part)
        a, b, c = (start + Fraction(way) for start, way in zip(point, moved.tolist(), strict=True))
        camera = Camera(np.array([a, b, c], float), basis, scale, False, (a, b, c))
        return drawn.frame(camera, progress=progress), scale * float(np.linalg.norm(moved))

    return frame


def zoom_into_nim(look: Look) -> ZoomFrame:
    """Return the zoom to the fixed point, which begins before the face through it."""
    a, b, c = (Fraction(part, 7) * 2**LARGEST_BITS for part in _FIXED)
    point: Position = (a, b, c)
    normal = np.full(3, 0.5)  # from the corner across, through the middle, out of the face
    along = np.cross(normal, (0.0, 0.0, 1.0))
    offset = normal / np.linalg.norm(normal) + _SLANT * along / np.linalg.norm(along)
    offset *= _NEAR / np.linalg.norm(offset)
    obj = traced_object(f"nim:2^{LARGEST_BITS}-1", look)
    drawn = Renderer(replace(obj, colours=rounds(look, point, _LOOP)), look, "trace")
    return zoom_in_space(drawn, point, offset, _LOOP, basis_of(offset), float(np.tan(np.radians(_ANGLE / 2))))


def zoom_into_tree(movie: Movie, tree: Tree) -> ZoomFrame:
    """Return the zoom from all of a tree of space to the cell that is seen in the middle of the picture."""
    look, (width, height) = movie.look, movie.look.resolution
    obj = traced_object(movie.source, look)
    _, up, toward = (tuple(row) for row in view_of(obj, look).basis().tolist())
    whole = aim(obj, look, view=View(toward, up), margins=NO_MARGINS)
    ray = primary_rays(whole, look.resolution, np.array([height // 2 * width + width // 2]), (0.5, 0.5))
    hit = select().tracer(tree.scene).trace(replace(ray, spread=0.0))
    if not len(hit.met):
        raise UsageError(f"a zoom movie needs a cell in the middle of the picture, and there {movie.source} is empty")
    a, b, c = (Fraction(int(x)) + Fraction(1, 2) for x in hit.cells[:, 0])
    offset = whole.eye - np.array([a, b, c], float)
    octaves = float(np.log2(np.linalg.norm(offset) / _CLOSEST))
    drawn = Renderer(replace(obj, colours=rounds(look, (a, b, c), _OCTAVES)), look, "trace")
    return zoom_in_space(drawn, (a, b, c), offset, octaves, whole.basis, whole.scale)


@MOTIONS.add
class Zoom(Motion):
    """The camera approaches a fixed point in a loop; colours are periodic in the logarithm of the distance from that point.

    Of a tree, it begins with all of it and ends at a cell, slowly at both ends, with a bar that says how long so many cells are.
    Pixels are means of an area, since what is below a pixel flickers: in space of four times as many samples as a still's.
    """

    name = "zoom"
    summary = "a zoom into three-pile Nim, as a loop: the source is nim; or from all of a growth such as hexagonal:2^20 to a cell"
    example = "nim"
    refuses = frozenset(("axes", "colour", "cut", "generations", "legend", "style", "view"))
    draws_blocks = False

    @classmethod
    def check(cls, movie: Movie) -> None:
        """Check the source and the corners."""
        super().check(movie)
        found = read_source(movie.source)
        if isinstance(found, NimSource) and found.automaton.name == movie.source:
            return
        if not isinstance(found, TreeSource):
            raise UsageError(f"a zoom movie needs the source nim, or a growth drawn by macro-cells, got {movie.source!r}")

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        self._tree = tree = self.source.tree if isinstance(self.source, TreeSource) else None
        self._samples = 1 if tree is not None and tree.scene.dimension == 2 else self.look.drawn_style.supersampling(self.look)
        width, height = (side * self._samples for side in self.look.resolution)
        fine = replace(movie, look=replace(self.look, resolution=(width, height)))
        if tree is None:
            self._frame = zoom_into_nim(fine.look)
        else:
            self._frame = (zoom_in_plane if tree.scene.dimension == 2 else zoom_into_tree)(fine, tree)

    def frame(self, number: int, progress: OnStep = no_progress) -> Frame:
        """Return one frame; of Nim, that after the last is the first again."""
        part = Fraction(number, self.movie.frames)
        if self._tree is not None:
            part = Fraction(number, max(self.movie.frames - 1, 1))
            part = part * part * (3 - 2 * part)
        found, half = self._frame(part, progress)
        image = found.reduce(self._samples)
        if self._tree is not None:
            draw_scale(image, self.look, 2 * half / self.look.resolution[1])
        return image


def scale_bar(width: int, pixel: float) -> tuple[int, float]:
    """Return how many cells a scale bar stands for, a power of two, and how long it is: from an eighth to a quarter of a picture.

    Args:
        width: of the picture, in pixels.
        pixel: the width of a pixel in cells.

    >>> scale_bar(640, 8.0)
    (1024, 128.0)
    """
    cells = 1 << max(floor(log2(width * pixel / 4)), 0)
    return cells, cells / pixel


def draw_scale(image: Image.Image, look: Look, pixel: float) -> None:
    """Draw a scale bar at the lower right, where a pixel is so many cells wide."""
    (width, height), theme = look.resolution, look.drawn_theme
    cells, length = scale_bar(width, pixel)
    size, edge = label_size(width, height), 64 * unit(width, height)
    right, foot = width - edge, Annotations(look).space[3] - edge
    drawing = Drawing(theme, width, height, halo=True)
    drawing.line((right - length, foot), (right, foot), theme.text, 0.15 * size)
    drawing.words(counted_cells(cells), (right, foot - 0.5 * size), size, anchor="right")
    lay_over(image, drawing.pixels())
