"""One column of a growth as a b-file."""

from collections.abc import Sequence
from pathlib import Path

from gpu_nim.automata.catalogue import GrowthEntry
from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth import Growth
from gpu_nim.model.errors import UsageError
from gpu_nim.oeis.b_files import bfile_name
from gpu_nim.storage.tables import write_terms


def bfile_column(path: Path, entries: Sequence[GrowthEntry], columns: tuple[str, ...] = ()) -> tuple[str, GrowthEntry | None]:
    """Return the column that a b-file takes and its OEIS entry, if there is one.

    A name such as b151776.txt or edge-births.txt selects that entry of the automaton; otherwise it is the one requested column.

    Raises:
        UsageError: neither gives a column, or the column has other values than integers.

    >>> from gpu_nim.automata.catalogue import find
    >>> bfile_column(Path("b147552.txt"), find("fcc").oeis)[0]
    'section z=0'
    """
    for entry in entries:
        if path.name == bfile_name(entry.number):
            return entry.column, entry
    if len(columns) != 1:
        numbers = ", ".join(bfile_name(entry.number) for entry in entries)
        known = f" or be named {numbers}" if numbers else ""
        raise UsageError(f"the b-file {path.name!r} must be of one column{known}, got {', '.join(columns) or 'none'}")
    _require_whole(columns[0])
    return columns[0], next((entry for entry in entries if entry.counts == columns[0]), None)


def _require_whole(column: str) -> None:
    if not is_whole(column):
        raise UsageError(f"a b-file holds integers, and column {column!r} has others")


def write_bfile(growth: Growth, path: str | Path, column: str, entry: GrowthEntry | None = None) -> None:
    """Write a column of integers as a b-file; with an OEIS entry the indices are the entry's, from its offset on.

    >>> import tempfile
    >>> from gpu_nim import grow
    >>> from gpu_nim.automata.catalogue import find
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bfile(grow("fcc", 3), f"{folder}/b151776.txt", "population", find("fcc").oeis[0])
    ...     print(Path(folder, "b151776.txt").read_text(), end="")
    0 0
    1 1
    2 13
    3 25
    4 109
    """
    _require_whole(column)
    values = growth.table[column].tolist()
    terms = values if entry is None else (value for _, value in entry.terms(values))
    write_terms(Path(path), 0 if entry is None else entry.offset, terms, ending=".txt")
