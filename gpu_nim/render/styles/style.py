"""Styles: how a body is drawn, which options of a look it takes, and the memory that it needs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.registry import Registry
from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import Camera

if TYPE_CHECKING:
    from PIL.Image import Image

    from gpu_nim.render.look import Look
    from gpu_nim.render.opengl import Canvas

LARGEST_SIDE = 16384
"""The most pixels along a side of a picture, OpenGL's limit."""

OPENGL_BYTES = 350 << 20
"""Memory of VTK and its driver."""


@dataclass(frozen=True)
class Cost:
    """The bytes of memory that a picture takes.

    Args:
        fixed: for any picture.
        pixel: for each pixel drawn, before the picture is reduced.
        block: for each block, up to `shading.MANY` blocks.
        block_of_many: for each block, of more blocks.
    """

    fixed: int
    pixel: int
    block: int
    block_of_many: int


class Style(ABC):
    """A way to draw bodies, registered in `STYLES`: subclass `CameraStyle` or `LaidOutStyle`.

    The class attributes describe it:

    - name: its name.
    - summary: what it draws, in a line.
    - costs: the engines that draw it, and the memory that each takes, measured, a little above the peak.
    - refuses: the options of a look that would have no effect.
    - draws_flat: whether it draws flat bodies.
    - has_edges: whether its pictures have edges that supersampling smooths.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    costs: ClassVar[Mapping[str, Cost]]
    refuses: ClassVar[frozenset[str]] = frozenset()
    draws_flat: ClassVar[bool] = True
    has_edges: ClassVar[bool] = True

    @staticmethod
    def prepared(blocks: Blocks, quality: str) -> Blocks:
        """Return the blocks that are drawn, coarser where the style needs it.

        Args:
            blocks: the blocks of the source.
            quality: draft or final.
        """
        return blocks

    @staticmethod
    def framed(hull: NDArray[np.float32], blocks: Blocks, quality: str) -> NDArray[np.float32]:
        """Return points (M, 3) that frame the drawing.

        Args:
            hull: points (N, 3) that frame the blocks.
            blocks: the blocks.
            quality: draft or final.
        """
        return hull

    @staticmethod
    def extra_bytes(blocks: Blocks, quality: str) -> int:
        """Return the bytes of memory for these blocks in addition to `costs`.

        Args:
            blocks: the blocks.
            quality: draft or final.
        """
        return 0

    @classmethod
    def drawn_pixels(cls, look: "Look", engine: str) -> int:
        """Return how many pixels are drawn before the picture is reduced or enlarged.

        Args:
            look: the appearance of the picture.
            engine: opengl or numpy.
        """
        return look.resolution[0] * look.resolution[1] * look.supersampling**2


class CameraStyle(Style):
    """A style that looks at a body from a camera; an object holds one body in its colours.

    Args:
        blocks: the body.
        base: its colours, sRGB float32 (N, 3).
        look: its appearance.
        canvas: the window to draw in with OpenGL, or None to draw with NumPy.
    """

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: "Look", canvas: "Canvas | None") -> None:
        self.blocks = blocks
        self.base = base
        self.look = look
        self.canvas = canvas
        self.theme = THEMES[look.theme]
        self.scale = look.supersampling
        self.width, self.height = (part * self.scale for part in look.resolution)

    @abstractmethod
    def draw(self, camera: Camera, shown: NDArray[np.bool_] | None, on_step: OnStep) -> NDArray[np.float32]:
        """Return the body from a camera, premultiplied sRGB and alpha, float32 (height, width, 4) in 0 to 1.

        Args:
            camera: the camera.
            shown: a mask of the blocks to draw, or None for all.
            on_step: called for progress.
        """

    def background_weight(self, alpha: NDArray[np.float32]) -> NDArray[np.float32] | np.float32:
        """Return the weight of the background at each pixel.

        Args:
            alpha: the body's alpha, float32 (height, width, 1).
        """
        return 1 - alpha


class LaidOutStyle(Style):
    """A style that lays out a whole picture without a camera, so that there are no movies in it."""

    @classmethod
    @abstractmethod
    def lay_out(cls, blocks: Blocks, base: NDArray[np.float32], look: "Look") -> "Image":
        """Return the picture on its background and with its title.

        Args:
            blocks: the blocks.
            base: their colours, sRGB float32 (N, 3).
            look: the appearance of the picture.
        """


STYLES = Registry[type[Style]]("style")
