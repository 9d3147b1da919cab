"""The walks of three-pile P-positions of any size; the statement nf-theorem-25 holds the bijection, generation by generation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.games.nim import walk
from gpu_nim.model.errors import UsageError


@given(st.integers(0, 2**300), st.integers(0, 2**300))
def test_round_trip_of_any_size(a, b):
    position = (a, b, a ^ b)
    cell = walk.cell_of(position)
    assert walk.position_of(cell) == position
    legs = walk.walk(position)
    assert cell == (legs[-1].to if legs else (0, 0))
    assert sum(leg.steps for leg in legs) == sum(position) // 2
    assert walk.cells_of(np.array([position], dtype=object)).tolist() == [list(cell)]


@given(st.lists(st.tuples(st.integers(0, 2**61 - 1), st.integers(0, 2**61 - 1)), min_size=1, max_size=10))
def test_arrays_equal_one_by_one(pairs):
    positions = np.array([(a, b, a ^ b) for a, b in pairs], dtype=np.int64)
    cells = walk.cells_of(positions)
    assert [tuple(cell) for cell in cells.tolist()] == [walk.cell_of(row) for row in positions.tolist()]


def test_cells_that_are_never_born_are_refused():
    born = {*map(tuple, grow("ulam-warburton-3", 31, cells=True).cells().tolist())}
    for x in range(-15, 16):
        for y in range(-15, 16):
            if (x, y) in born:
                assert walk.cell_of(walk.position_of((x, y))) == (x, y)
                continue
            with pytest.raises(UsageError, match="ever gives birth"):
                walk.position_of((x, y))
