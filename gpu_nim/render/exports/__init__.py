"""Objects as files for other programs, an entry of `EXPORTS` for each format.

.glb, .ply and .stl are written by trimesh, .3mf by the code here. All but .stl have the colours, .glb and .ply also the generation
and other values of the cells. trimesh 5 writes .3mf with random identifiers and the time, so that no two files of a command are
equal, and without saying what made them.
"""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpu_nim.model.arguments import argument, given_options
from gpu_nim.model.errors import UsageError, missing
from gpu_nim.model.files import Provenance, call, made_by
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import uncounted
from gpu_nim.render.exports.meshes import Mesh, cubes, exact_floats, printed_object, printing_note
from gpu_nim.render.exports.meshes import cubes_note as cubes_note
from gpu_nim.render.gathering import CELLS_LIMIT
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.image import prepare, solid
from gpu_nim.render.look import MESH_OPTIONS, SHAPE_OPTIONS, Look, require_effect
from gpu_nim.render.metadata import STL_HEAD, wrong_picture
from gpu_nim.render.page import PAGE_OPTIONS, Page, page
from gpu_nim.render.page.scenes import colour_bytes
from gpu_nim.render.source import Source, name_of
from gpu_nim.render.themes import to_linear
from gpu_nim.storage.atomic import atomic_write, check_writable

if TYPE_CHECKING:
    from trimesh import Trimesh

#: The measure of a print by default and the largest one, in millimetres.
PRINT_SIZE, MAX_PRINT = 100.0, 10_000

#: The most blocks that are written as text, a minute's work.
TEXT_LIMIT = 1 << 18
#: The most cubes for Blender, which opens them in a minute and 5 GB.
BLENDER_LIMIT = 1 << 20

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


@dataclass(frozen=True)
class ExportedObject:
    """An object to be exported, as a writer of a format gets it.

    Attributes:
        blocks: the blocks to write.
        look: their appearance.
        made: what makes the file.
        print_size: the largest measure in millimetres of one watertight object to print; None for cubes.
    """

    blocks: Blocks
    look: Look
    made: Provenance
    print_size: float | None = None

    @cached_property
    def mesh(self) -> Mesh:
        """The object as triangles: each block a cube or a prism, or the printable object."""
        return cubes(self.blocks) if self.print_size is None else printed_object(self.blocks, self.print_size)

    @cached_property
    def colours(self) -> NDArray[np.uint8]:
        """The colour of each block, sRGB (N, 3)."""
        return colour_bytes(self.blocks, self.look)

    @cached_property
    def facts(self) -> dict[str, NDArray[np.int32]]:
        """The generation and other values of each point of the cubes or prisms by name."""
        known = {"generation": self.blocks.generations, **self.blocks.values}
        return {name: values[self.owners].astype(np.int32) for name, values in known.items()}

    @cached_property
    def owners(self) -> NDArray[np.intp]:
        """The block of each point of the cubes or prisms."""
        owners = np.empty(len(self.mesh.points), dtype=np.intp)
        owners[self.mesh.faces] = self.mesh.blocks[:, None]
        return owners


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


def ply(obj: ExportedObject) -> bytes:
    """Return a mesh as PLY, binary, with the facts of each point; of a printable object with the colours of its faces alone."""
    from trimesh.exchange.ply import export_ply

    mesh = _trimesh(obj.mesh, obj.colours[obj.owners], **obj.facts) if obj.print_size is None else _trimesh(obj.mesh)
    if obj.print_size is not None:
        mesh.visual.face_colors = obj.colours[obj.mesh.blocks]
    data = bytes(export_ply(mesh, vertex_normal=False))
    return data.replace(b"\nelement", f"\ncomment {obj.made}\nelement".encode(), 1)


def stl(obj: ExportedObject) -> bytes:
    """Return a mesh as STL, binary."""
    from trimesh.exchange.stl import export_stl

    head = str(obj.made).encode()[:STL_HEAD].decode(errors="ignore").encode()
    return head.ljust(STL_HEAD, b"\0") + bytes(export_stl(_trimesh(obj.mesh)))[STL_HEAD:]


@dataclass(frozen=True)
class ExportFormat:
    """A format that objects are written in.

    Args:
        name: the ending of its files.
        summary: the contents of the file, for help texts.
        write: returns the file's content; None for a page.
        takes: the options of a look that change the file.
        note: returns a note on a file of these blocks, or "".
        printable: whether it can hold one object to print.
        limit: the most blocks that it holds.
        packages: the optional packages that write it.
    """

    name: str
    summary: str
    write: Callable[[ExportedObject], bytes] | None
    takes: frozenset[str] = MESH_OPTIONS
    note: Callable[[Blocks], str] = lambda blocks: ""
    printable: bool = False
    limit: int = CELLS_LIMIT
    packages: tuple[str, ...] = ()


