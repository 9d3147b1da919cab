"""2-regular sequences: against their values one by one, and identities that differ from true ones by one constant."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.counting.digit_matrices import by_total, up_to_total
from gpu_nim.counting.families import find_family
from gpu_nim.counting.regular_sequences import (
    RegularSequence,
    at_maximum,
    index,
    of_digit_product,
    powers_by_length,
    powers_by_ones,
    up_to_maximum,
)

n = index()
c = n + 1 - powers_by_length(2)

#: Sequences, with their values by definition.
KNOWN = [
    (n, lambda n: n),
    (powers_by_ones(3), lambda n: 3 ** n.bit_count()),
    (of_digit_product(by_total(4)), find_family("D", 4).value),
    (of_digit_product(up_to_total(3)), find_family("A", 3).value),
    (up_to_maximum(4), find_family("a", 4).value),
    (at_maximum(3), find_family("d", 3).value),
    (2 * powers_by_length(4), lambda n: 2 ** (2 * (n.bit_length() - 1) + 1)),
    (c, lambda n: n + 1 - (1 << n.bit_length() - 1)),
]


def combined(parts):
    (left, left_value), (right, right_value), number, sign = parts
    if sign == "+":
        return left + number * right, lambda n: left_value(n) + number * right_value(n)
    if sign == "-":
        return number - left - right, lambda n: number - left_value(n) - right_value(n)
    return left * right, lambda n: left_value(n) * right_value(n)


sequences = st.recursive(
    st.sampled_from(KNOWN),
    lambda inner: st.tuples(inner, inner, st.integers(-3, 3), st.sampled_from(["+", "*", "-"])).map(combined),
    max_leaves=3,
)


@settings(max_examples=100)
@given(sequences)
def test_values_are_those_of_the_parts(sequence):
    made, value = sequence
    assert [made.value(n) for n in range(made.first, 70)] == [value(n) for n in range(made.first, 70)]
    assert made.value(10**6) == value(10**6)
    assert (made - made).rank == 0
    assert (made - made).counterexample() is None


@pytest.mark.parametrize(("sequence", "value"), [known for known in KNOWN if not known[0].first])
def test_values_at_other_indices(sequence, value):
    indices = [
        (2 * n, lambda n: 2 * n),
        (2 * n + 1, lambda n: 2 * n + 1),
        (2 * n + 2, lambda n: 2 * n + 2),
        (n + 1, lambda n: n + 1),
    ]
    indices += [(n - 1, lambda n: n - 1), (c - 1, lambda n: n - (1 << n.bit_length() - 1))]
    indices += [(powers_by_length(2) - 1, lambda n: (1 << n.bit_length() - 1) - 1), (n, lambda n: n)]
    for argument, at in indices:
        assert [sequence(argument).value(n) for n in range(1, 40)] == [value(at(n)) for n in range(1, 40)]
    assert sequence(n - 1).value(0) == 0


def test_an_identity_that_is_wrong_far_out_is_refuted_there():
    """f(n) = [n = 2^10] differs from 0 at 1024 alone: below 2^rank, as its theorem says."""
    units = [[int(at == place) for at in range(12)] for place in range(12)]
    zero = [units[0], [0] * 12, *units[1:11]]  # s(0) is the first unit vector, s(2^i) the one after i others
    spike = RegularSequence(units[11], (zero, [[0] * 12, units[0], *[[0] * 12] * 10]), units[0])
    assert (spike + 0).counterexample() == {"n": 1024}


@pytest.mark.parametrize("k", range(3, 8))
def test_false_identities_are_told_from_true_ones(k):
    a, d = up_to_maximum(k), at_maximum(k)
    B = powers_by_length(2)
    right = ((B + c) ** k + (B - c) ** k - (0 if k % 2 else 2 * c**k)) // (2 * B)
    right = right + (0 if k % 2 else a(c - 1))
    assert (a - right).rank == 0
    assert (a(n - 1) + d - a).rank == 0
    for wrong in (right + 1, right + c - 1, right * 2 - a - c + 1, right + (B - 1) * (c - 1), a(n + 1) - d):
        (found,) = ((a - wrong).counterexample() or {}).values()
        *same, last = (a.value(n) == wrong.value(n) for n in range(wrong.first, found + 1))
        assert (all(same), last) == (True, False)


def test_identities_of_all_small_coefficients_are_right_exactly_where_they_hold():
    D = of_digit_product(by_total(4))
    for p, q in product(range(4), repeat=2):
        holds = (D(2 * n + 2) - p * D(n + 1) - q * D).rank == 0
        assert holds == ((p, q) == (1, 1))
