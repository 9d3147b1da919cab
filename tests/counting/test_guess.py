"""Formulas that are guessed: known sequences are recognised, noise is not, and the guesses agree with formulas of the papers."""

import csv
import math
import os
import random
import tomllib
from fractions import Fraction
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import count, grow, guess
from gpu_nim.automata.formulas import steps
from gpu_nim.automata.user_defined import define
from gpu_nim.counting import find_family
from gpu_nim.counting.digit_matrices import by_total, up_to_total
from gpu_nim.counting.long_integers import first_dependence, flint
from gpu_nim.games.heaps import OctalCode, extended_values
from gpu_nim.guessing import KINDS, Guess, Regular
from gpu_nim.guessing.formula import needed_confirmations
from gpu_nim.guessing.recurrences import find_recurrence
from gpu_nim.guessing.regular import find_regular
from gpu_nim.guessing.search import find_known, known_sequences
from gpu_nim.oeis.catalogue import SIX_DIRECTIONS
from tests.helpers import CHECKOUT
from tests.lattices import published


def counted(family: str, piles: int, terms: int) -> list[int]:
    return [int(value) for value in count(family, range(terms), piles=piles)]


def only(found: Guess, kind: type) -> Any:
    (formula,) = (formula for formula in found.formulas if isinstance(formula, kind))
    return formula


# Linear algebra


MATRICES = st.integers(1, 5).flatmap(
    lambda rows: st.lists(st.lists(st.integers(-3, 3), min_size=rows, max_size=rows), min_size=1, max_size=6)
)


@settings(max_examples=40)
@given(MATRICES, st.sampled_from((1, 7, 2**61 - 1, (2**61 - 1) * (2**61 + 15))))
def test_the_first_dependence_over_the_rationals(columns, scale):
    """Also where every entry is divisible by the first prime that is tried."""
    found = first_dependence([[scale * x for x in column] for column in columns])

    def rank(count: int) -> int:
        flat = [x for column in columns[:count] for x in column]
        return flint().fmpz_mat(count, len(columns[0]), flat).rank()

    # The first column whose rank is that of the columns before it, as a combination of these.
    index = next((i for i in range(len(columns)) if rank(i + 1) == rank(i)), None)
    assert (None if found is None else len(found)) == index
    for row in zip(*columns, strict=True) if found else ():
        assert sum(c * x for c, x in zip(found, row[:index], strict=True)) == row[index]


def test_columns_that_are_dependent_modulo_the_first_prime_alone():
    prime = 2**61 - 1
    assert first_dependence([[1, 1, 1], [1, 1 + prime, 1]]) is None
    assert first_dependence([[1, 1, 1], [1, 1 + prime, 1], [3, 3 + 2 * prime, 3]]) == (Fraction(1), Fraction(2))


# Recurrences


@settings(max_examples=25)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4), st.data())
def test_a_random_recurrence_is_recovered(coefficients, data):
    terms = data.draw(st.lists(st.integers(-5, 5), min_size=len(coefficients), max_size=len(coefficients)))
    while len(terms) < 60:
        terms.append(sum(c * terms[i - len(coefficients)] for i, c in enumerate(coefficients)))
    formula = find_recurrence(terms[:40])
    assert formula is not None
    assert formula.order <= len(coefficients)
    assert [formula.term(n) for n in range(60)] == terms  # 40 terms are at least L + R, so that this is a theorem
    numerator, denominator = (flint().fmpz_poly(list(part)) for part in formula.generating_function)
    assert (denominator * flint().fmpz_poly(terms)).truncate(60) == numerator


POLYNOMIALS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=3), min_size=1, max_size=4)


@settings(max_examples=25)
@given(POLYNOMIALS, st.lists(st.integers(-5, 5), max_size=2))
def test_a_random_quasi_polynomial_is_recovered(polynomials, first):
    def values(each, start):
        return [sum(c * n**i for i, c in enumerate(each[n % len(each)])) for n in range(start, 60)]

    terms = [*first, *values(polynomials, len(first))]
    formula = find_recurrence(terms)
    assert formula.quasi_polynomial[0] <= len(polynomials)
    assert formula.start <= len(first)
    assert values(formula.polynomials, formula.start) == terms[formula.start :]


