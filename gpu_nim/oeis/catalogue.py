"""The entries of the On-Line Encyclopedia of Integer Sequences that count Nim, each with its own offset, and those that it lacks.

An entry without an A-number has the name of its draft (`gpu_nim.oeis.submissions`), and is counted and verified like the others. An
entry that is a family at some k, shifted, has `family` and `shift`, and with them values of any size, ranges and reductions. Any
other is a function that yields its terms: of n, by solving a game, of a table read by antidiagonals, or by growing an automaton. A
new entry is one line of `_ENTRIES`; those of automata are listed in the automaton's entry, those of families in their `numbers`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count
from math import isqrt
from typing import Any, SupportsIndex

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.automata.catalogue import Automaton, GrowthEntry
from gpu_nim.automata.formulas import ulam_warburton_births
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.macro_cells import MacroGrowth
from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.digit_matrices import by_total
from gpu_nim.counting.families import FAMILIES, ByTotal, UpToMaximum, UpToTotal
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.model.arguments import IntLike, argument, integer, parse_integer, short_repr
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, one_of, unknown
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import OnStep, no_progress

_MAX_AT_ONCE = 1 << 16  # terms
_MAX_PARTITIONS = 1000  # n, up to which the partitions of 2n by nim-sum take minutes
_MAX_DIAGONAL = 4000  # n, up to which D_2n(n) takes minutes
_FIRST_GENERATIONS = 64
_FIRST_SIZE = 63  # of a game, and n of partitions
_FAR = 1 << 10  # terms from which on macro-cells reach a generation sooner than growing does

#: Yields a(start), a(start + 1), ..., a(stop - 1), without end where stop is None; the last argument is called for progress.
Terms = Callable[[int, int | None, OnStep], Iterator[int]]


@dataclass(frozen=True, repr=False)
class OeisEntry(Shown):
    """One entry.

    Attributes:
        name: its A-number; the name of its draft where the OEIS has no entry; of a family, name and piles, as D_4.
        summary: what it counts.
        offset: the index of its first term.
        compute: yields its terms.
        family: the sequence of a family that it equals, if there is one: a(n + shift) = family.value(n).
        shift: the index of the family's first value.
        quick: how many first terms are found at once, where the others take long; None for a sequence without long work.
    """

    name: str
    summary: str
    offset: int
    compute: Terms = field(compare=False)
    family: Family | None = None
    shift: int = 0
    quick: int | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return (find, (self.name,)) if entries().get(self.name) == self else super().__reduce_ex__(protocol)

    @property
    def facts(self) -> dict[str, Any]:
        """What `gpunim count --json` says of it: the name by which it is counted, and the number of piles."""
        if self.family is None:
            return {"sequence": self.name, "piles": None}
        return {"sequence": self.family.name if self.name == str(self.family) else self.name, "piles": self.family.piles}

    def terms(self, start: int, stop: int | None = None, progress: OnStep = no_progress) -> Iterator[int]:
        """Yield a(start), ..., a(stop - 1), lazily.

        Args:
            start: the first index.
            stop: the index after the last; None for no end.
            progress: called for progress where one term takes long.

        Raises:
            UsageError: start is below the offset.

        >>> list(OeisEntry("A000027", "n", 1, lambda start, stop, _: iter(range(start, stop))).terms(3, 6))
        [3, 4, 5]
        """
        self.check_index(integer("start", start), "start")
        return self.compute(start, stop, progress)

    def check_index(self, n: int, name: str) -> None:
        """Check an index against the offset.

        Args:
            n: the index.
            name: its name in the message.

        Raises:
            UsageError: it is below the offset.
        """
        if n < self.offset:
            raise UsageError(f"{name} must be at least {self.offset}, where {self.name} begins, got {short_repr(n)}")

    def term(self, n: int, progress: OnStep = no_progress) -> int:
        """Return a(n), exact.

        Args:
            n: the index.
            progress: called for progress.
        """
        return next(self.terms(n, n + 1, progress))


def find(name: str) -> OeisEntry:
    """Return the entry of that A-number, in upper or lower case, or of that draft.

    Args:
        name: the A-number, or the name of a draft.

    Raises:
        UsageError: there is none; the message lists them.

    >>> find("a241717").summary
    'P-positions of 3-pile Nim whose largest pile is n'
    """
    known = entries()
    for number, entry in known.items():
        if isinstance(name, str) and number.lower() == name.lower():
            return entry
    raise unknown("sequence", name, (*FAMILIES, *known), ", which `gpunim oeis` lists")


def resolve(name: str, piles: IntLike | None = None) -> OeisEntry:
    """Return the sequence of that name.

    Args:
        name: the name of a family, also with the number of piles as D_4, an A-number, or the name of a draft, in any case.
        piles: the number of piles of a family; None with an A-number.

    Raises:
        UsageError: there is none, or `piles` is missing or superfluous.

    >>> resolve("D", 4).term(3), resolve("A237711").term(3), resolve("D_4").term(3)
    (36, 36, 36)
    """
    head, _, number = name.partition("_") if isinstance(name, str) else ("", "", "")
    if known := FAMILIES.named(head):
        if number and piles is not None:
            raise UsageError(f"piles must be given once, got {short_repr(name)} and {short_repr(piles)}")
        try:
            piles = parse_integer(number) if number else piles
        except ValueError:
            raise unknown("sequence", name, (*FAMILIES, *entries()), ", which `gpunim oeis` lists") from None
        if piles is None:
            raise UsageError(f"{name} needs {argument('piles')}, the number of piles")
        family = known(piles)  # type: ignore[arg-type]  # which makes it an int
        return OeisEntry(str(family), family.title, 0, partial(_in_blocks, family, 0), family)
    entry = find(name)
    if piles is not None:
        raise UsageError(f"piles belongs to {one_of(FAMILIES, 'and')}; {entry.name} has its own, got {short_repr(piles)}")
    return entry


def entries() -> dict[str, OeisEntry]:
    """Return every entry by its name, A-numbers first, in order; a formula takes precedence over a growth."""
    numbered = ((number, family(piles)) for family in FAMILIES.values() for piles, number in family.numbers.items())
    of_families = {number: _family(number, family) for number, family in numbered}
    return dict(sorted({**_of_automata(), **of_families, **CATALOGUE}.items()))


def _of_automata() -> dict[str, OeisEntry]:
    """The entries that automata list; if several automata have one, it is of the first."""
    found: dict[str, OeisEntry] = {}
    for automaton in AUTOMATA.values():
        for column in automaton.oeis:
            found.setdefault(column.number, grown_entry(automaton, column))
    return found


def grown_entry(automaton: Automaton, column: GrowthEntry) -> OeisEntry:
    """Return the entry whose terms are grown.

    Args:
        automaton: the automaton.
        column: the column of its growth, with the name of the entry.
    """
    summary = f"{column.counts} of the automaton {automaton.name}"
    return OeisEntry(column.number, summary, column.offset, partial(_grown, automaton, column))


def _grown(automaton: Automaton, column: GrowthEntry, start: int, stop: int | None, progress: OnStep) -> Iterator[int]:
    """Terms start, ..., stop - 1; without `stop`, the growth is repeated to twice the generations whenever it runs out."""
    if automaton.repeats and start > _FAR and column.column in ("births", "population"):
        first, growth = start - column.shift - column.differences, MacroGrowth(automaton, progress=progress)
        end = None if stop is None else stop - column.shift
        far = growth.births(first, end) if column.column == "births" else growth.populations(first, end)
        yield from (term for _, term in column.terms(far, first))
        return
    last = max(0, (max(start, _FIRST_GENERATIONS) if stop is None else stop - 1) - column.shift)
    while True:
        values = GrowthProcess(automaton, last, "auto", columns=[column.column], verify=False).growth().table[column.column]
        for n, term in column.terms(values.tolist()):
            if start <= n and (stop is None or n < stop):
                yield term
        if stop is not None:
            return
        start, last = last + column.shift + 1, 2 * last + 1


def function_entry(number: str, summary: str, offset: int, function: Callable[[int], int]) -> OeisEntry:
    """Return the entry of a sequence that is a function of n.

    Args:
        number: as for `OeisEntry`.
        summary: as for `OeisEntry`.
        offset: as for `OeisEntry`.
        function: gives a(n).
    """

    def terms(start: int, stop: int | None, _: OnStep) -> Iterator[int]:
        return map(function, count(start) if stop is None else range(start, stop))

    return OeisEntry(number, summary, offset, terms)


def unordered_by_total(last: int) -> list[int]:
    """A048833 to the index `last`: P-positions with 2n counters in any number of piles, the order of the piles disregarded.

    Counts partitions of 2n by their nim-sum, one part size after the other. No part of a P-position exceeds n, so sums up to
    2 last and nim-sums below the next power of two suffice.

    >>> unordered_by_total(8)
    [1, 1, 2, 4, 6, 10, 16, 31, 43]
    """
    if last > _MAX_PARTITIONS:
        raise UsageError(f"A048833 is counted from all partitions of 2n, for n up to {_MAX_PARTITIONS}, got {short_repr(last)}")
    # Partitions of 2n number fewer than 2^63 up to 2n = 400; beyond, Python integers.
    ways = np.zeros((2 * last + 1, 1 << last.bit_length()), np.int64 if last <= 200 else object)
    ways[0, 0] = 1
    nim_sums = np.arange(ways.shape[1])
    for part in range(1, last + 1):
        moved = nim_sums ^ part
        for total in range(part, 2 * last + 1):
            ways[total] += ways[total - part, moved]
    return [int(count) for count in ways[::2, 0]]


def _in_doublings(terms_to: Callable[[int, OnStep], list[int]]) -> Terms:
    """Terms that are found together up to a last index; without `stop`, it is doubled whenever they run out."""

    def terms(start: int, stop: int | None, progress: OnStep) -> Iterator[int]:
        last = max(start, _FIRST_SIZE) if stop is None else stop - 1
        while start <= last:
            yield from terms_to(last, progress)[start:]
            if stop is not None:
                return
            start, last = last + 1, 2 * last + 1

    return terms


def _family(number: str, family: Family, summary: str | None = None, offset: int = 0, shift: int = 0) -> OeisEntry:
    return OeisEntry(number, summary or family.title, offset, partial(_in_blocks, family, shift), family, shift)


def _in_blocks(family: Family, shift: int, start: int, stop: int | None, progress: OnStep) -> Iterator[int]:
    """The terms of a family, computed in ranges of doubling length: few are wasted, and long ranges are fast."""
    size = 1
    while stop is None or start < stop:
        end = start + size if stop is None else min(start + size, stop)
        if size == 1:
            yield family.value(start - shift, progress)
        else:
            yield from to_integers(Range(family, start - shift, end - shift, HostCounting(threads=1)).values())
        start, size = end, min(2 * size, _MAX_AT_ONCE)


def _diagonal(n: int) -> int:
    if n > _MAX_DIAGONAL:
        raise UsageError(f"A372967 is counted with as many piles as counters, for n up to {_MAX_DIAGONAL}, got {short_repr(n)}")
    return 1 if n == 0 else by_total(2 * n).value(n)


def _distinct_triples(n: int) -> int:
    # Of the a_3(n) ordered positions 1 + 3n have an empty pile; the others have three different piles, six orders each.
    return (UpToMaximum(3).value(n) - 1 - 3 * n) // 6


def _table(name: str, family: type[Family]) -> OeisEntry:
    """T(1,0); T(1,1), T(2,0); T(1,2), T(2,1), T(3,0); ... for T(k,n), the value of k piles at n."""

    def term(index: int) -> int:
        length = (isqrt(8 * index) + 1) // 2  # of the antidiagonal
        piles = index - length * (length - 1) // 2
        return family(piles).value(length - piles)

    return function_entry(name, f"{family.summary.format(piles='k')}, by antidiagonals, k >= 1", 1, term)


def _largest(game: str, size: int, coordinates: Sequence[int], progress: OnStep, **parameters: Any) -> list[int]:
    """The numbers of P-positions whose largest of these coordinates is 0, 1, ..., size."""
    from gpu_nim.games.solve import solve  # which counts of Nim would load for nothing

    positions = solve(game, size, progress=progress, **parameters).p_positions
    return np.bincount(positions[:, coordinates].max(axis=1), minlength=size + 1).tolist()


def _chocolate(a: int) -> OeisEntry:
    """The terms of all smaller sizes are in one solution."""

    def terms_to(last: int, progress: OnStep) -> list[int]:
        return [*accumulate(_largest("chocolate", last, (0, 2), progress, a=a))]

    summary = f"P-positions of the chocolate {a} y <= x + z with x and z at most n"
    return OeisEntry(f"chocolate-{a}", summary, 0, _in_doublings(terms_to))


#: P-positions of the chocolate that is cut in six directions up to sizes 0, 1, ..., 20, as one solution of size 20 has them. It
#: took 12 minutes, so that they are kept here; `tests/counting/test_oeis_drafts.py` solves smaller sizes.
SIX_DIRECTIONS = (
    *(1, 17, 91, 302, 925, 2226, 4772, 9097, 16176, 27103, 43251, 66203, 97891, 140819, 198317, 273407, 369990, 491904, 643758),
    *(831588, 1061593),
)


def _six_directions(start: int, stop: int | None, progress: OnStep) -> Iterator[int]:
    """Larger sizes than those that are kept are solved one by one: the work grows by the sixth power of the size."""
    for size in count(start) if stop is None else range(start, stop):
        yield SIX_DIRECTIONS[size] if size < len(SIX_DIRECTIONS) else sum(_largest("chocolate6", size, range(6), progress))


_ENTRIES = (
    _family("A000027", UpToMaximum(2), "P-positions of 2-pile Nim with no pile over n - 1", offset=1, shift=1),
    function_entry("A016945", "6n + 3, what the rows of d_3 tend to", 0, lambda n: 6 * n + 3),
    OeisEntry("A048833", "P-positions of Nim with 2n counters, piles in any order", 0,
              _in_doublings(lambda last, _: unordered_by_total(last))),
    function_entry("A147562", "Cells of the Ulam-Warburton automaton after n generations", 0,
              lambda n: 1 + 4 * ((UpToTotal(3).value(n - 1) - 1) // 3) if n else 0),
    function_entry("A147582", "Cells born in generation n of the Ulam-Warburton automaton", 1,
              lambda n: ulam_warburton_births(n - 1)),
    function_entry("A147610", "3^(wt(n-1) - 1), a quarter of A147582", 2,
              lambda n: ulam_warburton_births(n - 1) // 4),
    function_entry("A151920", "(A130665(n+1) - 1)/3", 0, lambda n: (UpToTotal(3).value(n + 1) - 1) // 3),
    function_entry("A363166", "P-positions of 3-pile Nim with no pile over n and no empty one, piles in any order", 1,
              _distinct_triples),
    function_entry("A372967", "P-positions of 2n-pile Nim with 2n counters", 0, _diagonal),
    _table("nim-by-total-table", ByTotal),
    _table("nim-up-to-maximum-table", UpToMaximum),
    *map(_chocolate, (2, 4, 5, 6, 7, 8)),  # for a = 3 they are counted by A256249(n) + 1
    OeisEntry("chocolate6", "P-positions with coordinates at most n of the chocolate that is cut in six directions", 0,
              _six_directions, quick=len(SIX_DIRECTIONS)),
)  # fmt: skip

#: The entries but those of automata and families, by name.
CATALOGUE = Registry[OeisEntry]("OEIS entry", _ENTRIES)
