"""Bodies as files for other programs: PLY, STL, GLB, VTK, and a page of HTML that opens offline.

.ply    cubes, binary                           .glb   cubes, glTF 2.0, binary
.stl    cubes, or one watertight body to print  .vtp   cubes, for ParaView
.html   a page that draws the body itself, with a slider for the generation

But for .stl, which holds no more than triangles, each has the colours, and the generation and other values of the cells.
"""

import base64
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import UsageError
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.render.colours import find_theme, to_linear
from gpu_nim.render.geometry import SIDES, Blocks, pieces, require_cubes
from gpu_nim.render.light import Sky
from gpu_nim.render.options import exported, require_heard
from gpu_nim.render.source import CELLS_LIMIT, blocks_of
from gpu_nim.render.still import Look, base_colours, cut_open, hull, prepare, view_of
from gpu_nim.render.views import ANGLE, VIEWS, View, gasket_view

if TYPE_CHECKING:
    from gpu_nim.render.source import Source

SUFFIXES = (".ply", ".stl", ".glb", ".vtp", ".html")
PAGE_LIMIT = 1 << 18
"""Blocks that a page draws: what a browser without a graphics card turns smoothly."""

_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.int32)
# The two triangles of each side, as corners above, anticlockwise from outside.
_TRIANGLES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ],
    dtype=np.int32,
)
_OVERLAP = 0.2  # of a cell: how far a printed cube reaches into the next
_NECK = 1.0  # millimetres: what a printed body's thinnest parts should have
# Measured, with some to spare: what writing takes beside the blocks.
_BYTES_A_BLOCK = {".ply": 1400, ".stl": 3200, ".glb": 1700, ".vtp": 2100, ".html": 300, "printable": 17000}
_BYTES_A_PAGE = 160 << 20  # for the light in it, however few the blocks


def export(source: "Source", path: str | Path, look: Look | None = None, *, printable: bool = False) -> dict[str, object]:
    """Write a source (see `gpu_nim.render.source`) as a mesh or a page, by the file's ending; return what was written.

    printable: one watertight body for a 3D printer, in place of cubes that touch along edges; .stl and .ply alone.

    Raises UsageError for another ending, for an option that would go unheard, and where the cells of a printable body do
    not hang together.
    """
    from gpu_nim.storage.atomic import check_writable, replacing

    path, look = Path(path), look or Look()
    suffix = path.suffix.lower()
    check_export(path, printable=printable)
    require_heard(exported(suffix, printable=printable), look)
    check_writable(path)
    limit = PAGE_LIMIT if suffix == ".html" else CELLS_LIMIT
    blocks = prepare(blocks_of(source, limit=limit, color=look.color), look)
    view = view_of(blocks, look)
    blocks = require_cubes(cut_open(blocks, look, view.basis()[2]))
    if suffix != ".html":
        _require_memory(blocks, "printable" if printable else suffix)
    note = blocks.note
    if suffix == ".html":
        document, triangles = page(blocks, look, view).encode(), 12 * len(blocks)
    else:
        if printable:
            mesh = Mesh(*printable_body(blocks))
            note = "; ".join(filter(None, (note, _strength(blocks))))
        else:
            known = {"generation": blocks.generations, **blocks.values}
            facts = {name: np.repeat(values, 8).astype(np.int32) for name, values in known.items()}
            mesh = Mesh(*cubes(blocks), np.repeat(_bytes_of(blocks, look), 8, axis=0), facts)
        document, triangles = _WRITERS[suffix](mesh), len(mesh.faces)
    with replacing(path) as scratch:
        scratch.write_bytes(document)
    return {
        "source": blocks.name,
        "out": str(path),
        "bytes": len(document),
        "population": blocks.population,
        "drawn": len(blocks),
        "triangles": triangles,
        "note": note,
    }


def _strength(blocks: Blocks) -> str:
    low, high = blocks.bounds()
    across = float((high - low).max() / blocks.sizes.max()) * _NECK / (2 * _OVERLAP)
    return f"in one piece, with necks of {2 * _OVERLAP:g} blocks: print it {across:,.0f} mm across for necks of {_NECK:g} mm"


