"""VTK's XML format of polygons, for ParaView."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.exports.export_format import ExportedBody, export_format
from gpu_nim.storage.vtk_files import HEAD, Appended, data_array


def _text(name: str, text: str) -> str:
    """Return the element of a text, by the codes of its bytes."""
    codes = " ".join(map(str, (*text.encode(), 0)))
    return f'<Array type="String" Name="{name}" NumberOfTuples="1" format="ascii">{codes}</Array>'


@export_format(".vtp", "cubes, for ParaView", bytes_a_block=1300)
def vtp(body: ExportedBody) -> bytes:
    """Return the body's mesh, data compressed and appended: a colour for each point, the cell's values for each triangle."""
    mesh, data = body.mesh, BytesIO()

    def array(name: str, values: NDArray[Any], components: int = 1) -> str:
        offset = data.tell()
        values = values.astype(values.dtype.newbyteorder("<"), copy=False)
        appended = Appended(data, values.nbytes)
        appended.write(values)
        appended.close()
        return data_array(name, values.dtype, offset, components)

    points = array("points", mesh.points, 3)
    corners = array("connectivity", mesh.faces) + array("offsets", 3 * np.arange(1, len(mesh.faces) + 1, dtype=np.int32))
    colours = "" if mesh.colours is None else array("colour", mesh.colours, 3)
    facts = "".join(array(name, values[mesh.faces[:, 0]]) for name, values in mesh.facts.items())
    text = (
        f"{HEAD.format(kind='PolyData')}"
        f"<PolyData><FieldData>{_text('software', body.made.software)}{_text('command', body.made.command)}</FieldData>"
        f'<Piece NumberOfPoints="{len(mesh.points)}" NumberOfPolys="{len(mesh.faces)}">'
        f'<PointData Scalars="colour">{colours}</PointData><CellData>{facts}</CellData>'
        f"<Points>{points}</Points><Polys>{corners}</Polys>"
        '</Piece></PolyData><AppendedData encoding="raw">_'
    )
    return text.encode() + data.getvalue() + b"</AppendedData></VTKFile>\n"
