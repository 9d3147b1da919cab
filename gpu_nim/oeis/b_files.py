"""b-files, the OEIS's own format: one `n a(n)` a line, comments after #, blank lines allowed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_nim.model.arguments import is_a_number, short_repr
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.files import open_regular, reading
from gpu_nim.model.shown import Checked, Shown

if TYPE_CHECKING:
    from gpu_nim.oeis.catalogue import OeisEntry

_LINE = re.compile(r"\s*(-?[0-9]+)\s+(-?[0-9]+)\s*(?:#.*)?$")
_LONGEST = 1 << 20  # letters of a line


@dataclass(frozen=True, repr=False)
class Difference(Shown):
    """The first term that differs from an entry's: n, the term found and the term expected."""

    n: int
    found: int
    expected: int


@dataclass(frozen=True, repr=False)
class Comparison(Checked):
    """Result of comparing terms with an entry: the terms compared, their first and last n, and the first difference."""

    terms: int
    first: int
    last: int
    difference: Difference | None

    @property
    def holds(self) -> bool:
        """Whether all terms are the entry's."""
        return self.difference is None


def bfile_name(entry: str) -> str:
    """Return the name of the b-file of an entry, which the OEIS prescribes for those with an A-number.

    >>> bfile_name("A237711"), bfile_name("edge-births")
    ('b237711.txt', 'edge-births.txt')
    """
    return f"b{entry[1:]}.txt" if is_a_number(entry) else f"{entry}.txt"


def format_lines(pairs: Iterable[tuple[int, object]]) -> Iterator[str]:
    r"""Yield each pair as a line of a b-file.

    >>> list(format_lines([(0, 1), (1, 6)]))
    ['0 1\n', '1 6\n']
    """
    for n, value in pairs:
        yield f"{n} {value}\n"


def read_bfile(path: str | Path) -> Iterator[tuple[int, int]]:
    """Yield (n, a(n)) for each term of a b-file.

    Raises:
        FileError: a line, which the message names, is not `n a(n)`, or its n does not follow the n before it.
    """
    previous: int | None = None
    try:
        with reading(Path(path)), TextIOWrapper(open_regular(Path(path)), encoding="utf-8-sig") as lines:
            for number, text in enumerate(iter(lambda: lines.readline(_LONGEST), ""), 1):
                if len(text) == _LONGEST:
                    raise FileError(f"{path}, line {number}: expected two integers, got a line of {_LONGEST:,} letters or more")
                if not text.strip() or text.lstrip().startswith("#"):
                    continue
                match = _LINE.match(text)
                if match is None:
                    raise FileError(f"{path}, line {number}: expected two integers, n and a(n), got {short_repr(text.strip())}")
                n, value = int(match[1]), int(match[2])
                if previous is not None and n != previous + 1:
                    raise FileError(f"{path}, line {number}: expected index {previous + 1} after {previous}, got {n}")
                previous = n
                yield n, value
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not a text file: {error.reason}") from error
    except ValueError as error:
        raise FileError(f"{path}: {error}") from error


def compare(found: Sequence[int], first: int, entry: "OeisEntry") -> Comparison:
    """Compare terms with an entry's, up to the first that differs.

    Args:
        found: the terms.
        first: the index of the first of them.
        entry: the entry.

    Raises:
        UsageError: there are no terms, they begin before the entry's offset, or go beyond what is known.

    >>> from gpu_nim.oeis.catalogue import find
    >>> compare([1, 3, 3, 9], 0, find("A048883")).holds, compare([3, 3, 8], 1, find("A048883")).difference
    (True, Difference(n=3, found=8, expected=9))
    """
    if not found:
        raise UsageError("terms must be one at least, got none")
    entry.check_index(first, "the first index")
    last = first + len(found) - 1
    expected = entry.terms(first)
    for n, term in enumerate(found, first):
        true = next(expected, None)
        if true is None:
            raise UsageError(f"terms must be below n = {n}, where {entry.name} ends, got {last}")
        if true != term:
            return Comparison(n - first + 1, first, n, Difference(n, term, true))
    return Comparison(len(found), first, last, None)
