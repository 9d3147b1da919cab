"""Sets of cells packed into the bricks of a `BrickScene`, and the largest empty cube round each cell of a scene.

`cuda/trace.cu` computes the cubes alike on the device.
"""

from collections.abc import Callable
from itertools import accumulate, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.brick_grid import unpacked
from gpu_nim.model.arrays import Ints
from gpu_nim.model.rule import Symmetry
from gpu_nim.model.tracing import BrickScene, NimScene, Scene, TreeScene, Triple

#: Of a direction's components, so that none is 0.
LEAST = 1e-200
#: The level of the largest cube.
TOP = 62
_EXPONENT, _BIAS = 52, 1023  # of a double
_CHUNK = 1 << 20  # cells or bricks at once


class BrickPacker:
    """Collects cells, in any order, and packs them.

    Args:
        corner: the least coordinates.
        shape: the number of cells along each axis.
        symmetry: maps the set to itself: then only the representatives of its cells are added, and the box is a cube.

    >>> packer = BrickPacker((-5, -5, -5), (11, 11, 11), Symmetry.CUBE)
    >>> _ = packer.add(np.array([[5, 2, 0]]))
    >>> scene = packer.scene()
    >>> int(np.bitwise_count(scene.words[: scene.starts[1]]).sum())
    24
    """

    def __init__(self, corner: Triple, shape: Triple, symmetry: Symmetry = Symmetry.NONE) -> None:
        if symmetry is Symmetry.CUBE:
            low = corner[0] // 4 * 4  # 0 is the first cell of a brick
            corner, shape = (low,) * 3, (shape[0] + corner[0] - low,) * 3
        self._stages = [tuple(-(-side // 4) for side in shape)]
        while prod(self._stages[-1]) > 1:
            self._stages.append(tuple(-(-side // 4) for side in self._stages[-1]))
        ends = list(accumulate(map(prod, self._stages)))
        self._starts = (0, *ends[:-1])
        self._words = np.zeros(ends[-1], np.uint64)
        self._corner, self._shape, self._symmetry = corner, shape, symmetry
        self._dtype = np.uint32 if prod(self._stages[0]) <= 1 << 26 else np.uint64

    def add(self, cells: NDArray[np.integer]) -> NDArray[Any]:
        """Add cells (N, 3), and return their keys for `BrickScene.number_of`; a cell may be added again."""
        keys = np.empty(len(cells), self._dtype)
        for start in range(0, len(cells), _CHUNK):
            part = slice(start, start + _CHUNK)
            for signs in product((-1, 1), repeat=3) if self._symmetry is Symmetry.CUBE else [(1, 1, 1)]:
                indices, bits = self._set(0, cells[part] * np.array(signs) - np.array(self._corner))
            keys[part] = indices << 6 | bits  # of the cells themselves, which come last
        return keys

    def _set(self, stage: int, cells: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        a, b, c = cells.T.astype(np.int64)
        _, wide, deep = self._stages[stage]
        indices, bits = ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2), (a & 3) << 4 | (b & 3) << 2 | c & 3
        np.bitwise_or.at(self._words, self._starts[stage] + indices, np.uint64(1) << bits.astype(np.uint64))
        return indices, bits

    def _permute(self) -> None:
        """Add the images of all cells under permutations of the coordinates, by swaps of neighbouring ones."""
        shape = self._stages[0]
        bricks = self._words[: prod(shape)].reshape(shape)
        for first in (0, 1, 0):
            for a, layer in enumerate(bricks):
                layer |= _swapped(bricks[:, a] if first == 0 else layer.T, first)

    def scene(self) -> BrickScene:
        """Return the scene of the cells so far."""
        if self._symmetry is not Symmetry.NONE:
            self._permute()
        for stage, (first, shape) in enumerate(zip(self._starts[:-1], self._stages[:-1], strict=True)):
            for start in range(first, first + prod(shape), _CHUNK):
                some = np.flatnonzero(self._words[start : min(start + _CHUNK, first + prod(shape))]) + (start - first)
                self._set(stage + 1, np.stack(np.unravel_index(some, shape), axis=1))
        bricks = prod(self._stages[0])
        before = np.zeros(bricks, np.uint32)
        scene = BrickScene(self._words, self._starts, self._corner, self._shape, before, self._symmetry)
        for start in range(0, bricks, _CHUNK):
            indices = start + np.flatnonzero(self._words[start : min(start + _CHUNK, bricks)])
            before[indices] = np.bitwise_count(scene.numbered(indices))
        total = np.cumsum(before, dtype=np.uint32)
        before[0], before[1:] = 0, total[:-1]
        return scene


def cells_of(words: NDArray[np.uint64], indices: Ints, shape: Triple) -> NDArray[np.int64]:
    """Return the cells (N, 3) of the bits of bricks, in order.

    Args:
        words: the bricks, (n,).
        indices: their numbers where that shape is filled by bricks, (n,).
        shape: the number of bricks along each axis.
    """
    brick, bit = np.nonzero(unpacked(words[:, None]))
    return 4 * np.stack(np.unravel_index(indices[brick], shape), axis=1) + np.stack(np.unravel_index(bit, (4, 4, 4)), axis=1)


def restricted(scene: BrickScene, keep: NDArray[np.bool_]) -> BrickScene:
    """Return the scene of some of the numbered cells, and their images, in the same box.

    Args:
        scene: the scene.
        keep: which of the cells, by their numbers.

    >>> packer = BrickPacker((0, 0, 0), (8, 8, 8))
    >>> _ = packer.add(np.array([[7, 0, 1], [0, 3, 2]]))
    >>> some = restricted(packer.scene(), np.array([False, True]))
    >>> cells_of(some.words[:8], np.arange(8), some.stage_shape(0)).tolist()
    [[7, 0, 1]]
    """
    packer, shape, done = BrickPacker(scene.corner, scene.shape, scene.symmetry), scene.stage_shape(0), 0
    bricks = np.flatnonzero(scene.words[: prod(shape)])
    for start in range(0, len(bricks), _CHUNK):
        some = bricks[start : start + _CHUNK]
        cells = cells_of(scene.numbered(some), some, shape) + np.array(scene.corner)
        packer.add(cells[keep[done : done + len(cells)]])
        done += len(cells)
    return packer.scene()


def _swapped(bricks: NDArray[np.uint64], first: int) -> NDArray[np.uint64]:
    """Return bricks with coordinate `first` of their cells and the next one exchanged."""
    for high in (5 - 2 * first, 4 - 2 * first):  # the digits of a cell's bit: two for each coordinate
        low = high - 2
        shift = np.uint64((1 << high) - (1 << low))
        moving = np.uint64(sum(1 << bit for bit in range(64) if bit >> low & 1 and not bit >> high & 1))
        exchanged = (bricks ^ bricks >> shift) & moving
        bricks = bricks ^ exchanged ^ exchanged << shift
    return bricks


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
    around, most = _open_bricks_of(scene, 0), (np.array(scene.shape) - 1)[:, None]
    _, wide, deep = scene.stage_shape(0)

    def level(cells: Ints) -> Ints:
        a, b, c = np.minimum(np.maximum(cells, 0), most)  # rays that have left
        index = ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2)
        return np.asarray(np.maximum(_open_in_word(scene.words[index], a, b, c), around[index]))

    return level


def _open_bricks_of(scene: BrickScene, stage: int) -> NDArray[np.int8]:
    """Return the level of the largest empty cube round each brick of a stage, -1 where the brick is not empty."""
    shape, start = scene.stage_shape(stage), scene.starts[stage]
    if stage + 1 == len(scene.starts):
        return np.where(scene.words[start:] != 0, -1, 2 * len(scene.starts)).astype(np.int8)
    around, above = np.empty(shape, np.int8), _open_bricks_of(scene, stage + 1)
    _, wide, deep = scene.stage_shape(stage + 1)
    layers = max(1, _CHUNK // (shape[1] * shape[2]))
    for start in range(0, shape[0], layers):
        some = around[start : start + layers]
        a, b, c = np.ogrid[start : start + len(some), : shape[1], : shape[2]]
        index = ((a >> 2) * wide + (b >> 2)) * deep + (c >> 2)
        found = _open_in_word(scene.words[scene.starts[stage + 1] + index], a, b, c)
        np.maximum(np.where(found < 0, -1, found + 2 * (stage + 1)), above[index], out=some, casting="same_kind")
    return around.ravel()


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
