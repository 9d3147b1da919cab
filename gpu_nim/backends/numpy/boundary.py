"""What a rank of exactly-one growth sends to the others before a generation: its newborns near their layers, packed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.communicator import Bytes
from gpu_nim.backends.shared.layers import AXIS, Layers, Places, spread
from gpu_nim.backends.shared.packing import pack, unpack
from gpu_nim.model.arrays import Ints


class Boundary:
    """The layers of other ranks that are within reach of a rank's own.

    Args:
        layers: the boxes of the layers.
        rank: the rank.
        ranks: the number of ranks.
    """

    def __init__(self, layers: Layers, rank: int, ranks: int) -> None:
        self._layers, self._places = layers, Places(layers, layers.numbers)
        self._sent = np.zeros((ranks, len(layers.sizes)), np.bool_)
        owners = layers.owners(ranks)
        for other in range(ranks):
            if other != rank:
                self._sent[other, layers.numbers] = spread((owners == other).astype(np.int64), layers.reach) > 0
        self._near: NDArray[np.bool_] = np.logical_or.reduce(self._sent)

    def parts(self, newborns: Ints) -> list[Bytes]:
        """Return what each rank is sent of these newborns of the rank, shape (dimension, N): the places of some, in one table."""
        near = newborns[:, self._near[newborns[AXIS] - self._layers.first]]
        numbers = self._places.encode(near)
        order = np.argsort(numbers)
        entry = near[AXIS, order] - self._layers.first
        return [pack(numbers[order[sent[entry]]]) for sent in self._sent]

    def newborns(self, received: Sequence[Bytes]) -> Ints:
        """Return the newborns in what all ranks sent, shape (dimension, N)."""
        return self._places.decode(np.concatenate([unpack(part) for part in received]))
