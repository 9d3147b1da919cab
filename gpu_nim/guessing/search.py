"""Guess laws of a sequence from its terms, and say what was tested, what confirms it and what is proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gpu_nim.guessing.beatty import MOST_TERMS, Beatty, find_beatty
from gpu_nim.guessing.equations import (
    AlgebraicEquation,
    DifferentialEquation,
    Equation,
    MahlerEquation,
    PRecurrence,
    QRecurrence,
    equation_but_one,
    find_equation,
    most_unknowns,
)
from gpu_nim.guessing.known import known_sequences
from gpu_nim.guessing.law import LEAST, Law, NearMiss, needed_confirmations
from gpu_nim.guessing.limits import MAX_TERMS
from gpu_nim.guessing.matches import Match, find_known, known_but_one
from gpu_nim.guessing.morphic import find_morphic
from gpu_nim.guessing.multiplicative import find_multiplicative
from gpu_nim.guessing.numeration import MOST_TERMS as MOST_ZECKENDORF
from gpu_nim.guessing.numeration import Base, Zeckendorf
from gpu_nim.guessing.recurrences import (
    MODULI,
    Recurrence,
    find_modular_recurrence,
    find_recurrence,
    max_order,
    recurrence_but_one,
)
from gpu_nim.guessing.regular import Regular, find_regular, regular_but_one
from gpu_nim.guessing.transforms import DIVISORS, EULER, Transform, Transformed
from gpu_nim.guessing.transforms import MOST_TERMS as MOST_TRANSFORMED
from gpu_nim.guessing.windows import find_windows
from gpu_nim.model.arguments import Whole, integer, integers, items
from gpu_nim.model.errors import UsageError
from gpu_nim.model.presentation import html_table
from gpu_nim.model.registry import Registry

_OF_A_TERM = 2  # numbers chosen to fit: the index of the term that is wrong, and what it should be
_SIMPLER = 4  # times fewer numbers, with which a law takes the place of another

#: The bases of k-regular sequences, where no other is wanted.
BASES = range(2, 17)

#: The fewest terms from which anything is guessed.
FEWEST = 4


@dataclass(frozen=True)
class Question:
    """The terms, and how a law of them is searched.

    Args:
        terms: f(0), f(1), ...
        bases: of k-regular sequences, the first with a law alone.
        confirm: how many terms must confirm a law; None for as many as numbers are fitted, and 8 or more, as values vary.
    """

    terms: tuple[int, ...]
    bases: Sequence[int] = BASES
    confirm: int | None = None

    @cached_property
    def needed(self) -> int:
        """How many terms must confirm any law."""
        return needed_confirmations(self.terms) if self.confirm is None else self.confirm

    def needed_for(self, law: Law) -> int:
        """How many terms must confirm this law: also as many as were chosen to fit, so that half of the terms show it.

        Functions of the digits in base b, such as their sum, have the period b in b^2 terms, and valuations in 2 b^2 but for one.
        """
        if self.confirm is not None:
            return self.confirm
        return max(needed_confirmations(getattr(law, "terms", self.terms)), law.chosen, 2 * law.period**2)

    def accepts(self, law: Law) -> bool:
        """Whether enough terms confirm a law."""
        return law.confirmed >= self.needed_for(law)


@dataclass
class Answer:
    """What one kind of law gave.

    Attributes:
        tested: what was tested, in a sentence.
        laws: the laws that all terms obey and enough terms confirm.
        weak: laws that all terms obey, confirmed by too few.
        near_miss: the law that all terms but one obey, if there is one.
    """

    tested: str
    laws: list[Law] = field(default_factory=list)
    weak: list[Law] = field(default_factory=list)
    near_miss: NearMiss | None = None


@dataclass(frozen=True, repr=False)
class Guess:
    """What was found for some terms.  f(0) is the first term throughout.

    Attributes:
        question: the terms, and how a law of them was searched.
        answers: what each kind of law gave, by the name of the kind.
        source: what has the terms.
        first: the index of the first term there.
    """

    question: Question
    answers: dict[str, Answer]
    source: str = "integers"
    first: int = 0

    @property
    def terms(self) -> tuple[int, ...]:
        """The terms."""
        return self.question.terms

    @property
    def needed(self) -> int:
        """How many terms must confirm any law; one that was fitted to more terms needs as many."""
        return self.question.needed

    def __repr__(self) -> str:
        found = ", ".join(law.title for law in self.laws) or "no law"
        return f"<Guess from {len(self.terms)} terms: {found}>"

    def _repr_html_(self) -> str:
        told = [("terms", f"{len(self.terms):,}", "")]
        broken = [missed.law for missed in self.near_misses]
        for name, laws in (("law", self.laws), ("weak law", self.weak), ("but for one term", broken)):
            for law in laws:
                evidence = ("confirmed by", f"{law.confirmed:,} equations"), ("proved", law.certainty)
                told += [(name, law.title, ""), *(("", *row) for row in (*law.rows, *evidence))]
        return html_table([*told, *((f"tested: {kind}", answer.tested, "") for kind, answer in self.answers.items())])

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws that all terms obey and enough terms confirm, where none, also of few confirmations, fits far fewer numbers.

        One that does not give every term is left out where all but one of them have a law: it may say nothing of that one.
        """
        laws = [law for answer in self.answers.values() for law in answer.laws]
        missed = any(answer.near_miss for answer in self.answers.values())
        return tuple(law for law in laws if law.fitted <= _SIMPLER * max(self._simplest, FEWEST) and (law.complete or not missed))

    @property
    def _simplest(self) -> float:
        """The fewest numbers that are fitted by a law of all terms."""
        found = (law for answer in self.answers.values() for law in (*answer.laws, *answer.weak))
        return min((law.fitted for law in found if law.complete and not isinstance(law, Match)), default=math.inf)

    @property
    def weak(self) -> tuple[Law, ...]:
        """The laws that all terms obey, confirmed by too few terms, unless one that a wrong term breaks is simpler."""
        simplest = min((missed.law.fitted + _OF_A_TERM for missed in self.near_misses), default=None)
        weak = (law for answer in self.answers.values() for law in answer.weak)
        return tuple(law for law in weak if simplest is None or law.fitted <= simplest)

    @property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """The laws that all terms but one obey, where none that holds for all is as simple."""
        missed = (answer.near_miss for answer in self.answers.values() if answer.near_miss is not None)
        return tuple(each for each in missed if each.law.fitted + _OF_A_TERM < self._simplest)

    def facts(self) -> dict[str, Any]:
        """Return all of it in the types of JSON, long integers and fractions as text."""
        return {
            "source": self.source,
            "first": self.first,
            "terms": len(self.terms),
            "needed": self.needed,
            "laws": [_law_facts(kind, law) for kind, answer in self.answers.items() for law in answer.laws if law in self.laws],
            "weak": [_law_facts(kind, law) for kind, answer in self.answers.items() for law in answer.weak if law in self.weak],
            "near_misses": [
                {"law": missed.law.title, "index": missed.index, "given": str(missed.given), "expected": str(missed.expected)}
                for missed in self.near_misses
            ],
            "tested": {kind: answer.tested for kind, answer in self.answers.items()},
        }


