"""What a style is: how a body is drawn, what of a look it takes, and the memory that it needs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.progress import OnStep
from gpu_nim.model.registry import Registry
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import Camera

if TYPE_CHECKING:
    from PIL.Image import Image

    from gpu_nim.render.look import Look
    from gpu_nim.render.opengl import Canvas

LARGEST_SIDE = 16384
"""Pixels along a side of a picture: what OpenGL draws to."""

OPENGL_BYTES = 350 << 20
"""What VTK and its driver take."""


@dataclass(frozen=True)
class Cost:
    """Bytes that a picture takes: for any, for each pixel as drawn, for each of a few blocks (`shading.MANY`), and of more."""

    fixed: int
    pixel: int
    block: int
    block_of_many: int


class Style(ABC):
    """A way to draw bodies, registered in `STYLES`: subclass `CameraStyle` or `LaidOutStyle`.

    costs: the engines that draw it, and the memory that each takes, measured, a little above the peak.
    refuses: the options of a look that would change nothing.
    draws_flat: whether it draws flat bodies.  has_edges: whether there are any to smooth by supersampling.
    """

    costs: ClassVar[Mapping[str, Cost]]
    refuses: ClassVar[frozenset[str]] = frozenset()
    draws_flat: ClassVar[bool] = True
    has_edges: ClassVar[bool] = True

    @staticmethod
    def prepared(blocks: Blocks, quality: str) -> Blocks:
        """Return the blocks as they are drawn, coarser where the style asks for it."""
        return blocks

    @staticmethod
    def framed(hull: NDArray[np.float32], blocks: Blocks, quality: str) -> NDArray[np.float32]:
        """Return points that frame the drawing, from points that frame the blocks."""
        return hull

    @staticmethod
    def extra_bytes(blocks: Blocks, quality: str) -> int:
        """Return the bytes of memory that are taken for these blocks beside the costs."""
        return 0

    @classmethod
    def drawn_pixels(cls, look: "Look", engine: str) -> int:
        """Return how many pixels are drawn before the picture is reduced or enlarged."""
        return look.size[0] * look.size[1] * look.supersampling**2


class CameraStyle(Style):
    """A style that looks at a body from a camera; an object holds one body in its colours.

    Args:
        blocks: the body.
        base: its colours, sRGB float32 (N, 3).
        look: how it is to look.
        canvas: the window to draw in with OpenGL, or None to draw with NumPy.
    """

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: "Look", canvas: "Canvas | None") -> None:
        self.blocks = blocks
        self.base = base
        self.look = look
        self.canvas = canvas
        self.theme = THEMES[look.theme]
        self.scale = look.supersampling
        self.width, self.height = (part * self.scale for part in look.size)

    @abstractmethod
    def draw(self, camera: Camera, shown: NDArray[np.bool_] | None, on_step: OnStep) -> NDArray[np.float32]:
        """Return the body from a camera, premultiplied sRGB and alpha, float32 (height, width, 4) in 0 to 1.

        Args:
            camera: where it is seen from.
            shown: the only blocks drawn, a mask, or None for all.
            on_step: called as the drawing goes on.
        """

    def background_weight(self, alpha: NDArray[np.float32]) -> NDArray[np.float32] | np.float32:
        """Return how much of the background is seen where the body has that alpha."""
        return 1 - alpha


class LaidOutStyle(Style):
    """A style that lays out a whole picture without a camera, so that no movie is made of it."""

    @classmethod
    @abstractmethod
    def lay_out(cls, blocks: Blocks, base: NDArray[np.float32], look: "Look") -> "Image":
        """Return the picture of the blocks in their colours, sRGB float32 (N, 3), on its background and with its title."""


STYLES = Registry[type[Style]]("style")
