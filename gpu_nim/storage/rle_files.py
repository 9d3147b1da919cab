"""Patterns of Golly: run-length encoded text, RLE for two dimensions and RLE3 for three, which Golly's script 3D.lua reads.

Both hold the cells alive after the last generation, and the rule where Golly has it, so that Golly can continue the growth; for
other rules they hold the rule that keeps every pattern unchanged.  RLE has y upwards, so that hexagonal neighbours are Golly's.

A pattern that is read is the seeds of a growth, with a rule that it may grow by.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Lattice
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import golly_rule
from gpu_nim.model.arguments import counted
from gpu_nim.model.files import STDIN, CorruptFile, printable, read_regular, reading
from gpu_nim.model.registry import wrong_ending
from gpu_nim.model.rule import Cell
from gpu_nim.model.work import host_memory, require_memory
from gpu_nim.storage.voxels import Slabs

#: The endings of patterns.
PATTERN_SUFFIXES = (".rle", ".rle3")
_LINE = 70  # characters of a line
#: Cells a side of .rle3, the limit of 3D.lua.
GRID = 100
_LONGEST = 1 << 28  # bytes of a file that is read
_FURTHEST = 1 << 30  # of a coordinate
_AT_ONCE = 1 << 14  # runs that are written at a time
_SEED = 1000  # bytes in memory of a cell of a pattern, and of a rule that has it as a seed
#: Bytes in memory of a cell while it is sorted.
CELL = 64


def encode(parts: Iterable[NDArray[np.integer]]) -> Iterator[str]:
    """Yield the lines of a pattern's text: o alive, b dead, $ end of a row, / end of a layer, ! end.

    Args:
        parts: cells int64 (N, d), coordinates from 0; the first is along the row, then rows, then layers. No row is in two parts,
            and the rows of a part come before those of the next.

    >>> list(encode([np.array([[2, 0], [1, 0]]), np.array([[0, 2]])]))
    ['b2o2$o!']
    """
    line = ""
    for token in chain(_tokens(parts), "!"):
        if len(line) + len(token) > _LINE:
            yield line
            line = ""
        line += token
    yield line


def _tokens(parts: Iterable[NDArray[np.integer]]) -> Iterator[str]:
    """Yield the letters of a pattern's text, each with its count where that is not 1."""
    at = [0, 0, 0]
    for position, length in _runs(parts):
        for axis in reversed(range(len(position))):
            if steps := position[axis] - at[axis]:
                yield f"{steps if steps > 1 else ''}{'b$/'[axis]}"
                at[: axis + 1] = [*[0] * axis, position[axis]]
        yield f"{length if length > 1 else ''}o"
        at[0] += length


