"""A format of growths: the plaintext of Life patterns."""

from math import prod
from pathlib import Path

import numpy as np

from gpu_nim import Growth
from gpu_nim.storage.growth_formats import GrowthFormat


def write(growth: Growth, path: Path) -> None:
    """Write the living cells to a new file, O alive and . dead, with y upwards."""
    cells = growth.cells()
    lower = cells.min(axis=0)
    rows = np.full((cells.max(axis=0) - lower + 1)[::-1], ".")
    rows[cells[:, 1] - lower[1], cells[:, 0] - lower[0]] = "O"
    lines = [f"!Name: {growth.automaton} at generation {growth.generations}", *map("".join, rows[::-1])]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


PLAINTEXT = GrowthFormat(".cells", "as plaintext", write, dimensions=(2,), memory=lambda shape, _: 16 * prod(shape))
