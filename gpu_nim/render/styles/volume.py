"""Objects as translucent volumes, lit from within and by the sun, by PyVista's volume mapper."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.look import Look
from gpu_nim.render.medium import Medium
from gpu_nim.render.opengl import Canvas
from gpu_nim.render.style import STYLES, CameraStyle
from gpu_nim.render.views import Camera


@STYLES.add
class Volume(CameraStyle):
    """A translucent volume; flat objects have no interior."""

    name = "volume"
    summary = "a translucent volume, whose more opaque cells shine"
    engines: ClassVar = ("opengl",)
    refuses = frozenset[str]()
    draws_flat = False

    def __init__(self, blocks: Blocks, base: NDArray[np.float32], look: Look, engine: str) -> None:
        super().__init__(blocks, base, look, engine)
        self._canvas = Canvas(self.width, self.height)
        self._medium = Medium(blocks, base, look)

    @classmethod
    def supersampling(cls, look: Look) -> int:
        """See `Style.supersampling`: the medium is smooth."""
        return 1

    def draw(self, camera: Camera, progress: OnStep) -> NDArray[np.float32]:
        """See `CameraStyle.draw`."""
        volume = self._medium.lit(camera.basis)
        return self._canvas.draw_volume(volume, camera).astype(np.float32) / np.float32(255)
