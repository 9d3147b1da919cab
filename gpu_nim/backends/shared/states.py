"""States of exactly-one growth: what the backends, and the ranks of one growth, read of each other's.

All have `generation`, `newborns` (the representatives, shape (N, d)), `last` (what the growth was planned for) and `sealed`, a bit
for each place of a table: those of cells that were touched. On NumPy these are the layers (`gpu_nim.backends.shared.layers`) that
`layers` lists, one after another, each in whole bytes. On CUDA they are the bricks (`gpu_nim.backends.shared.brick_grid`) in which
anything was touched: `bricks` has their places, counted in bricks, shape (N, 3), and `sealed` their rows, shape (N, 32). So parts
of a growth are joined end to end, and any number of ranks on either backend resumes from the whole.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.brick_grid import BrickGrid
from gpu_nim.backends.shared.cells import CLOSED, coordinate_dtype
from gpu_nim.backends.shared.layers import Layers, Places
from gpu_nim.model.rule import Rule

_SLICE = 1 << 15  # bytes of a saved table that are unpacked at a time
_BRICKS = 1 << 10  # of these, likewise


def join(parts: Sequence[State]) -> State:
    """Return the state of a growth from the parts of all of its ranks, in any order.

    Args:
        parts: what `state()` returned on each rank.

    >>> from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
    >>> from gpu_nim.model.rule import Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> engine = ExactlyOneEngine(square, 9)
    >>> _ = engine.advance(5)
    >>> ExactlyOneEngine(square, 9, join([engine.state()])).advance(6).births.tolist()
    [12]
    """
    lazily = {"sealed"} if "layers" in parts[0] and len(parts) > 1 else set()
    joined = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0] if parts[0][name].ndim and name not in lazily
    }
    for name in lazily:
        joined[name] = cast(NDArray[np.generic], Joined([part[name] for part in parts]))
    return {**parts[0], **joined}


class Joined:
    """Arrays one after another, of which slices are read without a copy of the whole: they may be files, mapped to memory.

    >>> Joined([np.array([1, 2]), np.array([3, 4])])[1:3]
    array([2, 3])
    """

    def __init__(self, arrays: Sequence[NDArray[np.generic]]) -> None:
        self._arrays = arrays
        self._stops: list[int] = np.cumsum([len(array) for array in arrays]).tolist()
        self.dtype, self.ndim, self.shape = arrays[0].dtype, 1, (self._stops[-1],)

    def __len__(self) -> int:
        return self._stops[-1]

    def __getitem__(self, index: slice) -> NDArray[np.generic]:
        start, stop, _ = index.indices(len(self))
        starts = [0, *self._stops[:-1]]
        return np.concatenate(
            [array[max(0, start - at) : max(0, stop - at)] for array, at in zip(self._arrays, starts, strict=True)]
        )

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> NDArray[np.generic]:
        return np.concatenate(self._arrays).astype(dtype or self.dtype, copy=False)

    def view(self, dtype: np.dtype[Any] | type) -> NDArray[np.generic]:
        """Return it as another dtype: a copy, unless it is the same."""
        return cast(NDArray[np.generic], self) if np.dtype(dtype) == self.dtype else np.asarray(self).view(dtype)


def touched_cells(rule: Rule, state: State) -> Iterator[NDArray[np.int64]]:
    """Yield the cells that a state lists as touched, of shape (dimension, n), a slice of the table at a time.

    Among them are cells outside of the domain and of the universe.

    Args:
        rule: the rule of the growth.
        state: of either backend, of the whole growth or of a part.
    """
    if "bricks" in state:
        grid, places, words = BrickGrid(rule), state["bricks"].astype(np.int64), state["sealed"].view(np.uint32)
        for start in range(0, len(places), _BRICKS):
            yield grid.decode(places[start : start + _BRICKS], words[start : start + _BRICKS]).T
        return
    sealed = state["sealed"].view(np.uint8)
    layout = Places(Layers(rule, int(state["last"])), state["layers"].astype(np.int64))
    for start in range(0, len(sealed), _SLICE):
        yield layout.decode(np.flatnonzero(np.unpackbits(sealed[start : start + _SLICE])) + 8 * start)


def touched_state(rule: Rule, state: State) -> State:
    """Convert the state of exactly-one growth into one of the general engine.

    A sealed cell is touched and closed, and orbits are unfolded.

    >>> from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
    >>> from gpu_nim.model.rule import Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> engine = ExactlyOneEngine(square, 3)
    >>> _ = engine.advance(1)
    >>> touched_state(square, engine.state())["touched"].tolist()
    [[-1, 0], [0, -1], [0, 0], [0, 1], [1, 0]]
    """
    sealed = []
    for slice_ in touched_cells(rule, state):
        cells = slice_.T
        # Cells in the margin, outside of the domain or of the universe, are not part of the growth.
        sealed.append(cells[rule.symmetry.in_domain(cells) & rule.inside(cells)])
    touched = rule.symmetry.unfold(np.concatenate([np.zeros((0, rule.dimension), np.int64), *sealed]))
    dtype = coordinate_dtype(*rule.box(int(state["last"])))
    return {
        "generation": state["generation"],
        "touched": touched.astype(dtype),
        "touches": np.full(len(touched), CLOSED),
        "newborns": rule.symmetry.unfold(state["newborns"]).astype(dtype),
    }