def check_export(path: Path, *, printable: bool = False) -> None:
    """Raise UsageError where no mesh, or no printable one, can be written under that ending."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"an export must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    if printable and suffix not in (".stl", ".ply"):
        raise UsageError(f"a printable body must be an .stl or .ply file, got {str(path)!r}")


def export_bytes(kind: str, blocks: int) -> int:
    """Return the bytes of memory that an export of so many blocks takes: `kind` is the file's ending, or printable."""
    return _BYTES_A_BLOCK[kind] * blocks + (_BYTES_A_PAGE if kind == ".html" else 0)


def _require_memory(blocks: Blocks, kind: str) -> None:
    needed = export_bytes(kind, len(blocks))
    require_memory(needed, host_memory(), f"exporting {blocks.name}", "an earlier generation takes less")


def cubes(blocks: Blocks) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return all blocks as triangles: points float32 (8 N, 3), and faces, indices of three points each, int32 (12 N,
    3).
    """
    points = (blocks.corners.astype(np.int64)[:, None] + _CORNERS * blocks.sizes[:, None, None]).reshape(-1, 3)
    faces = _TRIANGLES + 8 * np.arange(len(blocks), dtype=np.int32)[:, None, None]
    return _as_floats(points, blocks.name), faces.reshape(-1, 3)


def _as_floats(values: NDArray[np.integer], name: str) -> NDArray[np.float32]:
    """Return integers in 32-bit floats, which meshes have; UsageError where they are not the same."""
    floats = values.astype(np.float32)
    if not np.array_equal(floats.astype(np.int64), values):
        raise UsageError(f"{name} has numbers beyond {2**24:,}, which the 32-bit floats of a mesh do not hold exactly")
    return floats


def printable_body(blocks: Blocks) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return the union of the blocks, each a little larger than itself, as one watertight surface: points and faces.

    Every block reaches into its neighbours, so that what met in an edge or a corner is joined.  On the finer grid of
    cores and walls that this makes no two parts meet in an edge alone: wherever two lie across an edge, one of the
    blocks they belong to reaches over it.  So each edge of the surface has two triangles, no more and no fewer.

    >>> from gpu_nim.render.source import blocks_of
    >>> points, faces = printable_body(blocks_of("nim:3"))
    >>> edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    >>> set(np.unique(edges, axis=0, return_counts=True)[1].tolist())
    {2}

    Raises UsageError where there are several pieces that share not even a corner.
    """
    found = pieces(blocks)
    if len(found) > 1:
        raise UsageError(
            f"{blocks.name} cannot be printed as one body: it falls into {len(found):,} pieces that do not touch, the largest "
            f"of {found[0]:,} of {len(blocks):,} blocks"
        )
    size = int(blocks.sizes.max())
    low, _ = blocks.bounds()
    index = (blocks.corners.astype(np.int64) - low) // size
    span = 2 * index.max(axis=0) + 5  # walls have even numbers, cores odd ones; one is free on either side
    steps = np.array([span[1] * span[2], span[2], 1])
    parts = (2 * index[:, None] + 1 + np.array([[x, y, z] for x in range(3) for y in range(3) for z in range(3)])) @ steps
    parts = np.unique(parts)
    quads = []
    for axis, end in SIDES:
        beside = parts + end * steps[axis]
        at = np.minimum(np.searchsorted(parts, beside), len(parts) - 1)
        bare = parts[parts[at] != beside]
        quads.append(bare[:, None] + _CORNERS[_side_corners(axis, end)] @ steps)
    keys, inverse = np.unique(np.concatenate(quads).ravel(), return_inverse=True)
    lines = np.stack([keys // steps[0], keys // steps[1] % span[1], keys % span[2]], axis=1) - 1
    # Line 2k of the finer grid lies before wall k, line 2k + 1 behind it.
    places = lines // 2 + np.where(lines % 2 == 0, -_OVERLAP, _OVERLAP)
    points = (places * size + low).astype(np.float32)
    return points, inverse.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32)


def _side_corners(axis: int, end: int) -> list[int]:
    """Return the corners of a side of a cube in `_CORNERS`, anticlockwise from outside."""
    first, second = _TRIANGLES[2 * SIDES.index((axis, end)) : 2 * SIDES.index((axis, end)) + 2].tolist()
    return [*first, second[2]]


@dataclass(frozen=True)
class Mesh:
    """Points float32 (P, 3), faces, indices of three points each, int32 (F, 3), and what is known of each point: its colour,
    sRGB uint8 (P, 3), or None, and facts by name, int32 (P,).
    """

    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    colours: NDArray[np.uint8] | None = None
    facts: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)


