"""Binary glTF 2.0, z upright turned to y upright, colours in linear light as the format requires.

Up to `PLAIN_LIMIT` blocks are plain triangles, which every program reads, with the values of the cells as attributes of the
points, such as _GENERATION.  They take 300 bytes a block.  More are instances of one cube by EXT_mesh_gpu_instancing, each with its
place, colour and values, in 18 bytes a block: three.js and viewers made with it, such as <model-viewer>, read those.
"""

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Provenance
from gpu_nim.render.exports.export_format import ExportedBody, Mesh, cubes, exact_floats, export_format
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.page import colour_bytes
from gpu_nim.render.themes import to_linear

PLAIN_LIMIT = 1 << 16
"""The most blocks that are written as plain triangles: 20 MB."""

_INSTANCING = "EXT_mesh_gpu_instancing"
_NOTE = "instances of a cube, which three.js and <model-viewer> read; .ply has triangles"
_MATTE = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}
_KINDS = {"u1": 5121, "u2": 5123, "u4": 5125, "f4": 5126}
_POINTS, _CORNERS = 34962, 34963  # what a buffer is for


@export_format(
    ".glb",
    "cubes, glTF 2.0, binary; instances if there are more than 65,536",
    lambda blocks: (1300 if blocks <= PLAIN_LIMIT else 120) * blocks,
    note=lambda blocks: _NOTE * (len(blocks) > PLAIN_LIMIT),
)
def glb(body: ExportedBody) -> bytes:
    """Return a body as binary glTF: plain triangles, or instances where these would be many."""
    blocks = body.blocks
    if len(blocks) > PLAIN_LIMIT and (blocks.sizes == blocks.sizes[0]).all():
        return instanced(blocks, colour_bytes(blocks, body.look), body.made)
    return triangles(body.mesh, body.made)


def triangles(mesh: Mesh, made: Provenance) -> bytes:
    """Return a mesh as plain triangles.

    Raises:
        UsageError: a value is a number that 32-bit floats, the format's largest numbers for points, do not hold.
    """
    file = _File()
    attributes = {"POSITION": file.add(_upright(mesh.points), target=_POINTS)}
    if mesh.colours is not None:
        attributes["COLOR_0"] = file.add(_light(mesh.colours), target=_POINTS)
    for name, values in mesh.facts.items():
        attributes[f"_{name.upper()}"] = file.add(exact_floats(values, name), target=_POINTS)
    return file.finish(made, attributes, mesh.faces)


def instanced(blocks: Blocks, colours: NDArray[np.uint8], made: Provenance) -> bytes:
    """Return blocks of one size as instances of a cube.

    Raises:
        UsageError: a coordinate is a number that 32-bit floats do not hold.
    """
    file = _File()
    instances = {
        "TRANSLATION": file.add(_upright(exact_floats(blocks.corners, blocks.name))),
        "_COLOR_0": file.add(_light(colours)),
    }
    for name, values in {"generation": blocks.generations, **blocks.values}.items():
        small = values.min() >= 0 and values.max() < 2**16
        instances[f"_{name.upper()}"] = file.add(values.astype("<u2") if small else exact_floats(values, name))
    first = blocks.take(np.array([0]))
    corners, faces = cubes(first)
    points = file.add(_upright(corners - first.corners[0].astype(np.float32)), target=_POINTS)
    return file.finish(made, {"POSITION": points}, faces, instances)


def _upright(points: NDArray[np.float32]) -> NDArray[np.float32]:
    return points[:, [1, 2, 0]]


def _light(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return sRGB colours (N, 3) in linear light with an alpha, (N, 4)."""
    light = np.rint(to_linear(colours / np.float32(255)) * 255).astype(np.uint8)
    return np.pad(light, ((0, 0), (0, 1)), constant_values=255)


class _File:
    """Arrays one after the other in one buffer, and the JSON that describes them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []

    def add(self, array: NDArray[Any], target: int | None = None) -> int:
        """Add an array, of numbers (N,), vectors (N, 3) or colours (N, 4), and return the number of its accessor."""
        kind = {1: "SCALAR", 2: f"VEC{array.shape[-1]}"}[array.ndim]
        accessor = {"bufferView": len(self._views), "componentType": _KINDS[array.dtype.str[1:]], "count": len(array), "type": kind}
        if kind == "VEC3":  # of places the format wants the bounds
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        accessor |= {"normalized": True} if kind == "VEC4" else {}
        view = {"buffer": 0, "byteOffset": len(self._buffer), "byteLength": array.nbytes}
        self._views.append(view if target is None else {**view, "target": target})
        self._accessors.append(accessor)
        self._buffer += array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        self._buffer += bytes(-len(self._buffer) % 4)
        return len(self._accessors) - 1

    def finish(
        self, made: Provenance, attributes: dict[str, int], faces: NDArray[np.int32], instances: dict[str, int] | None = None
    ) -> bytes:
        """Return the file of one mesh, or of its instances."""
        corners = self.add(faces.ravel().astype("<u4"), target=_CORNERS)
        scene: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": made.software, "extras": {"command": made.command}},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": attributes, "indices": corners, "material": 0}]}],
            "materials": [_MATTE],
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._buffer)}],
        }
        if instances:
            scene["nodes"][0]["extensions"] = {_INSTANCING: {"attributes": instances}}
            scene |= {"extensionsUsed": [_INSTANCING], "extensionsRequired": [_INSTANCING]}
        text = json.dumps(scene, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(self._buffer)
        head = struct.pack("<4sIII4s", b"glTF", 2, length, len(text), b"JSON")
        return b"".join((head, text, struct.pack("<I4s", len(self._buffer), b"BIN\0"), self._buffer))
