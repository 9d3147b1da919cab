"""Objects as files for other programs, one writer a format: each registers in `EXPORTS` under its file's ending.

Every module of this folder is imported, so a new format may be one new file.
"""

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from gpu_nim.model.arguments import argument
from gpu_nim.model.errors import UsageError, missing
from gpu_nim.model.files import call, made_by
from gpu_nim.model.process import uncounted
from gpu_nim.model.registry import import_all
from gpu_nim.render.exports.export_format import EXPORTS, MAX_PRINT, PRINT_SIZE, ExportedObject, ExportFormat, printing_note
from gpu_nim.render.look import Look, require_effect
from gpu_nim.render.metadata import wrong_picture
from gpu_nim.render.page import PAGE_OPTIONS, Page, page, solid
from gpu_nim.render.source import Source, name_of
from gpu_nim.storage.atomic import atomic_write, check_writable

__all__ = ["EXPORTS", "PRINT_SIZE", "export", "export_options"]


import_all(__path__, __name__)
EXPORTS.add(ExportFormat(".html", "a page that draws the object itself and opens offline", None, PAGE_OPTIONS[1]))


def export(
    source: Source,
    path: str | Path,
    look: Look | None = None,
    *,
    printable: bool = False,
    print_size: float | None = None,
    given: Collection[str] = (),
) -> dict[str, object]:
    """Write a source as a mesh or a page, and return a report of it as plain values.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        path: the file; its ending names the format.
        look: its colours, generations and cut; for a page its view and title, too.
        printable: one watertight object for a 3D printer, in millimetres, in place of cubes that touch along edges: each cube is
            a little larger than its cell, so that those which touch are joined.
        print_size: the largest measure of a printable object, in millimetres; None is 100.
        given: as for `gpu_nim.render.look.require_effect`.

    Raises:
        UsageError: an unknown ending, a size that cannot be printed, or an option without effect.
        MissingDependency: a package that writes the format is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export("nim:3", f"{folder}/nim.3mf", printable=True, print_size=60)["note"]
    '60 mm across, with necks of 5.5 mm; in one piece'
    """
    path, look = Path(path), look or Look()
    if print_size is not None and not printable:
        raise UsageError(f"print_size is for a printable object: it needs {argument('printable')}")
    size = (PRINT_SIZE if print_size is None else print_size) if printable else None
    if size is not None and not 1 <= size <= MAX_PRINT:
        raise UsageError(f"print_size must be from 1 to {MAX_PRINT:,} millimetres, got {size:g}")
    known = _format_of(path, printable=printable)
    require_effect(*export_options(known.name, printable=printable), look, given)
    check_writable(path)
    triangles = {}
    if known.write is None:
        made = page(source, look)
    else:
        blocks, _ = solid(source, look, known.limit)
        named = {} if size is None else {"printable": True, "print_size": size}
        obj = ExportedObject(blocks, look, made_by(call("export", name_of(source), str(path), look, **named)), size)
        note = known.note(blocks) if size is None else printing_note(blocks, size)
        note = "; ".join(filter(None, (blocks.note, note)))
        with uncounted():  # the buffers of SciPy's BLAS, which ends the process where it gets none
            for name in known.packages:
                import_module(name)
        made = Page(known.write(obj), blocks.name, blocks.population, len(blocks), note)
        if "mesh" in vars(obj):  # it was written
            triangles["triangles"] = len(obj.mesh.faces)
    with atomic_write(path) as scratch:
        scratch.write_bytes(made.document)
    report = {"source": made.name, "out": str(path), "bytes": len(made.document)}
    return {**report, "population": made.population, "drawn": made.drawn, **triangles, "note": made.note}


def _format_of(path: Path, *, printable: bool) -> ExportFormat:
    """Return the format of a file; UsageError for an ending of none, MissingDependency where what writes it is not installed."""
    known = EXPORTS.get(path.suffix.lower())
    if known is None:
        raise wrong_picture("export", path, EXPORTS)
    if printable and not known.printable:
        printed = ", ".join(name for name, other in EXPORTS.items() if other.printable)
        raise UsageError(f"a printable object must end in {printed}, got {str(path)!r}")
    absent = [name for name in known.packages if find_spec(name) is None]
    if absent:
        others = " or ".join(name for name, other in EXPORTS.items() if not other.packages)
        raise missing(f"a {known.name} file needs {' and '.join(absent)}", absent[0], f", or write {others} without")
    return known


def export_options(suffix: str, *, printable: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of an export of that ending in messages, and the options that it takes."""
    return ("a printable object" if printable else f"a {suffix} file"), EXPORTS[suffix].takes
