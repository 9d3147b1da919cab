"""Bodies as files for other programs, one writer a format: each registers in `EXPORTS` under its file's ending.

Every module of this folder is imported, so a new format may be one new file.
"""

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from gpu_nim.model.errors import UsageError
from gpu_nim.model.extras import missing
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.render.exports.export_format import EXPORTS, Body
from gpu_nim.render.exports.triangles import strength
from gpu_nim.render.look import SHAPE_OPTIONS, Look, require_effect
from gpu_nim.render.page import solid
from gpu_nim.storage.atomic import check_writable, replacing

if TYPE_CHECKING:
    from gpu_nim.render.source import Source

__all__ = ["EXPORTS", "check_export", "export", "export_bytes", "export_options"]

_PRINTABLE_BYTES_A_BLOCK = 26000

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)


def export(source: "Source", path: str | Path, look: Look | None = None, *, printable: bool = False) -> dict[str, object]:
    """Write a source as a mesh or a page, and return a report of it as plain values.

    Args:
        source: as for `render` (see `gpu_nim.render.source`).
        path: the file; its ending names the format.
        look: its colours, generations and cut; for a page its view and title, too.
        printable: one watertight body for a 3D printer, in place of cubes that touch along edges.

    Raises:
        UsageError: an unknown ending, an option without effect, or a printable body whose cells are not connected.
        MissingDependency: a package that writes the format is not installed.
    """
    path, look = Path(path), look or Look()
    check_export(path, look, printable=printable)
    suffix = path.suffix.lower()
    blocks, view = solid(source, look, EXPORTS[suffix].limit)
    needed = export_bytes(suffix, len(blocks), printable=printable)
    require_memory(needed, host_memory(), f"exporting {blocks.name}", "an earlier generation takes less")
    body = Body(blocks, look, view, printable)
    document = EXPORTS[suffix].write(body)
    with replacing(path) as scratch:
        scratch.write_bytes(document)
    return {
        "source": blocks.name,
        "out": str(path),
        "bytes": len(document),
        "population": blocks.population,
        "drawn": len(blocks),
        "triangles": len(body.mesh.faces) if printable else 12 * len(blocks),
        "note": "; ".join(filter(None, (blocks.note, strength(blocks) if printable else ""))),
    }


def check_export(path: Path, look: Look, given: Collection[str] = (), *, printable: bool = False) -> None:
    """Raise what `export` would raise before it draws; `given` names the options that were given (see `require_effect`)."""
    suffix = path.suffix.lower()
    if suffix not in EXPORTS:
        raise UsageError(f"an export must end in {', '.join(EXPORTS)}, got {str(path)!r}")
    if printable and not EXPORTS[suffix].printable:
        printed = ", ".join(name for name, known in EXPORTS.items() if known.printable)
        raise UsageError(f"a printable body must end in {printed}, got {str(path)!r}")
    absent = [package for package in EXPORTS[suffix].packages if find_spec(package) is None]
    if absent:
        others = " or ".join(name for name, known in EXPORTS.items() if not known.packages)
        raise missing(f"{EXPORTS[suffix].what} needs {' and '.join(absent)}", absent[0], f", or write {others} without")
    require_effect(*export_options(suffix, printable=printable), look, given)
    check_writable(path)


def export_options(suffix: str, *, printable: bool = False) -> tuple[str, frozenset[str]]:
    """Return the name of an export of that ending in messages, and the options that it takes."""
    return ("a printable body", SHAPE_OPTIONS) if printable else (EXPORTS[suffix].what, EXPORTS[suffix].takes)


def export_bytes(suffix: str, blocks: int, *, printable: bool = False) -> int:
    """Return the bytes of memory that an export of so many blocks takes."""
    known = EXPORTS[suffix]
    return (_PRINTABLE_BYTES_A_BLOCK if printable else known.bytes_a_block) * blocks + known.fixed_bytes
