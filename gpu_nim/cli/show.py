"""`gpunim show`: a page in a browser, to turn a body and to step through its generations."""

from typing import Any

import click

from gpu_nim.cli.catalogues import SOURCE
from gpu_nim.cli.command import Command
from gpu_nim.cli.pictures import look_options
from gpu_nim.render.look import Look
from gpu_nim.render.page import page

_EXAMPLES = {
    "gpunim show nim:63": "Turn it, and step through its generations.",
    "gpunim show nim:2^40": "Zoom to single cells of 10^24.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("source", type=SOURCE)
@look_options("view", "theme", "colour", "generations", "cut", "title")
def show(source: str, **look: Any) -> None:
    """Show SOURCE (see `gpunim render`) on a page in a browser: rotate it, and step through its generations with a slider.

    The page is a temporary file, whose name is printed, and opens in the browser where there is a display; `gpunim export` writes
    it to a file of yours. It can be zoomed to any depth and shows the name of the cell under the pointer; its address is a link to
    the view. Its theme can be changed there, and the body cut open by a plane. nim goes up to 2^60.
    """
    page(source, Look(**look)).show(click.echo)