_FORMATS = (
    ExportFormat(
        ".3mf", "cubes and prisms, for 3D printers, also of several colours", three_mf, MESH_OPTIONS, cubes_note, True, TEXT_LIMIT
    ),
    ExportFormat(".glb", "cubes and prisms, glTF 2.0, binary", glb, limit=BLENDER_LIMIT, packages=_TRIMESH),
    ExportFormat(".ply", "cubes and prisms, binary", ply, printable=True, packages=_TRIMESH),
    ExportFormat(".stl", "triangles alone", stl, SHAPE_OPTIONS, cubes_note, printable=True, packages=_TRIMESH),
    ExportFormat(".html", "a page that draws the object itself and opens offline", None, PAGE_OPTIONS[1]),
)
#: The export formats, by ending.
EXPORTS = Registry[ExportFormat]("export", _FORMATS)


def export(
    source: Source,
    path: str | Path,
    look: Look | None = None,
    *,
    printable: bool = False,
    print_size: float | None = None,
    **options: object,
) -> dict[str, object]:
    """Write a source as a mesh or a page, and return a report of it as plain values.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        path: the file; its ending names the format.
        look: its colours, generations and cut; for a page its view and title, too.
        printable: one watertight object for a 3D printer, in millimetres, in place of cubes that touch along edges: each cube is
            a little larger than its cell, so that those which touch are joined.
        print_size: the largest measure of a printable object, in millimetres; None is 100.
        options: arguments of `Look`, which replace those of `look`.

    Raises:
        UsageError: an unknown ending, a size that cannot be printed, or an option without effect.
        MissingDependency: a package that writes the format is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export("nim:3", f"{folder}/nim.3mf", printable=True, print_size=60)["note"]
    '60 mm across, with necks of 5.5 mm; in one piece'
    """
    path, look = Path(path), (look or Look()).changed(options)
    if print_size is not None and not printable:
        raise UsageError(f"print_size is for a printable object: it needs {argument('printable')}")
    size = (PRINT_SIZE if print_size is None else print_size) if printable else None
    if size is not None and not 1 <= size <= MAX_PRINT:
        raise UsageError(f"print_size must be from 1 to {MAX_PRINT:,} millimetres, got {size:g}")
    known = _format_of(path, printable=printable)
    require_effect("a printable object" if printable else f"a {known.name} file", known.takes, look, given_options(options))
    check_writable(path)
    triangles = {}
    if known.write is None:
        made = page(source, look)
    else:
        blocks = solid(prepare(source, look, limit=known.limit), look)
        named = {} if size is None else {"printable": True, "print_size": size}
        obj = ExportedObject(blocks, look, made_by(call("export", name_of(source), str(path), look, **named)), size)
        note = known.note(blocks) if size is None else printing_note(blocks, size)
        note = "; ".join(filter(None, (blocks.note, note)))
        with uncounted():  # the buffers of SciPy's BLAS, which ends the process where it gets none
            for name in known.packages:
                import_module(name)
        made = Page(known.write(obj), blocks.name, blocks.population, len(blocks), note)
        if "mesh" in vars(obj):  # it was written
            triangles["triangles"] = len(obj.mesh.faces)
    with atomic_write(path) as scratch:
        scratch.write_bytes(made.document)
    report = {"source": made.name, "out": str(path), "bytes": len(made.document)}
    return {**report, "population": made.population, "drawn": made.drawn, **triangles, "note": made.note}


def _format_of(path: Path, *, printable: bool) -> ExportFormat:
    """Return the format of a file; UsageError for an ending of none, MissingDependency where what writes it is not installed."""
    known = EXPORTS.get(path.suffix.lower())
    if known is None:
        raise wrong_picture("an export", path, EXPORTS)
    if printable and not known.printable:
        printed = ", ".join(name for name, other in EXPORTS.items() if other.printable)
        raise UsageError(f"a printable object must end in {printed}, got {str(path)!r}")
    absent = [name for name in known.packages if find_spec(name) is None]
    if absent:
        others = " or ".join(name for name, other in EXPORTS.items() if not other.packages)
        raise missing(f"a {known.name} file needs {' and '.join(absent)}", absent[0], f", or write {others} without")
    return known