def test_terms_beyond_those_that_fit_a_recurrence_are_compared():
    terms = [n * n for n in range(700)]
    terms[600] += 1
    terms[650] += 1
    assert find_recurrence(terms[:600]) is not None
    assert find_recurrence(terms) is None


# Laws that begin late


def test_life_without_death_grows_by_a_ladder_from_generation_2108_on():
    """The population of 101//010, A249668: for n >= 2108, a(n+6) = a(n) + 260 [Schmidt]."""
    population = [*accumulate(grow(define(steps(2, 1, 2), [3], [(0, 0), (2, 0), (1, 1)]), 2500).births)]
    assert population[:12] == [3, 4, 7, 10, 15, 20, 25, 30, 38, 47, 55, 63]
    (formula,) = guess(population, kinds=["recurrence"]).formulas
    assert formula.title == "quasi-polynomial of period 6 and degree 1, from n = 2108 on"
    assert formula.rows[0] == ("recurrence", "f(n+7) = f(n+6) + f(n+1) - f(n)")
    assert [formula.term(n) for n in (5, 2107, 2500, 2506)] == [*(population[n] for n in (5, 2107, 2500)), population[2500] + 260]


@pytest.mark.parametrize(("code", "heaps"), [("0.45", 1201), ("0.055", 1501), ("0.07", 1201), ("0.116", 1201)])
def test_periods_of_octal_games_that_are_proved_are_guessed(code, heaps):
    values, period = extended_values(OctalCode(code), heaps)
    (formula,) = guess(values.tolist(), kinds=["recurrence"]).formulas
    assert (formula.start, formula.quasi_polynomial) == (period.preperiod, (period.length, 0))


# Digit matrices


