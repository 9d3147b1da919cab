"""The catalogue of corrections and additions to entries of the OEIS, as they stood in 2026.

A correction quotes no more of an entry than what it replaces. `tests/test_oeis_drafts.py` computes what each claims.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_nim.model.registry import Registry
from gpu_nim.oeis.draft import CONTRIBUTOR


@dataclass(frozen=True)
class Change:
    """A change of a line of an entry.

    Attributes:
        tag: the letter of the line in the internal format.
        present: the words that are replaced; empty for a new line.
        proposed: the words in their place.
        reason: why, for the editors.
    """

    tag: str
    present: str
    proposed: str
    reason: str


@dataclass(frozen=True)
class Correction:
    """The changes of an entry.

    Attributes:
        name: the A-number.
        changes: the changes.
        reach: the last index of the b-file that a change proposes; None where none does.
        counts: what the entry counts, where gpunim does not compute it.
    """

    name: str
    changes: tuple[Change, ...]
    reach: int | None = None
    counts: str = ""

    @property
    def summary(self) -> str:
        """The reasons."""
        return "; ".join(change.reason for change in self.changes)

    def lines(self) -> list[str]:
        """Return each change as a line to take out, one to put in, and the reason."""
        found = []
        for change in self.changes:
            found += [f"-%{change.tag} {self.name} {change.present}"] * bool(change.present)
            found += [f"+%{change.tag} {self.name} {change.proposed}", f"# {change.reason}"]
        return found


_DIGITS = Change(
    "F",
    "is the number of digits in the binary representation of n",
    "is one less than the number of digits in the binary representation of n, n >= 1",
    "floor(log_2(n)) is 2 for n = 4, which has 3 digits; the formula is right with floor(log_2(n))",
)
_PREPRINT = Change("H", "arXiv:1405.594291", "arXiv:1405.5942", "the number of the preprint, as in its address")


def _table(number: str, first: int, last: int, present: str = "") -> Change:
    table = f'<a href="/{number}/b{number[1:]}.txt">Table of n, a(n) for n = {first}..{last}</a>'
    reason = "a longer b-file" if present else "the entry has no b-file"
    return Change("H", present, f"{CONTRIBUTOR}, {table}", reason)


def _formula(text: str) -> Change:
    return Change("F", "", text, "proved in the documentation of gpunim, docs/open-problems/largest-counts.md")


def _of_nim(number: str, *changes: Change) -> Correction:
    return Correction(number, (*changes, _PREPRINT, _table(number, 0, 10_000)), 10_000)


CORRECTIONS = Registry[Correction]("correction")
"""The corrections, by A-number."""

for _correction in (
    Correction("A147552", (_table("A147552", 0, 2049, "Table of n, a(n) for n = 0..1023"),), 2049),
    Correction("A151776", (_table("A151776", 0, 2049, "Table of n, a(n) for n = 0..68"),), 2049),
    Correction(
        "A160720",
        (
            Change(
                "C",
                "This CA also arises as the cross-section in the (X,Y)-plane of the CA in A151776.",
                "The cross-section in the (X,Y)-plane of the CA in A151776 is A147552, which first differs from this sequence at "
                "n = 13.",
                "a(13) = 145 here, and 153 cells of A151776 are in the plane after 13 generations, as A147552 says",
            ),
        ),
        counts="cells of an automaton in the plane that grows along diagonals",
    ),
    Correction(
        "A236305",
        (
            _DIGITS,
            Change(
                "F",
                "a(n) = 4^floor(log(n)/log(2)) + 3*(n mod 2^floor(log(n)/log(2)))^2 (conjectured).",
                "a(n-1) = 4^floor(log_2(n)) + 3*(n mod 2^floor(log_2(n)))^2 for n >= 1.",
                "the conjecture gives a(1) = 1, but a(1) = 4; for n-1 it follows from the formula with b and c",
            ),
            Change(
                "C",
                "This sequence seems to be A256534(n+1)/4.",
                "a(n) = A256534(n+1)/4.",
                "A256534 has the terms 4^i + 3*(2*j)^2 at n = 2^(i-1) + j, 0 <= j < 2^(i-1), four times those of the formula here",
            ),
        ),
    ),
    Correction(
        "A161342",
        (
            Change(
                "C",
                "",
                "a(n) is the number of P-positions in the game of Nim with up to 4 piles whose bitwise OR is less than n.",
                "each binary digit is 1 in 0, 2 or 4 piles, in 1 + 6 + 1 ways, and in the OR unless it is 1 in none",
            ),
        ),
    ),
    Correction(
        "A161343",
        (
            Change(
                "C",
                "",
                "a(n) is the number of P-positions in the game of Nim with up to 4 piles whose bitwise OR is n.",
                "where n has a binary digit 1, 2 or 4 piles have it, in 6 + 1 = 7 ways",
            ),
        ),
    ),
    _of_nim("A237686", _formula("a(2^m-1) = (8^m + 6^m)/2.")),
    _of_nim(
        "A237711",
        _formula(
            "Record values are at 0 and at the n >= 1 with at most one 0 in binary: a(2^m-1) = 6^m, a(2^m-1-2^j) = (6^m - 6^j)/5."
        ),
    ),
    _of_nim(
        "A238147",
        Change(
            "t",
            "Table[Length[Select[Flatten[Table[{n, k, j, i, BitXor[n, k, j, i]}, ...], 3], #[[5]] <= a &]], {a, 0, 35}]",
            "Accumulate[Table[Length[Select[Flatten[Table[{n, k, j, i, BitXor[n, k, j, i]}, {n, 0, a}, {k, 0, a}, {j, 0, a}, "
            "{i, 0, a}], 3], Total[#] == 2 a &]], {a, 0, 20}]]",
            "the first program bounds each pile, not the total: it gives 1, 16, 61, 256, ..., A241523",
        ),
        _formula("a(2^m-1) = (16^m + 5*10^m)/6."),
    ),
    _of_nim(
        "A238759",
        _formula(
            "Record values are at 0 and at the n >= 1 with at most one 0 in binary: a(2^m-1) = 10^m, "
            "a(2^m-1-2^j) = (10^m - 10^j*5^(m-j))/5."
        ),
    ),
    _of_nim("A241522", _DIGITS),
    _of_nim("A241523", _DIGITS),
    _of_nim("A241717", _DIGITS),
    _of_nim("A241718", _DIGITS),
    _of_nim("A241731", _DIGITS),
    Correction(
        "A256249",
        (
            Change(
                "C",
                "",
                "a(n) + 1 is the number of P-positions (x,y,z) with x <= n and z <= n of the chocolate game 3*y <= x+z of "
                "Yamauchi, Inoue and Tomari: they are the triples with x XOR y XOR z = 0 and 3*y <= x+z, and those of largest "
                "entry n are A241717(n)/3 = A006257(n) in number for n >= 1, since y has to be the pile without the highest bit.",
                "a new relation, with its proof",
            ),
        ),
        counts="P-positions but (0,0,0) of the chocolate 3 y <= x + z with x and z at most n",
    ),
    Correction(
        "A256534",
        (
            Change(
                "F",
                "It appears that a(n) = 4 * A236305(n-1), n >= 1.",
                "a(n) = 4 * A236305(n-1), n >= 1.",
                "both formulas are 4*(4^b + 3*c^2) with n = 2^b + c",
            ),
        ),
        counts="four times the P-positions of 3-pile Nim with no pile over n - 1",
    ),
):
    CORRECTIONS.add(_correction)
