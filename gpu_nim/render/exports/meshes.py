"""Meshes for other programs: .glb, .ply and .stl by trimesh, .3mf by the code here.

All but .stl have the colours, .glb and .ply also the generation and other values of the cells.

trimesh 5 writes .3mf with random identifiers and the time, so that no two files of a command are equal, and without saying what
made them.
"""

import zipfile
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.model.files import Provenance
from gpu_nim.render.exports import (
    BLENDER_LIMIT,
    TEXT_LIMIT,
    ExportedObject,
    Mesh,
    cubes_note,
    exact_floats,
    export_format,
)
from gpu_nim.render.look import SHAPE_OPTIONS
from gpu_nim.render.metadata import STL_HEAD
from gpu_nim.render.themes import to_linear

if TYPE_CHECKING:
    from trimesh import Trimesh

_TO_PRINT: dict[str, Any] = {"note": cubes_note, "printable": True}
_AT_ONCE = 1 << 15  # points or triangles that are made text at a time
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip file

_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/>
</Types>
"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rel0" Target="/3D/3dmodel.model" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>
</Relationships>
"""


@export_format(
    ".3mf",
    "cubes and prisms, for 3D printers, also of several colours",
    limit=TEXT_LIMIT,
    **_TO_PRINT,
)
def three_mf(obj: ExportedObject) -> bytes:
    """Return a mesh as 3MF, in millimetres: a cell is one wide unless the object is printable.

    The colour of each triangle is one of a group, as the extension for materials says.
    """
    palette, colours = np.unique(obj.colours, axis=0, return_inverse=True)
    group = "".join(f'<m:color color="#{bytes(colour).hex()}"/>' for colour in palette)
    triangles = np.column_stack([obj.mesh.faces, colours.ravel()[obj.mesh.blocks]])
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in (("[Content_Types].xml", _TYPES), ("_rels/.rels", _RELATIONS)):
            archive.writestr(_entry(name), text)
        with archive.open(_entry("3D/3dmodel.model"), "w") as file:
            file.write(_head(obj.made, group).encode())
            for rows, name, row in (
                (obj.mesh.points, "vertices", '<vertex x="%.7g" y="%.7g" z="%.7g"/>'),
                (triangles, "triangles", '<triangle v1="%d" v2="%d" v3="%d" pid="2" p1="%d"/>'),
            ):
                file.write(f"<{name}>".encode())
                for start in range(0, len(rows), _AT_ONCE):
                    chunk: NDArray[np.generic] = rows[start : start + _AT_ONCE]
                    file.write((row * len(chunk) % tuple(chunk.ravel().tolist())).encode())
                file.write(f"</{name}>".encode())
            file.write(b'</mesh></object></resources><build><item objectid="1"/></build></model>\n')
    return content.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIRST_DATE)
    entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED  # the same bytes on every system
    return entry


def _head(made: Provenance, group: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<model unit="millimeter" xml:lang="en"'
        ' xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"'
        ' xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02">'
        f'<metadata name="Application">{escape(made.software)}</metadata>'
        f'<metadata name="Description">{escape(made.command)}</metadata>'
        f'<resources><m:colorgroup id="2">{group}</m:colorgroup><object id="1" type="model" pid="2" pindex="0"><mesh>'
    )


_TRIMESH = ("trimesh",)
_MATTE = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}


def _trimesh(mesh: Mesh, colours: NDArray[np.uint8] | None = None, **attributes: ArrayLike) -> "Trimesh":
    """Return a mesh of trimesh, with the colours of its points, if they are given, and other attributes of them."""
    from trimesh import Trimesh

    return Trimesh(mesh.points, mesh.faces, vertex_colors=colours, vertex_attributes=attributes, process=False, validate=False)


@export_format(
    ".glb",
    "cubes and prisms, glTF 2.0, binary",
    limit=BLENDER_LIMIT,
    packages=_TRIMESH,
)
def glb(obj: ExportedObject) -> bytes:
    """Return a mesh as binary glTF 2.0, with the facts of each point, such as _GENERATION.

    The format wants y upright, colours in linear light, and values as 32-bit floats.

    Raises:
        UsageError: a value is a number that these do not hold.
    """
    from trimesh.exchange.gltf import export_glb

    mesh, made = obj.mesh._replace(points=obj.mesh.points[:, [1, 2, 0]]), obj.made
    facts = {f"_{name.upper()}": exact_floats(values, name) for name, values in obj.facts.items()}

    def finish(tree: dict[str, Any]) -> None:
        tree["asset"] |= {"generator": made.software, "extras": {"command": made.command}}
        tree["materials"], tree["meshes"][0]["primitives"][0]["material"] = [_MATTE], 0

    shades = np.rint(to_linear(obj.colours / np.float32(255)) * 255).astype(np.uint8)
    scene = _trimesh(mesh, shades[obj.owners], **facts).scene()
    return bytes(export_glb(scene, include_normals=False, tree_postprocessor=finish))


@export_format(".ply", "cubes and prisms, binary", printable=True, packages=_TRIMESH)
def ply(obj: ExportedObject) -> bytes:
    """Return a mesh as PLY, binary, with the facts of each point; of a printable object with the colours of its faces alone."""
    from trimesh.exchange.ply import export_ply

    mesh = _trimesh(obj.mesh, obj.colours[obj.owners], **obj.facts) if obj.print_size is None else _trimesh(obj.mesh)
    if obj.print_size is not None:
        mesh.visual.face_colors = obj.colours[obj.mesh.blocks]
    data = bytes(export_ply(mesh, vertex_normal=False))
    return data.replace(b"\nelement", f"\ncomment {obj.made}\nelement".encode(), 1)


@export_format(".stl", "triangles alone", packages=_TRIMESH, takes=SHAPE_OPTIONS, **_TO_PRINT)
def stl(obj: ExportedObject) -> bytes:
    """Return a mesh as STL, binary."""
    from trimesh.exchange.stl import export_stl

    head = str(obj.made).encode()[:STL_HEAD].decode(errors="ignore").encode()
    return head.ljust(STL_HEAD, b"\0") + bytes(export_stl(_trimesh(obj.mesh)))[STL_HEAD:]
