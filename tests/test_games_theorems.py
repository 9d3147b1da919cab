"""The theorems of [NF] and [V] hold in the cases checked, and a false statement is detected."""

import numpy as np
import pytest

from gpu_nim.games.game_graph import evolve
from gpu_nim.games.heaps import HeapGame, OctalCode
from gpu_nim.games.inequality import bar, chocolate
from gpu_nim.model.errors import UsageError
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.papers import chocolate_bars as bars
from gpu_nim.theorems.papers import inequality_conditions as games
from gpu_nim.theorems.papers.nim_fractals import section_5_evolution as nim


@pytest.mark.parametrize(
    ("statement", "size"),
    [
        (nim.lemma_20, 9),
        (nim.lemma_21, 20),
        (nim.corollary_22, 63),
        (nim.lemma_23, 20),
        (nim.lemma_24, 15),
        (nim.theorem_25, 64),
        (nim.table_1, 20),
        (games.theorem_3_1, 127),
        (games.theorem_3_3, 300),
        (games.theorem_3_5, 127),
        (games.remark_3_1, 15),
        (games.three_mod_four, 63),
        (bars.even_bars, 31),
    ],
)
def test_published_statements_hold(statement, size):
    for upto in (0, 1, 2, 3, size):
        finding = statement(upto)
        assert finding.holds, finding
        assert finding.scope


def test_worked_examples():
    assert games.example_3_4() == CheckResult("4 moves")


@pytest.mark.parametrize("piles", [2, 3, 5])
def test_lemmas_for_other_numbers_of_piles(piles):
    for statement in (nim.lemma_20, nim.lemma_21, nim.lemma_23):
        assert statement(5, piles=piles).holds
    assert nim.lemma_24(3, piles=piles).holds


def test_lemma_24_fails_for_kayles():
    evolution = evolve(HeapGame(OctalCode("0.77"), 8))
    wrong = [evolution.positions[p] for p in np.flatnonzero(evolution.is_p & (evolution.step != evolution.generation))]
    assert wrong == [(4, 4)]
    number = evolution.index((4, 4))
    assert (evolution.step[number], evolution.generation[number]) == (3, 4)


def test_a_false_statement_gives_its_first_counterexample(monkeypatch):
    monkeypatch.setattr(games, "chocolate", lambda a: chocolate(4))
    assert games.theorem_3_5(15).counterexample == (5, 3, 8)
    assert not games.theorem_3_1(7).holds
    monkeypatch.setattr(bars, "bar", lambda k: bar(k + 1))
    assert bars.even_bars(15).counterexample[0] == 2
    monkeypatch.setattr(games, "chocolate", chocolate)
    monkeypatch.setitem(games.EXAMPLE_3_4, (38, 10, 4), (14, 10, 4))
    assert games.example_3_4().counterexample == ((38, 10, 4), (14, 10, 4))
    monkeypatch.setitem(nim.TABLE_1, (2, 1), (0, 1, 4, 5))
    assert nim.table_1(9).counterexample == (0, 1, 4, 5)


def test_mirrored_turns_would_break_theorem_25(monkeypatch):
    monkeypatch.setattr("gpu_nim.games.nim.walk._TURN", (0, 0, 1))
    assert not nim.theorem_25(7).holds


def test_broken_rules_would_be_noticed(monkeypatch):
    monkeypatch.setattr("gpu_nim.games.nim.positions.trailing_zeros", lambda number: 0)
    assert nim.lemma_21(4).counterexample is not None


def test_bad_sizes_are_refused():
    with pytest.raises(UsageError, match="generations"):
        nim.lemma_21(-1)
    with pytest.raises(UsageError, match="size"):
        games.theorem_3_5(-1)
