"""Bodies as files for other programs, one writer a format: each registers in `EXPORTS` under its file's ending.

Every module of this folder is imported, so a new format may be one new file.
"""

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from gpu_nim.model.errors import UsageError, missing
from gpu_nim.model.files import call, made_by
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.render.exports.export_format import EXPORTS, ExportedBody, ExportFormat, Printing, cubes_note, printing_note
from gpu_nim.render.look import SHAPE_OPTIONS, Look, require_effect
from gpu_nim.render.page import PAGE_OPTIONS, page, solid
from gpu_nim.render.source import Source, name_of
from gpu_nim.storage.atomic import check_writable, claim, replacing

__all__ = ["EXPORTS", "Printing", "export", "export_bytes", "export_options"]

_PRINTABLE_BYTES_A_BLOCK = 26000

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
EXPORTS.add(ExportFormat(".html", "a page that draws the body itself and opens offline", None, 0, *PAGE_OPTIONS, write_source=page))


def export(
    source: Source,
    path: str | Path,
    look: Look | None = None,
    *,
    printing: Printing | None = None,
    given: Collection[str] = (),
) -> dict[str, object]:
    """Write a source as a mesh or a page, and return a report of it as plain values.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        path: the file; its ending names the format.
        look: its colours, generations and cut; for a page its view and title, too.
        printing: one watertight body for a 3D printer, in millimetres, in place of cubes that touch along edges: each cube is
            a little larger than its cell, so that those which touch are joined.
        given: as for `gpu_nim.render.look.require_effect`.

    Raises:
        UsageError: an unknown ending, or an option without effect.
        MissingDependency: a package that writes the format is not installed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export("nim:3", f"{folder}/nim.3mf", printing=Printing(size=60))["note"]
    '60 mm across, with necks of 5.5 mm; in one piece'
    """
    path, look = Path(path), look or Look()
    known = _format_of(path, printable=printing is not None)
    require_effect(*export_options(known.name, printable=printing is not None), look, given)
    check_writable(path)
    with claim(path):
        if known.write_source:
            made_page = known.write_source(source, look)
            _write(path, made_page.document)
            facts = {"population": made_page.population, "drawn": made_page.drawn, "note": made_page.note}
            return {"source": made_page.name, "out": str(path), "bytes": len(made_page.document), **facts}
        assert known.write is not None
        blocks, _ = solid(source, look, known.limit)
        needed = export_bytes(known.name, len(blocks), printable=printing is not None)
        require_memory(needed, host_memory(), f"exporting {blocks.name}", "an earlier generation takes less")
        made = made_by(call("export", name_of(source), str(path), look, *filter(None, [printing])))
        body = ExportedBody(blocks, look, made, printing)
        document = known.write(body)
        _write(path, document)
    return {
        "source": blocks.name,
        "out": str(path),
        "bytes": len(document),
        "population": blocks.population,
        "drawn": len(blocks),
        "triangles": len(body.mesh.faces) if printing else 12 * len(blocks),
        "note": "; ".join(filter(None, (blocks.note, _note(known, body)))),
    }


def _write(path: Path, document: bytes) -> None:
    with replacing(path) as scratch:
        scratch.write_bytes(document)


def _note(known: ExportFormat, body: ExportedBody) -> str:
    if body.printing:
        return printing_note(body.blocks, body.printing)
    if known.many and len(body.blocks) > known.many[0]:
        return known.many[2]
    return cubes_note(body.blocks) if known.takes == SHAPE_OPTIONS else ""  # triangles alone are for printing


def _format_of(path: Path, *, printable: bool) -> ExportFormat:
    """Return the format of a file; UsageError for an ending of none, MissingDependency where what writes it is not installed."""
    known = EXPORTS.get(path.suffix.lower())
    if known is None:
        raise UsageError(f"an export must end in {', '.join(EXPORTS)}, got {str(path)!r}")
    if printable and not known.printable:
        printed = ", ".join(name for name, other in EXPORTS.items() if other.printable)
        raise UsageError(f"a printable body must end in {printed}, got {str(path)!r}")
    absent = [package for package in known.packages if find_spec(package) is None]
    if absent:
        others = " or ".join(name for name, other in EXPORTS.items() if not other.packages)
        raise missing(f"{known.what} needs {' and '.join(absent)}", absent[0], f", or write {others} without")
    return known


def export_options(suffix: str, *, printable: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of an export of that ending in messages, and the options that it takes."""
    return ("a printable body", SHAPE_OPTIONS) if printable else (EXPORTS[suffix].what, EXPORTS[suffix].takes)


def export_bytes(suffix: str, blocks: int, *, printable: bool = False) -> int:
    """Return the bytes of memory that an export of so many blocks takes."""
    known = EXPORTS[suffix]
    return _PRINTABLE_BYTES_A_BLOCK * blocks + known.fixed_bytes if printable else known.memory(blocks)
