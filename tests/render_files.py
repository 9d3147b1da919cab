"""Helpers of the tests of pictures: what is installed, and where objects and words are."""

import shutil
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import findfont
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import ImageFont

from gpu_nim.render.geometry import Blocks


def opengl_reason():
    """Why OpenGL cannot be used here, or None."""
    if find_spec("pyvista") is None:
        return "PyVista is not installed"
    from gpu_nim.render.opengl import probe

    return None if probe() else "no OpenGL library was found"


needs_opengl = pytest.mark.skipif(opengl_reason() is not None, reason=opengl_reason() or "")
VOLUME = pytest.param("volume", marks=needs_opengl)
needs_trimesh = pytest.mark.skipif(find_spec("trimesh") is None, reason="trimesh is not installed")


def has_ffmpeg():
    return shutil.which("ffmpeg") is not None or find_spec("imageio_ffmpeg") is not None


needs_ffmpeg = pytest.mark.skipif(not has_ffmpeg(), reason="ffmpeg is not installed")


def blocks_at(cells, generations=0):
    """An object of these cells and generations, by default all of generation 0."""
    corners = np.array([*cells], np.int32)
    return Blocks("cells", corners, np.full(len(corners), generations, np.int32), len(corners))


def frame(mask):
    """The first and the last column and row of a mask, and so the object's box."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return columns[0], columns[-1], rows[0], rows[-1]


def border(pixels):
    """The outermost pixels of a picture."""
    return np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])


def texts(*drawings):
    return [artist for drawing in drawings for artist in drawing.figure().findobj(Text)]


def lines(drawing):
    """The lines on a drawing, as their ends (2, 2)."""
    return [artist.get_xydata() for artist in drawing.figure().findobj(Line2D) if artist.get_marker() != "o"]


def discs(drawing):
    """The places and the radii of the discs on a drawing."""
    found = [artist for artist in drawing.figure().findobj(Line2D) if artist.get_marker() == "o"]
    return [(*artist.get_xydata()[0].tolist(), artist.get_markersize() / 2) for artist in found]


def polygons(drawing):
    """The corners of the polygons on a drawing."""
    return [path.vertices[:-1] for artist in drawing.figure().findobj(PolyCollection) for path in artist.get_paths()]


def words_of(*drawings):
    """The lines of text on drawings."""
    return [artist.get_text() for artist in texts(*drawings)]


@cache
def deja_vu():
    return ImageFont.truetype(findfont("DejaVu Sans"), 200)


def word_boxes(*drawings):
    """Each line of text on drawings, and the left, top, right and bottom of its box: the ink's, by Pillow."""
    for artist in texts(*drawings):
        (x, base), size, text = artist.get_position(), artist.get_fontsize() / 200, artist.get_text()
        left, top, right, bottom = (size * edge for edge in deja_vu().getbbox(text, anchor="ls"))
        x -= size * deja_vu().getlength(text) * {"left": 0.0, "center": 0.5, "right": 1.0}[artist.get_ha()]
        yield text, x + left, base + top, x + right, base + bottom


def assert_apart(boxes, size):
    """Named boxes, left, top, right and bottom, are within a size, and none lies over another."""
    boxes = list(boxes)
    for k, (name, left, top, right, bottom) in enumerate(boxes):
        assert min(left, top) >= 0, name
        assert right <= size[0], name
        assert bottom <= size[1], name
        for other, left_, top_, right_, bottom_ in boxes[:k]:
            assert right <= left_ or right_ <= left or bottom <= top_ or bottom_ <= top, f"{name} lies over {other}"


def nearest(cells, places, directions):
    """The distance of the first of all unit cubes along rays, the cube's number, and the side's axis; slab by slab."""
    with np.errstate(divide="ignore"):
        inverse = 1 / directions
    near = (cells[:, None] - places[None]) * inverse
    far = (cells[:, None] + 1 - places[None]) * inverse
    enter, leave = np.minimum(near, far), np.maximum(near, far).min(axis=2)
    start, axis = enter.max(axis=2), enter.argmax(axis=2)
    start = np.where((start < leave) & (start > 1e-9), start, np.inf)
    first = start.argmin(axis=0)
    ray = np.arange(len(places))
    return start[first, ray], first, axis[first, ray]
