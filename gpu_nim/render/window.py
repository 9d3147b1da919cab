"""An interactive view: a window on this machine's screen, by PyVista, or a page in a browser."""

import time
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import call
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.framing import hull
from gpu_nim.render.geometry import SIDES, side
from gpu_nim.render.image import Picture, check_ending, save
from gpu_nim.render.look import MESH_OPTIONS, Look, require_effect
from gpu_nim.render.opengl import add_quads, aim_at, require_display
from gpu_nim.render.page import PAGE_OPTIONS, page, solid
from gpu_nim.render.page_server import PageServer
from gpu_nim.render.picture_memory import require_picture_memory
from gpu_nim.render.shading import Shader
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import VIEWS, Margins, View, find_view, fit

WINDOW_OPTIONS = ("a window", MESH_OPTIONS | {"resolution", "view", "title"})
"""The name of a window in messages, and the options that it takes."""

HELP = (
    ("drag", "turn"),
    ("shift-drag", "move"),
    ("wheel", "zoom"),
    ("arrows, Home, End", "generation"),
    ("0", "the first view"),
    ("s", "save a picture"),
    ("q", "quit"),
)
"""The functions of the mouse and the keys; the views have digits, see `view_keys`."""

PORT, PICTURE = 8765, Path("gpunim.png")
"""Where a page is served, and what the window's key s saves to, where nothing else is asked for."""

_LIMIT = 1 << 18  # blocks, which are rotated smoothly without a graphics card
_FOOT = 0.12  # of the window's height, for the slider
_PAUSE = 0.01  # seconds between two polls of the mouse and the keys


def show(
    source: str,
    look: Look,
    *,
    web: bool = False,
    port: int | None = None,
    picture: Path | None = None,
    given: Collection[str] = (),
    on_served: Callable[[str], None] = print,
) -> None:
    """Show a source in a window, or serve its page to a browser, until that is ended.

    Args:
        source: as for `gpu_nim.render.image.render`, a text.
        look: its appearance.
        web: whether to serve a page in place of a window.
        port: the page's port, 0 for a free one; None is `PORT`.
        picture: the file that the window's key s saves to; None is `PICTURE`.
        given: as for `gpu_nim.render.look.require_effect`.
        on_served: called with the address of the page.

    Raises:
        UsageError: the source is unknown, or an option wrong or without effect.
        FileError: the port is taken.
        MissingDependency: a window was asked for, and there is no display or no PyVista.
    """
    if web and picture is not None:
        raise UsageError("--picture is for a window, got it with --web: a browser asks where to save the page's pictures")
    if not web and port is not None:
        raise UsageError("--port is for a page: it needs --web")
    if not web:
        Window(source, look, picture or PICTURE).run()
        return
    require_effect(*PAGE_OPTIONS, look, given)
    with PageServer(PORT if port is None else port) as server:  # first, since the port may be taken
        shown = page(source, look).document
        on_served(server.url)
        server.run(shown)


