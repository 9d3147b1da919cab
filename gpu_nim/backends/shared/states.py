"""States of exactly-one growth: what the backends, and the ranks of one growth, read of each other's.

All have `generation`, `newborns` (the representatives, shape (N, d)), `last` (what the table was made for) and `sealed`, a bit for
each place of a table: those of cells that were touched. On NumPy these are the layers (`gpu_nim.backends.shared.layers`) that
`layers` lists, one after another, each in whole bytes; so parts of a growth are joined end to end. On CUDA they are one box
(`gpu_nim.backends.shared.layouts`), and there is no `layers`.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gpu_nim.backends.interface import State
from gpu_nim.backends.shared.cells import CLOSED, coordinate_dtype
from gpu_nim.backends.shared.layers import Layers, Places
from gpu_nim.backends.shared.layouts import Layout
from gpu_nim.model.rule import Rule

_SLICE = 1 << 15  # bytes of a saved table that are unpacked at a time


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
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if parts[0][name].ndim}
    return {**parts[0], **joined}


def touched_cells(rule: Rule, state: State) -> Iterator[NDArray[np.int64]]:
    """Yield the cells that a state lists as touched, of shape (dimension, n), a slice of the table at a time.

    Among them are cells outside of the domain and of the universe.

    Args:
        rule: the rule of the growth.
        state: of either backend, of the whole growth or of a part.
    """
    last, sealed = int(state["last"]), state["sealed"].view(np.uint8)
    layout = Places(Layers(rule, last), state["layers"].astype(np.int64)) if "layers" in state else Layout(rule, last)
    for start in range(0, len(sealed), _SLICE):
        yield layout.decode(np.flatnonzero(np.unpackbits(sealed[start : start + _SLICE])) + 8 * start)


def boxed(rule: Rule, state: State) -> State:
    """Return a state whose table is one box, as on CUDA.

    Args:
        rule: the rule of the growth.
        state: of either backend, of the whole growth.
    """
    if "layers" not in state:
        return state
    layout = Layout(rule, int(state["last"]))
    sealed = np.zeros(-(-layout.size // 8), np.uint8)
    for cells in touched_cells(rule, state):
        keys = layout.encode(cells[:, layout.holds(cells)])
        np.bitwise_or.at(sealed, keys >> 3, np.uint8(128) >> (keys & 7).astype(np.uint8))
    return {name: value for name, value in state.items() if name != "layers"} | {"sealed": sealed}


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
        kept = (rule.symmetry.representative(cells) == cells).all(axis=1) & rule.inside(cells)
        sealed.append(cells[kept])
    touched = rule.symmetry.unfold(np.concatenate(sealed))
    dtype = coordinate_dtype(*rule.box(int(state["last"])))
    return {
        "generation": state["generation"],
        "touched": touched.astype(dtype),
        "touches": np.full(len(touched), CLOSED),
        "newborns": rule.symmetry.unfold(state["newborns"]).astype(dtype),
    }
