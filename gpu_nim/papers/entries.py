"""The catalogue of the papers: an entry a numbered item, with its words, what is printed, what computes it, its check and reach.

A new entry is one `Entry` in any module of this package, which decorates the function that yields what it compares.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, starmap
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from gpu_nim.model.errors import UsageError, close, is_shortage
from gpu_nim.model.registry import Registry, import_all
from gpu_nim.model.shown import Checked, Shown
from gpu_nim.papers.claims import Claim

#: The usual reach.
REACH = 64
ALL = "all"
P = ParamSpec("P")

_KINDS = ("definition", "rule", "theorem", "lemma", "corollary", "example", "remark", "table", "figure", "graph")


class Verdict(StrEnum):
    """What a comparison shows, from the best to the worst."""

    PROVED = "proved"  # its checks decide what it says, for every number
    AGREEMENT = "agreement"  # gpunim computes what the paper prints
    ANSWERED = "answered"  # the paper leaves it to the reader
    OMITTED = "omitted"  # nothing is compared
    ERRATUM = "erratum"  # gpunim computes the right value that the catalogue holds, and the paper prints another one
    DISAGREEMENT = "disagreement"


@dataclass(repr=False)
class Printed(Shown):
    """What a paper prints beside what gpunim computes; values become numbers, texts, truths and lists of them.

    Attributes:
        about: what is compared, in words.
        computed: what gpunim computes.
        printed: what the paper prints, or what follows from its words; None for a question that it leaves to the reader.
        right: the right value, where what the paper prints is an erratum.

    >>> Printed("1 + 1", 1 + 1, 3, right=2).verdict
    <Verdict.ERRATUM: 'erratum'>
    """

    about: str
    computed: Any
    printed: Any = None
    right: Any = None

    def __post_init__(self) -> None:
        self.computed, self.printed, self.right = map(plain, (self.computed, self.printed, self.right))

    @property
    def expected(self) -> Any:
        """The right value."""
        return self.printed if self.right is None else self.right

    @property
    def verdict(self) -> Verdict:
        """What it shows; an erratum that is none is a disagreement, too."""
        if self.printed is None:
            return Verdict.ANSWERED
        if self.computed != self.expected or self.right == self.printed:
            return Verdict.DISAGREEMENT
        return Verdict.AGREEMENT if self.right is None else Verdict.ERRATUM


#: A comparison of a check: its description, the value found, and the value stated.
Case = tuple[str, object, object]
#: What an entry compares: first what is printed, then in words what the check covers, and its cases or claims.
Cases = Iterator[Printed | str | Case | Claim]


class Reach(NamedTuple):
    """How far a check goes: to the largest pile, index or generation, or to the largest parameter of claims on all of them.

    The function of a check of cases takes its reach, that of claims one parameter, or nothing.

    Attributes:
        usual: the largest usual reach, where the check does not limit itself.
        far: the reach of a thorough check, at least a hundred times as many cases as its source shows where that takes minutes;
            None for the usual one.
        seconds: about how long the thorough check takes on one core.
        claims: in words what the claims are on, of a check that decides them for all numbers; "" for one of cases.
        over: the parameters of the claims, ascending; () for claims without one.
        parameter: its letter.
    """

    usual: int | None = None
    far: int | None = None
    seconds: int = 1
    claims: str = ""
    over: Sequence[int] = ()
    parameter: str = "k"

    def to(self, upto: int | None, thorough: bool = False) -> int:
        """Return the reach of a check.

        Args:
            upto: the largest reach; None for `REACH`, or its own for a thorough check.
            thorough: whether the check is a thorough one.

        >>> Reach(31, 127).to(None), Reach(31, 127).to(None, thorough=True), Reach(31, 127).to(16, thorough=True)
        (31, 127, 16)
        """
        if thorough and self.far is not None:
            return self.far if upto is None else min(upto, self.far)
        usual = REACH if upto is None else upto
        return usual if self.usual is None else min(usual, self.usual)

    def calls(self, upto: int) -> list[tuple[int, ...]]:
        """Return what the function takes, call by call: the reach, or each parameter up to it, the least in any case.

        >>> Reach().calls(7), few_piles("every n", 2).calls(4), few_piles("every n", 2).calls(1), decided("every n").calls(7)
        ([(7,)], [(2,), (3,), (4,)], [(2,)], [()])
        """
        if self.over:
            return [(each,) for each in self.over if each <= max(upto, self.over[0])]
        return [()] if self.claims else [(upto,)]

    def scope(self, upto: int) -> str:
        """Return in words what the claims up to a reach are on.

        >>> few_piles("every n").scope(3), many_piles((3, 5, 7)).scope(9), Reach(4, claims="every n", over=(4,)).scope(4)
        ('every n, k = 1 to 3', 'every n, k = 3, 5, 7', 'every n, k = 4')
        """
        if not self.over:
            return self.claims
        found = [each for (each,) in self.calls(upto)]
        consecutive = len(found) > 2 and len(found) == found[-1] - found[0] + 1
        values = f"{found[0]} to {found[-1]}" if consecutive else ", ".join(map(str, found))
        return f"{self.claims}, {self.parameter} = {values}"


def decided(claims: str) -> Reach:
    """Return the reach of claims without a parameter."""
    return Reach(1, claims=claims)


def positions(usual: int, over: Sequence[int], parameter: str = "k") -> Reach:
    """Return the reach of claims on every position, for the first parameters, and at most for all."""
    return Reach(usual, over[-1], 1, "every position", over, parameter)


def few_piles(claims: str, first: int = 1) -> Reach:
    """Return the reach of claims on a few piles, from a first number on."""
    return Reach(4, 5, 2, claims, range(first, 6))


def many_piles(piles: Sequence[int] = range(1, 13)) -> Reach:
    """Return the reach of claims on every n, on more piles."""
    return Reach(7, 12, 5, "every n", piles)


@dataclass(frozen=True, repr=False)
class CheckResult(Checked):
    """The result of an exhaustive check, or of a decision.

    Attributes:
        scope: the cases that were checked, in words.
        counterexample: the first one found, or None.
        decided: whether these are all cases.

    >>> CheckResult("all n <= 40").holds, CheckResult("n^2 + n + 41 is prime for n <= 40", counterexample=40).holds
    (True, False)
    """

    scope: str
    counterexample: object | None = None
    decided: bool = False

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found."""
        return self.counterexample is None

    @property
    def proved(self) -> bool:
        """Whether there is none."""
        return self.decided and self.holds

    def summary(self) -> dict[str, object]:
        """Return the result as plain values."""
        return {"holds": self.holds, "proved": self.proved, "scope": self.scope, "counterexample": self.counterexample}


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A source, or a subject of gpunim's own; a new one is a table of `sources.toml`, and so are its items that only point at
    statements.

    Attributes:
        name: its name in `gpunim reproduce`.
        label: how gpunim cites it, such as "NF"; "" for what `gpunim reproduce` does not show.
        title: authors, title and where it was published, or the subject.
        note: what a reader of the comparison has to know of its versions and numbers.
        cited: how its results are cited, where it has no label.
    """

    name: str
    label: str
    title: str
    note: str = ""
    cited: str = "gpunim"

    def __post_init__(self) -> None:
        SOURCES.add(self)
        if self.label:
            PAPERS.add(self)

    @property
    def summary(self) -> str:
        """The label and the title."""
        return f"[{self.label}] {self.title}" if self.label else self.title

    @property
    def items(self) -> list["Entry"]:
        """The entries, in its order."""
        load()
        own = [entry for entry in ENTRIES.values() if entry.paper is self]
        placed = [entry for entry in own if not entry.before]
        for entry in own:
            if entry.before:
                placed.insert([each.number for each in placed].index(entry.before), entry)
        return placed


#: The papers and the subjects, from the first to read to the last.
SOURCES = Registry[Paper]("source")
#: The papers that `gpunim reproduce` shows.
PAPERS = Registry[Paper]("paper", also=f", or {ALL}")


@dataclass(eq=False, repr=False)
class Entry(Shown):
    """A definition, theorem, example, table, figure or sequence of a paper, a statement of its text, or a result of gpunim's.

    A new entry belongs to the catalogue. As a decorator it takes a function that yields what it compares: what the paper prints,
    and the cases or claims of its check, see `Reach`. The function's docstring begins with what the entry says; a
    paragraph that begins with "Erratum:" says how the paper is wrong, which is the attribute `erratum`.

    Attributes:
        paper: its source.
        number: the paper's number, such as "Theorem 19"; of a statement in its text the section and a few words; of a result of
            gpunim's own the name.
        arxiv: the number in it that the arXiv's version of the paper has, such as 17; 0 where that has none of its own.
        summary: what it says, by default the first paragraph of the docstring.
        name: its name in `gpunim verify`; by default the label of the paper and the number.
        before: the number of the item that follows, of one that `sources.toml` has.
        after: what a result of gpunim's own goes on from.
        reach: how far its check goes; None for an entry without one.
        also: further statements of `gpunim verify` that stand for it.
        command: the command that shows the same; by default the verification of its checks, or else the drawing of its figure.
        figure: a name of the catalogue of figures, if gpunim draws it.
        conjecture: whether no proof is known here: the check is all the evidence there is.
        compares: yields what it compares.

    Raises:
        UsageError: an entry has that name already, or this one has neither a check nor a command, nor a figure.
    """

    paper: Paper
    number: str
    summary: str = ""
    name: str = ""
    arxiv: int = 0
    before: str = ""
    after: str = ""
    reach: Reach | None = None
    also: Sequence[str] = ()
    command: str = ""
    erratum: str = field(default="", init=False)
    figure: str = ""
    conjecture: bool = False
    compares: Callable[..., Cases] = field(default=lambda: iter(()))

    def __post_init__(self) -> None:
        self.name = self.name or _hyphenated(f"{self.paper.label} {self.number}", "a-z0-9.")
        if not (self.command or self.checks or self.figure):
            raise UsageError(f"an entry must have a check or a command, got neither for {self.source}")
        ENTRIES.add(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _entry, (self.name,)

    def __call__(self, compares: Callable[P, Cases]) -> Callable[P, Cases]:
        self.compares = compares
        paragraphs = [" ".join(each.split()) for each in (inspect.getdoc(compares) or "").split("\n\n")]
        self.summary = self.summary or paragraphs[0]
        self.erratum = next((each.removeprefix("Erratum: ") for each in paragraphs if each.startswith("Erratum: ")), "")
        return compares

    @property
    def arxiv_number(self) -> str:
        """The number in the arXiv's version, or "".

        >>> find_statements(["arxiv-theorem-2"])[0].numbers
        'Theorem 4 (arXiv: Theorem 2)'
        """
        return re.sub(r"\d+", str(self.arxiv), self.number, count=1) if self.arxiv else ""

    @property
    def alias(self) -> str:
        """The name in `gpunim verify` by the arXiv's number; its own name where it has none."""
        return _hyphenated(f"arxiv {self.arxiv_number}", "a-z0-9") if self.arxiv else self.name

    @property
    def numbers(self) -> str:
        """The number, and the one in the arXiv's version."""
        return f"{self.number} (arXiv: {self.arxiv_number})" if self.arxiv else self.number

    @property
    def source(self) -> str:
        """The paper and the number, or what it goes on from."""
        if self.paper.label:
            return f"[{self.paper.label}] {self.numbers}"
        return f"{self.paper.cited}, after {self.after}" if self.after else self.paper.cited

    @property
    def facts(self) -> dict[str, Any]:
        """What `gpunim verify --json` says of it."""
        known = {"conjecture": self.conjecture, "decided": self.decided}
        return {"name": self.name, "source": self.source, "summary": self.summary, **known}

    @property
    def decided(self) -> bool:
        """Whether its check decides claims on all numbers."""
        return self.reach is not None and self.reach.claims != ""

    @property
    def anchor(self) -> str:
        """The name in links.

        >>> find_statements(["nf-self-similarity"])[0].anchor
        'nf-section-3-self-similarity'
        """
        return _hyphenated(f"{self.paper.label} {self.number}", "a-z0-9")

    @property
    def kind(self) -> str:
        """What it is, by its number: "theorem", "sequence", "figure", ..., or "text" for a statement without a number.

        >>> [each.kind for each in find_statements(["b-first", "nf-theorem-13", "nf-self-similarity", "v-proof-3.2"])]
        ['theorem', 'theorem', 'text', 'theorem']
        """
        if self.number[0] == "A" and self.number[1:].isdigit():
            return "sequence"
        words = self.number.split(",")[0].lower().split()
        return next((kind for kind in _KINDS if kind in words), "text")

    @property
    def checks(self) -> tuple[str, ...]:
        """The statements of `gpunim verify` that stand for it: itself if it has a check, and others."""
        return (*self.also,) if self.reach is None else (self.name, *self.also)

    @property
    def shown_by(self) -> str:
        """The command that shows what it says."""
        drawn = f"gpunim render figure:{self.figure} -o {self.figure}.svg"
        return self.command or (f"gpunim verify {' '.join(self.checks)}" if self.checks else drawn)

    def _compared(self, upto: int) -> Cases:
        """What it compares up to a reach."""
        return chain.from_iterable(starmap(self.compares, [()] if self.reach is None else self.reach.calls(upto)))

    def printed(self) -> Iterator[Printed]:
        """Yield what the paper prints beside what gpunim computes; a computation that raises is a disagreement.

        Raises:
            MemoryError: it needs more memory than is free, which says nothing about the paper.
        """
        try:
            for each in self._compared(1):
                if not isinstance(each, Printed):
                    return
                yield each
        except Exception as error:  # the other items are still compared
            if is_shortage(error):
                raise
            yield Printed("what gpunim computes", f"{type(error).__name__}: {error}", "no error")

    def check(self, reach: int) -> CheckResult:
        """Return the result of comparing what is found with what is printed and stated, up to the first difference.

        Args:
            reach: the largest pile, index or generation; doubled until there is a case, up to `REACH`: none is a failure.

        >>> find_statements(["nf-lemma-10"])[0].check(7)
        CheckResult(scope='every position', decided=True)
        """
        scope, count, different = self.reach.scope(reach) if self.reach else "", 0, None
        for each in self._compared(reach):
            if isinstance(each, str):
                scope = each
                continue
            count += 1
            if isinstance(each, Claim):
                wrong = each.counterexample
                different = wrong and f"{each.about} is wrong for {wrong}"
            else:
                if isinstance(each, Printed):
                    each = each.about, each.computed, each.computed if each.printed is None else each.expected
                what, found, stated = each
                different = f"{what} is {found}, not {stated}" if found != stated else None
            if different:
                break
        if not count and reach < REACH:
            return self.check(2 * reach)
        scope = f"{count:,} cases, {scope}" if count > 1 and not self.decided else scope
        return CheckResult(scope, different if count else "there is no case to compare", self.decided)


