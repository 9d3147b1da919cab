"""Meshes for other programs, written by trimesh.

.ply and .obj have the colours, .ply also the generation and other values of the cells; .stl has only triangles.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.render.exports.export_format import TEXT_LIMIT, ExportedBody, export_format
from gpu_nim.render.exports.triangles import Mesh
from gpu_nim.render.look import SHAPE_OPTIONS

if TYPE_CHECKING:
    from trimesh import Trimesh

_TRIMESH = ("trimesh",)
_STL_HEAD = 80  # bytes


def _trimesh(mesh: Mesh, colours: NDArray[np.uint8] | None = None, **attributes: ArrayLike) -> "Trimesh":
    from trimesh import Trimesh

    return Trimesh(mesh.points, mesh.faces, vertex_colors=colours, vertex_attributes=attributes, process=False, validate=False)


@export_format(".ply", "cubes, binary", bytes_a_block=2300, printable=True, packages=_TRIMESH)
def ply(body: ExportedBody) -> bytes:
    """Return a mesh as PLY, binary, with the facts of each point."""
    from trimesh.exchange.ply import export_ply

    data = bytes(export_ply(_trimesh(body.mesh, body.mesh.colours, **body.mesh.facts), vertex_normal=False))
    return data.replace(b"\nelement", f"\ncomment {body.made}\nelement".encode(), 1)


@export_format(
    ".stl", "triangles alone", bytes_a_block=5000, takes=SHAPE_OPTIONS, what="an .stl file", printable=True, packages=_TRIMESH
)
def stl(body: ExportedBody) -> bytes:
    """Return a mesh as STL, binary."""
    from trimesh.exchange.stl import export_stl

    head = str(body.made).encode()[:_STL_HEAD].decode(errors="ignore").encode()
    return head.ljust(_STL_HEAD, b"\0") + bytes(export_stl(_trimesh(body.mesh)))[_STL_HEAD:]


@export_format(".obj", "cubes, as text", bytes_a_block=5500, limit=TEXT_LIMIT, what="an .obj file", packages=_TRIMESH)
def obj(body: ExportedBody) -> bytes:
    """Return a mesh as Wavefront's OBJ, colours after the coordinates."""
    from trimesh.exchange.obj import export_obj

    write: Callable[..., str] = export_obj
    text = write(_trimesh(body.mesh, body.mesh.colours), include_normals=False, include_texture=False, header=str(body.made))
    return text.encode()
