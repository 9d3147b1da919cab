"""Patterns for Golly: run-length encoded text, RLE for two dimensions and RLE3 for three, which Golly's script 3D.lua reads.

Both hold the cells alive after the last generation, and the rule where Golly has it, so that Golly can continue the growth; for
other rules they hold the rule that keeps every pattern unchanged.  RLE has y upwards, so that hexagonal neighbours are Golly's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.cell_sources import CellSource, Newborns
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.neighbourhoods import HEXAGON, steps
from gpu_nim.model.rule import Rule
from gpu_nim.storage.voxels import Slabs

_LINE = 70  # characters of a line
#: Cells a side of .rle3, the limit of 3D.lua.
GRID = 100
_AT_ONCE = 1 << 14  # runs that are written at a time
#: Bytes in memory of a cell while it is sorted.
CELL = 64
# Neighbourhoods by the letter that ends a rule.
_PLANE = {frozenset(steps(2, 1)): "V", frozenset(steps(2, 1, 2)): "", frozenset(HEXAGON): "H"}
_SPACE = {
    frozenset(steps(3, 1)): "F",
    frozenset(steps(3, 2)): "E",
    frozenset(steps(3, 3)): "C",
    frozenset(steps(3, 1, 2, 3)): "",
}


def golly_rule(rule: Rule | None, dimension: int) -> str:
    """Return the rule in Golly's notation, or one under which nothing is born and nothing dies.

    >>> from gpu_nim.automata.catalogue import find
    >>> [golly_rule(find(name).rule, 2) for name in ("rule750", "hexagonal", "knight")]
    ['B13/S01234V', 'B1/S0123456H', 'B/S012345678']
    >>> [golly_rule(find(name).rule, 3) for name in ("fcc", "cubic26", "edge")]
    ['3D0..12/1E', '3D0..26/1', '3D0..26/']
    """
    neighbourhoods = _PLANE if dimension == 2 else _SPACE
    free = rule is not None and rule.universe is None and rule.touches is None and not rule.octant
    letter = neighbourhoods.get(frozenset(rule.offsets)) if rule is not None and free else None
    births = sorted(rule.births) if rule is not None and letter is not None else []
    neighbours = len(rule.offsets) if rule is not None and letter is not None else 8 if dimension == 2 else 26
    if dimension == 2:
        return f"B{''.join(map(str, births))}/S{''.join(map(str, range(neighbours + 1)))}{letter or ''}"
    return f"3D0..{neighbours}/{','.join(map(str, births))}{letter or ''}"


def encode(parts: Iterable[NDArray[np.integer]]) -> Iterator[str]:
    """Yield the lines of a pattern's text: o alive, b dead, $ end of a row, / end of a layer, ! end.

    Args:
        parts: cells int64 (N, d), coordinates from 0; the first is along the row, then rows, then layers. No row is in two parts,
            and the rows of a part come before those of the next.

    >>> list(encode([np.array([[2, 0], [1, 0]]), np.array([[0, 2]])]))
    ['b2o2$o!']
    """
    line, at = "", None
    for place, length in _runs(parts):
        at = at or [0] * len(place)
        tokens = []
        for axis in range(len(at) - 1, -1, -1):
            if place[axis] != at[axis]:
                tokens.append(_token(place[axis] - at[axis], "b$/"[axis]))
                at = [0] * axis + [place[axis], *at[axis + 1 :]]
        tokens.append(_token(length, "o"))
        at[0] += length
        for token in tokens:
            if len(line) + len(token) > _LINE:
                yield line
                line = ""
            line += token
    if len(line) == _LINE:
        yield line
        line = ""
    yield f"{line}!"


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


def _token(count: int, letter: str) -> str:
    return letter if count == 1 else f"{count}{letter}"


def write_rle(growth: Growth, path: Path) -> None:
    """Write the pattern of a growth, whose cells are sorted by slabs of rows or layers, to a new file: RLE, or in space RLE3."""
    dimension = growth.newborns(0).shape[1]
    if dimension == 2:  # whose rows go down
        growth = replace(growth, source=_upside_down(growth.source))
    slabs = Slabs(growth, path.parent, dimension - 1, CELL)
    lower, size = slabs.lower, np.array(slabs.shape)
    rule = golly_rule(growth.rule, dimension)
    comment = f"#C gpunim {growth.version}: {growth.automaton} to generation {growth.generations}, digest {growth.digest}"
    if dimension == 2:
        heading = [
            comment,
            f"#CXRLE Pos={lower[0]},{lower[1]} Gen={growth.generations}",
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


def _upside_down(source: CellSource) -> CellSource:
    def read(first: int, stop: int) -> Iterator[Newborns]:
        for generation, cells in source(first, stop):
            yield generation, cells * np.array([1, -1], cells.dtype)

    return read
