"""Statements can fail: a fault is planted in what a check reads, or in what it compares with, and the statement must notice."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gpu_nim import grow
from gpu_nim.automata.neighbourhoods import even_offsets
from gpu_nim.counting.families import find_family
from gpu_nim.games.inequality import chocolate
from gpu_nim.papers import edge_growth, find_statements, run_checks

UPTO = 16
MANY_PRIMES = {4: (6, {5, 7, 37, 43, 311}, {2, 3})}
FEW_PRIMES = {4: (6, {5, 43, 311}, {2, 3, 7})}

FAULTS: dict[str, list[tuple[str, str, Any, str]]] = {
    "papers.nim_fractals.section_2_and_3": [
        ("nf-theorem-2", "_previous_player_wins", lambda options: 1, ""),
        ("nf-theorem-2", "_has_the_properties", lambda options, chosen: chosen == 1, ""),
    ],
    "papers.nim_fractals.section_5_2_evolution": [
        ("nf-children", "_shifted", lambda position, change: {(0, 0, 0), (0, 1, 1)}, ""),
        ("nf-parents", "_shifted", lambda position, change: {(0, 0)}, ""),
        ("nf-corners", "_DIRECTIONS", ((0, 1), (1, 0), (0, -1)), ""),
    ],
    "papers.game_theory": [
        ("f-nim-sum", "nim_sum", lambda piles: piles[0] | piles[1], ""),
        ("f-nim-sum", "nim_sum", lambda piles: piles[0] ^ piles[1] ^ (piles == (3, 3)), ""),
        ("f-proof", "nim_sum", sum, ""),
    ],
    "papers.inequality_conditions.section_3_and_4": [
        ("v-theorem-3.2", "chocolate", lambda a: chocolate(2), ""),
        ("v-theorem-3.4", "chocolate", lambda a: chocolate(1), ""),
    ],
    "papers.edge_growth": [
        ("edge-surface", "surface", lambda n: edge_growth.signed_sums(n), ""),
        ("edge-surface", "surface_births", lambda automaton, n: 3 ** n.bit_count(), ""),
        ("edge-surface", "distances", lambda cells: np.abs(cells).max(axis=1), ""),
        ("edge-surface", "signed_sums", lambda n: {-n, n}, ""),
        ("edge-behind-squares", "behind_squares", lambda n: set(), ""),
        ("edge-behind-squares", "_MIRRORED", {"fcc": 1}, ""),
        ("edge-behind-triangles", "behind_triangles", lambda n: set(), ""),
        ("edge-behind-triangles", "_triangle", lambda n: {(n, n, 0), (n, 0, n), (0, n, n)}, ""),
        ("edge-sheets", "_over", lambda cells, x, size: set(), ""),
        ("edge-sheets", "grow", lambda automaton, *rest, **options: grow("cubic6", *rest, **options), ""),
        ("edge-children", "grow", lambda automaton, *rest, **options: grow("cubic18", *rest, **options), ""),
        ("edge-children", "children_bound", lambda chosen: -1, ""),
        ("edge-fcc-octant", "_ALIKE", UPTO - 1, ""),
        ("edge-fcc-octant", "_MIRRORED", {"edge": 1, "nim": 1}, ""),
        ("edge-powers-of-two", "_delays", lambda automaton, last: np.eye(last + 1, dtype=int), ""),
        ("edge-powers-of-two", "_three_classes", lambda things: 1, ""),
        ("edge-beside-powers", "_three_classes", lambda things: things, ""),
        ("edge-beside-powers", "_delays", lambda automaton, last: np.eye(last + 1, dtype=int), ""),
        ("edge-settles", "_delays", lambda automaton, last: np.ones((last + 1, last + 1), int), ""),
        ("edge-doubling", "_DOUBLED_FROM", 2, ""),
    ],
    "automata.neighbourhoods": [
        (
            "odd-touches",
            "even_offsets",
            lambda k: (*even_offsets(k)[:-1], (1,) * (k - 1) + (3,)),
            "the births of 2 piles to step 7",
        ),
    ],
    "papers.more_piles.rules": [
        ("exactly-one-touch", "_TWO_PAIRS", ((1, 1, 0, 0), (0, 0, 1, 1), (1, 1, 2, 4)), "one pair and not both together, within 1"),
        ("touches-alike", "_scaled", lambda cell, reach: cell, "what touches (2, 1, 4, 7), within 2"),
        ("touches-alike", "_ALIKE", ((2, 1, 4, 7), (1, 2, 4, 7)), "that the nim-sum of (4, 8, 16, 28) is 0 is True"),
        ("moore-rules-of-four-piles", "_STAGES", (2, 3), "the births that grow all P-positions"),
    ],
    "papers.more_piles.counts": [
        ("records-of-d4-d5", "_few_zeros", lambda m: [2**n - 1 for n in range(m + 1)], "the records of D_4 by enumeration"),
        ("records-of-d4-d5", "record_values", lambda *given: [(0, 1)], "the records of D_4 to 8 digits"),
        ("largest-counts", "failures", lambda k: [str(k)], "what fails in the certificate for k = 4"),
        ("largest-counts", "_real_power", lambda k: 0, "the largest sum of a row for k = 4"),
        (
            "largest-counts-further",
            "root_bounds",
            lambda k: (Fraction(2 ** (k - 2)),) * 2,
            "whether the eigenvalues of M_(0,) for k = 15",
        ),
        ("smallest-counts-of-d4", "values_below", lambda k, stop: [*range(1, stop + 1)], "(25/72) 3^2 for n of 2 digits is False"),
        ("smallest-counts-of-d4", "ByTotal", lambda k: find_family("D", 5), "D_4 at 1 times 10"),
        ("counts-that-rise", "_RISING", (7,), "the remainder of W for k = 7"),
        ("counts-that-rise", "values_below", lambda k, stop: [1] * stop, "whether D_6 rises below 2^1"),
        ("sums-of-counts", "_SUMS", {4: (2, ((2, 8),))}, "A_4(2^1 - 1)"),
    ],
    "papers.more_piles.residues": [
        ("counts-mod-2", "_is_odd_binomial", lambda n, lower: 1, "the parities of D_4 by enumeration"),
        ("counts-mod-2", "values_below", lambda k, stop: [1] * stop, "the parities of D_4 is"),
        ("counts-mod-p", "_partitions", lambda most, stop: [1] * stop, "D_4 mod 5"),
        ("counts-mod-p", "_remainders", lambda k, p, stop: [k % p] * stop, "D_3 mod 3"),
        ("remainders-of-d4-d5", "_EIGENVALUES", FEW_PRIMES, "the primes that the proof leaves out for k = 4"),
        ("remainders-of-d4-d5", "_EIGENVALUES", MANY_PRIMES, "the number of pairs of values of D_4 mod 7"),
        (
            "remainders-of-d4-d5",
            "digit_matrices",
            lambda k: (np.eye(2, dtype=object),) * 2,
            "the number of pairs of values of D_4 mod",
        ),
        ("remainders-further", "_permuted_roots", lambda k, p: int(k % 4 == 2), "the number of states of D_4 mod 7"),
        ("remainders-further", "_is_singular", lambda k, p: False, "the number of states of D_4 mod 3"),
    ],
}


@pytest.mark.parametrize(
    ("module", "statement", "broken", "fault", "words"), [(module, *row) for module, rows in FAULTS.items() for row in rows]
)
def test_a_fault_is_a_counterexample(
    module: str, statement: str, broken: str, fault: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"gpu_nim.{module}.{broken}", fault)
    (checked,) = run_checks(find_statements([statement]), UPTO)
    assert not checked.holds
    assert "ended with" not in str(checked.result.counterexample)
    assert words in str(checked.result.counterexample)
