"""Two pictures on one: side by side, or one above the other where the picture is upright."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.render.annotations import Annotations
from gpu_nim.render.defined_scenes import nims_generation
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import prepare
from gpu_nim.render.look import Look
from gpu_nim.render.pixels import background, quantise
from gpu_nim.render.themes import THEMES

if TYPE_CHECKING:
    from PIL.Image import Image


class Panels:
    """The layout of two panels between a title and a caption.

    Args:
        look: the appearance of the whole picture.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        width, height = look.resolution
        self._words = Annotations(replace(look, legend=False, axes=False))
        _, top, _, bottom = self._words.space
        self._top = round(top)
        self._beside = width >= height
        room = round(bottom) - self._top
        size = (width // 2, room) if self._beside else (width, room // 2)
        self.look = replace(look, resolution=size, title="", caption="", transparent=True)
        """The appearance of a panel."""

    def join(self, one: "Image", other: "Image") -> "Image":
        """Return the picture of two panels.

        Args:
            one: the panel on the left, or above, RGBA.
            other: the other panel.
        """
        from PIL import Image

        look, theme = self._look, THEMES[self._look.theme]
        whole = Image.fromarray(quantise(background(theme, *look.resolution))).convert("RGBA")
        second = (look.resolution[0] - other.width, self._top) if self._beside else (0, self._top + one.height)
        for panel, place in ((one, (0, self._top)), (other, second)):
            whole.alpha_composite(panel, place)
        image = whole.convert("RGB")
        self._words.words().drawing.paint(image)
        return image


def positions_of_nim(source: str, motion: str, look: Look) -> Blocks:
    """Return three-pile Nim, with a block for each P-position.

    Raises:
        UsageError: the source is another body, or too large for that.
    """
    if nims_generation(source) is None:
        raise UsageError(f"a {motion} movie needs nim:GENERATION, got {source!r}")
    blocks = prepare(source, look)
    if int(blocks.sizes.max()) > 1:
        raise UsageError(f"a {motion} movie needs every P-position by itself, and {source} is {blocks.note}")
    return blocks
