"""`gpunim show`: an interactive view in a window, or in a browser."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.catalogues import SOURCE
from gpu_nim.cli.command import FILE, Command, given, integer
from gpu_nim.cli.pictures import look_options
from gpu_nim.render import window
from gpu_nim.render.look import Look

_EXAMPLES = {
    "gpunim show nim:63": "Open a window.",
    "gpunim show nim:2^40 --web": "Serve a page for a browser.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Keys and mouse": [*window.view_keys().items(), *window.HELP]})
@click.argument("source", type=SOURCE)
@click.option("--web", is_flag=True, help="Serve a page on this machine for a browser, in place of a window.")
@click.option("--port", type=integer(0, 65535), help=f"The page's port; 0 chooses a free one.  [default: {window.PORT}]")
@click.option("--picture", type=FILE, help=f"The file that the window's key s saves to.  [default: {window.PICTURE}]")
@look_options("resolution", "view", "theme", "colour", "generations", "cut", "title")
def show(source: str, web: bool, port: int | None, picture: Path | None, **look: Any) -> None:
    """Show SOURCE (see `gpunim render`): rotate it, and step through its generations with a slider.

    The page can be zoomed to any depth and shows the name of the cell under the pointer; its address is a link to the view. nim
    goes up to 2^60 there.
    """

    def served(address: str) -> None:
        click.echo(f"{address}  (Ctrl-C to stop)")

    window.show(source, Look(**look), web=web, port=port, picture=picture, given=given(look), on_served=served)
