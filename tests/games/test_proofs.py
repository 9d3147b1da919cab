"""Automata of P-positions and Grundy values: held against tables larger than their own, and refuted where they are wrong."""

from functools import reduce

import numpy as np
import pytest

from gpu_nim import chocolate, prove, solve
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.inequality import bar, nim, parse_game
from gpu_nim.games.proofs import Moves
from gpu_nim.model.errors import Undecided, UsageError
from tests.helpers import beside, facts, printed

x, y, z = numbers("x y z")

PROVED: dict[str, int] = beside(__file__)["states"]
_SLOW = ("y <= x + z; z <= x + 1", "y <= x; z <= y")  # whose tables have far more positions


@pytest.mark.parametrize("text", [pytest.param(text, marks=[pytest.mark.nightly] * (text in _SLOW)) for text in PROVED])
def test_an_automaton_is_found_and_proved_and_agrees_with_a_larger_table(text):
    game = parse_game(text)
    proof = prove(game)
    assert (proof.holds, proof.states, proof.relation.states) == (True, PROVED[text], PROVED[text])
    assert str(proof) == f"proved: {PROVED[text]} states, for every size"
    places = 9 if len(game.inequalities) == 1 else 8  # others take long
    solution = solve(game, 2**places - 1)
    assert proof.relation.contains(solution.p_positions).all()
    inside = solution.p_positions < 2**places
    assert int(proof.relation.table(places).sum()) == int(inside.all(axis=1).sum())
    assert [proof.count(size) for size in (0, 5, 40)] == [len(solve(game, size).p_positions) for size in (0, 5, 40)]


@pytest.mark.parametrize("piles", range(1, 7))
def test_boutons_theorem_is_proved_for_each_number_of_piles(piles):
    proof = prove(nim(piles), grundy=piles < 5)
    assert (proof.holds, proof.states) == (True, 2)


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_the_grundy_values_of_even_bars_are_nim_sums(k):
    proof = prove(bar(k), grundy=True)
    assert proof.holds
    solution = solve(bar(k), 127, grundy=True)
    assert proof.relation.names[0] == "value'"
    positions, values = solution.points(255)
    assert proof.relation.contains(np.column_stack([values, positions])).all()


@pytest.mark.parametrize("a", [65, 129])
def test_what_is_wrong_beyond_its_table_is_refuted_with_the_first_position(a):
    proof = prove(chocolate(a), size=31)
    table, right = proof.relation.table(7), np.zeros((128,) * 3, bool)
    right[tuple(solve(chocolate(a), 127).p_positions.T)] = True
    first = min(np.argwhere(table != right).tolist(), key=lambda each: (sum(each), each))
    assert (proof.holds, proof.wrong) == (False, tuple(first))
    assert str(proof) == f"the automaton of 2 states that agrees with the table to 31 is wrong at {proof.wrong}"


@pytest.mark.parametrize(("text", "states"), [("2y <= x + z", 401), ("4y <= x + z", 401), ("x; 3y <= z", 58)])
def test_a_game_without_a_small_automaton_is_not_proved(text, states):
    proof = prove(parse_game(text))
    assert not proof.holds
    assert proof.states >= states
    size = 255 if proof.states > 400 else 511  # a larger table where it shows few states
    assert str(proof) == f"no automaton of fewer than {proof.states} states agrees with the table to {size}"


def test_a_larger_table_is_taken_and_what_is_beyond_the_limits_is_not_denied():
    proof = prove(chocolate(17))  # a = 1 mod 4; a table to 255 shows 29 states or more
    assert (proof.holds, proof.states, proof.count(31)) == (True, 29, len(solve(chocolate(17), 31).p_positions))
    with pytest.raises(Undecided):
        prove(chocolate(63))  # its P-positions are Nim's, by a theorem
    for text in ("x <= 10; y <= x", "x <= 3; y <= 5"):  # no coordinate grows with the size
        finite = prove(text)
        assert [finite.count(size) for size in (0, 7, 10**18)] == [len(solve(text, 7).p_positions)] * 3


