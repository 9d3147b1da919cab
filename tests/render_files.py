"""Helpers of the tests of pictures: whether OpenGL is installed, and the programs that read files back."""

import shutil
from importlib.util import find_spec

import numpy as np
import pytest


def opengl_reason():
    """Why OpenGL cannot be used here, or None."""
    if find_spec("pyvista") is None:
        return "PyVista is not installed"
    from gpu_nim.render.opengl import probe

    return None if probe() else "no OpenGL library was found"


needs_opengl = pytest.mark.skipif(opengl_reason() is not None, reason=opengl_reason() or "")
needs_pillow = pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
needs_trimesh = pytest.mark.skipif(find_spec("trimesh") is None, reason="trimesh is not installed")


def has_ffmpeg():
    return shutil.which("ffmpeg") is not None or find_spec("imageio_ffmpeg") is not None


needs_ffmpeg = pytest.mark.skipif(not has_ffmpeg(), reason="ffmpeg is not installed")
needs_ffprobe = pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")


def frame(mask):
    """The first and the last column and row of a mask, and so the body's box."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return columns[0], columns[-1], rows[0], rows[-1]