def _law_facts(kind: str, law: Law) -> dict[str, Any]:
    common = {"kind": kind, "title": law.title, "formulas": dict(law.rows), "fitted": law.fitted, "confirmed": law.confirmed}
    return {**common, "certainty": law.certainty, **law.facts}


@dataclass(frozen=True)
class Kind:
    """A kind of law: an entry of `KINDS`.

    Args:
        name: its name.
        summary: what it is, in a line.
        search: searches laws of that kind; `found` are the laws found before that half of the terms show.
    """

    name: str
    summary: str
    search: Callable[[Question, list[Law]], Answer]


#: The kinds of laws, in the order in which they are searched.
KINDS = Registry[Kind]("kind of law")


def _kind(name: str, summary: str) -> Callable[[Callable[[Question, list[Law]], Answer]], Callable[[Question, list[Law]], Answer]]:
    return KINDS.decorator(lambda function: Kind(name, summary, function))


@_kind("recurrence", "linear recurrences, rational generating functions, polynomials, quasi-polynomials")
def _recurrence(question: Question, found: list[Law]) -> Answer:
    terms, needed = question.terms, question.needed
    most = max_order(terms)
    law = find_recurrence(terms)
    none = f"none of order up to {most}: order {most + 1} takes {2 * (most + 1) + needed:,} terms"
    return _answer(question, none if law is None else f"orders up to {most}", [law], recurrence_but_one(terms))


@_kind("modular", f"linear recurrences modulo {', '.join(map(str, MODULI))}")
def _modular(question: Question, found: list[Law]) -> Answer:
    if known := _implied(found, Recurrence):
        return known
    laws: list[Law] = []
    without = []
    for prime in MODULI:
        law = find_modular_recurrence(question.terms, prime)
        if law is None or not question.accepts(law):
            without.append(str(prime))
        else:
            laws.append(law)
    none = f": none modulo {', '.join(without)}" if without else ""
    return Answer(f"orders up to {max_order(question.terms)}{none}", laws)


