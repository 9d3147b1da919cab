"""The OpenGL engine: VTK draws the coloured quadrilaterals, off screen.

VTK does not raise where no OpenGL can be loaded, it dies.  So `probe` finds out first, with ctypes alone, which kind of
window can be made, and tells VTK, before VTK is imported.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.errors import MissingDependency
from gpu_nim.render.views import Camera

_VARIABLE = "VTK_DEFAULT_OPENGL_WINDOW"
HELP = (
    "no OpenGL library was found: on Debian or Ubuntu, apt-get install --no-install-recommends libegl1 libgl1-mesa-dri"
    "; or draw without it, with --engine numpy"
)

Quads = tuple[NDArray[np.float32], NDArray[np.uint8]]
"""Quadrilaterals (M, 4, 3) and the colours of their corners (M, 4, 3)."""


def _library(*names: str) -> Any:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def has_display() -> bool:
    """Return whether an X server answers, so that a window can be opened."""
    if not os.environ.get("DISPLAY"):
        return False
    x = _library("libX11.so.6")
    if x is None or _library("libGL.so.1") is None:
        return False
    x.XOpenDisplay.restype, x.XOpenDisplay.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    x.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x.XOpenDisplay(None)
    if display:
        x.XCloseDisplay(display)
    return bool(display)


def _has_egl() -> bool:
    egl = _library("libEGL.so.1")
    if egl is None:
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


def _has_osmesa() -> bool:
    return _library("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so") is not None


def probe(
    *,
    display: Callable[[], bool] = has_display,
    egl: Callable[[], bool] = _has_egl,
    osmesa: Callable[[], bool] = _has_osmesa,
) -> str | None:
    """Return the class of window that VTK can open off screen here, or None where it would crash; it takes at most 0.1
    s.
    """
    if chosen := os.environ.get(_VARIABLE):
        return chosen
    if not sys.platform.startswith("linux"):  # macOS and Windows bring OpenGL with the system
        return "vtkRenderWindow"
    for there, window in (
        (egl, "vtkEGLRenderWindow"),
        (osmesa, "vtkOSOpenGLRenderWindow"),
        (display, "vtkXOpenGLRenderWindow"),
    ):
        if there():
            return window
    return None


def require_opengl() -> None:
    """Tell VTK which window to open; MissingDependency, before VTK could crash, where there is none or no VTK."""
    from importlib.util import find_spec

    if find_spec("vtkmodules") is None:
        raise MissingDependency(
            "drawing with OpenGL needs VTK: pip install 'gpunim[render]', or draw with --engine numpy"
        )
    window = probe()
    if window is None:
        raise MissingDependency(HELP)
    if sys.platform.startswith("linux"):
        os.environ[_VARIABLE] = window


def require_display() -> None:
    """Tell VTK to open windows on the screen; MissingDependency, before VTK could crash, where there is none or no
    VTK.
    """
    from importlib.util import find_spec

    if find_spec("vtkmodules") is None:
        raise MissingDependency("show needs VTK: pip install 'gpunim[render]', or use --web to see it in a browser")
    if sys.platform.startswith("linux"):
        if not has_display():
            raise MissingDependency(
                "show needs a display and libGL: use --web to see it in a browser, or gpunim render"
            )
        os.environ[_VARIABLE] = "vtkXOpenGLRenderWindow"


class Canvas:
    """An off-screen window of one size, for one or many frames.  Use it as a context manager: VTK leaks windows left
    open.
    """

    def __init__(self, width: int, height: int) -> None:
        require_opengl()
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  registers the OpenGL classes
        from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

        self._size = (width, height)
        self._window = vtkRenderWindow()
        self._window.SetOffScreenRendering(1)
        self._window.SetMultiSamples(0)
        self._window.SetAlphaBitPlanes(1)
        self._window.SetSize(width, height)
        self._renderer = vtkRenderer()
        self._renderer.SetBackground(0, 0, 0)
        self._renderer.SetBackgroundAlpha(0)
        self._window.AddRenderer(self._renderer)

    def __enter__(self) -> "Canvas":
        return self

    def __exit__(self, *_: object) -> None:
        self._window.Finalize()

    def draw(self, quads: Iterator[Quads], camera: Camera) -> NDArray[np.uint8]:
        """Return the picture, uint8 (height, width, 4), alpha 255 where there is something and 0 where not."""
        self._renderer.RemoveAllViewProps()
        for points, colours in quads:
            self._renderer.AddActor(actor_of(points, colours))
        aim_at(self._renderer, camera)
        self._window.Render()
        return self._pixels()

    def _pixels(self) -> NDArray[np.uint8]:
        from vtkmodules.util import numpy_support
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

        convert: Any = numpy_support
        data = vtkUnsignedCharArray()
        width, height = self._size
        self._window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, data, 0)
        return np.asarray(convert.vtk_to_numpy(data).reshape(height, width, 4)[::-1].copy(), dtype=np.uint8)


def aim_at(renderer: Any, camera: Camera) -> None:
    """Give a VTK renderer the camera."""
    to = renderer.GetActiveCamera()
    to.SetPosition(*camera.eye)
    to.SetFocalPoint(*(camera.eye - camera.basis[2]))
    to.SetViewUp(*camera.basis[1])
    if camera.parallel:
        to.ParallelProjectionOn()
        to.SetParallelScale(camera.scale)
    else:
        to.ParallelProjectionOff()
        to.SetViewAngle(float(np.degrees(2 * np.arctan(camera.scale))))
    renderer.ResetCameraClippingRange()


def quad_cells(count: int) -> Any:
    """Return VTK's cells of the first so many quadrilaterals of a list of points, four each."""
    from vtkmodules.util import numpy_support
    from vtkmodules.vtkCommonCore import VTK_INT
    from vtkmodules.vtkCommonDataModel import vtkCellArray

    convert: Any = numpy_support
    cells = vtkCellArray()
    cells.SetData(4, convert.numpy_to_vtk(np.arange(4 * count, dtype=np.int32), deep=True, array_type=VTK_INT))
    return cells


def actor_of(points: NDArray[np.float32], colours: NDArray[np.uint8]) -> Any:
    """Return a VTK actor of quadrilaterals (M, 4, 3) in their own colours (M, 4, 3), with no light of its own."""
    from vtkmodules.util import numpy_support
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

    convert: Any = numpy_support
    vertices = vtkPoints()
    # VTK copies here: it must not look at arrays that Python has let go.
    vertices.SetData(convert.numpy_to_vtk(points.reshape(-1, 3), deep=True))
    data = vtkPolyData()
    data.SetPoints(vertices)
    data.SetPolys(quad_cells(len(points)))
    data.GetPointData().SetScalars(convert.numpy_to_vtk(colours.reshape(-1, 3), deep=True))
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.SetColorModeToDirectScalars()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    return actor
