"""Certificates of more than three piles can fail, and products of digit matrices by brute force."""

import numpy as np
import pytest

from gpu_nim.papers.more_piles import digit_products, residues
from gpu_nim.papers.more_piles.digit_products import Certificate


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


def test_roots_that_squaring_permutes() -> None:
    # By all pairs of residues: W(-x) mod p for (12, 7) has the two roots of 1 + x + x^2.
    assert [residues._permuted_roots(*each) for each in ((4, 5), (4, 7), (6, 11), (10, 19), (12, 7), (18, 5))] == [0, 2, 1, 3, 2, 3]
