"""Nim positions of any size, one and many; the statements of [F] and [NF] hold small ones."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim.games.game_graph import evolve
from gpu_nim.games.lines import Nim
from gpu_nim.games.nim import position_arrays, positions

HUGE = st.lists(st.integers(0, 2**200), min_size=1, max_size=6)


@st.composite
def p_positions(draw, largest=2**62, piles=None):
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


@given(p_positions(2**150))
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


@given(st.lists(p_positions(piles=4), min_size=1, max_size=8))
def test_arrays_equal_one_by_one(rows):
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
