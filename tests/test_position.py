"""One position of any game: explained by what is below it, by a theorem, or by a solution, and the same by each."""

from itertools import product

import pytest

from gpu_nim.games import explain as room
from gpu_nim.games.explain import explain
from gpu_nim.theorems.papers.inequality_conditions import EXAMPLE_3_4
from tests.helpers import facts, printed, refused


@pytest.mark.parametrize(
    ("game", "position", "parameters"),
    [
        ("nim", (3, 5, 7), {}),
        ("chocolate", (7, 3, 5), {"a": 3}),
        ("chocolate", (6, 3, 5), {"a": 2}),  # no theorem: solved
        ("chocolate", (4, 2, 3), {"a": 1}),
        ("wythoff", (5, 9), {}),
        ("kayles", (2, 5), {}),
        ("chocolate6", (1, 1, 1, 1, 1, 1), {}),
    ],
)
def test_a_large_position_is_explained_as_a_small_one(game, position, parameters, monkeypatch):
    small = explain(game, position, **parameters)
    assert small.below
    monkeypatch.setattr(room, "MAX_MOVES", 3)
    large = explain(game, position, **parameters)
    assert (large.below, large.longest, large.parents) == (None, None, None)
    assert large.is_p == small.is_p
    assert large.grundy in (small.grundy, None)
    assert [(option.move, option.leaves, option.is_p) for option in large.options] == [
        (option.move, option.leaves, option.is_p) for option in small.options
    ]


def test_the_examples_of_the_papers():
    for position, wins in EXAMPLE_3_4.items():
        assert wins in [option.leaves for option in explain("chocolate", position, a=3).winning]
    kayles = explain("kayles", (4, 4))  # the games in which Lemma 24 of [NF] fails
    assert (kayles.step, kayles.generation, kayles.parents) == (3, 4, ((1, 1, 2, 2), (1, 2, 3), (3, 3)))
    dawson = explain("octal", (7, 7), code="0.137")
    assert (dawson.step, dawson.generation) == (3, 4)


def test_parents_and_generations_of_nim_are_those_of_its_theorems():
    from gpu_nim.games.nim import positions as nim

    for piles in ((14, 11, 5), (3, 5, 6), (1, 2, 2, 1)):
        found = explain("nim", piles)
        assert found.generation == nim.generation(piles)
        assert found.parents == tuple(sorted(parent.position for parent in nim.parents(piles)))
        assert found.parameters == {"piles": len(piles)}


@pytest.mark.parametrize("piles", [*product(range(5), repeat=3)])
def test_misere_nim_is_as_bouton_says(piles):
    """With a pile of 2 or more the P-positions are those of normal play; without, an odd number of piles is one."""
    lost = sum(piles) % 2 == 1 if max(piles) < 2 else piles[0] ^ piles[1] ^ piles[2] == 0
    found = explain("nim", piles, misere=True)
    assert (found.is_p, found.grundy) == (lost, None)


def test_the_command_explains():
    told = printed("position", "chocolate", "7", "3", "5", "--a", "3")
    assert "v-remark-4.1" in told
    assert "3 winning moves, of 15" in told
    assert "z to 4  (7,3,4)  P" in told
    drops = printed("position", "chocolate", "7", "3", "4")
    assert "x to 3, and y drops to 2" in drops
    assert "14 moves, none of which wins" in drops
    assert "There is no move." in printed("position", "kayles", "0")
    found = facts("position", "nim", "3", "5", "6", "--misere")
    assert (found["outcome"], found["grundy"], found["longest_optimal_play"], found["generation"]) == ("P", None, 13, 7)
    assert len(found["moves"]) == 14
    assert facts("position", "nim-pass", "3", "4", "5")["position"] == [3, 4, 5, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chocolate", "5", "9", "1"), "position must satisfy 3y <= x + z, got (5, 9, 1)"),
        (("chocolate", "5", "1"), "position must be 3 numbers, x y z, got 2"),
        (("kayles", "1e30"), "at most 4611686018427387904"),
        (("chocolat", "1", "1", "1"), "did you mean chocolate"),
        (("wythoff", "3", "5", "--a", "2"), "--a is a parameter of chocolate, not of wythoff"),
        (("nim", "3", "5", "--piles", "3"), "position must be 3 numbers, x1 x2 x3, got 2"),
        (("nim", "1e6", "1e6", "1e6"), "position must have at most 100,000 moves"),
        (("nim", "1e4", "1e4", "--misere"), "moves below it in misere play"),
        (("nim-pass", "300", "300", "300"), "moves below it of nim-pass"),
    ],
)
def test_the_command_refuses(words, said):
    assert said in refused("position", *words)
