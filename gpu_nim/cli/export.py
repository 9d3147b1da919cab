"""`gpunim export`: a picture's source as a mesh for other programs, or as a page."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.command import SOURCE, Command, File, given_values, json_option, number
from gpu_nim.cli.output import emit_json, say
from gpu_nim.cli.render import look_options
from gpu_nim.model.arguments import counted
from gpu_nim.render.exports import EXPORTS, PRINT_SIZE
from gpu_nim.render.exports import export as write


def _formats() -> dict[str, list[tuple[str, str]]]:
    rows = [(suffix, known.summary + (", or one object to print" if known.printable else "")) for suffix, known in EXPORTS.items()]
    return {"Files": rows}


_EXAMPLES = {
    "gpunim export nim:31 -o nim.glb": "Write a mesh for Blender and web pages.",
    "gpunim export nim:15 --printable -o nim.3mf": "Write an object for a 3D printer.",
    "gpunim export nim:2^20 -o nim.html": "Write a page to rotate, zoom to single cells and step through the generations.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=_formats)
@click.argument("source", type=SOURCE)
@click.option("-o", "--out", type=File(".glb"), required=True, help="The file: see the endings below.")
@click.option("--printable", is_flag=True, help="One watertight object for a 3D printer.")
@click.option(
    "--print-size", type=number(0, 10_000), help=f"The longest side of a print, in millimetres.  [default: {PRINT_SIZE:g}]"
)
@look_options("view", "theme", "colour", "generations", "cut", "title")
@json_option
def export(source: str, out: Path, printable: bool, print_size: float | None, as_json: bool, **look: Any) -> None:
    """Write SOURCE (see `gpunim render`) as a mesh, or as an interactive HTML page that works offline.

    A page zooms to any depth and names the cell under the pointer; its address is a link to the view. nim goes up to 2^60.
    """
    report: dict[str, Any] = write(source, out, printable=printable, print_size=print_size, **given_values(look))
    if as_json:
        emit_json(report)
        return
    note = f"; {report['note']}" if report["note"] else ""
    triangles = f"{report['triangles']:,} triangles, " if "triangles" in report else ""
    say(f"{out}: {report['bytes']:,} bytes, {triangles}{counted(report['population'], 'cell')}{note}")
