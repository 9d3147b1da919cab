"""Nim positions of any size, one and many, their graph and their walks; the statements of [F] and [NF] hold small ones."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.lines import Nim
from gpu_nim.games.nim import position_arrays, positions
from gpu_nim.games.nim.evolution_graph import dot, evolution_graph, graphml, kind_table, to_networkx
from gpu_nim.model.errors import UsageError

HUGE = st.lists(st.integers(0, 2**200), min_size=1, max_size=6)


@st.composite
def random_p_positions(draw, largest=2**62, piles=None):
    lengths = {"min_size": 1, "max_size": 5} if piles is None else {"min_size": piles - 1, "max_size": piles - 1}
    piles = draw(st.lists(st.integers(0, largest), **lengths))
    return (*piles, positions.nim_sum(piles))


@given(HUGE)
def test_as_many_winning_moves_as_ones_in_the_leftmost_odd_column(piles):
    rows, total = positions.binary_columns(piles)
    moves = positions.winning_moves(piles)
    if 1 in total:
        column = total.index(1)
        assert len(moves) == sum(row[column] for row in rows)
        assert len(moves) % 2 == 1
    else:
        assert moves == []
    assert all(positions.is_p_position(move.leaves) and move.take > 0 for move in moves)


def test_moves_and_replies_are_those_of_the_game_graph():
    evolution = evolve(Nim(3, 6))
    for position, born in zip(evolution.positions[1:], evolution.generation[1:].tolist(), strict=True):
        assert positions.generation(position) == (None if born < 0 else born)
        winning = [leaves for leaves in evolution.options(position) if evolution.is_p[evolution.index(leaves)]]
        assert sorted(move.leaves for move in positions.winning_moves(position)) == sorted(winning)
        reply = positions.reply(position)
        assert reply.leaves in (winning or evolution.options(position))
        assert evolution.longest[evolution.index(reply.leaves)] == evolution.longest[evolution.index(position)] - 1
        for pile, held in enumerate(position):
            if held:
                move = positions.take(position, pile, 1)
                expected = [] if move.leaves in winning else winning
                assert [better.leaves for better in positions.missed(position, move)] == sorted(expected)


@given(random_p_positions(2**150))
def test_relatives_are_all_p_positions_two_counters_away(piles):
    for relatives, change in ((positions.parents(piles), -1), (positions.children(piles), 1)):
        expected = []
        for i, j in combinations(range(len(piles)), 2):
            other = list(piles)
            other[i] += change
            other[j] += change
            if min(other) >= 0 and positions.is_p_position(other):
                expected.append((tuple(other), (i, j)))
        assert [(relative.position, relative.piles) for relative in relatives] == expected
        for relative in relatives:
            ends = f"1{'0' * relative.trailing}" if change < 0 else f"0{'1' * relative.trailing}"
            assert all(f"0{piles[pile]:b}".endswith(ends) for pile in relative.piles)


@given(st.lists(random_p_positions(piles=4), min_size=1, max_size=8))
def test_relatives_of_arrays_equal_those_one_by_one(rows):
    array = np.array(rows, dtype=np.int64)
    assert position_arrays.are_p_positions(array).all()
    for many, one in ((position_arrays.parents_of, positions.parents), (position_arrays.children_of, positions.children)):
        source, found = many(array)
        expected = [(i, list(relative.position)) for i, row in enumerate(rows) for relative in one(row)]
        assert list(zip(source.tolist(), found.tolist(), strict=True)) == expected
    assert position_arrays.child_counts(array).tolist() == [len(positions.children(row)) for row in rows]
    assert position_arrays.parent_counts(array).tolist() == [len(positions.parents(row)) for row in rows]


def test_nothing_wraps_at_the_end_of_64_bits():
    top = 2**63 - 1
    _, found = position_arrays.children_of(np.array([[top, top]]))
    assert found.tolist() == [[2**63, 2**63]]
    unsigned = np.array([[2**64 - 1, 2**64 - 1]], dtype=np.uint64)
    assert position_arrays.children_of(unsigned)[1].tolist() == [[2**64, 2**64]]
    assert position_arrays.parents_of(unsigned)[1].tolist() == [[2**64 - 2, 2**64 - 2]]


def test_dtypes_have_room_for_totals():
    assert position_arrays.as_positions(np.ones((2, 3), np.uint16)).dtype == np.int64
    assert position_arrays.as_positions([[2**61, 0]]).dtype == np.int64
    assert position_arrays.as_positions(np.array([[2**62, 0]])).dtype == object
    assert position_arrays.as_positions(np.empty((0, 3), np.int64)).shape == (0, 3)


# The evolution graph against the rules of [NF] applied position by position


@pytest.mark.parametrize(("piles", "generations"), [(1, 3), (2, 6), (3, 9), (4, 5), (5, 3)])
def test_graph_equals_the_literal_one(piles, generations):
    graph = evolution_graph(piles, generations)
    every = [p for p in product(range(generations + 1), repeat=piles) if positions.is_p_position(p) and sum(p) <= 2 * generations]
    assert sorted(map(tuple, graph.positions.tolist())) == sorted(every)
    rows = [tuple(row) for row in graph.positions.tolist()]
    edges = {(rows[parent], rows[child]) for parent, child in graph.edges.tolist()}
    assert edges == {(p.position, child) for child in every for p in positions.parents(child)}
    assert len(edges) == len(graph.edges)
    assert graph.generation.tolist() == [positions.generation(row) for row in rows]


def test_the_nine_kinds_and_their_frequencies():
    table = kind_table(4, 24)
    assert table.pop((0, 6)) == (1, (0, 0, 0, 0))
    assert list(table) == list(product((1, 2, 6), repeat=2))
    literal = {}
    for a, b, c in product(range(25), repeat=3):
        piles = (a, b, c, a ^ b ^ c)
        if 0 < sum(piles) <= 48:
            kind = (len(positions.parents(piles)), len(positions.children(piles)))
            literal.setdefault(kind, []).append((sum(piles), piles))
    assert table == {kind: (len(those), min(those)[1]) for kind, those in literal.items()}


def test_exports_agree():
    nx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = evolution_graph(3, 6)
    network = to_networkx(graph)
    assert network.number_of_nodes() == 37  # A130665(6), the cells of Figure 1
    assert nx.is_arborescence(network)
    read = nx.parse_graphml("\n".join(graphml(graph)))
    assert set(read.edges) == set(network.edges)
    assert read.nodes["1,2,3"] == network.nodes["1,2,3"]
    lines = list(dot(graph))
    assert sum("->" in line for line in lines) == network.number_of_edges() == 36
    assert '  "1,1,0" [generation=1, pos="1,0!"];' in lines


def test_wide_positions_take_the_general_path():
    graph = evolution_graph(63, 1)
    assert graph.births() == [1, 63 * 62 // 2]
    assert len(np.unique(graph.positions, axis=0)) == len(graph.positions)


# The walks of three-pile P-positions of any size; the statement nf-theorem-25 holds the bijection, generation by generation


@given(st.integers(0, 2**300), st.integers(0, 2**300))
def test_round_trip_of_any_size(a, b):
    position = (a, b, a ^ b)
    cell = positions.cell_of(position)
    assert positions.position_of(cell) == position
    legs = positions.walk(position)
    assert cell == (legs[-1].to if legs else (0, 0))
    assert sum(leg.steps for leg in legs) == sum(position) // 2
    assert position_arrays.cells_of(np.array([position], dtype=object)).tolist() == [list(cell)]


@given(st.lists(st.tuples(st.integers(0, 2**61 - 1), st.integers(0, 2**61 - 1)), min_size=1, max_size=10))
def test_cells_of_arrays_equal_those_one_by_one(pairs):
    rows = np.array([(a, b, a ^ b) for a, b in pairs], dtype=np.int64)
    cells = position_arrays.cells_of(rows)
    assert [tuple(cell) for cell in cells.tolist()] == [positions.cell_of(row) for row in rows.tolist()]


def test_cells_that_are_never_born_are_refused():
    born = {*map(tuple, grow("ulam-warburton-3", 31, cells=True).cells().tolist())}
    for x in range(-15, 16):
        for y in range(-15, 16):
            if (x, y) in born:
                assert positions.cell_of(positions.position_of((x, y))) == (x, y)
                continue
            with pytest.raises(UsageError, match="ever gives birth"):
                positions.position_of((x, y))
