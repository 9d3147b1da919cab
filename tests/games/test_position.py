"""One position of any game: explained by what is below it, by a theorem, or by a solution, and the same by each."""

import random
from itertools import combinations_with_replacement
from typing import Any

import pytest

from gpu_nim import prove
from gpu_nim.games.evolution import Analysis, explain
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import as_game
from gpu_nim.papers.inequality_conditions import EXAMPLE_3_4
from tests.helpers import beside

DATA: dict[str, Any] = beside(__file__)


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