@pytest.mark.parametrize(
    "text", ["3y <= x + z", "x; 2y <= z", "y <= x + z; z <= x + 1", "y <= 2x + 1; x <= 2y + 3", "2y <= max(x, z) + 3"]
)
def test_the_moves_in_words_are_those_of_the_game(text):
    """The positions from which a move leads to a set, for sets that are no set of P-positions."""
    game = parse_game(text)
    names = game.coordinates
    moves = Moves(game)
    terms = [numbers(name)[0] for name in names]
    for goal in (nim_sum_is_zero(*terms), sum(terms[1:], terms[0]) == 4, terms[0] + 2 <= terms[-1]):
        goal = goal & moves.positions
        table = moves.to(goal).table(3)
        wanted = goal.table(3)
        for position in np.ndindex(table.shape):
            options = [option for _, _, option in game.moves(position)] if game.is_position(position) else []
            assert table[position] == any(wanted[option] for option in options)


def test_false_rules_that_differ_by_a_constant_are_refuted():
    moves = Moves(chocolate(5))
    right = (nim_sum_is_zero(x - 1, y, z - 1) | ((x == z) & (y == 0))) & moves.positions
    assert moves.wrong_outcomes(right).example() is None
    for wrong in (
        (nim_sum_is_zero(x - 2, y, z - 2) | ((x == z) & (y == 0))) & moves.positions,
        (nim_sum_is_zero(x - 1, y, z - 1) | ((x == z) & (y <= 1))) & moves.positions,
        nim_sum_is_zero(x, y, z) & moves.positions,
    ):
        found = moves.wrong_outcomes(wrong).example()
        assert found is not None
        position = tuple(found.values())
        solved = {tuple(each) for each in solve(chocolate(5), 31).p_positions.tolist()}
        table = wrong.table(5)
        assert (position in solved) != table[position]


@pytest.mark.parametrize(
    "text", ["x; y; z", "3y <= x + z", "5y <= x + z", "x; 2y <= z", "7y <= x + z + 3", "2y <= x", "x1; x2; x3; x4"]
)
def test_misere_play_is_proved_and_agrees_with_the_literal_game(text):
    proof = prove(text, misere=True)
    assert proof
    literal = evolve(proof.game.within(15 if len(proof.game.coordinates) < 4 else 6), misere=True)
    assert [proof.is_p(position) for position in literal.positions] == literal.is_p.tolist()


def test_misere_play_of_y_at_most_x_plus_z_differs_further_on():
    proof = prove("y <= x + z", misere=True)
    literal = evolve(proof.game.within(15), misere=True)
    wrong = [place for place, is_p in zip(literal.positions, literal.is_p, strict=True) if proof.relation.contains(place) != is_p]
    assert not proof
    assert proof.wrong in wrong
    with pytest.raises(UsageError, match="P-positions are known of what is proved, got the automaton of"):
        proof.is_p((0, 0, 0))


def test_the_command_proves_misere_play():
    lost = evolve(chocolate(3).within(15), misere=True).is_p.sum()
    assert facts("solve", "chocolate", "--a", "3", "--prove", "--misere", "--size", "15")["p_positions"] == lost


def test_other_programs_can_check_what_is_exported(tmp_path):
    """The text of Walnut read back, and the program for Sage run with NumPy in place of Sage."""
    text, program = tmp_path / "game.txt", tmp_path / "game.sage"
    for file in (text, program):
        printed("solve", "7y <= x + z + 3", "--prove", "-o", file)
    systems, *lines = text.read_text().splitlines()
    assert systems == "lsd_2 lsd_2 lsd_2"
    accepts, steps, state = {}, {}, ""
    for line in lines:
        if "->" in line:
            bits, to = line.split(" -> ")
            steps[state, bits] = to
        else:
            state, output = line.split()
            accepts[state] = output == "1"
    lost = {tuple(position) for position in solve("7y <= x + z + 3", 31).p_positions.tolist()}
    for position in np.ndindex(32, 10, 32):
        state = "0"
        for place in range(5):
            state = steps[state, " ".join(str(number >> place & 1) for number in position)]
        assert accepts[state] == (position in lost)

    class Integer(int):
        def digits(self, base):
            return [int(digit) for digit in f"{self:b}"[::-1]] if self else []

    names = {
        "QQ": object,
        "ZZ": Integer,
        "matrix": lambda kind, rows: np.array(rows, dtype=kind),
        "vector": lambda kind, entries: np.array(entries, dtype=kind),
        "identity_matrix": lambda kind, size: np.eye(size, dtype=kind),
        "prod": lambda factors, one: reduce(np.matmul, factors, one),
    }
    exec(program.read_text().replace(" * ", " @ "), names)
    for size in (0, 5, 31):
        assert names["p_positions"](size) == len(solve("7y <= x + z + 3", size).p_positions)
