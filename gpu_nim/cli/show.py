"""`gpunim show`: look around in a window, or in a browser."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.params import FILE
from gpu_nim.cli.pictures import given, look_options
from gpu_nim.model.errors import UsageError


@click.command()
@click.argument("source")
@click.option("--web", is_flag=True, help="Serve a page on this machine for a browser, in place of a window.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, help="The page's port; 0 takes a free one.")
@click.option("--picture", type=FILE, default=Path("gpunim.png"), help="Where the window's key s saves.")
@look_options("size", "view", "theme", "color", "generations", "cut", "title")
def show(source: str, web: bool, port: int, picture: Path, **look: Any) -> None:
    """Show SOURCE (see `gpunim render`): turn it, and go through its generations with a slider.

    \b
    drag           turn                     wheel        nearer, farther
    shift-drag     move                     s            save a picture
    Left, Right    one generation           1 to 4       hero, isometric, axis, diagonal
    Home, End      first, last generation   5            gasket
    q              leave the window         0            the view it opened with

    In the page, space spins the body and p plays its growth; two fingers move it and come nearer.
    """  # noqa: D301  # click knows the backspace itself
    from gpu_nim.render.options import exported, require_heard
    from gpu_nim.render.server import PageServer
    from gpu_nim.render.show import Window, document
    from gpu_nim.render.still import Look

    wanted = Look(**look)
    if web and given(["picture"]):
        raise UsageError("--picture is for a window, got it with --web: a browser asks where the page's pictures go")
    if not web and given(["port"]):
        raise UsageError("--port is for a page: it needs --web")
    if web:
        require_heard(exported(".html"), wanted, given(look))
        with PageServer(port) as server:  # before the work: the port may be taken
            page = document(source, wanted)
            click.echo(f"{server.url}  (Ctrl-C to stop)")
            server.run(page)
        return
    with Window(source, wanted, picture) as window:
        window.run()
