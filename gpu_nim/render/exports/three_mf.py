"""3MF, the format of 3D printers: triangles in millimetres, in XML within a zip file of no date."""

import zipfile
from collections.abc import Callable
from html import escape
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.files import Provenance
from gpu_nim.render.exports.export_format import TEXT_LIMIT, ExportedBody, export_format
from gpu_nim.render.exports.triangles import Mesh
from gpu_nim.render.look import SHAPE_OPTIONS

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
    "triangles alone, for 3D printers",
    bytes_a_block=1300,
    fixed_bytes=4 << 20,
    limit=TEXT_LIMIT,
    takes=SHAPE_OPTIONS,
    printable=True,
)
def three_mf(body: ExportedBody) -> bytes:
    """Return a mesh as 3MF, in millimetres: a cell is one wide unless the body is printable."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in (("[Content_Types].xml", _TYPES), ("_rels/.rels", _RELATIONS)):
            archive.writestr(_entry(name), text)
        with archive.open(_entry("3D/3dmodel.model"), "w") as file:
            file.write(_head(body.made).encode())
            _write_mesh(file.write, body.mesh)
            file.write(b'</mesh></object></resources><build><item objectid="1"/></build></model>\n')
    return content.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIRST_DATE)
    entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED  # the same bytes on every system
    return entry


def _head(made: Provenance) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<model unit="millimeter" xml:lang="en" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02">'
        f'<metadata name="Application">{escape(made.software)}</metadata>'
        f'<metadata name="Description">{escape(made.command)}</metadata>'
        '<resources><object id="1" type="model"><mesh>'
    )


def _write_mesh(write: Callable[[bytes], int], mesh: Mesh) -> None:
    for rows, name, row in (
        (mesh.points, "vertices", '<vertex x="%.7g" y="%.7g" z="%.7g"/>'),
        (mesh.faces, "triangles", '<triangle v1="%d" v2="%d" v3="%d"/>'),
    ):
        write(f"<{name}>".encode())
        for start in range(0, len(rows), _AT_ONCE):
            chunk: NDArray[np.generic] = rows[start : start + _AT_ONCE]
            write((row * len(chunk) % tuple(chunk.ravel().tolist())).encode())
        write(f"</{name}>".encode())
