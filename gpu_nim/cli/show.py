"""`gpunim show`: an interactive view in a window, or in a browser."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.catalogues import SOURCE
from gpu_nim.cli.command import FILE, Command, given, integer
from gpu_nim.cli.pictures import look_options
from gpu_nim.model.errors import UsageError
from gpu_nim.render.look import Look, require_effect
from gpu_nim.render.page import PAGE_OPTIONS, document
from gpu_nim.render.page_server import PageServer
from gpu_nim.render.window import HELP, Window, view_keys

_EXAMPLES = {
    "gpunim show nim:63": "Open a window.",
    "gpunim show nim:2^40 --web": "Serve a page for a browser.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Keys and mouse": [*view_keys().items(), *HELP]})
@click.argument("source", type=SOURCE)
@click.option("--web", is_flag=True, help="Serve a page on this machine for a browser, in place of a window.")
@click.option("--port", type=integer(0, 65535), default=8765, help="The page's port; 0 chooses a free one.")
@click.option("--picture", type=FILE, default=Path("gpunim.png"), help="The file that the window's key s saves to.")
@look_options("resolution", "view", "theme", "colour", "generations", "cut", "title")
def show(source: str, web: bool, port: int, picture: Path, **look: Any) -> None:
    """Show SOURCE (see `gpunim render`): rotate it, and step through its generations with a slider.

    The page can be zoomed to any depth and shows the name of the cell under the pointer; its address is a link to the view. nim
    goes up to 2^60 there.
    """
    wanted = Look(**look)
    if web and given(["picture"]):
        raise UsageError("--picture is for a window, got it with --web: a browser asks where to save the page's pictures")
    if not web and given(["port"]):
        raise UsageError("--port is for a page: it needs --web")
    if web:
        require_effect(*PAGE_OPTIONS, wanted, given(look))
        with PageServer(port) as server:  # first, since the port may be taken
            page = document(source, wanted)
            click.echo(f"{server.url}  (Ctrl-C to stop)")
            server.run(page)
        return
    with Window(source, wanted, picture) as window:
        window.run()
