"""What all laws of a sequence have in common, and the one wrong term that keeps a sequence from obeying one.

f(0) is the first term throughout, whatever its index where the terms come from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import ceil, log2
from typing import Any

_CHANCE = 20  # binary digits of what is left to chance: one in a million
_USUAL, _MOST = 8, 32  # terms that must confirm, at least and at most
_FAILURES = 64  # in which one wrong term is sought
LEAST = 2  # terms that must confirm what is reported at all


@dataclass(frozen=True)
class Failure:
    """An equation of a law that does not hold: the sum of terms with these weights is `value`, and should be 0."""

    value: Fraction
    weights: dict[int, Fraction]


class Law(ABC):
    """A law that holds for all given terms. What it says of itself is worked out when any of that is first asked for.

    Attributes:
        title: what kind of law it is, in a line.
        rows: the law in formulas, each with a name.
        facts: the law for programs, in JSON.
        fitted: how many numbers were chosen so that the law fits: coefficients and initial terms.
        chosen: how many of them the part of the law has whose equations `confirmed` counts.
        confirmed: how many equations hold beyond those that determine the numbers; of the part of the law that has fewest.
        complete: whether it gives every term, and not only residues, or some of the terms.
        period: a period P, how many terms come before it, or the order of a law that any period of so many terms obeys; 2 P^2 terms
            must confirm it.
        certainty: what is proved by the terms, and what would be needed for more.
    """

    title: str
    rows: list[tuple[str, str]]
    facts: dict[str, Any]
    fitted: int
    chosen: int
    confirmed: int
    complete: bool
    period: int
    certainty: str

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """Return the attributes, without a `chosen` that is `fitted`, a `complete` that is true and a `period` of 0."""

    @abstractmethod
    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms, such as those that the law was found from and more, obey it."""

    def __getattr__(self, name: str) -> Any:
        if name not in Law.__annotations__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        told = self.told()
        self.__dict__.update({"chosen": told["fitted"], "complete": True, "period": 0, **told})
        return self.__dict__[name]


class LinearLaw(Law):
    """A law whose equations are linear in the terms, so that one wrong term can be found."""

    @abstractmethod
    def failures(self, terms: Sequence[int]) -> Iterator[Failure]:
        """Yield the equations that terms do not obey."""

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms obey all equations."""
        return next(self.failures(terms), None) is None


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


def near_miss(
    laws: Iterable[LinearLaw | None], terms: Sequence[int], find: Callable[[Sequence[int]], Law | None]
) -> NearMiss | None:
    """Return the one term whose change makes all terms obey a law; None where there is no single such term.

    Args:
        laws: laws that parts of the terms obey, None for a part without one; the first that shows such a term is taken.
        terms: all terms.
        find: the simplest law of that kind which all terms obey, from terms.
    """
    missed = (_near_miss(law, terms, find) for law in laws if law is not None)
    return next(filter(None, missed), None)


def _near_miss(law: LinearLaw, terms: Sequence[int], find: Callable[[Sequence[int]], Law | None]) -> NearMiss | None:
    failures = [*islice(law.failures(terms), _FAILURES)]
    if not failures:
        return None
    suspects = set.intersection(*(set(failure.weights) for failure in failures))
    found = []
    for index in sorted(suspects):
        expected = terms[index] - failures[0].value / failures[0].weights[index]
        if expected.denominator == 1:
            mended = [*terms]
            mended[index] = int(expected)
            if law.holds_for(mended):
                found.append((index, mended))
    if len(found) != 1:
        return None
    ((index, mended),) = found
    simplest = find(mended)
    return None if simplest is None else NearMiss(simplest, index, terms[index], mended[index])
