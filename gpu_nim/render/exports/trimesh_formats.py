"""Meshes for other programs, written by trimesh.

All but .stl and .3mf, which have only triangles here, have the colours; .ply and .glb also have the generation and other values
of the cells.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.render.colours import to_linear
from gpu_nim.render.exports.export_format import Body, export_format
from gpu_nim.render.exports.triangles import Mesh, exact_floats
from gpu_nim.render.look import SHAPE_OPTIONS

if TYPE_CHECKING:
    from trimesh import Trimesh

_TRIMESH = ("trimesh",)
_TEXT_LIMIT = 1 << 18  # blocks that are written as text: a minute's work
_MATTE = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}


def _trimesh(mesh: Mesh, colours: NDArray[np.uint8] | None = None, **attributes: ArrayLike) -> "Trimesh":
    from trimesh import Trimesh

    return Trimesh(mesh.points, mesh.faces, vertex_colors=colours, vertex_attributes=attributes, process=False, validate=False)


@export_format(".ply", "cubes, binary", bytes_a_block=2300, printable=True, packages=_TRIMESH)
def ply(body: Body) -> bytes:
    """Return a mesh as PLY, binary, with the facts of each point."""
    from trimesh.exchange.ply import export_ply

    return bytes(export_ply(_trimesh(body.mesh, body.mesh.colours, **body.mesh.facts), vertex_normal=False))


@export_format(
    ".stl", "triangles alone", bytes_a_block=5000, takes=SHAPE_OPTIONS, what="an .stl file", printable=True, packages=_TRIMESH
)
def stl(body: Body) -> bytes:
    """Return a mesh as STL, binary."""
    from trimesh.exchange.stl import export_stl

    return bytes(export_stl(_trimesh(body.mesh)))


@export_format(".glb", "cubes, glTF 2.0, binary", bytes_a_block=2400, packages=_TRIMESH)
def glb(body: Body) -> bytes:
    """Return a mesh as binary glTF 2.0: see `glb_of`."""
    return glb_of(body.mesh)


def glb_of(mesh: Mesh) -> bytes:
    """Return a mesh as binary glTF 2.0, z upright turned to y upright, colours in linear light as the format requires.

    Facts are attributes such as _GENERATION, in floats, since the format has no larger integers for them.

    Raises:
        UsageError: a fact is a number that 32-bit floats do not hold.
    """
    from trimesh.exchange.gltf import export_glb

    facts = {f"_{name.upper()}": exact_floats(values, name) for name, values in mesh.facts.items()}
    light = None if mesh.colours is None else np.rint(to_linear(mesh.colours / np.float32(255)) * 255).astype(np.uint8)
    upright = Mesh(mesh.points[:, [1, 2, 0]], mesh.faces)

    def matte(tree: dict[str, Any]) -> None:
        tree["materials"] = [_MATTE]
        for part in tree["meshes"][0]["primitives"]:
            part["material"] = 0

    write: Callable[..., bytes] = export_glb
    return bytes(write(_trimesh(upright, light, **facts), include_normals=False, tree_postprocessor=matte))


@export_format(".obj", "cubes, as text", bytes_a_block=5500, limit=_TEXT_LIMIT, what="an .obj file", packages=_TRIMESH)
def obj(body: Body) -> bytes:
    """Return a mesh as Wavefront's OBJ, colours after the coordinates."""
    from trimesh.exchange.obj import export_obj

    write: Callable[..., str] = export_obj
    text = write(_trimesh(body.mesh, body.mesh.colours), include_normals=False, include_texture=False, header="gpunim")
    return text.encode()


@export_format(
    ".3mf",
    "triangles alone, for 3D printers",
    bytes_a_block=1300,
    fixed_bytes=4 << 20,
    limit=_TEXT_LIMIT,
    takes=SHAPE_OPTIONS,
    printable=True,
    packages=(*_TRIMESH, "lxml", "networkx"),
)
def three_mf(body: Body) -> bytes:
    """Return a mesh as 3MF, in millimetres."""
    from trimesh.exchange.threemf import export_3MF

    write: Callable[..., bytes] = export_3MF
    return write(_trimesh(body.mesh))
