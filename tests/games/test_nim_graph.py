"""The evolution graph against the rules of [NF] applied position by position."""

from itertools import product

import numpy as np
import pytest

from gpu_nim.games.nim import positions
from gpu_nim.games.nim.evolution_graph import dot, evolution_graph, graphml, kind_table, to_networkx


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
