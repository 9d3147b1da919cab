"""The catalogue of families of sequences: a class each, with everything that counting, listing and drawing it needs.

A new family is one class decorated with `FAMILIES.add`; the command line and `gpu_nim.count` then take its name.
"""

from typing import ClassVar

from gpu_nim.counting import closed_forms
from gpu_nim.counting.digit_matrices import IndexBlocks, by_total, up_to_total
from gpu_nim.counting.family import DigitFamily, Family, Rising, index
from gpu_nim.model.arguments import IntLike, integer
from gpu_nim.model.registry import Registry
from gpu_nim.model.work import OnStep, no_progress

_BY_BLOCKS = 128  # piles

#: Every family by its name, in the order in which messages list them.
FAMILIES = Registry[type[Family]]("sequence", plugins="gpunim.families")


def find_family(name: str, piles: IntLike) -> Family:
    """Return the sequence of the family of that name with that many piles.

    Args:
        name: a name of `FAMILIES`.
        piles: 1 to 1000.

    Raises:
        UsageError: there is none.

    >>> find_family("D", 4).value(7)
    216
    """
    return FAMILIES.find(name)(integer("piles", piles))


def _drafted(what: str) -> dict[int, str]:
    """The names of the drafts of entries that the OEIS lacks (`gpu_nim.oeis.submissions`), by the number of piles."""
    return {piles: f"nim-{piles}-{what}" for piles in range(6, 9)}


@FAMILIES.add
class ByTotal(DigitFamily):
    """D_k(n), the P-positions of total 2n [NF, section 3, Theorem 29]."""

    name = "D"
    summary = "P-positions of {piles}-pile Nim with 2n counters"
    numbers: ClassVar = {1: "A000007", 2: "A000012", 3: "A048883", 4: "A237711", 5: "A238759", **_drafted("births")}
    enumerated_by = "total"
    product_of = staticmethod(by_total)


@FAMILIES.add
class UpToTotal(Rising, DigitFamily):
    """A_k(n), the P-positions of total at most 2n [NF, section 3, Theorem 30]."""

    name = "A"
    summary = "P-positions of {piles}-pile Nim with at most 2n counters"
    numbers: ClassVar = {3: "A130665", 4: "A237686", 5: "A238147", **_drafted("population")}
    enumerated_by = "total"
    cumulative = True
    product_of = staticmethod(up_to_total)


class _ClosedFamily(Family):
    """A family with the closed forms of `gpu_nim.counting.closed_forms`: a_k, or its differences d_k."""

    enumerated_by = "maximum"

    @property
    def by_blocks(self) -> bool:
        """Whether there are so few piles that rows, of a number for each, are short."""
        return self.piles <= _BY_BLOCKS

    def blocks(self) -> IndexBlocks:
        """Polynomials in the low part of the index."""
        return closed_forms.closed_blocks(self.piles, differences=not self.cumulative)


@FAMILIES.add
class ByMaximum(_ClosedFamily):
    """d_k(n), the P-positions whose largest pile is n [NF, section 3, Theorems 11, 16 and 18]."""

    name = "d"
    summary = "P-positions of {piles}-pile Nim whose largest pile is n"
    numbers: ClassVar = {3: "A241717", 4: "A241718", 5: "A241731", **_drafted("by-maximum")}

    def value(self, n: IntLike, progress: OnStep = no_progress) -> int:
        """d_k(n) in closed form."""
        return closed_forms.d(self.piles, index(n), progress)

    def _sum_through(self, last: int) -> int:
        return closed_forms.a(self.piles, last)

    # d(n) is a sum, over the 1s of n that count, of terms that rise with the digits below them, so that within a block all
    # digits 1 give the most and all digits 0 the least; for one pile d falls, from 1 to 0.

    def block_extreme(self, high: int, bits: int, *, largest: bool) -> int:
        """The value at the block's last index or at its first; of one pile the other way round."""
        return self.value(((high + 1) << bits) - 1 if largest == (self.piles > 1) else high << bits)


@FAMILIES.add
class UpToMaximum(Rising, _ClosedFamily):
    """a_k(n), the P-positions with no pile over n [NF, section 3, Theorems 12, 13, 15 and 17]."""

    name = "a"
    summary = "P-positions of {piles}-pile Nim with no pile over n"
    numbers: ClassVar = {3: "A236305", 4: "A241522", 5: "A241523", **_drafted("up-to-maximum")}
    cumulative = True

    def value(self, n: IntLike, progress: OnStep = no_progress) -> int:
        """a_k(n) in closed form."""
        return closed_forms.a(self.piles, index(n), progress)

    def _sum_through(self, last: int) -> int:
        return closed_forms.sum_of_a(self.piles, last + 1)
