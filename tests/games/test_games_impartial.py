"""Nim positions of any size, their graph and walks; given games and the evolution of any game, against values by definition."""

from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.games import breaking
from gpu_nim.games.breaking import is_proved
from gpu_nim.games.game_graph import Listed, evolve
from gpu_nim.games.heaps import (
    GrundysGame,
    OctalCode,
    Period,
    SubtractionRule,
    apparent_period,
    extended_values,
    find_period,
    grundy_values,
    partitions,
)
from gpu_nim.games.lines import LineGame, Nim, NimWithPass, unit_lines
from gpu_nim.games.nim import position_arrays, positions
from gpu_nim.games.nim.evolution_graph import dot, evolution_graph, graphml, kind_table, to_networkx
from gpu_nim.games.theorems import SumOfHeaps
from gpu_nim.model.errors import UsageError
from tests.helpers import beside

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


DATA: dict[str, Any] = beside(__file__)


@st.composite
def tables(draw):
    size = draw(st.integers(1, 14))
    options = {p: draw(st.lists(st.integers(0, p - 1), max_size=6)) if p else [] for p in range(size)}
    return Listed(options.keys(), options.__getitem__)


@settings(deadline=None)
@given(tables(), st.booleans())
def test_evolution_is_that_of_the_definitions(game, misere):
    @cache
    def is_p(p):
        return not any(is_p(q) for q in game.options(p)) if game.options(p) else not misere

    @cache
    def birthday(p):
        return max((1 + birthday(q) for q in game.options(p)), default=0)

    @cache
    def optimal_plays(p):
        """All optimal plays from p, as tuples of positions."""
        options = game.options(p) if is_p(p) else [q for q in game.options(p) if is_p(q)]
        plays = {(p, *rest) for q in set(options) for rest in optimal_plays(q)}
        return plays or {(p,)}

    @cache
    def grundy(p):
        values = {grundy(q) for q in game.options(p)}
        return next(g for g in range(len(values) + 1) if g not in values)

    evolution = evolve(game, misere=misere)
    everything = list(game.positions())
    assert evolution.is_p.tolist() == [is_p(p) for p in everything]
    assert evolution.birthday.tolist() == [birthday(p) for p in everything]
    assert evolution.longest.tolist() == [max(map(len, optimal_plays(p))) - 1 for p in everything]
    assert evolution.grundy.tolist() == [grundy(p) for p in everything]
    for p in filter(is_p, everything):
        length = max(map(len, optimal_plays(p)))
        assert evolution.generation[p] == length // 2
        assert evolution.parents(p) == {play[2] for play in optimal_plays(p) if len(play) == length > 2}
    # The standard algorithm, set by set.
    terminal = {p for p in everything if not game.options(p)}
    p_set, n_terminal = (set(), terminal) if misere else (terminal, set())
    for step in range(len(everything) + 1):
        n_set = {p for p in everything if set(game.options(p)) & p_set} | n_terminal
        assert set(evolution.p_positions(step)) == p_set
        p_set = p_set | {p for p in everything if set(game.options(p)) <= n_set} - n_terminal


def test_positions_of_heaps_are_partitions():
    """Of 0 to 12, which are 272 (A000070)."""
    positions = list(partitions(12))
    assert len(positions) == len({tuple(sorted(heaps)) for heaps in positions}) == 272


@pytest.mark.parametrize("lines", [unit_lines(3), ((1, 1, 0), (0, 1, 1), (1, 1, 1)), ((1, 1, 1), (1, 0, 0), (0, 0, 1), (1, 0, 1))])
def test_values_along_lines_are_those_of_the_options_one_by_one(lines):
    game = LineGame(3, 6, lines)
    done = []
    assert game.box_grundy(lambda *step: done.append(step)).ravel().tolist() == evolve(game).grundy.tolist()
    assert done[-1] == ("position", 7**3, 7**3)
    assert Nim(1, 200).box_grundy().tolist() == list(range(201))  # beyond one word of bits


@pytest.mark.parametrize(("piles", "largest"), [(1, 9), (2, 9), (3, 7), (4, 3), (3, 0)])
def test_nim_with_a_pass_along_lines(piles, largest):
    by_options = evolve(NimWithPass(piles, largest)).grundy[1::2]
    assert NimWithPass(piles, largest).box_grundy().ravel().tolist() == by_options.tolist()


