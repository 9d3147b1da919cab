"""States of exactly-one growth: what the backends, and the ranks of one growth, read of each other's.

All have `generation`, `newborns` (the representatives, shape (N, d)), `last` (what the growth was planned for), and the bricks in
which anything was touched (`gpu_nim.backends.shared.bricks`): `bricks` has their places, counted in bricks, shape (B, 3), and
`sealed` their rows, uint32 of shape (B, 32), a bit for each cell that was touched. So parts of a growth are joined end to end, and
any number of ranks on either backend resumes from the whole.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.bricks import BrickGrid
from gpu_nim.backends.shared.cells import CLOSED, coordinate_dtype
from gpu_nim.model.rule import Rule

_BRICKS = 1 << 10  # of a state, whose cells are listed at a time


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
    joined = {name: np.concatenate([part[name] for part in parts]) for name, array in parts[0].items() if array.ndim}
    return {**parts[0], **joined}


def touched_state(rule: Rule, state: State) -> State:
    """Convert the state of exactly-one growth into one of the general engine.

    A cell that was touched is closed, and orbits are unfolded.

    >>> from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
    >>> from gpu_nim.model.rule import Symmetry
    >>> square = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1}), ((0, 0),), symmetry=Symmetry.CUBE)
    >>> engine = ExactlyOneEngine(square, 3)
    >>> _ = engine.advance(1)
    >>> touched_state(square, engine.state())["touched"].tolist()
    [[-1, 0], [0, -1], [0, 0], [0, 1], [1, 0]]
    """
    # Cells outside of the universe are not part of the growth.
    sealed = [cells[rule.inside(cells)] for cells in _touched_cells(rule, state)]
    touched = rule.symmetry.unfold(np.concatenate([np.zeros((0, rule.dimension), np.int64), *sealed]))
    dtype = coordinate_dtype(*rule.box(int(state["last"])))
    return {
        "generation": state["generation"],
        "touched": touched.astype(dtype),
        "touches": np.full(len(touched), CLOSED),
        "newborns": rule.symmetry.unfold(state["newborns"]).astype(dtype),
    }


def _touched_cells(rule: Rule, state: State) -> Iterator[NDArray[np.int64]]:
    grid, places, words = BrickGrid(rule), state["bricks"].astype(np.int64), state["sealed"].view(np.uint32)
    for start in range(0, len(places), _BRICKS):
        yield grid.cells_of(places[start : start + _BRICKS], words[start : start + _BRICKS])
