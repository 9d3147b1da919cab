"""Beatty sequences: f(n) = floor(a n + b) for real numbers a and b.

Such a and b exist if and only if a (j - i) lies strictly between f(j) - f(i) - 1 and f(j) - f(i) + 1 for all i < j, since b then
has room between the largest f(n) - a n and the least f(n) + 1 - a n. So the terms leave an open interval for a, found by one pass
for each gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from gpu_nim.guessing.law import Law

MOST_TERMS = 1 << 14
_MOST_VALUE = 1 << 40
_FITTED = 2  # slope and shift


@dataclass(frozen=True)
class Beatty(Law):
    """f(n) = floor(a n + b) for some a between two bounds.

    Args:
        above: what a is greater than.
        below: what a is less than.
        terms: the terms that are so.

    >>> from math import isqrt
    >>> find_beatty([isqrt(2 * n * n) for n in range(200)]).rows
    [('a', '140/99 < a < 99/70')]
    """

    above: Fraction
    below: Fraction
    terms: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """The interval of a; of the two sizes of steps the rarer one confirms it, since equal steps say little."""
        sizes = Counter(y - x for x, y in pairwise(self.terms))
        return {
            "title": "Beatty sequence: floor(a n + b)",
            "rows": [("a", f"{self.above} < a < {self.below}")],
            "facts": {"above": str(self.above), "below": str(self.below)},
            "fitted": _FITTED,
            "confirmed": (min(sizes.values()) if len(sizes) == 2 else 0) - _FITTED,
            "certainty": "a is in this interval, if the law holds at all",
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether some a of the interval is left."""
        found = find_beatty(terms)
        return found is not None and max(found.above, self.above) < min(found.below, self.below)


def find_beatty(terms: Sequence[int]) -> Beatty | None:
    """Return the interval of a with which all terms are floor(a n + b); None where there is none.

    Args:
        terms: integers, up to 16,384.
    """
    above, below = Fraction(-_MOST_VALUE), Fraction(_MOST_VALUE)
    if len(terms) > MOST_TERMS or max(map(abs, terms), default=0) >= _MOST_VALUE:
        return None
    values = np.array(terms, np.int64)
    for gap in range(1, len(values)):
        steps = values[gap:] - values[:-gap]
        above, below = max(above, Fraction(int(steps.max()) - 1, gap)), min(below, Fraction(int(steps.min()) + 1, gap))
        if above >= below:
            return None
    return Beatty(above, below, tuple(terms)) if len(terms) > 1 else None
