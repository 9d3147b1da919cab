"""The page as an export format."""

from gpu_nim.render.exports.export_format import ExportedBody, export_format
from gpu_nim.render.page import PAGE_OPTIONS, page


@export_format(
    ".html",
    "a page that draws the body itself and opens offline",
    bytes_a_block=0,
    what=PAGE_OPTIONS[0],
    takes=PAGE_OPTIONS[1],
    write_source=page,
)
def html(body: ExportedBody) -> bytes:
    """Return the page of blocks."""
    return page(body.blocks, body.look).document
