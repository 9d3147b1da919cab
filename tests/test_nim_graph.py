"""The evolution graph against [NF]'s sequences, Table 1 and the rules applied position by position."""

import sys
from itertools import product

import numpy as np
import pytest

from gpu_nim.games.nim import positions
from gpu_nim.games.nim.evolution_graph import dot, evolution_graph, graphml, kind_table, to_networkx
from gpu_nim.model.errors import InsufficientMemoryError, MissingDependency, UsageError

# [NF] Theorem 19 and sections 5.5 and 5.6: D_3, D_4 and D_5 (A048883, A237711, A238759).
D = {
    1: [1],
    2: [1, 1, 1, 1, 1],
    3: [1, 3, 3, 9, 3, 9, 9, 27, 3, 9, 9, 27, 9, 27, 27, 81],
    4: [1, 6, 7, 36, 13, 42, 43, 216, 49, 78, 55, 252, 85],
    5: [1, 10, 15, 100, 65, 150, 175, 1000, 565],
}


@pytest.mark.parametrize("piles", D)
def test_births_are_the_published_sequences(piles):
    assert evolution_graph(piles, max(len(D[piles]) - 1, 3)).births() == D[piles]


@pytest.mark.parametrize(("piles", "generations"), [(2, 6), (3, 9), (4, 5), (5, 3)])
def test_graph_equals_the_literal_one(piles, generations):
    graph = evolution_graph(piles, generations)
    every = [p for p in product(range(generations + 1), repeat=piles) if positions.is_p_position(p) and sum(p) <= 2 * generations]
    assert sorted(map(tuple, graph.positions.tolist())) == sorted(every)
    rows = [tuple(row) for row in graph.positions.tolist()]
    edges = {(rows[parent], rows[child]) for parent, child in graph.edges.tolist()}
    assert edges == {(p.position, child) for child in every for p in positions.parents(child)}
    assert len(edges) == len(graph.edges)
    assert graph.generation.tolist() == [positions.generation(row) for row in rows]


# [NF] Table 1.  Its example for two parents and one child, (0,1,4,5), has one parent and two children: 0 is no pile to
# subtract from, and 1 and 4 end in 0 and 2 zeros.  (2,3,6,7) is the least position of the kind.
TABLE_1 = {
    (0, 1, 2, 3): (1, 1),
    (0, 0, 1, 1): (1, 2),
    (0, 0, 2, 2): (1, 6),
    (2, 3, 6, 7): (2, 1),
    (1, 1, 2, 2): (2, 2),
    (2, 2, 4, 4): (2, 6),
    (1, 3, 5, 7): (6, 1),
    (1, 1, 3, 3): (6, 2),
    (1, 1, 1, 1): (6, 6),
    (0, 1, 4, 5): (1, 2),
}


@pytest.mark.parametrize("example", TABLE_1)
def test_table_1(example):
    assert (len(positions.parents(example)), len(positions.children(example))) == TABLE_1[example]


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
    assert table[2, 1][1] == (2, 3, 6, 7)


def test_three_piles_have_one_parent_and_0_1_or_3_children():
    assert list(kind_table(3, 40)) == [(0, 3), (1, 0), (1, 1), (1, 3)]


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


@pytest.mark.parametrize(("piles", "generations"), [(0, 3), (3, -1)])
def test_bad_sizes_are_refused(piles, generations):
    with pytest.raises(UsageError, match="must be"):
        evolution_graph(piles, generations)


def test_more_pairs_of_piles_than_fit_are_refused():
    with pytest.raises(InsufficientMemoryError, match="pairing 1000000 piles needs"):
        kind_table(10**6, 1)


def test_networkx_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependency, match="install the extra graph"):
        to_networkx(evolution_graph(3, 1))
