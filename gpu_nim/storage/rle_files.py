"""Patterns for Golly: run-length encoded text, RLE for two dimensions and RLE3 for three, which Golly's script 3D.lua reads.

Both hold the cells alive after the last generation, and the rule where Golly has it, so that Golly can continue the growth; for
other rules they hold the rule that keeps every pattern unchanged.  RLE has y upwards, so that hexagonal neighbours are Golly's.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import Growth
from gpu_nim.automata.neighbourhoods import HEXAGON, steps
from gpu_nim.model.memory import host_memory, require_memory
from gpu_nim.model.rule import Rule

_LINE = 70  # characters of a line
GRID = 100
"""Cells a side of .rle3, the limit of 3D.lua."""
_CELL = 220  # bytes in memory of a cell while it is sorted and written
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


def encode(cells: NDArray[np.integer]) -> Iterator[str]:
    """Yield the lines of a pattern's text: o alive, b dead, $ end of a row, / end of a layer, ! end.

    Args:
        cells: int64 (N, d), N at least 1, coordinates from 0; the first is along the row, then rows, then layers.

    >>> list(encode(np.array([[1, 0], [2, 0], [0, 2]])))
    ['b2o2$o!']
    """
    cells = cells[np.lexsort(cells.T)]
    breaks = np.ones(len(cells), np.bool_)
    breaks[1:] = (cells[1:, 0] != cells[:-1, 0] + 1) | (cells[1:, 1:] != cells[:-1, 1:]).any(axis=1)
    starts = np.flatnonzero(breaks)
    lengths = np.diff(starts, append=len(cells)).tolist()
    line, at = "", [0] * cells.shape[1]
    for place, length in zip(cells[starts].tolist(), lengths, strict=True):
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


def _token(count: int, letter: str) -> str:
    return letter if count == 1 else f"{count}{letter}"


def write_rle(growth: Growth, path: Path, dimension: int) -> None:
    """Write the pattern of a growth, whose cells are sorted in memory, to a new file: RLE, or in three dimensions RLE3."""
    require_memory(
        _CELL * growth.population, host_memory(), f"a pattern of {growth.population:,} cells", "fewer generations take less"
    )
    cells = growth.cells().astype(np.int64, copy=False)
    lower, upper = cells.min(axis=0), cells.max(axis=0)
    size = upper - lower + 1
    rule = golly_rule(growth.rule, dimension)
    comment = f"#C gpunim {growth.version}: {growth.automaton} to generation {growth.generations}, digest {growth.digest}"
    if dimension == 2:
        places = np.stack((cells[:, 0] - lower[0], upper[1] - cells[:, 1]), axis=1)
        heading = [
            comment,
            f"#CXRLE Pos={lower[0]},{-upper[1]} Gen={growth.generations}",
            f"x = {size[0]}, y = {size[1]}, rule = {rule}",
        ]
    else:
        places = cells - lower
        x, y, z = ((GRID - size) // 2).tolist()  # in the middle, with space for further growth
        heading = [
            f"3D version=1 size={GRID} pos={x},{y},{z} gen={growth.generations}",
            comment,
            f"x={size[0]} y={size[1]} z={size[2]} rule={rule}",
        ]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in heading)
        file.writelines(f"{line}\n" for line in encode(places))
