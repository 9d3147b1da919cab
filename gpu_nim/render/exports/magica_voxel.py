"""Voxels for MagicaVoxel and the voxel programs that read its .vox: a model for each 256 cells a side, put together by a scene.

A file is chunks: a name, the bytes of its content and those of the chunks within it, and both. A scene is a tree of nodes: a
transform and a group at its root, and for each model a transform, which says where its middle is, and a shape.
"""

from struct import pack

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.exports.export_format import ExportedBody, export_format

_SIDE = 256  # cells of a model, whose coordinates are bytes
_COLOURS = 255  # of a palette; 0 is empty
_VERSION = 150


@export_format(".vox", "voxels for MagicaVoxel, with 255 colours", lambda blocks: (2 << 20) + 150 * blocks)
def vox(body: ExportedBody) -> bytes:
    """Return the blocks as voxels of one size."""
    blocks = body.blocks
    index = (blocks.corners - blocks.corners.min(axis=0)) // blocks.sizes.max()
    palette, colour = _palette(body.colours)
    places, model = np.unique(index // _SIDE, axis=0, return_inverse=True)
    order = np.argsort(model.ravel(), kind="stable")
    voxels = np.column_stack([index % _SIDE, colour + 1]).astype(np.uint8)[order]
    stops = np.cumsum(np.bincount(model.ravel()))
    numbers = range(len(places))
    models = b""
    nodes = _transform(0, 1, _name=str(body.made))
    nodes += _chunk(b"nGRP", pack(f"<{len(places) + 3}i", 1, 0, len(places), *(2 * number + 2 for number in numbers)))
    for number, place, rows in zip(numbers, places.tolist(), np.split(voxels, stops[:-1]), strict=True):
        size = (rows[:, :3].max(axis=0).astype(int) + 1).tolist()
        models += _chunk(b"SIZE", pack("<3i", *size)) + _chunk(b"XYZI", pack("<i", len(rows)) + rows.tobytes())
        middle = (_SIDE * at + length // 2 for at, length in zip(place, size, strict=True))
        nodes += _transform(2 * number + 2, 2 * number + 3, _name=blocks.name, _t=" ".join(map(str, middle)))
        nodes += _chunk(b"nSHP", pack("<5i", 2 * number + 3, 0, 1, number, 0))
    colours = np.zeros((_COLOURS + 1, 4), np.uint8)
    colours[: len(palette)] = np.insert(palette, 3, 255, axis=1)
    return pack("<4si", b"VOX ", _VERSION) + _chunk(b"MAIN", b"", models + nodes + _chunk(b"RGBA", colours.tobytes()))


def _palette(colours: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.integer]]:
    """Return at most 255 colours, and the number of each block's: its own, or the nearest of those that Pillow chooses."""
    palette, number = np.unique(colours, axis=0, return_inverse=True)
    if len(palette) <= _COLOURS:
        return palette, number.ravel()
    from PIL import Image

    chosen = Image.fromarray(colours[None]).quantize(_COLOURS, dither=Image.Dither.NONE)
    return np.array(chosen.getpalette(), np.uint8).reshape(-1, 3), np.asarray(chosen)[0].astype(int)


def _transform(node: int, child: int, _t: str = "", **attributes: str) -> bytes:
    return _chunk(b"nTRN", pack("<i", node) + _dictionary(attributes) + pack("<4i", child, -1, -1, 1) + _dictionary({"_t": _t}))


def _dictionary(pairs: dict[str, str]) -> bytes:
    texts = [text.encode() for key, value in pairs.items() if value for text in (key, value)]
    return pack("<i", len(texts) // 2) + b"".join(pack("<i", len(text)) + text for text in texts)


def _chunk(name: bytes, content: bytes, within: bytes = b"") -> bytes:
    return pack("<4s2i", name, len(content), len(within)) + content + within
