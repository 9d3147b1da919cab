"""What all laws of a sequence have in common, and the one wrong term that keeps a sequence from obeying one.

f(0) is the first term throughout, whatever its index where the terms come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any, Protocol

_CHANCE = 20  # binary digits of what is left to chance: one in a million
_USUAL, _MOST = 8, 32  # terms that must confirm, at least and at most
LEAST = 2  # terms that must confirm what is reported at all


@dataclass(frozen=True)
class Failure:
    """An equation of a law that does not hold: the sum of terms with these weights is `value`, and should be 0."""

    value: Fraction
    weights: dict[int, Fraction]


class Law(Protocol):
    """A law that holds for all given terms."""

    @property
    def title(self) -> str:
        """What kind of law it is, in a line."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The law in formulas, each with a name."""

    @property
    def facts(self) -> dict[str, Any]:
        """The law for programs, in JSON."""

    @property
    def fitted(self) -> int:
        """How many numbers were chosen so that the law fits: coefficients and initial terms."""

    @property
    def confirmed(self) -> int:
        """How many equations hold beyond those that determine the numbers; of the part of the law that has fewest."""

    @property
    def complete(self) -> bool:
        """Whether it gives every term, and not only residues, or some of the terms."""

    @property
    def certainty(self) -> str:
        """What is proved by the terms, and what would be needed for more."""


class LinearLaw(Law, Protocol):
    """A law whose equations are linear in the terms, so that one wrong term can be found."""

    def failures(self, terms: Sequence[int], most: int) -> list[Failure]:
        """Return the first equations that terms do not obey, `most` of them at most."""


@dataclass(frozen=True)
class NearMiss:
    """One term that breaks a law that all others obey.

    Attributes:
        law: the law, which holds with the expected term.
        index: the index of the term, 0 for the first.
        given: the term.
        expected: the term by the law.
    """

    law: Law
    index: int
    given: int
    expected: int


def needed_confirmations(terms: Sequence[int]) -> int:
    """How many terms must confirm a law: 8, or up to 32 where one value is so frequent that terms agree by chance.

    Noise whose most frequent value has the share p obeys a wrong law at t more terms with a chance of p^t at most; what is returned
    brings that below 2^-20, for p up to 0.64.

    >>> needed_confirmations(range(100)), needed_confirmations([0, 1] * 50)
    (8, 20)
    """
    share = max(Counter(terms).values(), default=1) / max(len(terms), 1)
    return _MOST if share == 1 else min(max(_USUAL, ceil(_CHANCE / -log2(share))), _MOST)


def near_miss(law: LinearLaw | None, terms: Sequence[int], find: Callable[[Sequence[int]], Law | None]) -> NearMiss | None:
    """Return the one term whose change makes all terms obey a law; None where there is no single such term.

    Args:
        law: a law that part of the terms obeys, if there is one.
        terms: all terms.
        find: the simplest law of that kind which all terms obey, from terms.
    """
    if law is None:
        return None
    failures = law.failures(terms, 64)
    if not failures:
        return None
    suspects = set.intersection(*(set(failure.weights) for failure in failures))
    found = []
    for index in sorted(suspects):
        expected = terms[index] - failures[0].value / failures[0].weights[index]
        if expected.denominator == 1:
            mended = [*terms]
            mended[index] = int(expected)
            if not law.failures(mended, 1):
                found.append((index, mended))
    if len(found) != 1:
        return None
    ((index, mended),) = found
    simplest = find(mended)
    return None if simplest is None else NearMiss(simplest, index, terms[index], mended[index])
