"""What the ways to draw an object have in common; `gpu_nim.render.styles` has them."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import Annotations, annotations
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.look import LARGEST_SIDE, Look
from gpu_nim.render.raster import backdrop, quantise, unmultiplied
from gpu_nim.render.traced_object import Drawn
from gpu_nim.render.views import Camera

#: Premultiplied sRGB and alpha, (height, width, 4) in 0 to 1.
Pixels: TypeAlias = NDArray[np.float32]


class Style(ABC):
    """A way to draw objects, which `gpu_nim.render.styles.STYLES` registers: from a camera (`CameraStyle`), or laid out as a whole.

    The class attributes describe it:

    - name: its name.
    - summary: what it draws, in a line.
    - engines: the engines that draw it.
    - refuses: the options of a look that would have no effect.
    - draws_flat: whether it draws flat objects.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    engines: ClassVar[tuple[str, ...]]
    refuses: ClassVar[frozenset[str]] = frozenset(("opacity",))
    draws_flat: ClassVar[bool] = True

    @classmethod
    def supersampling(cls, look: Look) -> int:
        """Return how many times finer than the picture is drawn, before it is reduced.

        Args:
            look: the appearance of the picture.
        """
        return 2 if look.quality == "final" and max(look.resolution) * 2 <= LARGEST_SIDE else 1


class CameraStyle(Style):
    """A style that looks at an object from a camera: one object in its colours, to be drawn from any number of cameras.

    Args:
        blocks: the object, or the outline of one that is traced.
        base: the colours of blocks, sRGB float32 (N, 3).
        look: its appearance.
        engine: what draws it.

    Attributes:
        obj: the object.
        shortfall: what the last picture lacks, since it was interrupted, or "".
    """

    obj: Drawn
    shortfall: str = ""

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        self.blocks = self.obj = blocks
        self.base = base
        self.look = look
        self.theme = look.drawn_theme
        self.scale = self.supersampling(look)
        self.width, self.height = (part * self.scale for part in look.resolution)

    @abstractmethod
    def draw(self, camera: Camera, progress: OnStep) -> Pixels:
        """Return the object from a camera.

        Args:
            camera: the camera.
            progress: called for progress.
        """

    @cached_property
    def annotations(self) -> Annotations:
        """What its pictures say beside the object; a motion sets its own, which are those of all frames."""
        return annotations(self.obj, self.look, colours=self.base)

    def frame(
        self, camera: Camera, running: str = "", *, seen: Pixels | None = None, progress: OnStep = no_progress, partly: bool = False
    ) -> Image.Image:
        """Return the annotated picture from a camera.

        Args:
            camera: the camera.
            running: words below the object, of this frame alone.
            seen: the pixels of the object, by default what `draw` returns.
            progress: called for progress.
            partly: whether an interrupt may leave a picture that lacks something (`shortfall`), instead of none.
        """
        image = self._over_background(self.draw(camera, progress) if seen is None else seen)
        if self.shortfall and not partly:
            raise KeyboardInterrupt
        self.annotations.annotate(image, camera, running)
        return image

    def _over_background(self, pixels: Pixels) -> Image.Image:
        alpha = pixels[..., 3:]
        if self.look.transparent:
            colour = np.clip(unmultiplied(pixels), 0, 1)
            return Image.fromarray(np.rint(np.concatenate([colour, alpha], axis=2) * 255).astype(np.uint8), "RGBA")
        behind, noise = backdrop(self.theme, *self.look.resolution)
        return Image.fromarray(quantise(pixels[..., :3] + behind * (1 - alpha), noise))
