"""k-regular sequences: a linear representation by the digits of n, found from the k-kernel.

The k-kernel of f are the sequences f(k^e n + j), 0 <= j < k^e. f is k-regular over the rationals if they span a space of finite
dimension, its rank r [Allouche and Shallit, The ring of k-regular sequences, 1992]. With a basis B_1 = f, ..., B_r from the
kernel, S(n) = (B_1(n), ..., B_r(n)) satisfies S(kn + d) = M_d S(n), so f(n) is the first entry of a product of matrices, one for
each digit, times S(0).

Kernel sequences are taken by the number of terms that are known of them, so level by level. One is independent of the basis so
far if it is so on the terms that are known, which is a proof; if it is dependent on these, that is a guess, confirmed by the terms
that exceed the coefficients.

Eilenberg's Equality Theorem (1974). Two k-regular sequences of ranks r and R that agree for n < k^(r+R-1) are equal.

Proof. Their difference is h(n) = u M_d1 ... M_dl v for the digits d1, ..., dl of n, the lowest first, perhaps followed by zeros,
in a representation of dimension s = r + R with M_0 v = v. Let V_i be the span of the vectors M_d1 ... M_di v over all i digits;
V_i contains V_(i-1), since M_0 v = v. Once V_i = V_(i+1), all later ones are equal to it, so V_(s-1) contains all of them, since
their dimensions are at most s. Now h(n) = 0 for n < k^(s-1) says that u is 0 on V_(s-1), so h is 0. End of proof.

So N >= k^(r+R-1) terms single out a guess of rank r among all sequences of rank up to R. For r, R >= 1 fewer do not suffice: if
p, q have linear recurrences of orders r and R and differ first at r + R - 1, and w(n) is the number of digits k - 1 of n, p(w(n))
and q(w(n)) have ranks r and R, and differ first at n = k^(r+R-1) - 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, NamedTuple

from gpu_nim.counting.long_integers import common_denominator, first_dependence, flint
from gpu_nim.guessing.formula import LEAST, Formula, combination, shifted

MAX_RANK = 48
_SHOWN = 12  # relations that are written out
_SPARE = 24  # columns, beyond the rank, by which a sequence is first compared


class KernelSequence(NamedTuple):
    """The sequence f(k^level n + shift), 0 <= shift < k^level: the terms at the numbers that end in a word of digits.

    Attributes:
        level: the number of digits.
        shift: the number that they are.
    """

    level: int
    shift: int

    def of(self, terms: Sequence[int], base: int) -> list[int]:
        """Its terms, of the terms of f."""
        return list(terms[self.shift :: base**self.level])

    def longer(self, base: int) -> list["KernelSequence"]:
        """Those of the words that are a digit and this word."""
        step = base**self.level
        return [KernelSequence(self.level + 1, digit * step + self.shift) for digit in range(base)]


@dataclass(frozen=True, repr=False)
class Regular(Formula):
    """A linear representation that gives all of some terms.

    Args:
        base: k.
        basis: kernel sequences, f itself first.
        relations: the coefficients, in the first sequences of the basis, of each other kernel sequence that is needed.
        terms: the terms that it gives.

    >>> ones = find_regular([bin(n).count("1") for n in range(100)])[0]
    >>> dict(ones.rows)["f(2n)"], dict(ones.rows)["f(4n+3)"], ones.term(2**100 - 1)
    ('f(n)', '2 f(2n+1) - f(n)', 100)
    """

    base: int
    basis: tuple[KernelSequence, ...]
    relations: dict[KernelSequence, tuple[Fraction, ...]]
    terms: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The dimension r of the matrices."""
        return len(self.basis)

    def described(self) -> dict[str, Any]:
        """The relations of the kernel, initial values and matrices; f(n) is the first entry of M_d1 ... M_dl times the initial
        vector, d1 the lowest digit of n. The relation with the fewest equations beyond its coefficients confirms the formula.
        """
        return {
            "title": f"{self.base}-regular of rank {self.rank}",
            "rows": self._equations() if len(self.relations) <= _SHOWN else [],
            "facts": {
                "base": self.base,
                "rank": self.rank,
                "basis": [[self.base**kernel.level, kernel.shift] for kernel in self.basis],
                "matrices": [[[str(each) for each in row] for row in matrix] for matrix in self.matrices],
                "initial": [str(value) for _, value in self._initial],
            },
            "fitted": sum(map(len, self.relations.values())) + self.rank,
            "chosen": self.rank,
            "confirmed": min(len(kernel.of(self.terms, self.base)) - len(found) for kernel, found in self.relations.items()),
            "certainty": self._certainty(),
        }

    def _equations(self) -> list[tuple[str, str]]:
        rows = []
        for kernel, coefficients in self.relations.items():
            named = [(each, self._name(other)) for each, other in zip(coefficients, self.basis, strict=False)]
            rows.append((self._name(kernel), combination(named[::-1])))
        initial = ", ".join(
            f"f({i}) = {value}" for i, value in sorted({kernel.shift: value for kernel, value in self._initial}.items())
        )
        return [*rows, ("initial", initial)] if initial else rows

    @property
    def largest_certain(self) -> int:
        """R, the largest with k^(r+R-1) <= N."""
        digits = 0
        while self.base ** (digits + 1) <= len(self.terms):
            digits += 1
        return digits + 1 - self.rank

    def _certainty(self) -> str:
        """The ranks up to which it is the only one, by the theorem above."""
        most, enough = self.largest_certain, self.base ** max(2 * self.rank - 1, 0)
        if most < self.rank:
            return f"rank {self.rank} or more is proved; that it is the only sequence of rank {self.rank} needs {enough:,} terms"
        below = f", and none of rank below {self.rank}" * (self.rank > 0)
        return f"no other {self.base}-regular sequence of rank up to {most} has these terms{below}"

    @cached_property
    def matrices(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """M_0, ..., M_(k-1), by rows: S(kn + d) = M_d S(n)."""
        rows = [[self._row(longer) for longer in kernel.longer(self.base)] for kernel in self.basis]
        return tuple(zip(*rows, strict=True))

    def term(self, n: int) -> int | Fraction:
        """Return f(n), by the digits of n.

        Args:
            n: the index, 0 for the first term.
        """
        if not self.rank:
            return 0
        state = [Fraction(value) for _, value in self._initial]
        digits = []
        while n:
            n, digit = divmod(n, self.base)
            digits.append(digit)
        for digit in reversed(digits):
            state = [sum((x * y for x, y in zip(row, state, strict=True)), Fraction(0)) for row in self.matrices[digit]]
        return int(state[0]) if state[0].denominator == 1 else state[0]

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether terms obey the relations."""
        basis = [kernel.of(terms, self.base) for kernel in self.basis]
        return all(
            _difference(basis, kernel.of(terms, self.base), coefficients, common_denominator(coefficients)) == 0
            for kernel, coefficients in self.relations.items()
        )

    def _name(self, kernel: KernelSequence) -> str:
        return shifted(kernel.shift, self.base**kernel.level)

    @property
    def _initial(self) -> list[tuple[KernelSequence, int]]:
        return [(kernel, self.terms[kernel.shift]) for kernel in self.basis]

    def _row(self, kernel: KernelSequence) -> tuple[Fraction, ...]:
        if kernel in self.basis:
            return tuple(Fraction(kernel == other) for other in self.basis)
        coefficients = self.relations[kernel]
        return coefficients + (Fraction(0),) * (self.rank - len(coefficients))


def find_regular(terms: Sequence[int], base: int = 2) -> tuple[Regular | None, int]:
    """Return the linear representation of least rank that gives all terms, or None, and a proved lower bound on the rank.

    It is None where the terms have none or do not suffice to tell.

    Args:
        terms: integers.
        base: k.

    >>> find_regular([3 ** bin(n).count("1") for n in range(40)])[0].title
    '2-regular of rank 1'
    """
    basis: list[KernelSequence] = []
    entries: list[Sequence[int]] = []
    relations: dict[KernelSequence, tuple[Fraction, ...]] = {}
    waiting = [(-len(terms), KernelSequence(0, 0))]  # those with the most terms first
    while waiting:
        _, kernel = heappop(waiting)
        if len(basis) > MAX_RANK:
            return None, len(basis)
        sequence = kernel.of(terms, base)
        found = _dependence(entries, sequence)
        if found is None:
            basis.append(kernel)
            entries.append(sequence)
            for longer in kernel.longer(base):
                heappush(waiting, (-len(longer.of(terms, base)), longer))
        elif len(found) < len(basis) or len(sequence) < len(basis) + LEAST:
            return None, len(basis)  # the basis itself is dependent on so few terms
        else:
            relations[kernel] = found
    return Regular(base, tuple(basis), relations, tuple(terms)), len(basis)


def _dependence(basis: Sequence[Sequence[int]], sequence: Sequence[int]) -> tuple[Fraction, ...] | None:
    """The first dependence among the basis and a sequence, on all terms of the latter, from few rows where they decide."""
    rows = len(basis) + _SPARE
    while True:
        columns = [each[: min(rows, len(sequence))] for each in (*basis, sequence)]
        found = first_dependence(columns) if columns[-1] else ()
        if found is None or rows >= len(sequence):
            return found
        if len(found) == len(basis) and _difference(basis, sequence, found, common_denominator(found)) == 0:
            return found
        rows *= 4


def _difference(basis: Sequence[Sequence[int]], sequence: Sequence[int], coefficients: Sequence[Fraction], scale: int) -> Any:
    """The generating function of what a sequence has beyond a combination of the first of the others, times `scale`."""
    rest = flint().fmpz_poly(list(sequence)) * scale
    for each, values in zip(coefficients, basis, strict=False):
        if each:
            rest -= flint().fmpz_poly(list(values[: len(sequence)])) * int(each * scale)
    return rest
