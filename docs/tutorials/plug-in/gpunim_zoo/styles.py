"""A style that changes what another one draws."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.work import OnStep
from gpu_nim.render.look import Cost
from gpu_nim.render.styles.cubes import Cubes
from gpu_nim.render.views import Camera


class Woodcut(Cubes):
    """Lit cubes in few shades."""

    name = "woodcut"
    summary = "lit cubes in four shades"
    costs: ClassVar = {"numpy": Cost(16 << 20, 28, 800, 400)}

    def draw(self, camera: Camera, on_step: OnStep) -> NDArray[np.float32]:
        """Return the body, premultiplied, float32 (height, width, 4)."""
        picture = super().draw(camera, on_step)
        picture[..., :3] = np.floor(picture[..., :3] * 4) / 4
        return picture
