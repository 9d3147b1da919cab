"""What a step of exactly-one growth reads around a brick.

Windows. The newborns that can touch a brick lie in its own rows and in those up to `reach` away. Of each of these rows a step
gathers a window of 64 bits: the row's own word in the middle, `MARGIN` bits of either neighbour beside it.

Mirrors. A row beyond u = 0 or v = 0 is the image of a row of the domain, moved along w. What lies beyond w = 0 goes cell by cell.
Which rows and cells these are depends only on the class of the brick: its place, where a brick further from a mirror than `last` is
as one there. Classes follow one another as places do; bricks beside no mirror are in the last one. The images of cells that touch a
brick lie in the 27 bricks around it (`Bricks.fits`); no others are asked for.

Of these 27, d = 9 (du + 1) + 3 (dv + 1) + dw + 1 is the one at (du, dv, dw).
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.bricks import BITS, ROWS, BrickGrid, Bricks
from gpu_nim.model.rule import Symmetry

AROUND, ITSELF = 27, 13
#: Bits of a window on either side of its word.
MARGIN = 16


class Windows(NamedTuple):
    """Where the windows of a brick come from, and how they are moved.

    Attributes:
        last: the greatest place that matters along u, v and w, shape (3,).
        gathered: how many windows beside no mirror are rows of the bricks at each (du, dv); shape (9,).
        sources: the numbers of these rows in their bricks; shape (9, 32).
        targets: the numbers of the windows; shape (9, 32).
        side: by class and row of the window, the brick around with dw = 0 that has it, -1 for none; shape (classes, windows).
        row: its row there, likewise.
        moved: by how many bits its window begins further up, likewise.
        first: where the cells beyond w = 0 of each class begin, shape (classes + 1,).
        cells: of each the row of the window, the bit there, the brick around that has its image, with dw = 0, the row and the bit
            there; shape (cells, 5).
        shifts: by which the window of each row is shifted for each distance of touches in w; uint64 of shape (distances, windows).
        touches: for each offset the row of the window that touches the first row, counted through all distances; shape (offsets,).
        width: rows in v of the window.
    """

    last: NDArray[np.int64]
    gathered: NDArray[np.int64]
    sources: NDArray[np.uint64]
    targets: NDArray[np.uint64]
    side: NDArray[np.int64]
    row: NDArray[np.int64]
    moved: NDArray[np.int64]
    first: NDArray[np.int64]
    cells: NDArray[np.int64]
    shifts: NDArray[np.uint64]
    touches: NDArray[np.int64]
    width: int


def windows(bricks: Bricks) -> Windows:
    """Return the windows of a growth's bricks."""
    size, (reach_u, reach_v, reach_w) = bricks.size[:2], bricks.reach
    width = int(size[1]) + 2 * reach_v
    last = np.zeros(3, np.int64)
    if bricks.folded:
        last[:2] = -(-2 * np.array(bricks.reach[:2]) // size)
    last[2] = bricks.signed
    classes = np.array(list(product(*(range(most + 1) for most in last.tolist()))), np.int64)
    rows = np.array(list(product(range(-reach_u, int(size[0]) + reach_u), range(-reach_v, int(size[1]) + reach_v))), np.int64)
    number, window = (part.reshape(-1) for part in np.indices((len(classes), len(rows))))
    corner = classes[number, :2] * size
    own = np.column_stack((corner + rows[window], np.zeros(len(number), np.int64)))
    own[:, 2] = bricks.parity(*own[:, :2].T)
    # Reflections in u = 0 and v = 0 order the coordinates.
    ordered = Symmetry.PERMUTATIONS if bricks.folded else Symmetry.NONE
    image = bricks.locate(ordered.representative(bricks.cells(own)))
    side, row = _beside(bricks, image, corner)
    moved = image[:, 2] - bricks.parity(*image[:, :2].T) >> bricks.packed
    # Cells of the windows that lie beyond w = 0, where bricks stand on it.
    steps = np.arange(-reach_w, MARGIN)
    at, step = np.nonzero((bricks.signed & (classes[number, 2] == 0))[:, None] & (moved[:, None] + steps < 0))
    cell = own[at]
    cell[:, 2] += steps[step] << bricks.packed
    cell = bricks.locate(bricks.rule.symmetry.representative(bricks.cells(cell)))
    beside, within = _beside(bricks, cell, corner[at])
    bit = cell[:, 2] - bricks.parity(*cell[:, :2].T) >> bricks.packed
    kept = (beside >= 0) & (bit < 2 * BITS)
    cells = np.stack((window[at], steps[step] + MARGIN, beside + bit // BITS, within, bit % BITS), axis=1)[kept]
    offsets = np.array(bricks.rule.offsets, np.int64) @ bricks.folding.T
    distances, distance = np.unique(offsets[:, 2], return_inverse=True)
    side, row = side.reshape(len(classes), -1), row.reshape(len(classes), -1)
    gathered = np.bincount(side[-1] // 3, minlength=9)
    order = np.argsort(side[-1], kind="stable")
    filled = np.arange(ROWS) < gathered[:, None]
    sources, targets = (np.zeros((9, ROWS), np.uint64) for _ in range(2))
    sources[filled], targets[filled] = row[-1, order], order
    return Windows(
        last,
        gathered,
        sources,
        targets,
        side,
        row,
        moved.reshape(side.shape),
        np.searchsorted(number[at][kept], np.arange(len(classes) + 1)),
        cells,
        (MARGIN - (bricks.parity(*rows.T) + distances[:, None] >> bricks.packed)).astype(np.uint64),
        distance.reshape(-1) * len(rows) + (reach_u - offsets[:, 0]) * width + reach_v - offsets[:, 1],
        width,
    )


def _beside(grid: BrickGrid, places: NDArray[np.int64], corner: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of the bricks around one whose first row is `corner`, with dw = 0, have these cells, and in which rows; -1 for none."""
    moved, row = np.divmod(places[:, :2] - corner, grid.size[:2])
    side = np.where((abs(moved) <= 1).all(axis=1), ITSELF + 9 * moved[:, 0] + 3 * moved[:, 1], -1)
    return side, row[:, 0] << grid.log_v | row[:, 1]
