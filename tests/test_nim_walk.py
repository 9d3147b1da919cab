"""The bijection between three-pile P-positions and the Ulam-Warburton automaton without its south branch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim.games.nim import arrays, walk
from gpu_nim.games.nim.evolution_graph import evolution_graph
from gpu_nim.model.errors import UsageError

LAST = 128


def grow_automaton(last):
    """Births of the automaton by its own rule, cell by cell, with each cell's parent; cells with y <= -|x|, y < 0
    barred.
    """
    alive, generations = {(0, 0)}, [{(0, 0): None}]
    for _ in range(last):
        touched = {}
        for x, y in generations[-1]:
            for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if cell not in alive and not (cell[1] < 0 and cell[1] <= -abs(cell[0])):
                    touched.setdefault(cell, []).append((x, y))
        born = {}
        for cell, parents in touched.items():
            x, y = cell
            neighbours = sum(n in alive for n in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)))
            if neighbours == 1:
                born[cell] = parents[0]
        alive |= set(born)
        generations.append(born)
    return generations


def test_every_walk_to_generation_128_is_a_bijection_that_keeps_parents():
    graph = evolution_graph(3, LAST)
    cells = [tuple(cell) for cell in graph.cells().tolist()]
    automaton = grow_automaton(LAST)
    for generation, born in enumerate(automaton):
        here = [cells[i] for i in np.flatnonzero(graph.generation == generation)]
        assert len(here) == len(born)
        assert set(here) == set(born)
    parent_of = {cell: parent for born in automaton for cell, parent in born.items()}
    assert len(graph.edges) == len(cells) - 1
    assert all(parent_of[cells[child]] == cells[parent] for parent, child in graph.edges.tolist())
    assert np.array_equal(walk.positions_of(graph.cells()), graph.positions)


def test_worked_example():
    assert walk.cell_of([14, 11, 5]) == (10, -3)
    assert walk.corners_of([[14, 11, 5]])[0].tolist() == [[0, 0], [8, 0], [8, -4], [10, -4], [10, -3]]
    assert [walk.cell_of(p) for p in ([1, 1, 0], [0, 1, 1], [1, 0, 1])] == [(1, 0), (-1, 0), (0, 1)]


@given(st.integers(0, 2**300), st.integers(0, 2**300))
def test_round_trip_of_any_size(a, b):
    position = (a, b, a ^ b)
    cell = walk.cell_of(position)
    assert walk.position_of(cell) == position
    legs = walk.walk(position)
    assert cell == (legs[-1].to if legs else (0, 0))
    assert sum(leg.steps for leg in legs) == sum(position) // 2
    assert walk.positions_of(np.array([cell], dtype=object)).tolist() == [list(position)]
    assert walk.cells_of(np.array([position], dtype=object)).tolist() == [list(cell)]


@given(st.lists(st.tuples(st.integers(0, 2**61 - 1), st.integers(0, 2**61 - 1)), min_size=1, max_size=10))
def test_arrays_equal_one_by_one(pairs):
    positions = np.array([(a, b, a ^ b) for a, b in pairs], dtype=np.int64)
    cells = walk.cells_of(positions)
    assert [tuple(cell) for cell in cells.tolist()] == [walk.cell_of(row) for row in positions.tolist()]
    assert np.array_equal(walk.positions_of(cells), positions)
    for row, directions in zip(positions.tolist(), walk.directions_of(positions).tolist(), strict=True):
        assert [walk.DIRECTIONS[d] for d in directions if d >= 0] == [leg.direction for leg in walk.walk(row)]


def test_cells_that_are_never_born_are_refused():
    born = {cell for generation in grow_automaton(31) for cell in generation}
    for x in range(-15, 16):
        for y in range(-15, 16):
            if (x, y) in born:
                assert walk.cell_of(walk.position_of((x, y))) == (x, y)
                continue
            with pytest.raises(UsageError, match="ever gives birth"):
                walk.position_of((x, y))
            with pytest.raises(UsageError, match="ever gives birth"):
                walk.positions_of(np.array([[x, y]]))


def test_bad_input_is_refused():
    with pytest.raises(UsageError, match="three piles"):
        walk.walk([1, 1])
    with pytest.raises(UsageError, match="three piles"):
        walk.walk([1, 2, 4])
    with pytest.raises(UsageError, match="three piles"):
        walk.cells_of([[1, 2, 4]])
    with pytest.raises(UsageError, match="cells must be"):
        walk.positions_of(np.array([[0.5, 1.0]]))


def test_empty_arrays():
    assert walk.cells_of(np.empty((0, 3), np.int64)).shape == (0, 2)
    assert walk.positions_of(np.empty((0, 2), np.int64)).shape == (0, 3)
    assert arrays.generations(np.empty((0, 3), np.int64)).shape == (0,)