def ply(mesh: Mesh) -> bytes:
    """Return a mesh as PLY, binary, with what is known of each point."""
    parts: list[tuple[str, str, str, NDArray[Any]]] = [
        (f"property float {name}", name, "<f4", mesh.points[:, k]) for k, name in enumerate(("x", "y", "z"))
    ]
    if mesh.colours is not None:
        parts += [(f"property uchar {name}", name, "u1", mesh.colours[:, k]) for k, name in enumerate(("red", "green", "blue"))]
    parts += [(f"property int {name}", name, "<i4", values) for name, values in mesh.facts.items()]
    vertices = np.empty(len(mesh.points), dtype=[(name, kind) for _, name, kind, _ in parts])
    for _, name, _, values in parts:
        vertices[name] = values
    polygons = np.empty(len(mesh.faces), dtype=[("n", "u1"), ("corners", "<i4", (3,))])
    polygons["n"], polygons["corners"] = 3, mesh.faces
    header = ["ply", "format binary_little_endian 1.0", "comment gpunim", f"element vertex {len(vertices)}"]
    header += [declared for declared, *_ in parts]
    header += [f"element face {len(polygons)}", "property list uchar int vertex_indices", "end_header", ""]
    return "\n".join(header).encode() + vertices.tobytes() + polygons.tobytes()


