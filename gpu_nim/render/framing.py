"""Framing: the camera of a look that shows all blocks that are drawn, with space for title and caption."""

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.render.geometry import Blocks, cut, first_of_each, tiles
from gpu_nim.render.lettering import caption_of, title_of
from gpu_nim.render.look import Look
from gpu_nim.render.views import Camera, View, find_view, fit, support

_EDGEWISE = 0.01  # the sine of the least elevation that a flat body is seen from


def view_of(blocks: Blocks, look: Look) -> View:
    """Return the view of the look, for these blocks."""
    wanted = look.view if look.view is not None else ("axis" if blocks.flat else "hero")
    view = find_view(wanted, blocks.corners) if isinstance(wanted, str) else wanted
    if blocks.flat and abs(view.basis()[2, 2]) < _EDGEWISE:
        raise UsageError(f"view must show more than the edge of a flat body, got {wanted!r} for {blocks.name}")
    return view


def aim(blocks: Blocks, look: Look, caption: str = "", view: View | None = None) -> Camera:
    """Return the camera of the look, or of a view, fitted to the blocks, with space for the look's title and for a caption."""
    head, foot = margins(look, caption)
    frame = look.drawn_style.framed(hull(blocks), blocks, look.quality)
    return fit(view or view_of(blocks, look), frame, look.size[0] / look.size[1], head=head, foot=foot)


def margins(look: Look, caption: str = "") -> tuple[float, float]:
    """Return the parts of the height that are left free for a title and for a caption."""
    if not (look.title or caption):
        return 0.0, 0.0
    width, height = look.size
    head = title_of(look.title, width, height).bottom / height if look.title else 0.0
    words = caption_of(caption, width, height)
    return head, 1 - words.top / height if words else 0.0


def hull(blocks: Blocks) -> NDArray[np.float32]:
    """Return points that frame the blocks, exactly where they are few, else to a 64th of their extent."""
    if blocks.flat:
        outline = tiles(blocks)[0].reshape(-1, 3)
        return outline[support(outline, 512)]
    low, high = blocks.bounds()
    width = 1
    while (high - low).max() // width > 64:
        width *= 2
    index = (blocks.corners - low) // width
    reach = np.maximum(blocks.sizes, width)
    first = first_of_each(index)  # any of them: blocks that share a cell differ in size only within it
    # In lexicographic order the cells of a column follow each other, and only its ends can be extreme.
    begins = np.append(True, (index[first[1:], :2] != index[first[:-1], :2]).any(axis=1))
    first = first[begins | np.append(begins[1:], True)]
    coarse = index[first] * width + low
    corners = coarse[:, None] + np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * reach[first][:, None, None]
    points: NDArray[np.float32] = np.minimum(corners, high).reshape(-1, 3).astype(np.float32)
    return points[support(points, 512)]


def cut_open(blocks: Blocks, look: Look, toward: NDArray[np.float64]) -> Blocks:
    """Return the blocks without the part that the look cuts away, before an eye in that direction."""
    return blocks if look.cut == "none" else cut(blocks, look.cut, toward)
