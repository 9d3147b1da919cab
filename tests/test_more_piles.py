"""Statements on more than three piles can fail: faults are planted in what they compare."""

from typing import Any

import pytest

from gpu_nim.automata import neighbourhoods
from gpu_nim.theorems import find_statements, run_checks
from gpu_nim.theorems.papers.more_piles import rules


def counterexample(name: str, upto: int = 16) -> str | None:
    (checked,) = run_checks(find_statements([name]), upto)
    return None if checked.holds else str(checked.result.counterexample)


def test_odd_touches_need_each_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = neighbourhoods.even_offsets
    monkeypatch.setattr(neighbourhoods, "even_offsets", lambda piles: (*whole(piles)[:-1], (1,) * (piles - 1) + (3,)))
    assert str(counterexample("odd-touches")).startswith("the births of 2 piles to step 7 is ")


@pytest.mark.parametrize(
    ("name", "broken", "fault", "words"),
    [
        ("exactly-one-touch", "_TWO_PAIRS", ((1, 1, 0, 0), (0, 0, 1, 1), (1, 1, 2, 4)), "one pair and not both together, within 1"),
        ("touches-alike", "_scaled", lambda cell, reach: cell, "what touches (2, 1, 4, 7), within 2"),
        ("touches-alike", "_ALIKE", ((2, 1, 4, 7), (1, 2, 4, 7)), "that the nim-sum of (4, 8, 16, 28) is 0 is True"),
        ("moore-rules-of-four-piles", "_STAGES", (2, 3), "the births that bear all P-positions"),
    ],
)
def test_a_fault_is_noticed(name: str, broken: str, fault: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, broken, fault)
    assert words in str(counterexample(name))
