"""The page as an export format."""

from gpu_nim.render.exports.export_format import Body, export_format
from gpu_nim.render.page import PAGE_BYTES, PAGE_BYTES_A_BLOCK, PAGE_LIMIT, PAGE_OPTIONS, page


@export_format(
    ".html",
    "a page that draws the body itself and opens offline",
    bytes_a_block=PAGE_BYTES_A_BLOCK,
    fixed_bytes=PAGE_BYTES,
    takes=PAGE_OPTIONS[1],
    what=PAGE_OPTIONS[0],
    limit=PAGE_LIMIT,
)
def html(body: Body) -> bytes:
    """Return the page."""
    return page(body.blocks, body.look, body.view).encode()
