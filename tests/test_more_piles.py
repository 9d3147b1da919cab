"""Statements on more than three piles can fail: faults are planted in what they compare."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gpu_nim.automata import neighbourhoods
from gpu_nim.counting.families import find_family
from gpu_nim.papers import find_statements, run_checks
from gpu_nim.papers.more_piles import counts, digit_products, residues, rules
from gpu_nim.papers.more_piles.digit_products import Certificate


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
        ("moore-rules-of-four-piles", "_STAGES", (2, 3), "the births that grow all P-positions"),
    ],
)
def test_a_fault_is_noticed(name: str, broken: str, fault: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, broken, fault)
    assert words in str(counterexample(name))


@pytest.mark.parametrize(
    ("name", "broken", "fault", "words"),
    [
        (
            "records-of-d4-d5",
            "_few_zeros",
            lambda digits: [2**m - 1 for m in range(digits + 1)],
            "the records of D_4 by enumeration",
        ),
        ("records-of-d4-d5", "record_values", lambda *given: [(0, 1)], "the records of D_4 to 8 digits"),
        ("largest-counts", "failures", lambda k: [str(k)], "what fails in the certificate for k = 4"),
        ("largest-counts", "_real_power", lambda k: 0, "the largest sum of a row for k = 4"),
        (
            "largest-counts-further",
            "root_bounds",
            lambda k: (Fraction(2) ** (k - 2),) * 2,
            "whether the eigenvalues of M_(0,) for k = 15",
        ),
        (
            "smallest-counts-of-d4",
            "values_below",
            lambda k, stop: [*range(1, stop + 1)],
            "(25/72) 3^2 for n of 2 digits is False",
        ),
        ("smallest-counts-of-d4", "ByTotal", lambda k: find_family("D", 5), "D_4 at 1 times 10"),
        ("counts-that-rise", "_RISING", (7,), "the remainder of W for k = 7"),
        ("counts-that-rise", "values_below", lambda k, stop: [1] * stop, "whether D_6 rises below 2^1"),
        ("sums-of-counts", "_SUMS", {4: (2, ((2, 8),))}, "A_4(2^1 - 1)"),
    ],
)
def test_a_fault_in_counts_is_noticed(name: str, broken: str, fault: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, broken, fault)
    assert words in str(counterexample(name))


@pytest.mark.parametrize(
    ("piles", "certificate", "failed"),
    [
        (7, Certificate(("L", "R"), {"L0": {"L": 1, "R": 1}}), ["L0 is more than the mean"] * 2),
        (9, Certificate(("L", "R"), {"L0": {"L": 1, "R": 3}}), ["L0 is more than the mean"] * 2),
        (
            4,
            Certificate(("L", "R", "L1"), {"L0": {"L": 1, "R": 1}, "L10": {"L": 1}, "L11": {"R": 1}}),
            ["L11 is more than the mean"],
        ),
    ],
)
def test_a_wrong_certificate_fails(
    piles: int, certificate: Certificate, failed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(digit_products._CERTIFICATES, piles, certificate)
    found = digit_products.failures(piles)
    assert set(failed) <= set(found)


def test_no_product_of_digit_matrices_exceeds_what_certificates_claim() -> None:
    """By all products of up to eight of them, with the sums of rows, which bound the powers of rho from above."""
    for piles in digit_products.CERTIFIED:
        products = [np.eye(len(digit_products.digit_matrices(piles)[0]), dtype=object)]
        for _ in range(6):
            products = [product @ matrix for product in products for matrix in digit_products.digit_matrices(piles)]
        rho = digit_products.root_bounds(piles)[1]
        assert all(product[0, 0] * rho.denominator**6 <= rho.numerator**6 for product in products)


@pytest.mark.parametrize(
    ("name", "broken", "fault", "words"),
    [
        ("counts-mod-2", "_is_odd_binomial", lambda n, lower: 1, "the parities of D_4 by enumeration"),
        ("counts-mod-2", "values_below", lambda k, stop: [1] * stop, "the parities of D_4 is"),
        ("counts-mod-p", "_partitions", lambda most, stop: [1] * stop, "D_4 mod 5"),
        ("counts-mod-p", "_remainders", lambda k, p, stop: [k % p] * stop, "D_3 mod 3"),
        (
            "remainders-of-d4-d5",
            "_EIGENVALUES",
            {4: (6, {5, 43, 311}, {2, 3, 7})},
            "the primes that the proof leaves out for k = 4",
        ),
        (
            "remainders-of-d4-d5",
            "_EIGENVALUES",
            {4: (6, {5, 7, 37, 43, 311}, {2, 3})},
            "the number of pairs of values of D_4 mod 7",
        ),
        (
            "remainders-of-d4-d5",
            "digit_matrices",
            lambda k: (np.eye(2, dtype=object),) * 2,
            "the number of pairs of values of D_4 mod",
        ),
        ("remainders-further", "_permuted_roots", lambda k, p: int(k % 4 == 2), "the number of states of D_4 mod 7"),
        ("remainders-further", "_is_singular", lambda k, p: False, "the number of states of D_4 mod 3"),
    ],
)
def test_a_fault_in_remainders_is_noticed(name: str, broken: str, fault: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residues, broken, fault)
    assert words in str(counterexample(name))


def test_roots_that_squaring_permutes() -> None:
    # By all pairs of residues: W(-x) mod p for (12, 7) has the two roots of 1 + x + x^2.
    assert [residues._permuted_roots(*each) for each in ((4, 5), (4, 7), (6, 11), (10, 19), (12, 7), (18, 5))] == [0, 2, 1, 3, 2, 3]
