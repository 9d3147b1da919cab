"""Guess formulas of a sequence from its terms, and say what was tested, what confirms it and what is proved.

Terms are also compared with the sequences that gpunim can compute: as they are, shifted, times a constant, plus one, by differences
or by partial sums. These are the OEIS entries of `gpu_nim.oeis`, the families of `gpu_nim.counting` up to 12 piles, and the births
and the population of automata without a formula.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from gpu_nim.automata.catalogue import CATALOGUE, GrowthEntry
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.counting.families import FAMILIES
from gpu_nim.guessing.formula import LEAST, MAX_TERMS, Formula, combination, needed_confirmations, shifted
from gpu_nim.guessing.recurrences import find_recurrence, max_order
from gpu_nim.guessing.regular import find_regular
from gpu_nim.model.arguments import IntLike, integer, integers, items
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.shown import Shown, html_table
from gpu_nim.oeis.catalogue import OeisEntry, entries, grown_entry, resolve

_MAX_PILES = 12
_HEAD = 24  # terms by which a sequence is first compared
_MAX_GROWN, _MAX_COUNTED = 128, 1 << 20  # terms that are computed for a comparison
_SHIFTS = (0, 1, -1, 2, -2, 3, -3)
_FEWEST = 4  # terms that must agree, beyond constants

_SIMPLER = 4  # times fewer numbers, with which a formula takes the place of another

#: The bases of k-regular sequences, where no other is wanted.
BASES = range(2, 17)

#: The fewest terms from which anything is guessed.
FEWEST = 4


class Known(NamedTuple):
    """A sequence that gpunim can compute.

    Args:
        entry: the entry, whose name is how it is written.
        head: its first terms.
    """

    entry: OeisEntry
    head: Sequence[int]


def _terms(entry: OeisEntry, count: int) -> list[int]:
    """The first terms of an entry, as many as are computed for a comparison at most."""
    most = _MAX_GROWN if entry.family is None else _MAX_COUNTED
    return list(entry.terms(entry.offset, entry.offset + min(count, most if entry.quick is None else entry.quick)))


@cache
def known_sequences() -> tuple[Known, ...]:
    """Return every sequence that terms are compared with."""
    grown = [*_of_growths()]
    compared = {known.entry.name for known in grown}
    families = (resolve(name, k) for name, each in FAMILIES.items() for k in range(1, _MAX_PILES + 1) if k not in each.numbers)
    others = (entry for entry in (*entries().values(), *families) if entry.name not in compared)
    return (*(Known(entry, _terms(entry, _HEAD)) for entry in others), *grown)


def _of_growths() -> Iterator[Known]:
    """What the columns of automata without a formula give; each is grown once for all its first terms."""
    for automaton in CATALOGUE.values():
        if automaton.births_formula is not None:
            continue
        columns = (*DEFAULT_COLUMNS, *(column.column for column in automaton.oeis))
        table = GrowthProcess(automaton, _HEAD, "numpy", columns=columns, verify=False).growth().table
        covered = {column.column for column in automaton.oeis if column.divisor == 1 and not column.differences}
        others = (GrowthEntry(f"{name} of {automaton.name}", name, 0) for name in DEFAULT_COLUMNS if name not in covered)
        for column in (*automaton.oeis, *others):
            head = [value for _, value in column.terms(table[column.column].tolist())]
            yield Known(entries().get(column.number) or grown_entry(automaton, column), head[:_HEAD])


@dataclass(frozen=True, repr=False)
class Match(Formula):
    """A known sequence g that terms agree with.

    Args:
        name: that of g.
        summary: what g counts.
        formula: how g and f are related.
        constants: how many constants were chosen to fit.
        compared: how many terms were compared.
        length: how many terms there are.
    """

    name: str
    summary: str
    formula: str
    constants: int
    compared: int
    length: int

    def described(self) -> dict[str, Any]:
        """The relation, and what the sequence counts."""
        some = "" if self.compared == self.length else f" of {self.length:,}"
        return {
            "title": f"known: {self.name}",
            "rows": [("formula", self.formula), (self.name, self.summary)],
            "facts": {"name": self.name, "summary": self.summary, "formula": self.formula, "compared": self.compared},
            "fitted": self.constants,
            "confirmed": self.compared - self.constants,
            "certainty": f"nothing beyond the {self.compared:,}{some} terms that were compared",
        }

    def holds_for(self, terms: Sequence[int]) -> bool:
        """Whether the same formula is found for terms."""
        return any((found.name, found.formula) == (self.name, self.formula) for found in find_known(terms))


class _Relation(NamedTuple):
    """A way in which terms may be made of a known sequence g.

    Attributes:
        formula: how it is written, with {} for c g + d.
        free: how many of c and d are chosen: d is else 0, and c else 1.
        changed: makes of the terms what is c g + d.
    """

    formula: str
    free: int
    changed: Callable[[Sequence[int]], Sequence[int]] = tuple


#: The simplest first.
_RELATIONS = (
    _Relation("f(n) = {}", 0),
    _Relation("f(n) = {}", 1),
    _Relation("f(n) = {}", 2),
    _Relation("f(n+1) - f(n) = {}", 1, lambda terms: [y - x for x, y in pairwise(terms)]),
    _Relation("f(0) + ... + f(n) = {}", 1, lambda terms: [*accumulate(terms)]),
)


def find_known(terms: Sequence[int]) -> list[Match]:
    """Return the known sequences that terms agree with, the simplest relation alone.

    Args:
        terms: integers.

    >>> [match.formula for match in find_known([6, 7, 36, 13, 42, 43])]
    ['f(n) = A237711(n+1)']
    >>> [match.formula for match in find_known([2, 110, 770, 6974, 37400, 93192])]
    ['f(n) = 2 D_11(n)']
    """
    for relation in _RELATIONS:
        changed = relation.changed(terms)
        lost = len(terms) - len(changed)  # a term that is chosen, too
        found = [*filter(None, (_match(relation, changed, lost, known) for known in known_sequences()))]
        if found:
            return found
    return []


def _match(relation: _Relation, changed: Sequence[int], lost: int, known: Known) -> Match | None:
    """The known sequence by the smallest shift at which the relation holds wherever both are known."""
    constants = relation.free + lost
    for shift in _SHIFTS:
        if _line(relation.free, constants, *_aligned(changed, known.head, shift)) is not None:
            values = _terms(known.entry, len(changed) + max(shift, 0))
            f, g = _aligned(changed, values, shift)
            line = _line(relation.free, constants, f, g)
            if line is not None:
                formula = relation.formula.format(combination([(line[0], _at(known, shift)), (line[1], "")]))
                where = f" for n >= {-shift}" if shift < 0 else ""
                return Match(known.entry.name, known.entry.summary, formula + where, constants, len(f) + lost, len(changed) + lost)
    return None


def _line(free: int, constants: int, f: Sequence[int], g: Sequence[int]) -> tuple[Fraction, Fraction] | None:
    """C and d with f = c g + d at every index; None where there are none, c is 0, or too few terms confirm them."""
    if len(f) < _FEWEST + constants:
        return None
    origin = (f[0], g[0]) if free == 2 else (0, 0)
    x, y = next((pair for pair in zip(f, g, strict=True) if pair[1] != origin[1]), origin)
    if free and (x == origin[0] or y == origin[1]):
        return None
    factor = Fraction(x - origin[0], y - origin[1]) if free else Fraction(1)
    scale, rise = factor.denominator, factor.numerator
    constant = scale * origin[0] - rise * origin[1]
    holds = all(rise * y + constant == scale * x for x, y in zip(f, g, strict=True))
    return (factor, Fraction(constant, scale)) if holds else None


def _aligned(terms: Sequence[int], values: Sequence[int], shift: int) -> tuple[Sequence[int], Sequence[int]]:
    """The terms at n and the values at n + shift, wherever both are known."""
    start, at = max(-shift, 0), max(shift, 0)
    size = max(min(len(terms) - start, len(values) - at), 0)
    return terms[start : start + size], values[at : at + size]


def _at(known: Known, shift: int) -> str:
    """The known sequence at n + shift, where n counts from its first term."""
    return shifted(shift + known.entry.offset, name=known.entry.name)


@dataclass(repr=False)
class Answer(Shown):
    """What one kind of formula gave.

    Attributes:
        tested: what was tested, in a sentence.
        formulas: the formulas that all terms obey and enough terms confirm.
        weak: formulas that all terms obey, confirmed by too few.
    """

    tested: str
    formulas: list[Formula] = field(default_factory=list)
    weak: list[Formula] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class Guess(Shown):
    """The search for formulas of some terms, and what was found: a sequence of `formulas`.  f(0) is the first term throughout.

    Args:
        terms: f(0), f(1), ...
        bases: of k-regular sequences, the first with a formula alone.
        confirm: how many terms must confirm a formula; None for as many as numbers are fitted, and 8 or more, as values vary.
        answers: what each kind of formula gave, by the name of the kind.
        source: what has the terms.
        first: the index of the first term there.
    """

    terms: tuple[int, ...]
    bases: Sequence[int] = BASES
    confirm: int | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    source: str = "integers"
    first: int = 0

    @cached_property
    def needed(self) -> int:
        """How many terms must confirm any formula; one that was fitted to more terms needs as many."""
        return needed_confirmations(self.terms) if self.confirm is None else self.confirm

    def needed_for(self, formula: Formula) -> int:
        """How many terms must confirm this formula: also as many as were chosen to fit, so that half of the terms show it."""
        if self.confirm is not None:
            return self.confirm
        return max(needed_confirmations(getattr(formula, "terms", self.terms)), formula.chosen, formula.least)

    def accepts(self, formula: Formula) -> bool:
        """Whether enough terms confirm a formula."""
        return formula.confirmed >= self.needed_for(formula)

    def __len__(self) -> int:
        return len(self.formulas)

    def __getitem__(self, number: int) -> Formula:
        return self.formulas[number]

    def _line(self) -> str:
        titles = [each.title for each in self.formulas] or [f"weak: {each.title}" for each in self.weak]
        return f"<Guess from {len(self.terms)} terms: {', '.join(titles) or 'no formula'}>"

    def _repr_html_(self) -> str:
        rows = [("terms", f"{len(self.terms):,}", "")]
        for name, formulas in (("formula", self.formulas), ("weak formula", self.weak)):
            for formula in formulas:
                evidence = ("confirmed by", f"{formula.confirmed:,} equations"), ("proved", formula.certainty)
                rows += [(name, formula.title, ""), *(("", *row) for row in (*formula.rows, *evidence))]
        return html_table([*rows, *((f"tested: {kind}", answer.tested, "") for kind, answer in self.answers.items())])

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas that enough terms confirm, unless one, also of few confirmations, fits far fewer numbers: those that fit the
        fewest first, then known sequences.
        """
        found = [each for answer in self.answers.values() for each in answer.formulas]
        found.sort(key=lambda each: (isinstance(each, Match), each.fitted))
        return tuple(each for each in found if each.fitted <= _SIMPLER * max(self._simplest, FEWEST))

    @property
    def _simplest(self) -> float:
        """The fewest numbers that are fitted by a formula that is no known sequence."""
        found = (each for answer in self.answers.values() for each in (*answer.formulas, *answer.weak))
        return min((each.fitted for each in found if not isinstance(each, Match)), default=math.inf)

    @property
    def weak(self) -> tuple[Formula, ...]:
        """The formulas that all terms obey, confirmed by too few terms."""
        return tuple(formula for answer in self.answers.values() for formula in answer.weak)

    def facts(self) -> dict[str, Any]:
        """Return all of it in the types of JSON, long integers and fractions as text."""
        return {
            "source": self.source,
            "first": self.first,
            "terms": len(self.terms),
            "needed": self.needed,
            "formulas": [
                _facts(kind, each) for each in self.formulas for kind, answer in self.answers.items() if each in answer.formulas
            ],
            "weak": [_facts(kind, each) for kind, answer in self.answers.items() for each in answer.weak],
            "tested": {kind: answer.tested for kind, answer in self.answers.items()},
        }


