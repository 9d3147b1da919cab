"""Single values: two methods for each sequence that must agree."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.counting.digit_matrices import DigitProduct, by_total, up_to_total
from gpu_nim.counting.families import find_family
from gpu_nim.papers.nim_fractals_5_2_to_5_6 import by_recursion

PILES = st.integers(1, 40)
INDEX = st.one_of(st.integers(0, 300), st.integers(0, 10**12), st.integers(0, 2**200))


@example(4, 7**800)
@example(5, 7**800)
@example(5, 2**64 - 1)
@example(3, 2**64)
@example(999, 321)
@given(PILES, INDEX)
@settings(max_examples=60, deadline=None)
def test_digit_matrices_and_printed_recursions_agree(piles: int, n: int) -> None:
    assert by_total(piles).value(n) == by_recursion("D", piles, n)
    assert up_to_total(piles).value(n) == by_recursion("A", piles, n)


def test_a_thousand_piles() -> None:
    assert find_family("D", 1000).value(1) == 499500
    assert find_family("a", 1000).value(2**64 - 1) == 2 ** (64 * 999)


@pytest.mark.parametrize("product", [by_total(3), by_total(5), up_to_total(4)])
def test_long_indices_by_products_of_matrices(product: DigitProduct) -> None:
    n = 3**9000 + 2**16500  # dozens of times the digits that are taken one by one
    assert product.value(n) == product.state(n)[0]


@pytest.mark.parametrize(("name", "piles", "n"), [("D", 40, 10**18), ("A", 8, 10**9), ("d", 20, 10**400), ("a", 30, 10**400)])
def test_a_value_tells_how_far_it_has_come(name: str, piles: int, n: int) -> None:
    told: list[tuple[str, int, int]] = []
    assert find_family(name, piles).value(n, lambda *step: told.append(step)) == find_family(name, piles).value(n)
    assert len(told) > 1
    assert all(0 <= done < total for _, done, total in told)
