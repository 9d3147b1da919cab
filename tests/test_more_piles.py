"""More than three piles: products of digit matrices and roots by brute force."""

import numpy as np

from gpu_nim.papers.more_piles import digit_products, residues


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


def test_all_states_are_found_in_cycles_just_if_they_occur() -> None:
    pairs = [(k, p) for k in range(4, 11) for p in (3, 5, 7, 11) if k % p and not residues._is_singular(k, p)]
    for r in (0, 1):
        tried = {(k, p) for k, p in pairs if r == 0 or k % 4 == 2}
        all_occur = {(k, p) for k, p in tried if residues._states(k, p) == p ** (k // 2) - p**r}
        assert {(k, p) for k, p in tried if residues._are_in_cycles(k, p, r)} == all_occur
        assert all_occur
        assert all_occur != tried
