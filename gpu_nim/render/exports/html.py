"""The page as an export format."""

from gpu_nim.render.exports.export_format import EXPORTS, ExportFormat
from gpu_nim.render.page import PAGE_OPTIONS, page

EXPORTS.add(ExportFormat(".html", "a page that draws the body itself and opens offline", None, 0, *PAGE_OPTIONS, write_source=page))
