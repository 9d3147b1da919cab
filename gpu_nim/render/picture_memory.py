"""The memory of a picture, checked before its source is grown, and before OpenGL, which aborts where it gets none."""

import os

from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.render.look import Look

_PIXEL_BYTES = 28  # of a pixel that is drawn: its colours and its depth
_OPENGL_BYTES, _OPENGL_CORE_BYTES = 900 << 20, 100 << 20  # that VTK and its driver map, and for each core's thread, measured


def picture_bytes(look: Look) -> int:
    """Return the bytes of memory that the pixels of a picture take."""
    return _PIXEL_BYTES * look.resolution[0] * look.resolution[1] * look.drawn_style.supersampling(look) ** 2


def require_picture_memory(look: Look, engine: str, name: str, *, at_once: int = 1) -> None:
    """Raise InsufficientMemoryError where pictures do not fit in memory.

    Args:
        look: their appearance.
        engine: what draws them.
        name: that of their source, for the message.
        at_once: how many are drawn at a time.
    """
    width, height = look.resolution
    work = f"drawing {name} at {width}x{height}" + (f" in {at_once} processes" if at_once > 1 else "")
    less = "a smaller --resolution" + (" or --quality draft" if look.drawn_style.supersampling(look) > 1 else "") + " takes less"
    needed = picture_bytes(look)
    if engine == "opengl":
        needed += _OPENGL_BYTES + _OPENGL_CORE_BYTES * (os.cpu_count() or 1)
        work, less = f"{work} with OpenGL", f"--engine numpy or {less}"
    require_memory(at_once * needed, host_memory(), work, less)