@_kind("regular", "k-regular sequences: products of one matrix for each digit of n")
def _regular(question: Question, found: list[Law]) -> Answer:
    terms, bases = question.terms, question.bases
    searches = {base: find_regular(terms, Base(base)) for base in bases}
    laws = [search.law for search in searches.values() if search.law is not None]
    # A sequence that is regular in two bases, of which no powers are equal, has a linear recurrence [Bell]: one base is enough.
    law = next(filter(question.accepts, laws), min(laws, key=lambda law: law.fitted, default=None))
    near = (regular_but_one(terms, Base(base)) for base in bases)
    missed = next((each for each in near if each is not None and question.accepts(each.law)), None)
    if law is not None:
        return _answer(question, f"base {law.numeration.base}", [law], missed)
    first = searches[bases[0]].rank
    enough = bases[0] ** first * (first + question.needed)
    others = f"; none in bases {bases[1]} to {bases[-1]}" if len(bases) > 1 else ""
    none = f"base {bases[0]}: rank {first} or more is proved; to find rank {first} takes up to {enough:,} terms{others}"
    return _answer(question, none, [], missed)


@_kind("beatty", "Beatty sequences: floor(a n + b)")
def _beatty(question: Question, found: list[Law]) -> Answer:
    if any(isinstance(law, Recurrence) and law.fitted <= _SIMPLER * FEWEST for law in found if question.accepts(law)):
        return Answer("follows from the linear recurrence")
    law = find_beatty(question.terms)
    return _answer(question, "an interval of a" if law is not None else f"none within {MOST_TERMS:,} terms", [law], None)


@_kind("windows", "relations of dyadic windows: c_0 f(r) + c_1 f(2^K + r) + c_2 f(2 2^K + r) + ... = 0 for all r < 2^K")
def _windows(question: Question, found: list[Law]) -> Answer:
    if known := _implied(found, Recurrence, Regular, Beatty):
        return known
    laws: list[Law] = [law for law in find_windows(question.terms) if question.accepts(law)]
    return Answer(f"{'' if laws else 'none with '}16 windows, K from 0 to 3 on", laws)


@_kind("holonomic", "P-recursive sequences: recurrences with polynomials in n as coefficients")
def _holonomic(question: Question, found: list[Law]) -> Answer:
    missed = None if _implied(found, Recurrence) else equation_but_one(question.terms, question.needed)
    return _equations(PRecurrence, question, found, missed)


@_kind("q-holonomic", "recurrences with polynomials in q^n as coefficients, for q from 2 to 10 and terms beyond 2^n")
def _q_holonomic(question: Question, found: list[Law]) -> Answer:
    # Each q is a chance to fit, and terms of P-recursive size that obey one with q^n are C-finite for all that is known.
    if question.terms[-1].bit_length() <= len(question.terms):
        return Answer("the last term is below 2^n")
    return _equations(QRecurrence, question, found)


@_kind("algebraic", "algebraic generating functions")
def _algebraic(question: Question, found: list[Law]) -> Answer:
    return _equations(AlgebraicEquation, question, found)


@_kind("ade", "algebraic differential equations of second order of the exponential generating function sum f(n) x^n / n!")
def _ade(question: Question, found: list[Law]) -> Answer:
    return _implied(found, PRecurrence) or _equations(DifferentialEquation, question, found)


@_kind("mahler", "Mahler equations: F(x), F(x^k), F(x^(k^2)), ... with polynomials before them, for k from 2 to 10")
def _mahler(question: Question, found: list[Law]) -> Answer:
    return _implied(found, Regular) or _equations(MahlerEquation, question, found)


@_kind("euler", "Euler transforms, also eta products: infinite products whose exponents have a linear recurrence or are k-regular")
def _euler(question: Question, found: list[Law]) -> Answer:
    return _transformed((EULER,), question, found)


@_kind("divisors", "sums over divisors, and what has them as sums: the sums or summands have a linear recurrence or are k-regular")
def _divisors(question: Question, found: list[Law]) -> Answer:
    return _transformed(DIVISORS, question, found)


@_kind("multiplicative", "multiplicative and additive functions of n, from n = 1 or 0 on")
def _multiplicative(question: Question, found: list[Law]) -> Answer:
    law = find_multiplicative(question.terms)
    return _implied(found, Recurrence) or _answer(question, "coprime factors" if law else "neither", [law], None)


@_kind("morphic", "fixed points of morphisms, which replace letters by words, of up to 5 letters and words of up to 8")
def _morphic(question: Question, found: list[Law]) -> Answer:
    if known := _implied(found, Recurrence, Regular):
        return known
    law = find_morphic(question.terms)
    return _answer(question, "words of up to 8 letters" if law else "none of words of up to 8 letters", [law], None)


