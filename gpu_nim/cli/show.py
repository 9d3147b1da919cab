"""`gpunim show`: look around in a window, or in a browser."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.pictures import look_options


@click.command()
@click.argument("source")
@click.option("--web", is_flag=True, help="Serve a page on this machine for a browser, in place of a window.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, help="The page's port; 0 takes a free one.")
@click.option(
    "--picture", type=click.Path(path_type=Path), default=Path("gpunim.png"), help="Where the window's key s saves."
)
@look_options
def show(source: str, web: bool, port: int, picture: Path, **look: Any) -> None:
    """Show SOURCE (see `gpunim render`): turn it, and go through its generations with a slider."""
    from gpu_nim.render.server import PageServer
    from gpu_nim.render.show import Window, document
    from gpu_nim.render.still import Look

    wanted = Look(**look)
    if web:
        with PageServer(port) as server:  # before the work: the port may be taken
            page = document(source, wanted)
            click.echo(f"{server.url}  (Ctrl-C to stop)")
            server.run(page)
        return
    with Window(source, wanted, picture) as window:
        window.run()
