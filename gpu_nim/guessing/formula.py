"""What all formulas of a sequence have in common, and how they are written.

f(0) is the first term throughout, whatever its index where the terms come from.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, log2
from typing import Any

from gpu_nim.model.shown import Shown

Number = int | Fraction

_CHANCE = 20  # binary digits of what is left to chance: one in a million
#: Terms that must confirm a formula, at least.
USUAL = 8
_MOST = 32  # and at most
LEAST = 2  # terms that must confirm what is reported at all

#: The most terms that formulas are guessed from.
MAX_TERMS = 10_000_000

#: Terms of a formula, where no other number is wanted.
COUNTED = 1000

#: Generations of an automaton, where no other number is wanted, and the most terms of an entry without a formula.
GROWN = 128


class Formula(Shown, ABC):
    """A formula that holds for all given terms. Its attributes are computed on first access.

    Attributes:
        title: what kind of formula it is, in a line.
        rows: its equations, each with a name.
        facts: the same for programs, in JSON.
        fitted: how many numbers were chosen to fit: coefficients and initial terms.
        chosen: how many of them the part has whose equations `confirmed` counts.
        confirmed: how many equations hold beyond those that determine the numbers; of the part of the formula that has fewest.
        least: how many equations must confirm it, for what other sequences of this form do; 0 for no such reason.
        certainty: what is proved by the terms, and what would be needed for more.
    """

    title: str
    rows: list[tuple[str, str]]
    facts: dict[str, Any]
    fitted: int
    chosen: int
    confirmed: int
    least: int
    certainty: str

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """Return the attributes, without a `chosen` that is `fitted` and a `least` of 0."""

    @abstractmethod
    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms, such as those that the formula was found from and more, obey it."""

    def _line(self) -> str:
        return f"<{type(self).__name__}: {self.title}>"

    def __getattr__(self, name: str) -> Any:
        if name not in Formula.__annotations__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        described = self.described()
        self.__dict__.update({"chosen": described["fitted"], "least": 0, **described})
        return self.__dict__[name]


def needed_confirmations(terms: Sequence[int]) -> int:
    """How many terms must confirm a formula: 8, or up to 32 where one value is so frequent that terms agree by chance.

    Noise whose most frequent value has the share p obeys a wrong formula at t more terms with a chance of p^t at most; what is
    returned brings that below 2^-20, for p up to 0.64.

    >>> needed_confirmations(range(100)), needed_confirmations([0, 1] * 50)
    (8, 20)
    """
    share = max(Counter(terms).values(), default=1) / max(len(terms), 1)
    return _MOST if share == 1 else min(max(USUAL, ceil(_CHANCE / -log2(share))), _MOST)


def combination(terms: Iterable[tuple[Number, str]]) -> str:
    """Return a sum of multiples of named things; a name of "" is the number 1.

    >>> combination([(3, "f(n+1)"), (-1, "f(n)"), (Fraction(1, 2), ""), (0, "x")])
    '3 f(n+1) - f(n) + 1/2'
    """
    text = ""
    for number, name in terms:
        if not number:
            continue
        size = str(abs(number)) if not name or abs(number) != 1 else ""
        sign = ("-" if number < 0 else "") if not text else " - " if number < 0 else " + "
        text += sign + " ".join(part for part in (size, name) if part)
    return text or "0"


def polynomial(coefficients: Sequence[Number], variable: str = "n", *, rising: bool = False) -> str:
    """Return a polynomial, by its coefficients from the constant one on, with the highest power first unless `rising`.

    >>> polynomial([1, 0, Fraction(1, 2)]), polynomial([1, -1], "x", rising=True)
    ('1/2 n^2 + 1', '1 - x')
    """
    powers = [(number, power(variable, i)) for i, number in enumerate(coefficients)]
    return combination(powers if rising else powers[::-1])


def power(variable: str, exponent: int) -> str:
    """Return a power of a variable: "" for the exponent 0."""
    return "" if exponent == 0 else variable if exponent == 1 else f"{variable}^{exponent}"


def shifted(shift: int, scale: int = 1, name: str = "f") -> str:
    """Return f at a multiple of n and a shift.

    >>> shifted(0), shifted(3, 4), shifted(-1)
    ('f(n)', 'f(4n+3)', 'f(n-1)')
    """
    factor = "" if scale == 1 else str(scale)
    return f"{name}({factor}n{shift:+d})" if shift else f"{name}({factor}n)"