def test_kayles():
    rule = OctalCode("0.77")
    values = grundy_values(rule, 400)
    assert values[:72].tolist() == DATA["kayles"]
    assert all(values[n] == [4, 1, 2, 8, 1, 4, 7, 2, 1, 8, 2, 7][n % 12] for n in range(72, 400))
    assert find_period(rule, values) == Period(71, 12)
    assert find_period(rule, values[: 2 * 71 + 2 * 12 + 2]) == Period(71, 12)
    assert find_period(rule, values[: 2 * 71 + 2 * 12 + 1]) is None
    heaps = SumOfHeaps(rule)
    assert [heaps((heap,)) for heap in range(24)] == DATA["kayles"][:24]  # each is the first beyond the table so far


def test_published_values_of_games_that_break_heaps():
    assert extended_values(GrundysGame(), 105)[0].tolist() == DATA["grundy"]
    values, period = extended_values(GrundysGame(), 300)
    assert period is None
    assert {heap: values[int(heap)] for heap in DATA["sparse_grundy"]} == DATA["sparse_grundy"]
    assert extended_values(OctalCode("0.3F"), 21)[0].tolist() == DATA["kenyon"]
    assert len({*OctalCode("0.3F").options(20)}) == len([*OctalCode("0.3f").options(20)]) == 38
    assert len([*GrundysGame().options(20)]) == 9


@st.composite
def rules(draw):
    if draw(st.integers(0, 5)) == 0:
        return GrundysGame()
    digits = "0123456789ABCDEF"[: draw(st.sampled_from((8, 16)))]
    code = draw(st.sampled_from(("0", "4", "8", "C") if len(digits) == 16 else ("0", "4")))
    again = draw(st.sampled_from(("", "[3]", "[37]")))
    return OctalCode(f"{code}.{draw(st.text(digits, min_size=1, max_size=4))}{again}")


@settings(deadline=None, max_examples=40)
@given(rules(), st.integers(0, 60))
def test_fast_values_are_those_of_every_option(rule, known):
    plain = grundy_values(rule, 60)
    assert rule.extended(plain[:known], 60).tolist() == plain.tolist()
    if not any(digit & breaking.THREE for digit in rule.digits):
        longer, digits = grundy_values(rule, 300), (rule.digits + 300 * rule.repeated)[:300]
        assert breaking.extended(digits, rule.unequal, longer[:30], 300).tolist() == longer.tolist()  # a mask for the first 30


@pytest.mark.parametrize(("code", "period"), DATA["periods"].items())
def test_periods_that_are_proved_hold(code, period):
    rule = OctalCode(code)
    values, found = extended_values(rule, 400)
    assert found == Period(*period)
    assert values.tolist() == rule.extended(values[:100], 400).tolist()
    assert values[:30].tolist() == grundy_values(rule, 30).tolist()
    n = np.arange(found.preperiod, 400 - found.length)
    assert (values[n + found.length] == values[n] + found.saltus).all()


def test_what_the_values_do_not_prove_is_no_period():
    values, period = extended_values(OctalCode("0.3F"), 300)  # a saltus that is no power of two
    assert (period, apparent_period(values)) == (None, Period(0, 6, 3))
    short = grundy_values(OctalCode("0.8"), 60)
    assert find_period(OctalCode("0.8"), short) == Period(1, 3, 1)
    assert find_period(OctalCode("0.8"), short[:19]) is None
    assert find_period(SubtractionRule((1, 2)), np.arange(60)) is None  # no rule of its own proves a saltus
    assert find_period(OctalCode("0.0[3]"), 3 + np.arange(60) // 2) is None  # low values are no option's


@pytest.mark.parametrize(
    ("digits", "values", "period"),
    [
        ((0, 14), np.arange(120) // 3, 3),  # only condition 1 fails: options have the value
        ((0, 0, 8), np.maximum(np.arange(120) - 1, 0) // 2, 2),  # 2: some value is no option's
        ((0, 0, 10), np.arange(120) // 2, 2),  # 3: some low value is no option's
    ],
)
def test_each_condition_of_arithmetic_periods_is_needed(digits, values, period):
    """The values are not those of the rule."""
    assert not is_proved(digits, values, 2, period, 1)


def test_a_period_from_the_first_heap_needs_one_more_value():
    """No heap may vanish when a period is taken from it, so that n0 counts as 1."""
    assert OctalCode("0.07").proof_length(0, 5) == OctalCode("0.07").proof_length(1, 5) == 14
    assert OctalCode("0.0F").proof_length(3, 5) == 3 * 8 + 2
    assert GrundysGame().proof_length(3, 5) == 3 * 8


def test_a_period_of_subtraction_needs_as_many_values_as_one_depends_on():
    rule = SubtractionRule((1, 3, 4))
    assert find_period(rule, grundy_values(rule, 10)) is None
    assert find_period(rule, grundy_values(rule, 11)) == Period(0, 7)
