"""Looking around: a window on this machine's screen, or a page served to a browser.

The window is PyVista's.  The page is the project's own, the same that `gpunim export` writes, in place of a trame view:
it draws on the browser's own graphics, so that it turns smoothly however far away the server is, which needs no OpenGL;
and it brings no further packages, where trame would send pictures or copy the same mesh to VTK's own page.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.render.colours import find_theme
from gpu_nim.render.exports import PAGE_LIMIT, page
from gpu_nim.render.geometry import SIDES, Blocks, require_cubes, side
from gpu_nim.render.light import Shader
from gpu_nim.render.still import Look, aim, base_colours, cut_open, hull, prepare
from gpu_nim.render.views import VIEWS, Camera, fit

HELP = "arrows: generation   1-4: views   s: save a picture   q: leave"
KEYS = ("Left", "Right", "1", "2", "3", "4", "s")


def body(source: str, look: Look) -> tuple[Blocks, Camera]:
    """Return what is to be shown, no more blocks than turn smoothly, in order of generation, and whence."""
    from gpu_nim.render.source import blocks_of

    blocks = require_cubes(prepare(blocks_of(source, limit=PAGE_LIMIT, branch=look.color == "branch"), look))
    camera = aim(blocks, look)
    blocks = cut_open(blocks, look, camera)
    return blocks.take(np.argsort(blocks.generations, kind="stable")), camera


def document(source: str, look: Look) -> bytes:
    """Return the page of a source, for `gpu_nim.render.server`."""
    blocks, _ = body(source, look)
    theme = find_theme(look.theme)
    colours = np.rint(base_colours(blocks, look.color, theme) * 255).astype(np.uint8)
    return page(blocks, colours, theme, look.title or blocks.name).encode()


class Window:
    """A window with a slider for the generation; `run` gives control to it until it is closed.

    A context manager.  Raises MissingDependency where there is no display or no PyVista.
    """

    def __init__(self, source: str, look: Look, picture: Path) -> None:
        from gpu_nim.render.opengl import add_quads, require_display

        require_display()
        import pyvista as pv

        self._blocks, camera = body(source, look)
        self._picture = picture
        self._aspect = look.size[0] / look.size[1]
        theme = find_theme(look.theme)
        shader = Shader(self._blocks, base_colours(self._blocks, look.color, theme), theme, fine=False)
        light = shader.frame(camera)
        quads = [side(self._blocks, axis, end) for axis, end in SIDES]
        colours = [light.colours(axis, end, slice(None), quad) for (axis, end), quad in zip(SIDES, quads, strict=True)]
        self._plotter: Any = pv.Plotter(window_size=list(look.size), title=f"{self._blocks.name} - gpunim", lighting="none")
        self._plotter.set_background(theme.bottom, top=theme.top)
        # The sides of a block together, so that the blocks up to a generation are the first so many quadrilaterals.
        self._mesh = add_quads(
            self._plotter, np.stack(quads, axis=1).reshape(-1, 4, 3), np.stack(colours, axis=1).reshape(-1, 4, 3)
        )
        self._sides = self._mesh.regular_faces.copy()
        self._aim(camera)
        self._plotter.enable_trackball_style()
        for key in KEYS:
            self._plotter.add_key_event(key, partial(self.press, key))
        self._generation = int(self._blocks.generations[-1])
        self._slider = self._add_slider(theme.text)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self._plotter.close()

    def run(self, *, wait: bool = True) -> None:
        """Show the window, until it is closed or, without `wait`, and return."""
        self._plotter.show(auto_close=False, interactive_update=not wait)

    @property
    def generation(self) -> int:
        """The last generation that is shown."""
        return self._generation

    @property
    def shown(self) -> int:
        """How many blocks are shown."""
        return int(self._mesh.n_cells) // len(SIDES)

    def show(self, generation: float) -> None:
        """Show the generations up to one, as near as there is."""
        first, last = int(self._blocks.generations[0]), int(self._blocks.generations[-1])
        self._generation = min(max(round(generation), first), last)
        blocks = int(np.searchsorted(self._blocks.generations, self._generation, side="right"))
        self._mesh.regular_faces = self._sides[: len(SIDES) * blocks]
        self._slider.GetRepresentation().SetValue(self._generation)
        self._plotter.render()

    def press(self, key: str) -> None:
        """Do what a key is for; see HELP."""
        if key in ("Right", "Left"):
            self.show(self._generation + (1 if key == "Right" else -1))
        elif key == "s":
            self.save()
        else:
            self._aim(fit(list(VIEWS.values())[int(key) - 1], hull(self._blocks), self._aspect))
            self._plotter.render()

    def save(self) -> None:
        """Write what the window shows, without the slider, to the picture's file."""
        from PIL import Image

        from gpu_nim.storage.atomic import replacing

        self._slider.Off()
        self._plotter.render()
        pixels = self._plotter.screenshot(return_img=True)
        self._slider.On()
        with replacing(self._picture) as scratch:
            Image.fromarray(np.asarray(pixels)).save(scratch, format="PNG")

    def _aim(self, camera: Camera) -> None:
        from gpu_nim.render.opengl import aim_at

        aim_at(self._plotter, camera)

    def _add_slider(self, colour: tuple[float, float, float]) -> Any:
        first, last = int(self._blocks.generations[0]), int(self._blocks.generations[-1])
        slider = self._plotter.add_slider_widget(
            lambda value: None,
            (first, max(last, first + 1)),
            value=last,
            title=f"generation   ({HELP})",
            pointa=(0.05, 0.07),
            pointb=(0.95, 0.07),
            color=colour,
            title_height=0.018,
            slider_width=0.02,
            tube_width=0.004,
            fmt="%.0f",
        )
        # Here and not through the widget, which calls before it is whole.
        slider.AddObserver("InteractionEvent", lambda *_: self.show(slider.GetRepresentation().GetValue()))
        return slider