def _facts(kind: str, formula: Formula) -> dict[str, Any]:
    common = {"kind": kind, "title": formula.title, "equations": dict(formula.rows), "fitted": formula.fitted}
    return {**common, "confirmed": formula.confirmed, "certainty": formula.certainty, **formula.facts}


@dataclass(frozen=True)
class Kind:
    """A kind of formula: an entry of `KINDS`.

    Args:
        name: its name.
        summary: what it is, in a line.
        search: searches formulas of that kind; the answers are those of the kinds before it.
    """

    name: str
    summary: str
    search: Callable[[Guess], Answer]


#: The kinds of formulas, in the order in which they are searched.
KINDS = Registry[Kind]("kind of formula")


def _kind(name: str, summary: str) -> Callable[[Callable[[Guess], Answer]], Callable[[Guess], Answer]]:
    return KINDS.decorator(lambda function: Kind(name, summary, function))


@_kind("recurrence", "linear recurrences, rational generating functions, polynomials, quasi-polynomials")
def _recurrence(guess: Guess) -> Answer:
    terms, needed = guess.terms, guess.needed
    most = max_order(terms)
    formula = find_recurrence(terms)
    none = f"none of order up to {most}: order {most + 1} takes {2 * (most + 1) + needed:,} terms"
    return _answer(guess, none if formula is None else f"orders up to {most}", [formula])


