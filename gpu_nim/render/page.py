"""A self-contained HTML page that draws a body: it can be rotated or spins, with a slider for the generation."""

import base64
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.render.colourings import base_colours
from gpu_nim.render.framing import cut_open, hull, view_of
from gpu_nim.render.geometry import SIDES, Blocks, require_cubes
from gpu_nim.render.image import prepare
from gpu_nim.render.look import MESH_OPTIONS, Look, require_effect
from gpu_nim.render.shading import Sky
from gpu_nim.render.source import CELLS_LIMIT, blocks_of
from gpu_nim.render.themes import THEMES
from gpu_nim.render.views import ANGLE, VIEWS, View

if TYPE_CHECKING:
    from gpu_nim.render.source import Source

PAGE_LIMIT = 1 << 18
"""The most blocks of a page, which a browser without a graphics card rotates smoothly."""

PAGE_BYTES, PAGE_BYTES_A_BLOCK = 160 << 20, 300
"""The memory for making a page: for its light, for any number of blocks, and for each block."""

PAGE_OPTIONS = ("a page", MESH_OPTIONS | {"title", "view"})
"""The name of a page in messages, and the options that it takes."""

TEMPLATE = files("gpu_nim.render").joinpath("viewer.html")


def solid(source: "Source", look: Look, limit: int = CELLS_LIMIT) -> tuple[Blocks, View]:
    """Return a source as at most `limit` cubes in space, with the look's cut, and the view of the look."""
    blocks = prepare(blocks_of(source, limit=limit, colour=look.colour), look)
    view = view_of(blocks, look)
    return require_cubes(cut_open(blocks, look, view.basis()[2])), view


def document(source: "Source", look: Look) -> bytes:
    """Return the page of a source, for `gpu_nim.render.page_server`; UsageError for a look that a page does not take."""
    require_effect(*PAGE_OPTIONS, look)
    blocks, view = solid(source, look, PAGE_LIMIT)
    return page(blocks, look, view).encode()


def page(blocks: Blocks, look: Look, view: View) -> str:
    """Return a self-contained page that draws the blocks, at first with that view."""
    needed = PAGE_BYTES + PAGE_BYTES_A_BLOCK * len(blocks)
    require_memory(needed, host_memory(), f"exporting {blocks.name}", "an earlier generation takes less")
    if blocks.corners.size and max(np.abs(blocks.corners).max(), int(blocks.generations.max())) >= 2**24:
        raise UsageError(f"{blocks.name} is too large for a page, whose coordinates end at {2**24:,}")
    blocks = blocks.take(np.argsort(blocks.generations, kind="stable"))
    theme = THEMES[look.theme]
    sky = Sky(blocks, corners=False)
    seen = np.concatenate([sky.seen(axis, end) for axis, end in SIDES], axis=1)
    views = {"as it opened": view, **{name: find(blocks.corners) for name, find in VIEWS.items()}}
    data = {
        "title": look.title or blocks.name,
        "note": blocks.note,
        "count": len(blocks),
        "unit": "cells" if (blocks.sizes == 1).all() else "blocks",
        "first": int(blocks.generations[0]),
        "last": int(blocks.generations[-1]),
        "hull": hull(blocks).tolist(),
        "tangent": float(np.tan(np.radians(ANGLE / 2))),
        "views": [{"name": name, **_turnable(view)} for name, view in views.items()],
        "bottom": theme.bottom,
        "top": theme.top,
        "text": theme.text,
        "places": _text(np.column_stack([blocks.corners, blocks.sizes]).astype("<f4")),
        "generations": _text(blocks.generations.astype("<f4")),
        "colours": _text(colour_bytes(blocks, look)),
        "sky": _text(seen),
    }
    template = TEMPLATE.read_text(encoding="utf-8")
    # Nothing within a script may look like a tag or a comment: after "<!--<script>" the script would not end at its "</script>".
    return template.replace("/*DATA*/null", json.dumps(data).replace("<", "\\u003c"))


def _turnable(view: View) -> dict[str, object]:
    """Return a view for the page, with the axis that the body is rotated about: the one nearest to upward."""
    basis, up = view.basis(), np.asarray(view.up)
    pole = basis[1] if np.linalg.norm(np.cross(up, basis[2])) < 0.05 else up / np.linalg.norm(up)
    return {"toward": basis[2].tolist(), "pole": pole.tolist(), "parallel": view.parallel}


def colour_bytes(blocks: Blocks, look: Look) -> NDArray[np.uint8]:
    """Return the colour of each block, sRGB (N, 3)."""
    return np.asarray(np.rint(base_colours(blocks, look.colour, THEMES[look.theme]) * 255), dtype=np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
