"""Terms of a sequence, read from any file that holds some: tables and growths."""

import re
from pathlib import Path

from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth import Growth
from gpu_nim.model.arguments import argument
from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import printable
from gpu_nim.model.registry import one_of, unknown
from gpu_nim.storage.file_checks import reading, store_of
from gpu_nim.storage.growth_formats import readable_suffixes
from gpu_nim.storage.save_load import load
from gpu_nim.storage.table_formats import TABLE_FORMATS
from gpu_nim.storage.table_interface import INTEGER, KIND, MAIN, TermList

_is_table = store_of(KIND)


def read_terms(path: Path, column: str | None = None, most: int | None = None) -> TermList:
    """Read the terms of a sequence from a file.

    Args:
        path: a file of a table, an object that `count` or `grow` printed as .json, or a growth.
        column: which column of a table or a growth; by default the only one, or births.
        most: how many terms are read at most; None for all.

    Raises:
        UsageError: files of this suffix hold no terms, or there is no such column.
        FileError: the file cannot be read, or holds something else than integers.
        MissingDependency: the format needs a package that is not installed.

    >>> import tempfile
    >>> from gpu_nim import grow, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(grow("nim", 3), f"{folder}/nim.csv")
    ...     read_terms(Path(folder, "nim.csv"), "population").values
    (1, 4, 7, 16)
    """
    if path.suffix not in readable():
        raise UsageError(f"terms are read from a file that ends in {one_of(readable())}, got {str(path)!r}")
    with reading(path, f"{path.suffix} file of terms"):
        if path.suffix in TABLE_FORMATS and (path.suffix not in readable_suffixes() or _is_table(path)):
            return TABLE_FORMATS[path.suffix].read(path, column, most)
        return _of_growth(path, column or MAIN, most)


def readable() -> list[str]:
    """Return the endings of the files that terms are read from."""
    return list(dict.fromkeys([*TABLE_FORMATS, *readable_suffixes()]))


def _of_growth(path: Path, column: str, most: int | None) -> TermList:
    growth = load(path, Growth)
    if column not in growth.table:
        raise unknown("column", column, growth.table)
    if not is_whole(column):
        raise UsageError(f"{argument('column')} must have integers, got {column}")
    return TermList(f"{column} of {path.name}", 0, tuple(growth.table[column].tolist()[:most]))


def parse_terms(text: str) -> tuple[int, ...]:
    r"""Return the integers of a text, separated by commas or space.

    Args:
        text: for example what the OEIS prints.

    Raises:
        UsageError: something else is among them.

    >>> parse_terms("1, 4, 4, 12,\n4 12 12 36")
    (1, 4, 4, 12, 4, 12, 12, 36)
    """
    words = re.split(r"[\s,;]+", text.strip().strip("[](){},")) if text.strip() else []
    for word in words:
        if not INTEGER.fullmatch(word):
            raise UsageError(f"terms must be integers separated by commas or space, got {printable(word, 40)!r}")
    try:
        return tuple(map(int, words))
    except ValueError as error:
        raise UsageError(f"terms must have fewer digits than Python reads: {error}") from error
