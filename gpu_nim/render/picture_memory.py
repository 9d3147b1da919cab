"""The memory of a picture, checked before its source is grown, and before OpenGL, which aborts where it gets none.

The figures were measured, each a little above the peak of its style and engine; `tests/test_memory_promises.py` compares them with
the memory taken.
"""

import os

from gpu_nim.backends.numpy.compilation import LOADED_BYTES, installed
from gpu_nim.model.memory import address_space, host_memory, require_memory
from gpu_nim.render.denoise import BAND, REACH
from gpu_nim.render.look import CINEMA, Look
from gpu_nim.render.shading import MANY

_OPENGL_ADDRESSES = 900 << 20  # further memory that they map, most of which is never read
_OPENGL_ADDRESSES_A_CORE = 100 << 20  # a thread's stack and heap
_PATHS, _FILTERED = 105, 235  # bytes a pixel of the sums of a path traced picture, and of the band of it that is filtered
_FINISHED = 64  # bytes a pixel of the picture, its background and their composite, in floating point
_SPARE = 64 << 20
_KEPT_BY_OPENGL = 40  # bytes a drawn pixel that are in use while the picture is finished


def picture_bytes(look: Look, engine: str, blocks: int = 0) -> int:
    """Return the most bytes of memory that a picture of so many blocks takes."""
    style = look.drawn_style
    cost = style.costs[engine]
    pixels = look.resolution[0] * look.resolution[1]
    drawn = pixels * style.supersampling(look) ** 2
    kept = _KEPT_BY_OPENGL * drawn if engine == "opengl" else 0
    body = blocks * (cost.block if blocks <= MANY else cost.block_of_many)
    loops = LOADED_BYTES if engine == "trace" and installed() else 0
    band = min(pixels, BAND + 2 * REACH * look.resolution[0])
    paths = _PATHS * pixels + _FILTERED * band if look.quality == CINEMA else 0
    return cost.fixed + loops + max(cost.pixel * drawn, _FINISHED * pixels + kept, paths) + body


def require_picture_memory(look: Look, engine: str, name: str, blocks: int = 0, *, at_once: int = 1, spare: bool = False) -> None:
    """Raise InsufficientMemoryError where pictures do not fit in memory.

    Args:
        look: their appearance.
        engine: what draws them.
        name: that of their source, for the message.
        blocks: the number of blocks of each.
        at_once: how many are drawn at a time.
        spare: whether to leave a margin for the work before they are drawn.
    """
    width, height = look.resolution
    work = f"drawing {name} at {width}x{height}"
    fewer = "an earlier generation, " if blocks else ""
    less = f"{fewer}a smaller --resolution" + (" or --quality draft" if look.drawn_style.supersampling(look) > 1 else "")
    needed = picture_bytes(look, engine, blocks)
    needed += (_SPARE + needed // 8) * spare
    if at_once > 1:
        require_memory(needed * at_once, host_memory(), f"{work} in {at_once} processes", f"fewer --workers or {less} takes less")
    require_memory(needed, host_memory(), work, f"{less} takes less")
    if engine == "opengl":
        mapped = _OPENGL_ADDRESSES + _OPENGL_ADDRESSES_A_CORE * (os.cpu_count() or 1)
        require_memory(needed + mapped, address_space(), f"{work} with OpenGL", f"{less}, or --engine numpy takes less")