@_kind("fibonacci", "Fibonacci- and tribonacci-regular sequences: the same by digits of Zeckendorf's sums of such numbers")
def _fibonacci(question: Question, found: list[Law]) -> Answer:
    if known := _implied(found, Recurrence):
        return known
    searches = [find_regular(question.terms[:MOST_ZECKENDORF], Zeckendorf(base)) for base in (2, 3)]
    laws = [search.law for search in searches if search.law is not None]
    law = next(filter(question.accepts, laws), laws[0] if laws else None)
    return _answer(question, f"rank {searches[0].rank} or more is proved, by tribonacci numbers {searches[1].rank}", [law], None)


@_kind(
    "known", "sequences that gpunim computes: OEIS entries, families, automata; also shifted, times a constant, differences, sums"
)
def _known(question: Question, found: list[Law]) -> Answer:
    laws = find_known(question.terms)
    missed = None if any(map(question.accepts, laws)) else known_but_one(question.terms)
    return _answer(question, f"{len(known_sequences())} sequences", laws, missed)


def _equations(kind: type[Equation], question: Question, found: list[Law], missed: NearMiss | None = None) -> Answer:
    if known := _implied(found, Recurrence):
        return known
    most, least = most_unknowns(question.terms, question.needed), kind.least_unknowns()
    if most < least:
        return _answer(
            question, f"too few terms: the simplest equation has {least} coefficients, and {most} can be found", [], missed
        )
    laws = (find_equation(kind, question.terms, question.needed, parameter) for parameter in kind.PARAMETERS)
    law = next(filter(None, laws), None)
    tested = f"(order + 1) (degree + 1) up to {most}, order up to {kind.MOST_ORDER}"
    return _answer(question, tested if law is not None else f"none with {tested}", [law], missed)


def _transformed(transforms: Sequence[Transform], question: Question, found: list[Law]) -> Answer:
    if known := _implied(found, Recurrence, Regular):
        return known
    laws: list[Law] = []
    for transform in transforms:
        terms = transform.inverse(question.terms[:MOST_TRANSFORMED])
        if terms is not None and len(terms) >= FEWEST:
            inner = Question(tuple(terms), question.bases, question.confirm)
            answers = (search(inner, []) for search in (_recurrence, _regular))
            law = next((law for answer in answers for law in answer.laws), None)
            laws += [Transformed(transform, law, inner.terms)] if law is not None else []
    return Answer(("" if laws else "none by the ") + ", ".join(dict.fromkeys(each.name for each in transforms)), laws)


def _implied(found: list[Law], *kinds: type[Law]) -> Answer | None:
    """The answer where a law of other kinds, that was found, says as much."""
    law = next((law for law in found if isinstance(law, kinds)), None)
    return None if law is None else Answer(f"follows: {law.title}")


def _answer(question: Question, tested: str, laws: Sequence[Law | None], missed: NearMiss | None) -> Answer:
    """What was found: the laws, apart those that too few terms confirm, and the one that a wrong term breaks where enough do."""
    shown = missed is not None and missed.law.confirmed > question.needed_for(missed.law)
    answer = Answer(tested, near_miss=missed if shown else None)
    for law in filter(None, laws):
        (answer.laws if question.accepts(law) else answer.weak).append(law)
    return answer


def search(
    terms: Iterable[Whole], *, base: Whole | None = None, confirm: Whole | None = None, kinds: Iterable[str] | None = None
) -> Guess:
    """Search laws of a sequence in its first terms; `gpu_nim.guess` describes the arguments, and also finds the terms by a name."""
    values = integers("terms", terms)
    if len(values) < FEWEST:
        raise UsageError(f"terms must be {FEWEST} integers or more, got {len(values)}")
    if len(values) > MAX_TERMS:
        raise UsageError(f"terms must be at most {MAX_TERMS:,}, got {len(values):,}")
    bases = BASES if base is None else (integer("base", base, 2, 36),)
    least = None if confirm is None else integer("confirm", confirm, LEAST)
    chosen = [*KINDS.values()] if kinds is None else [KINDS.find(name) for name in items("kinds", kinds, "kinds of laws")]
    question = Question(values, bases, least)
    answers: dict[str, Answer] = {}
    for kind in chosen:
        found = [law for answer in answers.values() for law in (*answer.laws, *answer.weak) if law.confirmed >= law.chosen]
        answers[kind.name] = kind.search(question, found)
    return Guess(question, answers)
