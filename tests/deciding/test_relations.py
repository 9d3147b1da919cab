"""Relations as automata and 2-regular sequences: against brute force, and statements that differ from true ones by one constant."""

from itertools import product
from operator import and_, eq, le, or_

import numpy as np
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
from gpu_nim.deciding.relations import Relation, as_term, is_power_of_two, nim_sum_is_zero, numbers
from gpu_nim.model.errors import Undecided

SIZE = 6
BELOW = range(SIZE)
NAMES = "xyz"
x, y, z = numbers("x y z")

factors = st.dictionaries(st.sampled_from(NAMES), st.integers(-3, 3), min_size=1)
terms = st.tuples(factors, st.integers(-4, 4))


def term(each):
    return sum((factor * as_term(name) for name, factor in each[0].items()), as_term(each[1]))


def value(each, at):
    return sum(factor * at[name] for name, factor in each[0].items()) + each[1]


def comparison(sides):
    left, right = sides
    return term(left) <= term(right), lambda at: value(left, at) <= value(right, at)


def sum_of(names):
    return nim_sum_is_zero(*map(as_term, names)), lambda at: not np.bitwise_xor.reduce([at[name] for name in names])


def joined(parts):
    (left, left_value), (right, right_value), kind = parts
    made = {"and": and_, "or": or_, "implies": Relation.implies, "iff": Relation.iff}[kind](left, right)
    join = {"and": and_, "or": or_, "implies": le, "iff": eq}[kind]
    return made, lambda at: join(left_value(at), right_value(at))


def quantified(parts):
    (inner, inner_value), name, every = parts
    small = as_term(name) <= SIZE - 1
    if name not in inner.names:
        return inner, inner_value
    made = small.implies(inner).every(name) if every else (small & inner).some(name)
    return made, lambda at: (all if every else any)(inner_value({**at, name: n}) for n in BELOW)


atoms = st.one_of(
    st.tuples(terms, terms).map(comparison),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(sum_of),
    st.sampled_from(NAMES).map(lambda name: (is_power_of_two(as_term(name)), lambda at: at[name].bit_count() == 1)),
)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner, st.sampled_from(["and", "or", "implies", "iff"])).map(joined),
        st.tuples(inner, st.sampled_from(NAMES), st.booleans()).map(quantified),
        inner.map(lambda each: (~each[0], lambda at: not each[1](at))),
    ),
    max_leaves=5,
)


@settings(max_examples=150)
@given(formulas)
def test_a_formula_is_true_where_it_is_by_definition(formula):
    relation, truth = formula
    vectors = [*product(BELOW, repeat=len(relation.names))]
    expected = [truth({**dict.fromkeys(NAMES, 0), **dict(zip(relation.names, vector, strict=True))}) for vector in vectors]
    assert relation.contains(vectors).tolist() == expected
    table = relation.table(3)[(slice(SIZE),) * len(relation.names)]
    assert table.ravel().tolist() == expected
    example = relation.example()
    if any(expected):
        first = min((vector for vector, true in zip(vectors, expected, strict=True) if true), key=lambda each: (sum(each), each))
        found = tuple(example[name] for name in relation.names)
        assert (sum(found), found) <= (sum(first), first)
        assert sum(found) >= SIZE or found == first
        assert relation.contains(found)
    assert relation.holds == (relation.counterexample() is None)


@settings(max_examples=50)
@given(formulas, terms, terms)
def test_numbers_are_replaced_by_terms(formula, one, other):
    relation, truth = formula
    replaced = relation(**{name: term(each) for name, each in zip("xy", (one, other), strict=True) if name in relation.names})
    for vector in product(range(3), repeat=3):
        at = dict(zip(NAMES, vector, strict=True))
        inner = {name: value(each, at) for name, each in zip("xy", (one, other), strict=True) if name in relation.names}
        if max(inner.values(), default=0) < SIZE:  # as far as quantifiers go
            expected = min(inner.values(), default=0) >= 0 and truth({**at, **inner})
            assert replaced.contains([at[name] for name in replaced.names]) == expected


@pytest.mark.parametrize("a", range(2, 9))
def test_statements_that_differ_by_a_constant_are_told_apart(a):
    v, w = numbers("v w")
    floor = (a * v <= x + z) & (x + z <= a * v + a - 1)
    assert floor.some("v").holds  # a quotient exists,
    assert (floor & floor(v="w")).implies(v == w).holds  # and is one
    assert floor.implies((a * y <= x + z).iff(y <= v)).every("v").holds
    assert ((a * v <= x + z) & (x + z <= a * v + a - 2)).some("v").counterexample() == {"x": 0, "z": a - 1}
    wrong = floor.implies((a * y <= x + z + 1).iff(y <= v))
    assert wrong.counterexample() == {"v": 0, "x": 0, "y": 1, "z": a - 1}
    assert (x == a * w).some("w").iff(~((x == a * w + 1).some("w"))).counterexample() == ({"x": 2} if a > 2 else None)


def test_numbers_of_any_size_are_read():
    relation = nim_sum_is_zero(x, y, z)
    assert relation.contains([10**40, 10**39, 10**40 ^ 10**39])
    assert not relation.contains([10**40, 10**39, 1])
    assert relation.contains(np.zeros((2, 0, 3), int)).shape == (2, 0)
    large = (x == y + y + 1) & (y >= 2**50)
    assert large.example() == {"x": 2**51 + 1, "y": 2**50}


def test_what_takes_too_much_is_not_decided():
    with pytest.raises(Undecided, match=r"^not decided: more than 65,536 states$"):
        assert x + 2**40 * y <= z
    with pytest.raises(Undecided, match=r"^not decided: a factor or a constant of 2\^60 or more$"):
        assert x <= 2**60
    with pytest.raises(Undecided, match="more than 65,536 states"):
        assert (x + 5003 * y <= z) & (x + 5009 * z <= y)


def test_equal_relations_have_equal_automata():
    one, other = (x <= y) & (y <= z), ~((y < x) | (z < y))
    assert np.array_equal(one.steps, other.steps)
    assert np.array_equal(one.accepts, other.accepts)
    assert repr(one) == "<Relation of x, y, z, 4 states>"


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