#: The entries that were imported, by name; `load` imports all.
ENTRIES = Registry[Entry]("statement")


def _entry(name: str) -> Entry:
    load()
    return ENTRIES.find(name)


def _hyphenated(words: str, kept: str) -> str:
    return re.sub(f"[^{kept}]+", "-", words.lower()).strip("-")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays, tuples and sets as lists, sets in order.

    >>> plain(({(1, 2), (0, 1)}, np.arange(2), "text", None))
    [[[0, 1], [1, 2]], [0, 1], 'text', None]
    """
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return plain(sorted(value))
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def load() -> None:
    """Import all modules of papers, whose entries then belong to the catalogue."""
    import_all(sys.modules[__package__].__path__, __package__)


def statements() -> list[Entry]:
    """Return the entries that have a check, paper by paper, and within each in its order.

    >>> next(s.summary for s in statements() if s.name == "nf-lemma-8")
    'a_k(2^m - 1) = 2^(m(k-1))'
    """
    load()
    order = [*SOURCES]
    return sorted((entry for entry in ENTRIES.values() if entry.reach is not None), key=lambda entry: order.index(entry.paper.name))


def find_statements(names: Iterable[str]) -> list[Entry]:
    """Return the entries of these names that have a check.

    Args:
        names: names, or the beginnings of names ("nf-lemma"), those by the arXiv's numbers ("arxiv-lemma-6"), or "all".

    Raises:
        UsageError: a name is unknown.
    """
    known = statements()
    found: list[Entry] = []
    for name in names:
        matching = [s for s in known if name in (ALL, s.name, s.alias)]
        matching = matching or [s for s in known if s.name.startswith(name + "-")]
        if not matching:
            names = [each for s in known for each in (s.name, s.alias)]
            raise UsageError(f"statement must be 'all' or one that `gpunim verify --list` prints, got {name!r}{close(name, names)}")
        found.extend(s for s in matching if s not in found)
    return found


for _name, _words in tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")).items():
    _pointing = _words.pop("items", ())
    _paper = Paper(_name, **_words)
    for _item in _pointing:
        Entry(_paper, **_item)
