"""Counts of many piles and of indices of thousands of digits, by either kind of long integers, against the slow ways."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.cli.output import digits
from gpu_nim.counting import closed_forms, long_integers
from gpu_nim.counting.digit_matrices import convolve
from gpu_nim.counting.families import find_family
from gpu_nim.counting.ranges import Range, seconds_for
from gpu_nim.counting.reductions import record_values
from gpu_nim.papers.by_definition import a_by_digits, d_by_digits
from gpu_nim.papers.nim_fractals_5_2_to_5_6 import by_recursion

BITS = (st.integers(0, 90) | st.integers(500, 900)).flatmap(lambda bits: st.integers(0, 1 << bits))


@pytest.fixture(params=["python", "flint"], autouse=True)
def integers(request, monkeypatch) -> Iterator[None]:
    """Each kind of long integers."""
    if request.param == "python":
        monkeypatch.setitem(sys.modules, "flint", None)
    long_integers.flint.cache_clear()
    yield
    long_integers.flint.cache_clear()


@settings(deadline=None, max_examples=60)
@given(piles=st.integers(1, 40), n=BITS)
@example(piles=13, n=2**701 // 3)
@example(piles=14, n=2**700 + 2**300)
@example(piles=3, n=2**9000 - 1)
@example(piles=4, n=7**1000)
@example(piles=6, n=2**2000)
def test_closed_forms_by_runs_of_digits(piles: int, n: int) -> None:
    assert closed_forms.a(piles, n) == a_by_digits(piles, n)
    assert closed_forms.d(piles, n) == d_by_digits(piles, n)


def test_totals_of_many_piles() -> None:
    for piles, n in ((324, 1003), (325, 2**9)):
        assert find_family("D", piles).value(n) == by_recursion("D", piles, n)
        assert find_family("A", piles).value(n) == by_recursion("A", piles, n)


@settings(deadline=None)
@given(left=st.lists(st.integers(-(10**30), 10**30), max_size=40), right=st.lists(st.integers(0, 10**9), max_size=40))
def test_products_of_polynomials(left: list[int], right: list[int]) -> None:
    expected = [0] * max(0, len(left) + len(right) - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            expected[i + j] += x * y
    if left and right:
        assert convolve(left, right) == expected


@settings(deadline=None, max_examples=30)
@given(number=st.integers(0, 40_000).flatmap(lambda bits: st.integers(-(1 << bits), 1 << bits)))
def test_decimal_digits(number: int) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert digits(number) == str(number)
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize("name", ["a", "d", "A"])
def test_many_records_are_looked_for_together(name: str) -> None:
    steps = []
    found = record_values(find_family(name, 4), 0, 10**18, 20_000, lambda *step: steps.append(step))
    assert (len(found), len(steps) < 100) == (20_000, True)


def test_ranges_of_any_size() -> None:
    values = Range(find_family("D", 3), 0, 10**30, HostCounting())
    assert values.size == 10**30
    assert seconds_for(values, values.size) > 0
    assert next(values.chunks(size=4)).tolist()[:2] == [[1, 0, 0], [3, 0, 0]]