@pytest.mark.parametrize("piles", range(2, 7))
@pytest.mark.parametrize(("family", "product", "extra"), [("D", by_total, 0), ("A", up_to_total, 1)])
def test_the_guessed_matrices_are_those_of_nim(family, product, extra, piles):
    """[NF] Theorems 29 and 30: the guess has the dimension of the digit matrices, and their values far beyond its terms."""
    terms = 1 << (2 * (piles // 2 + extra) + 5)
    formula = only(guess(counted(family, piles, terms), kinds=["regular"]), Regular)
    digits = product(piles)
    assert formula.rank == digits.dimension == piles // 2 + extra
    assert formula.rank <= formula.largest_certain
    assert formula.term(10**18 + 12345) == digits.value(10**18 + 12345)


@pytest.mark.parametrize("piles", range(1, 7))
def test_positions_by_their_largest_pile_are_regular_too(piles):
    """d_k has rank 2 floor((k - 1)/2) + 1, a_k rank 2 floor((k + 1)/2) from two piles on, and the values of the closed forms."""
    for family, rank in (("d", (piles - 1) // 2 * 2 + 1), ("a", (piles + 1) // 2 * 2 if piles > 1 else 1)):
        formula = only(guess(counted(family, piles, 2048), kinds=["regular"]), Regular)
        assert formula.rank == rank
        assert formula.rank <= formula.largest_certain
        assert formula.term(10**6 + 123) == find_family(family, piles).value(10**6 + 123)


REPRESENTATIONS = st.tuples(st.sampled_from((2, 3)), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        st.just(shape[0]),
        st.lists(st.lists(st.lists(st.integers(-2, 2), min_size=shape[1], max_size=shape[1]), min_size=shape[1], max_size=shape[1]),
                 min_size=shape[0], max_size=shape[0]),
        st.lists(st.integers(-2, 2), min_size=shape[1], max_size=shape[1]),
    )
)  # fmt: skip


def values_of(base, matrices, row, count):
    """U M_d1 ... M_dl v with v = (1, 0, ...), which M_0 is made to keep."""
    size = len(row)
    kept = [[int(i == 0) if j == 0 else matrices[0][i][j] for j in range(size)] for i in range(size)]
    states = [[1] + [0] * (size - 1)]
    for n in range(1, count):
        matrix = (kept, *matrices[1:])[n % base]
        states.append([sum(x * y for x, y in zip(line, states[n // base], strict=True)) for line in matrix])
    return [sum(x * y for x, y in zip(row, state, strict=True)) for state in states]


@settings(max_examples=20)
@given(REPRESENTATIONS)
def test_a_random_representation_is_recovered(representation):
    base, matrices, row = representation
    rank = len(row)
    terms = values_of(base, matrices, row, 3 * base**6)
    formula = find_regular(terms[: base**6], base)[0]
    assert formula is not None
    assert formula.rank <= rank <= formula.largest_certain  # so that it is equal by the theorem of the module
    assert [formula.term(n) for n in range(0, len(terms), 37)] == terms[::37]


@pytest.mark.parametrize("rank", range(2, 8))
def test_half_the_terms_of_the_bound_do_not_suffice(rank):
    """The sequence that is 1 at 2^(s-2) alone has rank s, and is 0 before: it agrees with 0, of rank 0, on 2^(s-2) terms."""
    formula = find_regular([int(n == 1 << rank - 2) for n in range(1 << 2 * rank)])[0]
    assert formula.rank == rank


@pytest.mark.parametrize("ones", [{200}, {150, 255}, {3, 130}, set(range(128, 256))])
def test_kernel_sequences_that_differ_beyond_the_terms_of_others(ones):
    """f(4n) has too few terms to tell f(n) from 0: what is found all the same gives every term."""
    terms = [int(n in ones) for n in range(256)]
    found, _ = find_regular(terms)
    assert found is None or [found.term(n) for n in range(256)] == terms


def test_terms_that_do_not_suffice_prove_a_rank_and_no_more():
    terms = counted("a", 8, 150)
    found = guess(terms, kinds=["regular"])
    assert not found.formulas
    assert found.answers["regular"].tested.startswith("base 2: rank 8 or more is proved; to find rank 8 takes up to 4,096 terms")


def test_how_many_terms_single_out_a_sequence_of_the_same_rank():
    told = [find_regular([n.bit_length() for n in range(terms)])[0].described()["certainty"] for terms in (31, 32)]  # rank 3
    assert told[0].endswith("that it is the only sequence of rank 3 needs 32 terms")
    assert told[1].startswith("no other 2-regular sequence of rank up to 3")


with (CHECKOUT / "docs" / "growth" / "edge.csv").open(newline="") as file:
    EDGE = [int(row["births"]) for row in csv.DictReader(file)]


# Known sequences


@pytest.mark.parametrize(
    ("terms", "formulas"),
    [
        (published("A151776"), ["f(n) = A151776(n)"]),
        (published("A237711")[5:], []),
        ([2 * x for x in published("A130665")], ["f(n) = 2 A130665(n)"]),
        ([3 * x + 5 for x in published("A237711")], ["f(n) = 3 A237711(n) + 5"]),
        ([0, *(sum(published("A151777")[: n + 1]) for n in range(20))], ["f(n) = A151776(n)"]),
        ([1, 3, 3, 15, 3, 15, 27, 63, 3, 15, 27, 81, 75], ["f(n) = edge-births(n)"]),
        (counted("D", 11, 5), ["f(n) = D_11(n)"]),
    ],
)
def test_known_sequences_are_found(terms, formulas):
    found = guess(terms, kinds=["known"])
    assert [dict(formula.rows)["formula"] for formula in (*found.formulas, *found.weak)] == formulas


def test_constants_that_are_fitted_take_terms_of_their_own():
    """Four terms have to agree beyond them; where differences do, the first term is one of them, and is compared as well."""
    changed = [3 * x + 5 for x in published("A237711")]
    assert not find_known(changed[:5])
    assert [match.formula for match in find_known(changed[:6])] == ["f(n) = 3 A237711(n) + 5"]
    (match,) = find_known([*accumulate(counted("A", 11, 7), initial=7)])
    assert match.formula == "f(n+1) - f(n) = A_11(n)"
    assert (match.confirmed, match.certainty) == (6, "nothing beyond the 8 terms that were compared")


def test_a_sequence_of_long_work_is_compared_with_the_terms_that_are_kept():
    (formula,) = guess(SIX_DIRECTIONS, kinds=["known"]).formulas
    assert (formula.title, formula.confirmed) == ("known: chocolate6", len(SIX_DIRECTIONS))


@pytest.mark.nightly
def test_every_known_sequence_finds_itself_by_its_first_terms():
    for known in known_sequences():
        if known.entry.offset == 0 and len(set(known.head)) > 3:
            assert f"f(n) = {known.entry.name}(n)" in [match.formula for match in find_known(known.head)]


# What gives nothing


@pytest.mark.parametrize(
    ("terms", "titles"),
    [
        ([n * n for n in range(60)], ["polynomial of degree 2"]),
        (counted("D", 4, 1000), ["2-regular of rank 2", "known: A237711"]),
        ([int(n % 32 == 0) for n in range(3000)], ["2-regular of rank 6", "period 32"]),
    ],
)
def test_laws_over_the_integers_alone_are_told_the_simplest_first(terms, titles):
    """Though each sequence has laws modulo 2, 3 and 7, too."""
    found = guess(terms)
    assert [each.title for each in found.formulas] == titles
    assert [*found.answers] == ["recurrence", "regular", "known"]


@pytest.mark.nightly
def test_no_law_of_the_growth_of_edge_is_found_in_its_table():
    found = guess(EDGE, kinds=["recurrence", "regular"])
    assert not found.formulas


def test_births_of_edge_have_rank_111_or_more_if_they_are_2_regular():
    """Modulo a prime it is a lower bound; the 127 sequences of the kernel to 2^6 n + j have 128 terms in the table."""
    rows = [EDGE[j :: 1 << e][:128] for e in range(7) for j in range(1 << e)]
    assert flint().nmod_mat(127, 128, [term for row in rows for term in row], (1 << 61) - 1).rank() == 111


def digits(n: int, base: int) -> list[int]:
    return [n % base, *digits(n // base, base)] if n else []


@pytest.mark.parametrize(
    "terms",
    [
        [len(digits(n, 12)) for n in range(1700)],
        [digits(n, 12).count(1) for n in range(1445)],  # the period 144 from n = 288 on; and 12 from n = 24 on, until n = 143
        [int("".join(map(str, digits(n, 10))) or 0) for n in range(813)],
        [int(2 not in digits(n, 3)) for n in range(2100)],
    ],
)
def test_no_late_law_of_digits_is_told(terms):
    assert not guess(terms, kinds=["recurrence"]).formulas


FORMULAS: list[str] = tomllib.loads((CHECKOUT / "tests" / "guess_formulas.toml").read_text())["formulas"]
FUNCTIONS: dict[str, Any] = {name: getattr(math, name) for name in ("comb", "factorial", "gcd", "isqrt")} | {
    "digits": digits,
    "root": lambda n, power: next(k for k in range(n + 1) if (k + 1) ** power > n),
    "valuation": lambda n, base: next(k for k in range(n) if n % base ** (k + 1)),
    "prime": [p for p in range(2, 4000) if flint().fmpz(p).is_prime()].__getitem__,
    "partitions": lambda n: int(flint().fmpz.partitions_p(n)),
    "noise": random.Random,
}


def false_formulas(case: int) -> list[str]:
    """The formulas told of the first third of a sequence that later terms break."""
    choose = random.Random(case)
    a, b, size = choose.randint(2, 12), choose.randint(1, 9), choose.randint(24, 160)
    formula = FORMULAS[case % len(FORMULAS)]
    values = [eval(formula, FUNCTIONS | {"n": n, "a": a, "b": b}) for n in range(3 * size)]
    found = guess(values[:size], kinds=[kind for kind in KINDS if kind != "known"])
    where = f"case {case}: {formula}, a = {a}, b = {b}, {size} terms"
    return [f"{where}: {formula.title}" for formula in found.formulas if not formula.holds_for(values)]


def test_later_terms_obey_the_laws_that_are_told_of_few(capsys):
    """With GPUNIM_CASES so many sequences."""
    cases = int(os.environ.get("GPUNIM_CASES", "40"))
    broken = [formula for formula in map(false_formulas, range(cases)) if formula]
    told = [formula for formulas in broken for formula in formulas]
    with capsys.disabled():
        print(*told, f"false formulas of {len(broken)} of {cases} sequences", sep="\n")
    assert len(broken) <= cases // 100


# Evidence and arguments


def test_terms_with_a_frequent_value_must_confirm_more():
    assert needed_confirmations([*range(50)]) == 8
    assert needed_confirmations([0, 1] * 50) == 20
    assert needed_confirmations([0] * 99 + [1]) == needed_confirmations([7] * 9) == 32
