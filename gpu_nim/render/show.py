"""Looking around: a window on this machine's screen, or a page served to a browser.

The page draws on the browser's own graphics and needs no OpenGL here; it is the same that `gpunim export` writes.
"""

import contextlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.errors import FileError, MissingDependency
from gpu_nim.render.colours import find_theme
from gpu_nim.render.exports import PAGE_LIMIT, page
from gpu_nim.render.geometry import SIDES, Blocks, require_cubes, side
from gpu_nim.render.light import Shader
from gpu_nim.render.still import Look, aim, base_colours, cut_open, prepare
from gpu_nim.render.views import VIEWS, Camera, fit

KEYS = "arrows: generation   1-4: views   s: save a picture   q: leave"


def body(source: str, look: Look) -> tuple[Blocks, Camera]:
    """Return what is to be shown, no more blocks than turn smoothly, in order of generation, and whence."""
    from gpu_nim.render.source import blocks_of

    blocks = require_cubes(prepare(blocks_of(source, limit=PAGE_LIMIT, branch=look.color == "branch"), look))
    camera = aim(blocks, look)
    blocks = cut_open(blocks, look, camera)
    return blocks.take(np.argsort(blocks.generations, kind="stable")), camera


def serve(source: str, look: Look, port: int = 0, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve the page of a source on this machine alone, until interrupted; `on_ready` is told its address.

    Raises FileError where the port is taken.
    """
    blocks, _ = body(source, look)
    theme = find_theme(look.theme)
    colours = np.rint(base_colours(blocks, look.color, theme) * 255).astype(np.uint8)
    document = page(blocks, colours, theme, look.title or blocks.name).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(document) if found else 0))
            self.end_headers()
            if found:
                with contextlib.suppress(BrokenPipeError):
                    self.wfile.write(document)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the page asks once."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise FileError(f"cannot serve on port {port}: {error.strerror or error}") from error
    with server:
        if on_ready is not None:
            on_ready(f"http://127.0.0.1:{server.server_port}/")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


class Window:
    """A window with a slider for the generation; `run` gives control to it until it is closed.

    Raises MissingDependency where there is no display or no VTK.
    """

    def __init__(self, source: str, look: Look, picture: Path) -> None:
        from gpu_nim.render.opengl import actor_of, require_display

        require_display()
        import vtkmodules.vtkInteractionStyle
        import vtkmodules.vtkRenderingFreeType
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  these register the classes that draw and listen
        from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow, vtkRenderWindowInteractor

        self._blocks, camera = body(source, look)
        self._picture = picture
        self._aspect = look.size[0] / look.size[1]
        theme = find_theme(look.theme)
        shader = Shader(self._blocks, base_colours(self._blocks, look.color, theme), theme, fine=False)
        light = shader.frame(camera)
        quads = [side(self._blocks, axis, end) for axis, end in SIDES]
        colours = [light.colours(axis, end, slice(None), quad) for (axis, end), quad in zip(SIDES, quads, strict=True)]
        # The sides of a block together, so that the blocks up to a generation are the first so many quadrilaterals.
        self._actor = actor_of(np.stack(quads, axis=1).reshape(-1, 4, 3), np.stack(colours, axis=1).reshape(-1, 4, 3))
        self._renderer = vtkRenderer()
        self._renderer.SetBackground(*theme.bottom)
        self._renderer.SetBackground2(*theme.top)
        self._renderer.GradientBackgroundOn()
        self._renderer.AddActor(self._actor)
        self._window: Any = vtkRenderWindow()
        self._window.SetWindowName(f"{self._blocks.name} - gpunim")
        self._window.SetSize(*look.size)
        self._window.AddRenderer(self._renderer)
        self._interactor: Any = vtkRenderWindowInteractor()
        self._interactor.SetRenderWindow(self._window)
        from vtkmodules.vtkInteractionStyle import vtkInteractorStyleTrackballCamera

        self._interactor.SetInteractorStyle(vtkInteractorStyleTrackballCamera())
        listen: Any = self._interactor.AddObserver
        listen("KeyPressEvent", lambda *_: self.press(self._interactor.GetKeySym()))
        self._add_slider(theme.text)
        self._aim(camera)
        self.show(int(self._blocks.generations.max()))

    def run(self) -> None:
        """Show the window until it is closed."""
        self._interactor.Initialize()
        self._window.Render()
        self._interactor.Start()

    def close(self) -> None:
        """Close the window."""
        self._window.Finalize()

    @property
    def generation(self) -> int:
        """The last generation that is shown."""
        return self._generation

    @property
    def shown(self) -> int:
        """How many blocks are shown."""
        return int(np.searchsorted(self._blocks.generations, self._generation, side="right"))

    def show(self, generation: int) -> None:
        """Show the generations up to one, as near as there is."""
        from gpu_nim.render.opengl import quad_cells

        first, last = int(self._blocks.generations[0]), int(self._blocks.generations[-1])
        self._generation = min(max(generation, first), last)
        self._actor.GetMapper().GetInput().SetPolys(quad_cells(6 * self.shown))
        self._slider.GetRepresentation().SetValue(self._generation)
        self._window.Render()

    def press(self, key: str) -> None:
        """Do what a key is for; see KEYS."""
        if key in ("Right", "Left"):
            self.show(self._generation + (1 if key == "Right" else -1))
        elif key in ("1", "2", "3", "4"):
            from gpu_nim.render.still import hull

            self._aim(fit(list(VIEWS.values())[int(key) - 1], hull(self._blocks), self._aspect))
            self._window.Render()
        elif key == "s":
            self.save()

    def save(self) -> None:
        """Write what the window shows, without the slider, to the picture's file."""
        from vtkmodules.vtkIOImage import vtkPNGWriter
        from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

        from gpu_nim.storage.atomic import replacing

        self._slider.Off()
        self._window.Render()
        grab = vtkWindowToImageFilter()
        grab.SetInput(self._window)
        grab.ReadFrontBufferOff()
        with replacing(self._picture) as scratch:
            writer = vtkPNGWriter()
            writer.SetInputConnection(grab.GetOutputPort())
            writer.SetFileName(str(scratch))
            writer.Write()
        self._slider.On()

    def _aim(self, camera: Camera) -> None:
        from gpu_nim.render.opengl import aim_at

        aim_at(self._renderer, camera)

    def _add_slider(self, colour: tuple[float, float, float]) -> None:
        try:
            from vtkmodules.vtkInteractionWidgets import vtkSliderRepresentation2D, vtkSliderWidget
        except ImportError:
            raise MissingDependency("show needs VTK with its widgets: pip install 'gpunim[render]'") from None
        look = vtkSliderRepresentation2D()
        look.SetMinimumValue(int(self._blocks.generations[0]))
        look.SetMaximumValue(max(int(self._blocks.generations[-1]), int(self._blocks.generations[0]) + 1))
        look.SetTitleText(f"generation   ({KEYS})")
        look.GetTitleProperty().SetColor(*colour)
        look.GetLabelProperty().SetColor(*colour)
        look.SetLabelFormat("%.0f")
        look.SetTitleHeight(0.018)
        look.SetLabelHeight(0.022)
        look.SetTubeWidth(0.004)
        look.SetSliderLength(0.02)
        look.GetPoint1Coordinate().SetCoordinateSystemToNormalizedDisplay()
        look.GetPoint1Coordinate().SetValue(0.05, 0.07)
        look.GetPoint2Coordinate().SetCoordinateSystemToNormalizedDisplay()
        look.GetPoint2Coordinate().SetValue(0.95, 0.07)
        self._slider: Any = vtkSliderWidget()
        self._slider.SetInteractor(self._interactor)
        self._slider.SetRepresentation(look)
        self._slider.SetAnimationModeToJump()
        self._slider.EnabledOn()
        moved: Any = self._slider.AddObserver
        moved("InteractionEvent", lambda *_: self.show(round(look.GetValue())))
