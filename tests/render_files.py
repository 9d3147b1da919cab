"""Helpers of the tests of pictures: what is installed, and where bodies and words are."""

import shutil
from importlib.util import find_spec

import numpy as np
import pytest

from gpu_nim.render.geometry import Blocks
from gpu_nim.render.lettering import ANCHORS, extent
from gpu_nim.render.vector_drawing import Words


def opengl_reason():
    """Why OpenGL cannot be used here, or None."""
    if find_spec("pyvista") is None:
        return "PyVista is not installed"
    from gpu_nim.render.opengl import probe

    return None if probe() else "no OpenGL library was found"


needs_opengl = pytest.mark.skipif(opengl_reason() is not None, reason=opengl_reason() or "")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
needs_trimesh = pytest.mark.skipif(find_spec("trimesh") is None, reason="trimesh is not installed")


def has_ffmpeg():
    return shutil.which("ffmpeg") is not None or find_spec("imageio_ffmpeg") is not None


needs_ffmpeg = pytest.mark.skipif(not has_ffmpeg(), reason="ffmpeg is not installed")
needs_ffprobe = pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")


def blocks_at(cells):
    """A body of these cells, all of generation 0."""
    corners, zeros = np.array([*cells], np.int32), np.zeros(len(cells), np.int32)
    return Blocks("cells", corners, zeros + np.int32(1), zeros, len(cells))


def frame(mask):
    """The first and the last column and row of a mask, and so the body's box."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return columns[0], columns[-1], rows[0], rows[-1]


def border(pixels):
    """The outermost pixels of a picture."""
    return np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])


def words_of(drawing):
    """The lines of text on a drawing."""
    return [mark.text for mark in drawing.marks if isinstance(mark, Words)]


def word_boxes(drawing):
    """Each line of text on a drawing, and the left, top, right and bottom of its box: the ink's, by Pillow."""
    for mark in drawing.marks:
        if isinstance(mark, Words):
            long, (above, below) = drawing.measure(mark.text, mark.size), extent(mark.text, mark.size)
            left, base = mark.at[0] - long * ANCHORS[mark.anchor], drawing.height - mark.at[1]
            yield mark.text, left, base - above, left + long, base + below


def assert_apart(boxes, size):
    """Named boxes, left, top, right and bottom, are within a size, and none lies over another."""
    boxes = list(boxes)
    for k, (name, left, top, right, bottom) in enumerate(boxes):
        assert min(left, top) >= 0, name
        assert right <= size[0], name
        assert bottom <= size[1], name
        for other, left_, top_, right_, bottom_ in boxes[:k]:
            assert right <= left_ or right_ <= left or bottom <= top_ or bottom_ <= top, f"{name} lies over {other}"