@_kind("regular", "k-regular sequences: products of one matrix for each digit of n")
def _regular(guess: Guess) -> Answer:
    terms, bases = guess.terms, guess.bases
    searches = {base: find_regular(terms, base) for base in bases}
    formulas = [formula for formula, _ in searches.values() if formula is not None]
    # A sequence that is regular in two bases, of which no powers are equal, has a linear recurrence [Bell]: one base is enough.
    formula = next(filter(guess.accepts, formulas), min(formulas, key=lambda formula: formula.fitted, default=None))
    if formula is not None:
        return _answer(guess, f"base {formula.base}", [formula])
    _, first = searches[bases[0]]
    enough = bases[0] ** first * (first + guess.needed)
    others = f"; none in bases {bases[1]} to {bases[-1]}" if len(bases) > 1 else ""
    none = f"base {bases[0]}: rank {first} or more is proved; to find rank {first} takes up to {enough:,} terms{others}"
    return _answer(guess, none, [])


@_kind(
    "known", "sequences that gpunim computes: OEIS entries, families, automata; also shifted, times a constant, differences, sums"
)
def _known(guess: Guess) -> Answer:
    recurrence = guess.answers.get("recurrence", Answer(""))
    # Where half of the terms show it, a constant that is fitted explains less than a recurrence does.
    simple = any(each.confirmed >= each.chosen for each in (*recurrence.formulas, *recurrence.weak))
    found = [each for each in find_known(guess.terms) if not (simple and each.fitted)]
    return _answer(guess, f"{len(known_sequences())} sequences", found)


