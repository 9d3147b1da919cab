"""A sliding cut: a plane moves through an object, and its section is shown beside what is left."""

from dataclasses import replace

import numpy as np
from PIL import Image

from gpu_nim.model.arguments import counted
from gpu_nim.model.errors import UsageError
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.render.annotations import annotations
from gpu_nim.render.geometry import CUTS, Blocks
from gpu_nim.render.image import aim, renderer, view_of
from gpu_nim.render.motions import MOTIONS, Motion, Movie
from gpu_nim.render.views import View, fit
from gpu_nim.render.words import number

_BODY = 0.52  # of the width: what is left for the object, beside the section
_FRONT = View((0, 0, 1), up=(0, 1, 0), parallel=True)


@MOTIONS.add
class Clip(Motion):
    """An upright plane moves through the object, away from the eye, and removes what is before it."""

    name = "clip"
    summary = "a plane moves through the object, and its section is shown beside what is left"
    example = "fcc:48"
    refuses = frozenset(("cut",))

    def __init__(self, movie: Movie) -> None:
        super().__init__(movie)
        obj = None if self.source.dimension == 2 else self.object_of(self.source)
        if not isinstance(obj, Blocks) or len(obj) < obj.population:
            raise UsageError(f"a clip movie needs an object in space whose cells are drawn as blocks, got {self.source.name!r}")
        self.obj, view = obj, view_of(obj, self.look)
        right, _, toward = view.basis()
        (self.axis,) = CUTS["half"].axes(toward)
        self._base, self._sign = self.look.colours_of(obj), -1 if toward[self.axis] > 0 else 1
        self._depths = self._sign * obj.corners[:, self.axis]
        self.layers = np.unique(self._depths)
        across = obj.corners[:, 1 - self.axis]
        across = across if right[1 - self.axis] > 0 else -across - obj.size
        self.section = replace(obj, corners=np.column_stack([across, obj.corners[:, 2], 0 * across]), flat=True)
        self._annotations = annotations(obj, self.look, max(map(self._caption, self.layers[[0, -1]].tolist()), key=len), self._base)
        margins = self._annotations.margins
        self.camera = aim(obj, self.look, view=view, margins=replace(margins, right=max(margins.right, 1 - _BODY)))
        self.front = fit(_FRONT, self.section.hull(), self.look.aspect, margins=replace(margins, left=max(margins.left, _BODY)))

    def layer(self, number: int) -> int:
        """Return how deep the plane is in a frame, from the eye: the first layer is in the first, the last in the last."""
        return int(self.layers[number * (len(self.layers) - 1) // max(self.movie.frames - 1, 1)])

    def _caption(self, layer: int) -> str:
        cells = counted(int(np.count_nonzero(self._depths == layer)), "cell")
        return f"{self.obj.coordinates[self.axis]} = {number(self._sign * layer)}    {cells}"

    def frame(self, number: int, progress: OnStep = no_progress) -> Image.Image:
        """Return one frame."""
        layer = self.layer(number)
        left, here = self._depths >= layer, self._depths == layer
        drawn = renderer(self.obj.take(left), self.look, self.engine, self._base[left])
        drawn.annotations = self._annotations
        tiles = renderer(self.section.take(here), replace(self.look, style="cubes"), self.engine, self._base[here])
        pixels = drawn.draw(self.camera, progress) + tiles.draw(self.front, no_progress)
        return drawn.frame(self.camera, self._caption(layer), seen=pixels)