class Window:
    """A window with a slider for the generation; `run` shows it until it is closed.

    `picture` is the file that the key s writes, in the format of its ending.

    Raises UsageError for a look that a window does not take or a picture of no known format, and MissingDependency where
    there is no display or no PyVista.
    """

    def __init__(self, source: str, look: Look, picture: Path) -> None:
        require_effect(*WINDOW_OPTIONS, look)
        check_ending(picture, look.resolution)
        require_display()
        import pyvista as pv

        drawn = replace(look, style="cubes", quality="draft")  # the style of a window, which may differ from a still's
        require_picture_memory(drawn, "opengl", source)
        blocks, self._view = solid(source, look, _LIMIT)
        self._blocks = blocks.take(np.argsort(blocks.generations, kind="stable"))
        # All sides, while a still has only those that one camera sees.
        require_picture_memory(drawn, "opengl", source, 2 * len(self._blocks))
        self._hull = hull(self._blocks)
        self._picture = picture
        self._call = call("window.Window", source, look, str(picture))
        self._aspect = look.aspect
        theme = THEMES[look.theme]
        shader = Shader(self._blocks, base_colours(self._blocks, look.colour, theme), theme, fine=False)
        light = shader.frame(fit(self._view, self._hull, self._aspect))
        quads = [side(self._blocks, axis, end) for axis, end in SIDES]
        colours = [light.colours(axis, end, slice(None), quad) for (axis, end), quad in zip(SIDES, quads, strict=True)]
        title = look.title or f"{', '.join(filter(None, (self._blocks.name, self._blocks.note)))} - gpunim"
        self._plotter: Any = pv.Plotter(window_size=list(look.resolution), title=title, lighting="none")
        self._plotter.set_background(theme.bottom, top=theme.top)
        # The sides of a block together, so that the blocks up to a generation are the first so many quadrilaterals.
        self._mesh = add_quads(
            self._plotter, np.stack(quads, axis=1).reshape(-1, 4, 3), np.stack(colours, axis=1).reshape(-1, 4, 3)
        )
        self._sides = self._mesh.regular_faces.copy()
        self._first, self._last = self._blocks.generations[[0, -1]].tolist()
        self._generation = self._last
        self._slider = self._add_slider(theme.text)
        self._take_over()
        self._open = True
        self._face(self._view)

    def run(self) -> None:
        """Show the window until it is closed."""
        with closing(self._plotter):
            with interrupts_deferred():  # VTK drops exceptions that are raised in what it calls
                self._plotter.show(auto_close=False, interactive_update=True)
            while self._open and not self._plotter.iren.interactor.GetDone():
                with interrupts_deferred():
                    self._plotter.iren.process_events()
                # In VTK's own loop Python would not see a signal, such as Ctrl-C, before the mouse moves.
                time.sleep(_PAUSE)

    def show(self, generation: float) -> None:
        """Show the generations up to one, or the nearest."""
        self._generation = round(min(max(generation, self._first), self._last))
        blocks = int(np.searchsorted(self._blocks.generations, self._generation, side="right"))
        self._mesh.regular_faces = self._sides[: len(SIDES) * blocks]
        self._slider.GetRepresentation().SetValue(self._generation)
        self._plotter.renderer.reset_camera_clipping_range()  # the nearest and the farthest block may have changed
        self._plotter.render()

    def press(self, key: str) -> None:
        """Perform the function of a key; see `keys`."""
        self._say(help_line())
        keys()[key](self)

    def step(self, generations: float) -> None:
        """Show that many generations more, or fewer, or the nearest."""
        self.show(self._generation + generations)

    def look(self, name: str | None) -> None:
        """Turn to a view of that name, or to the one that the window opened with."""
        width, height = self._plotter.render_window.GetSize()
        self._aspect = width / height
        self._face(self._view if name is None else find_view(name, self._blocks.corners))
        self._plotter.render()

    def save(self) -> None:
        """Save the window's view, without the slider, to the picture's file, and report it beside the slider."""
        from PIL import Image

        self._slider.Off()
        self._plotter.render()
        image = Image.fromarray(np.asarray(self._plotter.screenshot(return_img=True)))
        self._slider.On()
        try:
            shown = int(self._mesh.n_cells) // len(SIDES)
            save(Picture(image, "opengl", shown, self._blocks.population, self._blocks.note, self._call), self._picture)
            said = f"{self._picture} is written"
        except FileError as error:
            said = str(error)
        self._say(said)
        self._plotter.render()

    def _say(self, words: str) -> None:
        self._slider.GetRepresentation().SetTitleText(words)

    def leave(self) -> None:
        """End `run`."""
        self._open = False

    def _face(self, view: View) -> None:
        """Look at the whole body along a view, as wide as the window is."""
        self._narrowed = 1.0
        camera = fit(view, self._hull, self._aspect, margins=Margins(foot=_FOOT))
        aim_at(self._plotter, camera, (self._hull.min(axis=0) + self._hull.max(axis=0)) / 2)

    def _resized(self) -> None:
        """Keep the whole width in view if the window has become narrower than the picture was fitted to."""
        width, height = self._plotter.render_window.GetSize()
        narrowed = max(1.0, self._aspect * height / max(width, 1))
        self._plotter.camera.Zoom(self._narrowed / narrowed)
        self._narrowed = narrowed

    def _take_over(self) -> None:
        """Give the keys and the mouse the functions of `help_line`, and no others."""
        self._plotter.enable_trackball_style()
        interactor = self._plotter.iren.interactor
        # VTK's style turns letters and digits that are typed into red and blue, wire frames and an end, unless another
        # observer of them is there; PyVista and the slider have keys of their own.
        interactor.GetInteractorStyle().AddObserver("CharEvent", lambda *_: None)
        self._slider.KeyPressActivationOff()
        self._plotter.iren.clear_key_event_callbacks()
        for key in keys():
            self._plotter.add_key_event(key, partial(self.press, key))
        interactor.AddObserver("ConfigureEvent", lambda *_: self._resized())

    def _add_slider(self, colour: tuple[float, float, float]) -> Any:
        slider = self._plotter.add_slider_widget(
            lambda value: None,
            (self._first, max(self._last, self._first + 1)),
            value=self._last,
            title=help_line(),
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


def view_keys() -> dict[str, str]:
    """Return the views by the digit that is their key."""
    return {str(number): name for number, name in enumerate(VIEWS, 1) if number <= 9}


def keys() -> dict[str, Callable[[Window], None]]:
    """Return the functions of the window's keys, by X's names."""
    return {
        "Left": lambda window: window.step(-1),
        "Right": lambda window: window.step(1),
        "Home": lambda window: window.step(-inf),
        "End": lambda window: window.step(inf),
        **{key: partial(Window.look, name=name) for key, name in view_keys().items()},
        "0": partial(Window.look, name=None),
        "s": Window.save,
        "q": Window.leave,
    }


def help_line() -> str:
    """Return the functions of the mouse and the keys, in a line."""
    views = f"1-{len(view_keys())}: views"
    return "   ".join((*(f"{name}: {what}" for name, what in HELP), views))
