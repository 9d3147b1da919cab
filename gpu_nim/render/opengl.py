"""The OpenGL engine: PyVista draws the coloured quadrilaterals, off screen.

VTK, which PyVista draws with, crashes where no OpenGL can be loaded.  So `probe` determines first, with ctypes alone, which class
of window can be made, and VTK is set to it.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import MissingDependency, UsageError, missing
from gpu_nim.model.work import uncounted
from gpu_nim.render.geometry import Quads
from gpu_nim.render.views import Camera

_VARIABLE = "VTK_DEFAULT_OPENGL_WINDOW"
_WINDOWS = "vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow", "vtkXOpenGLRenderWindow", "vtkRenderWindow"
HELP = (
    "no OpenGL library was found: on Debian or Ubuntu, apt-get install --no-install-recommends libegl1 libgl1-mesa-dri"
    "; or draw cubes without it, with another --engine"
)


@cache
@uncounted()  # a driver that gets no memory seems to be missing
def has_egl() -> bool:
    """Return whether EGL opens a display with OpenGL, as it was when this process first asked."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    egl.eglGetProcAddress.restype, egl.eglGetProcAddress.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    egl.eglInitialize.argtypes = [ctypes.c_void_p] * 3
    egl.eglTerminate.argtypes = [ctypes.c_void_p]
    egl.eglBindAPI.argtypes = [ctypes.c_uint]
    query = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    display_of = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not query or not display_of:
        return False
    devices, found = (ctypes.c_void_p * 16)(), ctypes.c_int(0)
    query_devices = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(query)
    platform_display = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(display_of)
    if not query_devices(16, devices, ctypes.byref(found)):
        return False
    for device in devices[: found.value]:
        display = platform_display(0x313F, device, None)  # EGL_PLATFORM_DEVICE_EXT
        if display and egl.eglInitialize(display, None, None):
            usable = bool(egl.eglBindAPI(0x30A2))  # EGL_OPENGL_API
            egl.eglTerminate(display)
            if usable:
                return True
    return False


def probe() -> str | None:
    """Return the class of window that VTK can open off screen here, or None where it would crash.

    A build of VTK for another library, such as OSMesa, is chosen by VTK's own variable; UsageError where that names no class.
    """
    if chosen := os.environ.get(_VARIABLE):
        if chosen not in _WINDOWS:  # VTK would try all, and crash with the last
            raise UsageError(f"{_VARIABLE} must be one of {', '.join(_WINDOWS)}, got {chosen!r}")
        return chosen
    if not sys.platform.startswith("linux"):  # macOS and Windows have OpenGL
        return "vtkRenderWindow"
    return "vtkEGLRenderWindow" if has_egl() else None


def require_opengl() -> str:
    """Return the window that VTK can open; MissingDependency, before VTK could crash, where there is none or no PyVista."""
    window = probe()
    if window is None:
        raise MissingDependency(HELP)
    if find_spec("pyvista") is None:
        raise missing("drawing with OpenGL needs PyVista", "pyvista", ", or draw cubes with another --engine")
    return window


def new_plotter(*, off_screen: bool = False, **options: Any) -> Any:
    """Return a PyVista plotter without lights; where there is a display it opens a window on it, unless it is off screen."""
    linux = sys.platform.startswith("linux")
    display, before = not linux or os.environ.get("DISPLAY"), os.environ.get(_VARIABLE)
    window = require_opengl() if off_screen or not display else None
    if window and linux:
        os.environ[_VARIABLE] = window
    import pyvista

    try:
        return pyvista.Plotter(off_screen=bool(window), lighting="none", **options)
    finally:
        if display and before is None:  # for the user's own windows
            os.environ.pop(_VARIABLE, None)


class Canvas:
    """An off-screen window of one size, for one or many frames; it is closed as soon as nothing refers to it any more."""

    def __init__(self, width: int, height: int) -> None:
        self._plotter: Any = new_plotter(off_screen=True, window_size=[width, height])
        self._plotter.disable_anti_aliasing()
        self._plotter.set_background("black")
        self._plotter.renderer.SetUseOIT(False)  # what is translucent is drawn in its order
        finalize(self, self._plotter.close)

    def draw(self, quads: Iterable[Quads], camera: Camera) -> NDArray[np.uint8]:
        """Return the picture, uint8 (height, width, 4), premultiplied.

        Quadrilaterals whose colours have an alpha are laid over each other in their order.
        """
        import pyvista

        self._plotter.clear_actors()
        for points, colours in quads:
            corners = np.arange(4 * len(points), dtype=np.int32).reshape(-1, 4)
            mesh = pyvista.PolyData.from_regular_faces(points.reshape(-1, 3), corners)
            mesh.point_data["colour"] = colours.reshape(-1, colours.shape[-1])
            self._plotter.add_mesh(mesh, scalars="colour", rgb=True, lighting=False, render=False, reset_camera=False)
        self._plotter.camera = pyvista_camera(camera, np.asarray(self._plotter.center))
        self._plotter.renderer.reset_camera_clipping_range()
        self._plotter.render()
        return np.array(self._plotter.screenshot(return_img=True, transparent_background=True), dtype=np.uint8)


def pyvista_camera(camera: Camera, middle: NDArray[np.floating]) -> Any:
    """Return a camera as PyVista's, which turns around a point as far away as the middle of what it looks at."""
    import pyvista

    # An eye inside the object, as at the end of a flight, may have its middle behind it.
    ahead = float(camera.distance(middle))
    to: Any = pyvista.Camera()
    to.position, to.up = camera.eye, camera.basis[1]
    to.focal_point = camera.eye - camera.basis[2] * (ahead if ahead > 0 else 1.0)
    if camera.parallel:
        to.parallel_projection = True
        to.parallel_scale = camera.scale
    else:
        to.view_angle = float(np.degrees(2 * np.arctan(camera.scale)))
    to.is_set = True
    return to
