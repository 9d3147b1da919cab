"""Relations among dyadic windows: c_0 f(r) + c_1 f(2^K + r) + c_2 f(2 2^K + r) + ... = 0 for all r < 2^K and all K from some on.

A 2-regular sequence of rank R obeys one among any R + 1 windows, since f(i 2^K + r) is a row vector of r times a column vector of
i. Sequences that are not 2-regular may obey some: the births of automata that copy themselves at powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gpu_nim.guessing.formulas import combination
from gpu_nim.guessing.law import Failure, LinearLaw
from gpu_nim.guessing.linear_algebra import common_denominator, first_dependence

_MOST_WINDOWS = 16
_MOST_FIRST = 4  # K from which a relation holds
_MOST_TERMS = 1 << 14


@dataclass(frozen=True)
class Windows(LinearLaw):
    """A relation of windows that all of some terms obey.

    Args:
        weights: the integer c_i by the number i of a window.
        first: the least K.
        tried: how many windows it was chosen from.
        terms: the terms that obey it.

    >>> births = [1 << n.bit_length() for n in range(256)]
    >>> [law.rows for law in find_windows(births)]
    [[('for r < 2^K, K >= 0', 'f(2 2^K + r) - 2 f(2^K + r) = 0')], [('for r < 2^K, K >= 0', 'f(3 2^K + r) - 2 f(2^K + r) = 0')]]
    """

    weights: dict[int, int]
    first: int
    tried: int
    terms: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """The relation. Only different equations with a term other than 0 confirm it.

        Where three windows or more have the sum of weights 0, equations whose terms differ by a constant are the same: many hold of
        f(i 2^K + r) = f(r) + c_i, which sums of digits and slopes are but for some carries.
        """
        relation = combination((weight, _name(window)) for window, weight in sorted(self.weights.items(), reverse=True))
        equations = zip(*_windows(self.terms, [*self.weights], max(self.weights), self.first), strict=True)
        shift = int(sum(self.weights.values()) == 0 and len(self.weights) > 2)
        moved = {tuple(term - shift * row[0] for term in row) for row in equations}
        held = moved - {(0,) * len(self.weights)}
        return {
            "title": f"relation of {len(self.weights)} dyadic windows",
            "rows": [(f"for r < 2^K, K >= {self.first}", f"{relation} = 0")],
            "facts": {"windows": [*self.weights], "weights": [str(each) for each in self.weights.values()], "from": self.first},
            "fitted": self.tried,
            "confirmed": len(held) - self.tried,
            "complete": False,
            "certainty": "nothing beyond these terms",
        }

    def failures(self, terms: Sequence[int]) -> Iterator[Failure]:
        """Yield the equations that terms do not obey."""
        for size, shift in _places(len(terms), max(self.weights), self.first):
            weights = {window * size + shift: Fraction(weight) for window, weight in self.weights.items()}
            if value := sum((weight * terms[index] for index, weight in weights.items()), Fraction(0)):
                yield Failure(value, weights)


def find_windows(terms: Sequence[int]) -> list[Windows]:
    """Return the relations of the first windows, each of one window to independent ones before it, that the terms obey.

    Half of the terms must have the same: each power of two may bring a further dimension. A relation that follows from one of a
    window of half its number, with K + 1 for K, is left out.

    Args:
        terms: integers, of which the first 16,384 are compared.
    """
    terms = terms[:_MOST_TERMS]
    of_half = [law.weights for law in _relations(terms[: len(terms) // 2])]
    return [law for law in _relations(terms) if law.weights in of_half]


def _relations(terms: Sequence[int]) -> list[Windows]:
    laws: list[Windows] = []
    for first in range(_MOST_FIRST):
        basis, dependent = [0], set[int]()
        for window in range(1, min(_MOST_WINDOWS, len(terms) >> first)):
            columns = _windows(terms, [*basis, window], window, first)
            found = first_dependence(columns) if len(columns[0]) > len(basis) else ()
            if found is None:
                basis.append(window)
            elif len(found) < len(basis):
                break  # too few terms to tell the windows before it from each other
            else:
                dependent.add(window)
                if window // 2 not in dependent and not any(window in law.weights for law in laws):
                    scale = common_denominator(found)
                    weights = {other: -int(scale * each) for each, other in zip(found, basis, strict=True) if each} | {
                        window: scale
                    }
                    laws.append(Windows(weights, first, len(basis), tuple(terms)))
    return laws


def _places(size: int, last: int, first: int) -> Iterator[tuple[int, int]]:
    """2^K and r of the equations in which window `last` is among so many terms."""
    step = 1 << first
    while (last + 1) * step <= size:
        yield from ((step, shift) for shift in range(step))
        step *= 2


def _windows(terms: Sequence[int], windows: Sequence[int], last: int, first: int) -> list[list[int]]:
    places = [*_places(len(terms), last, first)]
    return [[terms[window * step + shift] for step, shift in places] for window in windows]


def _name(window: int) -> str:
    return f"f({'' if window == 1 else f'{window} '}2^K + r)" if window else "f(r)"
