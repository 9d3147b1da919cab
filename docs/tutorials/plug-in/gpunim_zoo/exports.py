"""A format of bodies: the middles of their cells, as text."""

from gpu_nim.render.exports.export_format import ExportedBody, ExportFormat
from gpu_nim.render.geometry import middles


def write(body: ExportedBody) -> bytes:
    """Return a line that says what made the file, and a line "x y z" for each block."""
    return "".join((f"# {body.made}\n", *(f"{x:g} {y:g} {z:g}\n" for x, y, z in middles(body.blocks).tolist()))).encode()


XYZ = ExportFormat(".xyz", "points, as text", write, memory=lambda blocks: 600 * blocks)
