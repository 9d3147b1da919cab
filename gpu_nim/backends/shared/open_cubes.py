"""The largest empty cube round each cell of a scene, on the host: `cuda/trace.cu` computes the same on the device."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.arrays import Ints
from gpu_nim.model.tracing import BrickScene, NimScene, Scene, TreeScene

#: Of a direction's components, so that none is 0.
LEAST = 1e-200
#: The level of the largest cube.
TOP = 62
_EXPONENT, _BIAS = 52, 1023  # of a double


def exponent(values: NDArray[np.float64]) -> Ints:
    """Return floor(log2) of each value, exact, and something far below 0 for 0."""
    return (values.view(np.int64) >> _EXPONENT) - _BIAS


def power(levels: Ints) -> NDArray[np.float64]:
    """Return 2^level of each level, exact."""
    return (levels + _BIAS << _EXPONENT).view(np.float64)


def highest_bit(values: Ints) -> Ints:
    """Return the index of the highest bit, below 0 for 0."""
    # Without a bit beside the highest one, the conversion to a double does not round up to the next power of two.
    return exponent((values & ~(values >> 1)).astype(np.float64))


def _highest_of_doubles(values: Ints) -> Ints:
    """Return the same for values below 2^53, which are doubles."""
    return exponent(values.astype(np.float64))


def open_levels(scene: Scene) -> Callable[[Ints], Ints]:
    """Return what gives the level of the largest empty cube round each cell (3, n), below 0 for a cell of the set."""
    if isinstance(scene, NimScene):
        return _open_nim(scene)
    return _open_tree(scene) if isinstance(scene, TreeScene) else _open_bricks(scene)


def _open_nim(scene: NimScene) -> Callable[[Ints], Ints]:
    last, lowest = scene.last, scene.first
    highest = _highest_of_doubles if last < 1 << _EXPONENT else highest_bit
    weight = sum(map(abs, scene.inequality))

    def level(cells: Ints) -> Ints:
        a, b, c = cells
        wrong = a ^ b ^ c
        if lowest or last & (last + 1):
            union = a | b | c
            wrong |= (union ^ last) & (last - union >> 63)
            if lowest:
                wrong |= (union ^ lowest) & (union - lowest >> 63)
        found = highest(wrong)
        if weight:
            slack = sums(scene, cells) - 1
            found = np.maximum(found, np.where(slack >= 0, highest_bit(slack // weight + 1), -1))
        return found

    return level


def sums(scene: NimScene, cells: Ints) -> Ints:
    """Return p a + q b + r c of the inequality of a scene for each cell (3, n)."""
    p, q, r = scene.inequality
    total: Ints = p * cells[0] + q * cells[1] + r * cells[2]
    return total


def _open_bricks(scene: BrickScene) -> Callable[[Ints], Ints]:
    stages = [(start, *scene.stage_shape(stage)[1:]) for stage, start in enumerate(scene.starts)]
    most = (np.array(scene.shape) - 1)[:, None]

    def level(cells: Ints) -> Ints:
        found = np.full(cells.shape[1], 2 * len(stages), np.int64)
        left = np.arange(cells.shape[1])
        cells = np.minimum(np.maximum(cells, 0), most)  # rays that have left
        for stage, (start, wide, deep) in enumerate(stages):
            a, b, c = cells >> 2 * stage
            word = scene.words[start + ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2)]
            some = word != 0
            known = left[some]
            found[known] = (2 * stage + _open_in_word(word, a, b, c))[some]
            left, cells = left[~some], cells[:, ~some]
            if not len(left):
                break
        return found

    return level


def _open_in_word(word: NDArray[np.uint64], a: Ints, b: Ints, c: Ints) -> Ints:
    """Return the level of the largest empty cube round cells in their bricks that are not empty: -1, 0 or 1."""
    bit = ((a & 3) << 4 | (b & 3) << 2 | c & 3).astype(np.uint64)
    here = (word >> bit & np.uint64(1)) != 0
    # The eight bits of the cube of the next level, from the first of them.
    beside = (word >> (bit & np.uint64(0b101010)) & np.uint64(0x330033)) != 0
    return np.where(here, -1, np.where(beside, 0, 1))


def _open_tree(scene: TreeScene) -> Callable[[Ints], Ints]:
    def level(cells: Ints) -> Ints:
        found = np.empty(cells.shape[1], np.int64)
        left, block = np.arange(cells.shape[1]), np.full(cells.shape[1], scene.root)
        cells = np.minimum(np.maximum(cells, 0), scene.side - 1)  # rays that have left
        for bit, rows in zip(reversed(range(2, 2 + len(scene.levels))), reversed(scene.levels), strict=True):
            a, b, c = cells >> bit & 1
            block = rows[block, a << 2 | b << 1 | c]
            some = block != 0
            found[left[~some]] = bit
            left, block, cells = left[some], block[some], cells[:, some]
        found[left] = _open_in_word(scene.leaves[block], *cells)
        return found

    return level
