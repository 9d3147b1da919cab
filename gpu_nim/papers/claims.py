"""Claims on all numbers, which are decided: relations between piles, and identities between counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations
from operator import and_, or_
from typing import NamedTuple

import numpy as np

from gpu_nim.counting.digit_matrices import by_total, up_to_total
from gpu_nim.counting.regular_sequences import (
    RegularSequence,
    at_maximum,
    index,
    of_digit_product,
    powers_by_length,
    powers_by_ones,
    up_to_maximum,
)
from gpu_nim.deciding.relations import Relation, Term, is_power_of_two, nim_sum_is_zero, numbers, together
from gpu_nim.games.inequality import nim
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.proofs import Moves, number_of


class Claim(NamedTuple):
    """A claim on all numbers.

    Attributes:
        about: what is claimed, in words.
        decided: the relation that is true, or the sequence that is 0, exactly if the claim is right.

    >>> x, y = numbers("x y")
    >>> Claim("y + 1 > x", y + 1 > x).counterexample
    'x = 1, y = 0'
    """

    about: str
    decided: Relation | RegularSequence

    @property
    def counterexample(self) -> str | None:
        """The least numbers for which it is wrong, in words, or None."""
        found = self.decided.counterexample()
        return None if found is None else ", ".join(f"{name} = {value}" for name, value in found.items())


def p_positions(game: InequalityGame, stated: Relation, *, misere: bool = False) -> Claim:
    """Return the claim that the P-positions of a game are its positions where a relation of their coordinates is true.

    >>> x, y = piles(2)
    >>> p_positions(nim(2), x == y).counterexample, p_positions(nim(2), x <= y).counterexample
    (None, 'x1 = 0, x2 = 1')
    """
    moves = Moves(game)
    return Claim(f"the P-positions of {game.describe()}", ~moves.wrong_outcomes(stated & moves.positions, misere=misere))


def piles(k: int) -> tuple[Term, ...]:
    """Return the piles x1, ..., xk of Nim."""
    return numbers(" ".join(nim(k).coordinates))


def total(terms: Iterable[Term]) -> Term:
    """Return a sum."""
    return sum(terms, Term({}))


def every(relations: Iterable[Relation]) -> Relation:
    """Return where all relations are true."""
    return reduce(and_, relations)


def how_many(relations: Collection[Relation], counts: Collection[int]) -> Relation:
    """Return where the number of relations that are true is among some.

    >>> x, y = numbers("x y")
    >>> how_many([x >= 1, y >= 1, x + y >= 2], {0, 2}).example(), how_many([x >= 1, x >= 2], {2}).example()
    ({'x': 0, 'y': 0}, {'x': 2})
    """
    return together(lambda *truths: np.isin(np.sum(truths, axis=0), [*counts]), *relations)


def same_zeros(x: Term, y: Term) -> Relation:
    """Return where two numbers above 0 have equally many zeros at their ends.

    The nim-sum of x and x - 1 is 2p - 1, for the highest power of two p that divides x.

    >>> x, y = numbers("x y")
    >>> same_zeros(x, y).contains([[12, 4], [12, 8], [0, 0]]).tolist()
    [True, False, False]
    """
    (power,) = numbers("power'")
    divides = [nim_sum_is_zero(each, each - 1, 2 * power - 1) for each in (x, y)]
    return (is_power_of_two(power) & every(divides)).some("power'")


def has_length(number: Term, power: Term) -> Relation:
    """Return where a power of two is the highest one that is at most a number.

    >>> n, power = numbers("n power")
    >>> has_length(n, power).contains([[5, 4], [5, 2], [0, 1]]).tolist()
    [True, False, False]
    """
    return is_power_of_two(power) & (power <= number) & (number < 2 * power)


def has_digit(number: Term, power: Term) -> Relation:
    """Return where a number has a 1 in the column of a power of two: without it the number is less.

    >>> n, power = numbers("n power")
    >>> has_digit(n, power).contains([[5, 4], [5, 2]]).tolist()
    [True, False]
    """
    (without,) = numbers("without'")
    return (nim_sum_is_zero(number, power, without) & (without < number)).some("without'")


def with_changed(terms: tuple[Term, ...], by: int) -> dict[tuple[int, ...], Relation]:
    """Return for each pair of piles whether the nim-sum is 0 with as many counters more in both.

    >>> with_changed(piles(3), -1)[0, 1].contains([[1, 1, 0], [1, 0, 1]]).tolist()
    [True, False]
    """
    pairs = combinations(range(len(terms)), 2)
    return {pair: nim_sum_is_zero(*(term + by * (i in pair) for i, term in enumerate(terms))) for pair in pairs}


@cache
def counted(letter: str, k: int) -> RegularSequence:
    """Return a_k, d_k, A_k or D_k.

    >>> [int(counted("D", 3).value(n)) for n in range(8)]
    [1, 3, 3, 9, 3, 9, 9, 27]
    """
    if letter in "AD":
        return of_digit_product((by_total if letter == "D" else up_to_total)(k))
    return (at_maximum if letter == "d" else up_to_maximum)(k)


def by_definition(letter: str, k: int) -> RegularSequence:
    """Return a_k, d_k, A_k or D_k, the numbers of vectors of nim-sum 0 with these maxima or totals.

    >>> [int(by_definition("a", 2).value(n)) for n in range(4)]
    [1, 2, 3, 4]
    """
    (n,), terms = numbers("n"), piles(k)
    if letter in "AD":
        within = total(terms) == 2 * n if letter == "D" else total(terms) <= 2 * n
    else:
        within = every(term <= n for term in terms)
        if letter == "d":
            within = within & reduce(or_, (term == n for term in terms))
    return number_of(nim_sum_is_zero(*terms) & within, "n") + 0  # minimized


@dataclass(frozen=True)
class Exponent:
    """A multiple of the number b of binary digits of n after the leading 1, and a constant, of which there are powers.

    >>> b = Exponent()
    >>> [int((2 ** (2 * b + 1)).value(n)) for n in (1, 2, 3, 4)]
    [2, 8, 8, 32]
    """

    factor: int = 1
    constant: int = 0

    def __mul__(self, other: int) -> Exponent:
        return Exponent(self.factor * other, self.constant * other)

    def __add__(self, other: int) -> Exponent:
        return Exponent(self.factor, self.constant + other)

    __rmul__ = __mul__

    def __rpow__(self, base: int) -> RegularSequence:
        return powers_by_length(Fraction(base) ** self.factor) * Fraction(base) ** self.constant


class Ones:
    """The number of binary 1s of n, of which there are powers."""

    def __rpow__(self, base: int) -> RegularSequence:
        return powers_by_ones(base)


#: What the letters of [NF] stand for in formulas: b and c are those of n, and m = b.
LETTERS = {"n": index(), "b": Exponent(), "m": Exponent(), "c": index() + 1 - powers_by_length(2)}


def in_python(formula: str) -> str:
    """Return a formula of the paper as Python writes it: products with a sign, and exact quotients.

    >>> in_python("(12c - 6) 2^b + d_4(c-1)"), in_python("sum_i C(k,2i) c^(2i)")
    ('(12*c-6)*2**b+d_4(c-1)', 'sum(C(k,2*i)*c**(2*i) for i in range((k+1)//2))')
    """
    terms = formula.removeprefix("sum_i ")
    python = last = ""
    for token in re.findall(r"[aAdDCs](?:_\w)?(?=\()|\d+|\S", terms):
        python += "*" * bool(re.fullmatch(r"\d+|[bckimn]|\)", last) and re.match(r"[\w(]", token))
        python += {"^": "**", "/": "//"}.get(token, token)
        last = token
    return python if terms == formula else f"sum({python} for i in range((k+1)//2))"