def _runs(parts: Iterable[NDArray[np.integer]]) -> Iterator[tuple[list[int], int]]:
    """Yield the first cell and the length of each run of cells that follow each other in a row."""
    for part in parts:
        cells = part[np.lexsort(part.T)]
        breaks = np.ones(len(cells), np.bool_)
        breaks[1:] = (cells[1:, 0] != cells[:-1, 0] + 1) | (cells[1:, 1:] != cells[:-1, 1:]).any(axis=1)
        starts = np.flatnonzero(breaks)
        lengths = np.diff(starts, append=len(cells))
        for first in range(0, len(starts), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            yield from zip(cells[starts[some]].tolist(), lengths[some].tolist(), strict=True)


def write_rle(growth: Growth, path: Path) -> None:
    """Write the pattern of a growth, whose cells are sorted by slabs of rows or layers, to a new file: RLE, or in space RLE3."""
    dimension = growth.newborns(0).shape[1]
    if dimension == 2:  # whose rows go down
        upright = growth.source
        growth = replace(growth, source=lambda *part: ((n, cells * np.array([1, -1], cells.dtype)) for n, cells in upright(*part)))
    slabs = Slabs(growth, path.parent, CELL)
    lower, size = slabs.lower, np.array(slabs.shape)
    rule = golly_rule(growth.rule, dimension)
    comment = f"#C gpunim {growth.version}: {growth.automaton} to generation {growth.generations}, digest {growth.digest}"
    if dimension == 2:
        heading = [
            f"#CXRLE Pos={lower[0]},{lower[1]} Gen={growth.generations}",  # the first line, or Golly does not read it
            comment,
            f"x = {size[0]}, y = {size[1]}, rule = {rule}",
        ]
    else:
        x, y, z = ((GRID - size) // 2).tolist()  # in the middle, with space for further growth
        heading = [
            f"3D version=1 size={GRID} pos={x},{y},{z} gen={growth.generations}",
            comment,
            f"x={size[0]} y={size[1]} z={size[2]} rule={rule}",
        ]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in heading)
        file.writelines(f"{line}\n" for line in encode(rows[:, :-1] - lower for rows in slabs.rows()))


@dataclass(frozen=True)
class Pattern:
    """What a pattern's file holds.

    Attributes:
        cells: int64 (N, d), those alive: in the plane where Golly shows them, with y upwards; in space from its corner on.
        rule: the rule, in Golly's notation.
    """

    cells: NDArray[np.int64]
    rule: str

    @property
    def drawn(self) -> tuple[NDArray[np.int64], Lattice]:
        """The cells, and the lattice that they are drawn in."""
        return self.cells, "hexagonal" if self.cells.shape[1] == 2 and self.rule.upper().endswith("H") else "square"

    @property
    def seeds(self) -> tuple[Cell, ...]:
        """The cells, in order."""
        return tuple(map(tuple, self.cells.tolist()))


_PLACE = re.compile(r".*?\bpos\s*=\s*(-?[0-9]{1,10}),(-?[0-9]{1,10})(?:\s.*)?", re.IGNORECASE)
_SIZES = re.compile(r"x\s*=.*?(?:\brule\s*=\s*(\S+?),?(?!\S).*)?$", re.IGNORECASE)
# As Golly reads them: blanks and ends of lines stand between runs alone, and p to y without a second letter are alive.
_RUN = re.compile(r"\s*+((?:[1-9][0-9]{0,11})?)(?:([oA]|[p-y](?![A-X]))|([b.])|([$/])|(!)|([p-y][A-X]|[0-9]+|\S))")


def read_pattern(path: Path) -> Pattern:
    r"""Read a pattern of Golly.

    Args:
        path: the file, .rle or .rle3, or -, for stdin.

    Raises:
        UsageError: it has another ending.
        FileError: it is missing, or no pattern of living and dead cells.
        InsufficientMemoryError: it would not fit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     glider = Path(folder, "glider.rle")
    ...     _ = glider.write_text("x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!")
    ...     read_pattern(glider).seeds
    ((0, -2), (1, -2), (1, 0), (2, -2), (2, -1))
    """
    suffix, piped = path.suffix.lower(), str(path) in STDIN
    if suffix not in PATTERN_SUFFIXES and not piped:
        raise wrong_ending("a pattern of Golly ends in", path, PATTERN_SUFFIXES)
    with reading(path):
        content = read_regular(path, _LONGEST)
        lines = [line.strip() for line in content.decode("utf-8-sig", "replace").splitlines() if line.strip()]
        return _parsed(lines, 3 if suffix == ".rle3" or (piped and lines and lines[0].startswith("3D")) else 2)


def _parsed(lines: list[str], dimension: int) -> Pattern:
    if dimension == 3 and not (lines and lines[0].startswith("3D")):
        raise CorruptFile("an .rle3 file begins with 3D version=1")
    corner, rules, body = [0, 0], set[str](), list[str]()
    for line in lines[dimension == 3 :]:
        if line.startswith("#CXRLE") and "pos" in line.lower():
            at = _PLACE.fullmatch(line)
            corner = [*map(int, at.groups())] if at else []
            if not corner or max(map(abs, corner)) > _FURTHEST:
                raise CorruptFile(f"expected Pos=x,y of at most {_FURTHEST:,} beside #CXRLE, got {printable(line, 80)!r}")
        elif line.startswith("#r"):
            rules.add(line[2:].strip())
        elif not body and (sizes := _SIZES.match(line)):
            rules |= {sizes[1]} - {None}
        elif not line.startswith("#"):
            body.append(line)
            if "!" in line:
                break
    if len(rules) > 1:
        raise CorruptFile(f"it has {len(rules)} rules: {printable(', '.join(sorted(rules)), 80)}")
    cells = _cells("\n".join(body), dimension)
    if dimension == 2:
        cells = (cells + np.array(corner)) * np.array([1, -1])
    return Pattern(cells[np.lexsort(cells.T[::-1])], *(rules or {"B3/S23"}))  # Golly's default


def _cells(body: str, dimension: int) -> NDArray[np.int64]:
    """The cells of a pattern's text, the first row and layer of which are 0."""
    position, runs = [0] * dimension, []
    for run in _RUN.finditer(body):
        length = int(run[1] or 1)
        if run[6] or (run[4] == "/" and dimension == 2):
            found = printable(run[6] or "/")
            raise CorruptFile(f"expected cells that are alive, o, or dead, b, got {found!r}{' alone' * found.isdigit()}")
        if run[5]:
            break
        if run[4]:
            axis = "$/".index(run[4]) + 1
            position[: axis + 1] = [*[0] * axis, position[axis] + length]
        else:
            if run[2]:
                runs.append((*position, length))
            position[0] += length
        if max(position) > _FURTHEST:
            raise CorruptFile(f"it has coordinates beyond {_FURTHEST:,}")
    if not runs:
        raise CorruptFile("it has no living cell")
    starts = np.array(runs, np.int64)
    lengths = starts[:, -1]
    total = int(lengths.sum())
    require_memory(_SEED * total, host_memory(), f"a pattern of {counted(total, 'cell')}")
    cells = np.repeat(starts[:, :-1], lengths, axis=0)
    cells[:, 0] += np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return cells
