"""Guess formulas of a sequence from its terms, and say what was tested, what confirms it and what is proved."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpu_nim.guessing.formula import LEAST, MAX_TERMS, Formula, needed_confirmations
from gpu_nim.guessing.known import Match, find_known, known_sequences
from gpu_nim.guessing.recurrences import find_recurrence, max_order
from gpu_nim.guessing.regular import find_regular
from gpu_nim.model.arguments import IntLike, integer, integers, items
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.model.shown import Shown, html_table

_SIMPLER = 4  # times fewer numbers, with which a formula takes the place of another

#: The bases of k-regular sequences, where no other is wanted.
BASES = range(2, 17)

#: The fewest terms from which anything is guessed.
FEWEST = 4


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
