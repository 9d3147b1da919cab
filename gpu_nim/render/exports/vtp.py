"""VTK's XML format of polygons, for ParaView."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.exports.export_format import Body, export_format


@export_format(".vtp", "cubes, for ParaView", bytes_a_block=2100)
def vtp(body: Body) -> bytes:
    """Return the body's mesh, data raw and appended: colours a point, facts a triangle."""
    mesh = body.mesh
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
    data = b"".join(struct.pack("<Q", len(blob)) + blob for blob in blobs)
    return text.encode() + data + b"</AppendedData></VTKFile>\n"
