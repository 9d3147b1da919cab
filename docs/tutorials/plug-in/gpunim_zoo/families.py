"""A family of sequences that are products over the digits of the index."""

from gpu_nim.counting.digit_matrices import DigitProduct
from gpu_nim.counting.family import DigitFamily


class Stern(DigitFamily):
    """The coefficients of prod_j (1 + k x^(2^j) + x^(2^(j+1))): for k = 1 Stern's diatomic sequence, A002487(n + 1)."""

    name = "stern"
    summary = "Stern's diatomic sequence with weight {piles}"
    product_of = staticmethod(lambda weight: DigitProduct((1, weight, 1)))