def stl(mesh: Mesh) -> bytes:
    """Return a mesh as STL, binary; the format has nothing but triangles."""
    triangles = np.zeros(len(mesh.faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    corners = mesh.points[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    triangles["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    triangles["corners"] = corners
    return b"gpunim".ljust(80, b" ") + struct.pack("<I", len(triangles)) + triangles.tobytes()


def glb(mesh: Mesh) -> bytes:
    """Return a mesh as binary glTF 2.0, z upright turned to y upright, colours in linear light as the format asks.

    Facts are attributes such as _GENERATION, in floats, since the format has no larger integers for them.
    """
    upright = np.ascontiguousarray(mesh.points[:, [1, 2, 0]], dtype="<f4")
    indices = np.ascontiguousarray(mesh.faces, dtype="<u4")
    count = len(upright)
    parts = [upright.tobytes(), indices.tobytes()]
    bounds = {"min": upright.min(axis=0).tolist(), "max": upright.max(axis=0).tolist()}
    accessors: list[dict[str, Any]] = [
        {"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3", **bounds},
        {"bufferView": 1, "componentType": 5125, "count": indices.size, "type": "SCALAR"},
    ]
    attributes = {"POSITION": 0}

    def attach(name: str, data: bytes, **kind: object) -> None:
        attributes[name] = len(accessors)
        accessors.append({"bufferView": len(parts), "count": count, **kind})
        parts.append(data)

    if mesh.colours is not None:
        light = np.full((count, 4), 255, dtype=np.uint8)
        light[:, :3] = np.rint(to_linear(mesh.colours / np.float32(255)) * 255)
        attach("COLOR_0", light.tobytes(), componentType=5121, normalized=True, type="VEC4")
    for name, values in mesh.facts.items():
        floats = _as_floats(values, name).astype("<f4")
        attach(f"_{name.upper()}", floats.tobytes(), componentType=5126, type="SCALAR")
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    targets = [34963 if k == 1 else 34962 for k in range(len(parts))]
    scene = {
        "asset": {"version": "2.0", "generator": "gpunim"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}],
        "accessors": accessors,
        "bufferViews": [
            {"buffer": 0, "byteOffset": starts[k], "byteLength": len(part), "target": targets[k]} for k, part in enumerate(parts)
        ],
        "buffers": [{"byteLength": starts[-1]}],
    }
    text = json.dumps(scene, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(parts)
    return (
        struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(body))
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(body), b"BIN\0")
        + body
    )


def vtp(mesh: Mesh) -> bytes:
    """Return a mesh as VTK's XML format of polygons, data raw and appended: colours a point, facts a triangle."""
    blobs: list[bytes] = []

    def array(kind: str, name: str, components: int, values: NDArray[Any]) -> str:
        offset = sum(len(blob) + 8 for blob in blobs)
        blobs.append(values.tobytes())
        return f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="appended" offset="{offset}"/>'

    points = array("Float32", "points", 3, mesh.points.astype("<f4"))
    corners = array("Int32", "connectivity", 1, mesh.faces.astype("<i4"))
    corners += array("Int32", "offsets", 1, 3 * np.arange(1, len(mesh.faces) + 1, dtype="<i4"))
    colours = "" if mesh.colours is None else array("UInt8", "colour", 3, mesh.colours)
    facts = "".join(array("Int32", name, 1, values[mesh.faces[:, 0]].astype("<i4")) for name, values in mesh.facts.items())
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
        f'<PolyData><Piece NumberOfPoints="{len(mesh.points)}" NumberOfPolys="{len(mesh.faces)}">'
        f'<PointData Scalars="colour">{colours}</PointData><CellData>{facts}</CellData>'
        f"<Points>{points}</Points><Polys>{corners}</Polys>"
        '</Piece></PolyData><AppendedData encoding="raw">_'
    )
    body = b"".join(struct.pack("<Q", len(blob)) + blob for blob in blobs)
    return text.encode() + body + b"</AppendedData></VTKFile>\n"


_WRITERS: dict[str, Callable[[Mesh], bytes]] = {".ply": ply, ".stl": stl, ".glb": glb, ".vtp": vtp}


def page(blocks: Blocks, look: Look, view: View) -> str:
    """Return a page that draws the blocks by itself, nothing to fetch, and opens with that view."""
    _require_memory(blocks, ".html")
    if blocks.corners.size and max(np.abs(blocks.corners).max(), int(blocks.generations.max())) >= 2**24:
        raise UsageError(f"{blocks.name} is too large for a page, whose coordinates end at {2**24:,}")
    blocks = blocks.take(np.argsort(blocks.generations, kind="stable"))
    theme = find_theme(look.theme)
    sky = Sky(blocks, corners=False)
    seen = np.concatenate([sky.seen(axis, end) for axis, end in SIDES], axis=1)
    views = {"as it opened": view, **VIEWS, "gasket": gasket_view(blocks.corners)}
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
        "colours": _text(_bytes_of(blocks, look)),
        "sky": _text(seen),
    }
    template = files("gpu_nim.render").joinpath("viewer.html").read_text(encoding="utf-8")
    # Within a script nothing may look like a tag or a comment: with "<!--<script>" the page would not end at its "</script>".
    return template.replace("/*DATA*/null", json.dumps(data).replace("<", "\\u003c"))


def _turnable(view: View) -> dict[str, object]:
    """Return a view for the page, with the axis about which a hand turns the body: what is up, or nearly so."""
    basis, up = view.basis(), np.asarray(view.up)
    pole = basis[1] if np.linalg.norm(np.cross(up, basis[2])) < 0.05 else up / np.linalg.norm(up)
    return {"toward": basis[2].tolist(), "pole": pole.tolist(), "parallel": view.parallel}


def _bytes_of(blocks: Blocks, look: Look) -> NDArray[np.uint8]:
    """Return the colour of each block, sRGB (N, 3)."""
    return np.asarray(np.rint(base_colours(blocks, look.color, find_theme(look.theme)) * 255), dtype=np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
