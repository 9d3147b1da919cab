"""Packed bodies: the cubes that hold all cells, and the scene and the cubes of those to any generation."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.model.tracing import BrickScene
from gpu_nim.render.geometry import counted, merged

_NEVER = np.iinfo(np.uint16).max  # in the place of the generation of a brick without cells
MOST_BLOCKS = 1 << 17
"""The most cubes that are to hold a body, about."""

Cubes = tuple[NDArray[np.int64], int, NDArray[np.int64]]
"""Cubes of one side that hold a body: their corners (M, 3), the side, and the generations of their earliest cells, (M,)."""


def cubes_of(scene: BrickScene) -> Cubes:
    """Return the bits of the first stage that has few, as cubes; their generations are 0."""
    for stage, start in enumerate(scene.starts):
        shape = scene.stage_shape(stage)
        words = scene.words[start:][: prod(shape)]
        if int(np.bitwise_count(words).sum(dtype=np.int64)) <= MOST_BLOCKS:
            break
    some = np.flatnonzero(words)
    bits = np.unpackbits(words[some].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    brick, bit = np.nonzero(bits)
    cubes = 4 * np.stack(np.unravel_index(some[brick], shape), axis=1) + np.stack([bit >> 4, bit >> 2 & 3, bit & 3], axis=1)
    side = 4**stage
    return cubes * side + np.array(scene.corner), side, np.zeros(len(cubes), np.int64)


class PackedGrowth:
    """The cells of a packed body, in order of generation.

    Args:
        whole: the scene of all of them.
        keys: their keys, generation by generation, (N,).
        births: the number of each generation, below 2^16 of them.
    """

    def __init__(self, whole: BrickScene, keys: NDArray[np.unsignedinteger], births: NDArray[np.int64]) -> None:
        self._whole, self._keys = whole, keys
        self._ends = np.cumsum(births)
        self._count = counted(births)
        self._earliest = np.full(prod(whole.stage_shape(0)), _NEVER, np.uint16)
        for generation in reversed(range(len(births))):
            self._earliest[self._born(generation) >> 6] = generation

    @staticmethod
    def required_bytes(shape: tuple[int, int, int]) -> int:
        """Return the bytes of memory that a body of that shape takes, in addition to its keys."""
        return BrickPacker.required_bytes(shape) * 9 // 8

    def scene(self, generation: int) -> BrickScene:
        """Return the scene of the cells to a generation."""
        count = self._count(generation)
        if count == len(self._keys):
            return self._whole
        packer = BrickPacker(self._whole.corner, self._whole.shape)
        packer.add_keys(self._keys[:count])
        return packer.scene()

    def cubes(self, generation: int) -> Cubes:
        """Return cubes that hold the cells to a generation."""
        if (count := self._count(generation)) <= MOST_BLOCKS:
            keys = self._keys[:count].astype(np.int64)
            generations = np.searchsorted(self._ends, np.arange(count), side="right")
            bits = np.stack([keys >> 4 & 3, keys >> 2 & 3, keys & 3], axis=1)
            blocks, side = 4 * self._bricks(keys >> 6) + bits, 1
        else:
            bricks = np.flatnonzero(self._earliest <= generation)
            bricks = bricks[np.argsort(self._earliest[bricks], kind="stable")]
            blocks, side, generations = self._bricks(bricks), 4, self._earliest[bricks].astype(np.int64)
            if len(blocks) > MOST_BLOCKS:
                blocks, generations, level = merged(blocks >> 1, generations, MOST_BLOCKS)
                side = 8 << level
        return blocks * side + np.array(self._whole.corner), side, generations

    def _born(self, generation: int) -> NDArray[np.unsignedinteger]:
        return self._keys[self._ends[generation - 1] if generation else 0 : self._ends[generation]]

    def _bricks(self, places: NDArray[np.integer]) -> NDArray[np.int64]:
        return np.stack(np.unravel_index(places, self._whole.stage_shape(0)), axis=1).astype(np.int64)