def _answer(guess: Guess, tested: str, formulas: Sequence[Formula | None]) -> Answer:
    """The formulas found; those that too few terms confirm are weak."""
    answer = Answer(tested)
    for formula in filter(None, formulas):
        (answer.formulas if guess.accepts(formula) else answer.weak).append(formula)
    return answer


def search(
    terms: Iterable[IntLike], *, base: IntLike | None = None, confirm: IntLike | None = None, kinds: Iterable[str] | None = None
) -> Guess:
    """Search formulas of a sequence; `gpu_nim.guess` describes the arguments, and also finds the terms by a name."""
    values = integers("terms", terms)
    if len(values) < FEWEST:
        raise UsageError(f"terms must be {FEWEST} integers or more, got {len(values)}")
    if len(values) > MAX_TERMS:
        raise UsageError(f"terms must be at most {MAX_TERMS:,}, got {len(values):,}")
    bases = BASES if base is None else (integer("base", base, 2, 36),)
    least = None if confirm is None else integer("confirm", confirm, LEAST)
    chosen = [*KINDS.values()] if kinds is None else [KINDS.find(name) for name in items("kinds", kinds, "kinds of formulas")]
    guess = Guess(values, bases, least)
    for kind in chosen:
        guess.answers[kind.name] = kind.search(guess)
    return guess
