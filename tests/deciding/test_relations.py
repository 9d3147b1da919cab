"""Relations as automata: against brute force on random formulas, and statements that differ from true ones by one constant."""

from itertools import product
from operator import and_, eq, le, or_

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
