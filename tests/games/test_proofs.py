"""Automata of P-positions held against larger tables; one position explained by what is below it, a theorem or a solution."""

import random
from functools import reduce
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_nim import chocolate, prove, solve
from gpu_nim.deciding.relations import nim_sum_is_zero, numbers
from gpu_nim.games.evolution import Analysis, explain
from gpu_nim.games.game_graph import evolve
from gpu_nim.games.inequality import bar, nim, parse_game
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import as_game
from gpu_nim.games.proofs import Moves
from gpu_nim.model.errors import Undecided, UsageError
from gpu_nim.papers.inequality_conditions import EXAMPLE_3_4
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


DATA: dict[str, Any] = beside(Path(__file__).with_name("test_position"))


class Short(Analysis):
    """Lists too few moves to know all positions below one, so that a theorem or a solution tells."""

    most = 3


def explained(game, position, **parameters):
    short = Short(game, position, **parameters)
    return short.explain(short.start)


@pytest.mark.parametrize("case", DATA["explained"], ids=str)
def test_a_large_position_is_explained_as_a_small_one(case):
    small, large = (explaining(case["game"], case["position"], **case["parameters"]) for explaining in (explain, explained))
    assert small.positions_below
    assert (large.positions_below, large.longest_optimal_play, large.parents) == (None, None, None)
    assert large.is_p == small.is_p
    assert large.grundy in (small.grundy, None)
    assert [(option.move, option.leaves, option.is_p) for option in large.moves] == [
        (option.move, option.leaves, option.is_p) for option in small.moves
    ]


def test_the_examples_of_the_papers():
    for position, wins in EXAMPLE_3_4.items():
        assert wins in [option.leaves for option in explained("chocolate", position, a=3).winning]
    kayles = explain("kayles", (4, 4))  # the games in which Lemma 24 of [NF] fails
    assert (kayles.step, kayles.generation, kayles.parents) == (3, 4, ((1, 1, 2, 2), (1, 2, 3), (3, 3)))
    dawson = explain("octal", (7, 7), code="0.137")
    assert (dawson.step, dawson.generation) == (3, 4)


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("case", DATA["known"], ids=str)
def test_what_is_known_of_large_positions_is_literal_play(case, misere):
    """Outcomes of a thousand positions and winning moves of some, by theorems and proofs alone, against one evolution of all."""
    rules = as_game(case["game"], case["parameters"])
    literal = rules.evolve(case["size"], misere=misere)
    known = Short(rules, max(literal.positions, key=lambda position: max(position, default=0)), misere=misere)
    proof = prove(rules, misere=misere) if isinstance(rules, InequalityGame) else None
    for number, (position, is_p, moves) in enumerate(zip(literal.positions, literal.is_p.tolist(), literal.moves, strict=True)):
        assert known.is_p(position) == is_p, position
        if number % 9 == 0:
            lost = {literal.positions[q] for q in moves if literal.is_p[q]}
            assert {option.leaves for option in known.winning(position)} == lost, position
            assert proof is None or {*proof.winning(position)} == lost, position


@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize(
    ("game", "parameters"),
    [("nim", {}), ("wythoff", {}), ("chocolate", {"a": 3}), ("chocolate", {"a": 5}), ("bar", {"k": 2})],
)
def test_positions_of_any_size_have_the_winning_moves_of_their_outcome(game, parameters, misere):
    """The automaton of a proof, or what a theorem says of moves, against the outcomes of the theorem."""
    rules, chooser = as_game(game, parameters), random.Random(game)
    known = Short(rules, (9, 1, 9)[: len(rules.coordinates)], misere=misere)
    proof = prove(rules, misere=misere) if isinstance(rules, InequalityGame) else None
    for _ in range(9):
        position = tuple(chooser.randrange(10**18) >> (10 * (name == "y")) for name in rules.coordinates)
        assert game != "wythoff" or known.winning(position)
        while winning := [*proof.winning(position)] if proof else [option.leaves for option in known.winning(position)]:
            assert not known.is_p(position)
            position = winning[-1]
        assert known.is_p(position)


def test_an_explanation_of_a_large_position_has_the_moves_that_win():
    found = explain("chocolate", (10**18, 7, 10**18), a=5, misere=True)
    assert (found.every, found.is_p, found.theorem) == (False, False, "gpunim's theorem on misere play")
    assert [option.move for option in found.moves] == ["x to 999999999999999993", "y to 0", "z to 999999999999999993"]


def test_misere_kayles_is_won_by_a_move_to_a_lost_position_alone():
    """The rule of play at positions of the heaps that Sibert and Conway name, and at others; these decide it, by induction."""
    rules, chooser = as_game("kayles", {}), random.Random(0)
    named = [heaps for count in range(1, 5) for heaps in combinations_with_replacement((1, 4, 5, 9, 12, 17, 20, 25), count)]
    others = [tuple(sorted(chooser.choices(range(1, 120), k=3))) for _ in range(30)]
    is_p = rules.misere_theorem((25,)).is_p
    for heaps in named + others:
        assert is_p(heaps) == (not any(map(is_p, rules.options(heaps)))), heaps


def test_a_heap_of_any_size_has_its_value_by_a_proved_period():
    def outcomes(heap):
        return [explain("subtraction", (heap, heap + k), take="2,5,7", misere=True).is_p for k in range(4)]

    assert outcomes(22 * 10**16 + 5) == outcomes(22 * 9 + 5)
