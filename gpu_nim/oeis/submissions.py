"""What can be submitted to the OEIS: drafts of new entries, corrections of entries and additions to them, and b-files, by name.

A draft is in the OEIS's internal format (https://oeis.org/eishelp1.html). It has the words, and is a file of `gpu_nim/oeis/drafts`;
its terms are those of the entry of the same name in `gpu_nim.oeis.catalogue`, which `gpunim count`, `gpunim verify --as` and its
b-file have too.

Corrections are of the entries as they stood in 2026. Each is a file of `gpu_nim/oeis/corrections`, which quotes no more of an entry
than what it replaces. `tests/counting/test_oeis_drafts.py` runs the programs and the check of each claim and change.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gpu_nim.model.arguments import is_a_number, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, unknown
from gpu_nim.model.shown import Shown
from gpu_nim.oeis.catalogue import OeisEntry, entries

#: Stands for the A-number until the OEIS has allocated one.
UNNUMBERED = "Axxxxxx"
#: Stands for the name under which the contributor is registered.
CONTRIBUTOR = "YOUR NAME"
#: How a contribution is signed.
SIGNATURE = f"_{CONTRIBUTOR}_, MMM DD YYYY"

_DATA = 260  # characters of the terms, with a comma and a space between two
_LINE = 80  # characters of a line of terms
_SOUGHT = 9  # first terms that are searched for, without the first of all
_ENDLESS = 200  # terms, more than the data can have


@dataclass(frozen=True)
class Note:
    """What a draft says of its sequence beyond the definition.

    Attributes:
        tag: the letter of its lines in the internal format: C for a comment, F for a formula, e for an example.
        text: its words, in one line or several.
        check: a program in Python that ends in an expression that is true; `tests/counting/test_oeis_drafts.py` has its names.
    """

    tag: str
    text: str
    check: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Draft(Shown):
    """The words of an entry that the OEIS lacks.

    Attributes:
        name: the name of the entry.
        title: the OEIS's name of the sequence, a sentence that defines it.
        definition: comments that define what the title only names.
        programs: programs by their language, each of which prints the first terms, by the definition.
        keywords: the OEIS's keywords.
        reach: the last index of its b-file.
        claims: further comments, formulas that are proved, and examples.
        sources: papers, by their names in `SOURCES`.
        related: what related entries are, by their names.
        searched: whether the terms were searched for, and not only the subject (see `notes`).
    """

    name: str
    title: str
    definition: tuple[str, ...]
    programs: Mapping[str, str]
    keywords: str
    reach: int
    claims: tuple[Note, ...] = ()
    sources: tuple[str, ...] = ()
    related: Mapping[str, str] = field(default_factory=dict)
    searched: bool = False

    @property
    def summary(self) -> str:
        """The title."""
        return self.title

    def lines(self, entry: OeisEntry, number: str | None = None, upto: int | None = None) -> list[str]:
        """Return the draft in the internal format.

        Args:
            entry: the entry of this name, which has the terms.
            number: the A-number that the OEIS has allocated, if it has.
            upto: the last index of the b-file; `reach` by default.

        Raises:
            UsageError: the number is no A-number.
        """
        if number is not None and not is_a_number(number):
            raise UsageError(f"number must be an A-number such as A123456, got {short_repr(number)}")
        known = number or UNNUMBERED
        stop = None if self.reach - entry.offset > _ENDLESS else self.reach + 1
        terms = data_terms(entry.terms(entry.offset, stop))
        return [f"%{tag} {known} {text}".rstrip() for tag, text in self._fields(entry, known, terms, upto or self.reach)]

    def _fields(self, entry: OeisEntry, number: str, terms: list[int], upto: int) -> Iterator[tuple[str, str]]:
        yield "I", ""
        yield from zip("STU", data_lines(terms, _LINE - len(f"%S {number} ")), strict=False)
        yield "N", self.title
        for text in self.definition:
            yield "C", text
        yield from self._claims("C")
        yield "H", b_file_link(number, entry.offset, upto)
        for source in self.sources:
            yield "H", SOURCES[source]
        yield from self._claims("F")
        yield from self._claims("e")
        for language, program in self.programs.items():
            for text in (f"({language})", *program.splitlines()):
                yield "o", text
        numbered = [f"{name} ({about})" if about else name for name, about in self.related.items() if is_a_number(name)]
        if numbered:
            yield "Y", f"Cf. {', '.join(numbered)}."
        yield "K", self.keywords
        yield "O", f"{entry.offset},{first_large(terms)}"
        yield "A", SIGNATURE

    def _claims(self, tag: str) -> Iterator[tuple[str, str]]:
        return ((tag, line) for claim in self.claims if claim.tag == tag for line in claim.text.splitlines())

    def notes(self, terms: Sequence[int]) -> list[str]:
        """Return what a contributor must know beside the entry.

        Args:
            terms: its first terms.
        """
        sought = "the first terms and for the subject" if self.searched else "the subject, not for the terms,"
        pending = [f"{name} ({about})" for name, about in self.related.items() if not is_a_number(name)]
        return [
            f"{UNNUMBERED} is the number that the OEIS allocates; `gpunim oeis {self.name} --number` writes it in its place.",
            f"{CONTRIBUTOR} is the name under which you are registered, MMM DD YYYY the day.",
            *([f"To be added to the cross-references when they have numbers: {', '.join(pending)}."] if pending else []),
            "Its terms are not those of an entry that gpunim's tests hold. "
            f"In stored, incomplete copies of oeis.org of 2026 a search for {sought} found none.",
            f"Search before you submit: https://oeis.org/search?q={','.join(map(str, terms[1:_SOUGHT]))}",
            f"Two programs agree on its first terms: that of its lines %o, by the definition, and `gpunim count {self.name}`.",
            f"b-file: `gpunim oeis {self.name} -o . --b-file`; check: `gpunim verify {self.name}.txt --as {self.name}`.",
        ]


def b_file_link(number: str, offset: int, last: int) -> str:
    """Return the link to a b-file as the OEIS writes it.

    Args:
        number: the A-number.
        offset: the first index.
        last: the last index.
    """
    return f'{CONTRIBUTOR}, <a href="/{number}/b{number[1:]}.txt">Table of n, a(n) for n = {offset}..{last}</a>'


def data_terms(terms: Iterable[int]) -> list[int]:
    """Return the first terms, as many as the OEIS wants in an entry.

    >>> len(data_terms(10**6 for _ in range(100)))  # 7 digits, a comma and a space each
    29
    """
    fitting: list[int] = []
    length = 0
    for term in islice(terms, _ENDLESS):
        length += len(str(term)) + 2 * bool(fitting)
        if length > _DATA:
            break
        fitting.append(term)
    return fitting


def data_lines(terms: Iterable[int], width: int) -> list[str]:
    """Return terms as at most three lines of at most that many characters, broken after commas; what does not fit is left out.

    >>> data_lines([1, 10, 15, 226], 7)
    ['1,10,', '15,226']
    """
    lines, line = [], ""
    for term in terms:
        if line and len(f"{line}{term},") > width:
            lines.append(line)
            line = ""
        line += f"{term},"
    *full, last = [*lines, line][:3]
    return [*full, last.rstrip(",")]


def first_large(terms: Iterable[int]) -> int:
    """Return the position, from 1 on, of the first term whose absolute value exceeds 1; 1 if there is none.

    >>> first_large([0, 1, 13]), first_large([0, 1])
    (3, 1)
    """
    return next((position for position, term in enumerate(terms, 1) if abs(term) > 1), 1)


def read_entries(folder: str, parts: str, part: type) -> Iterator[dict[str, Any]]:
    """Yield the fields of each file of a folder beside this module, the file's name without its ending as `name`.

    Args:
        folder: the folder, drafts or corrections.
        parts: the field that is a list of tables.
        part: what is made of each of these.
    """
    for path in sorted((_HERE / folder).glob("*.toml")):
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
        yield {"name": path.stem, **fields, parts: tuple(part(**each) for each in fields.get(parts, ()))}


_HERE = Path(__file__).parent
#: Papers and pages, each with its link, by the names that drafts give them.
SOURCES: dict[str, str] = tomllib.loads((_HERE / "sources.toml").read_text(encoding="utf-8"))

#: The drafts, by the name of the entry that each describes.
DRAFTS = Registry[Draft]("draft", (Draft(**each) for each in read_entries("drafts", "claims", Note)))

#: How lines are signed, by their tags: comments, formulas and examples, and programs in Mathematica; links are not.
_SIGNED = {**dict.fromkeys("CFe", f" - {SIGNATURE}"), "t": f" (* {SIGNATURE} *)"}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a line of an entry.

    Attributes:
        tag: the letter of the line in the internal format.
        present: the words that are replaced; empty for a new line. A sentence or a program is a whole line, others a part of one.
        proposed: the words in their place.
        reason: why, for the editors.
        check: a program in Python whose last line, an expression, is true if the proposed words and the reason are.
    """

    tag: str
    present: str = ""
    proposed: str
    reason: str
    check: str

    def lines(self, name: str) -> list[str]:
        """Return the line to take out, the one to put in, signed, and the reason.

        Args:
            name: the A-number.
        """
        signed = _SIGNED.get(self.tag, "")
        whole = not self.present or self.present.endswith((".", "]"))
        part = f"; a part of a line, which gets at its end [Corrected by {SIGNATURE}]" if signed and not whole else ""
        removed = [f"-%{self.tag} {name} {self.present}"] if self.present else []
        return [*removed, f"+%{self.tag} {name} {self.proposed}{signed if whole else ''}", f"# {self.reason}{part}"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Correction(Shown):
    """The changes of an entry.

    Attributes:
        name: the A-number.
        changes: the changes of its words.
        reach: the last index of a b-file that is longer than the entry's; None where none is proposed.
        b_file: the entry's link to its b-file; empty where it has none.
        credit: whose terms that b-file has.
        counts: what the entry counts, where gpunim does not compute it.
    """

    name: str
    changes: tuple[Change, ...] = ()
    reach: int | None = None
    b_file: str = ""
    credit: str = ""
    counts: str = ""

    @property
    def summary(self) -> str:
        """The reasons."""
        return "; ".join([*(change.reason for change in self.changes), *([self._b_file_reason] if self.reach else [])])

    @property
    def _b_file_reason(self) -> str:
        return "a longer b-file" if self.b_file else "the entry has no b-file"

    def lines(self, entry: OeisEntry | None) -> list[str]:
        """Return each change as a line to take out, one to put in, and the reason.

        Args:
            entry: the entry that has the terms of a b-file; None where gpunim does not compute it.
        """
        changes = [*self.changes]
        if self.reach is not None and entry is not None:
            link = b_file_link(self.name, entry.offset, self.reach) + f" ({self.credit})" * bool(self.credit)
            changes.append(Change(tag="H", present=self.b_file, proposed=link, reason=self._b_file_reason, check=""))
        return [line for change in changes for line in change.lines(self.name)]


#: The corrections, by A-number.
CORRECTIONS = Registry[Correction]("correction", (Correction(**each) for each in read_entries("corrections", "changes", Change)))

#: The last index of a b-file by default, for an entry that neither a draft nor a correction gives one.
_REACH = 1000


@dataclass(frozen=True)
class Submission:
    """What can be submitted for one name.

    Attributes:
        name: the A-number, or the name of the draft.
        known: the entry that has the terms; None for an entry of the OEIS that gpunim only corrects.
        draft: the draft of a new entry.
        correction: the changes of an entry.
    """

    name: str
    known: OeisEntry | None
    draft: Draft | None
    correction: Correction | None

    @property
    def entry(self) -> OeisEntry:
        """The entry that has the terms.

        Raises:
            UsageError: gpunim does not compute the sequence.
        """
        if self.known is None:
            raise UsageError(f"gpunim corrects {self.name} and does not compute its terms, so there is no b-file of it")
        return self.known

    @property
    def counts(self) -> bool:
        """Whether its b-file is submitted."""
        return self.draft is not None or (self.correction is not None and self.correction.reach is not None)

    def lines(self, number: str | None = None, upto: int | None = None) -> list[str]:
        """Return the lines to submit, followed by notes to the contributor that begin with #.

        Args:
            number: the A-number that the OEIS has allocated for a draft.
            upto: the last index of the b-file.

        Raises:
            UsageError: the number is no A-number, or there is no draft to number.
        """
        if self.draft is not None:
            notes = self.draft.notes([*self.entry.terms(self.entry.offset, self.entry.offset + _SOUGHT)])
            return [*self.draft.lines(self.entry, number, upto), *(f"# {note}" for note in notes)]
        if number is not None:
            raise UsageError(f"number belongs to a draft, and {self.name} has a number, got {short_repr(number)}")
        if self.correction is not None:
            return self.correction.lines(self.known)
        return [f"# {self.name}: nothing to correct is known"]

    def file_name(self, number: str | None = None) -> str:
        """Return the name of the file of the lines.

        Args:
            number: the A-number that the OEIS has allocated for a draft.
        """
        return f"{number or self.name}.{'seq' if self.draft else 'edit'}.txt"

    def last_index(self, upto: int | None) -> int:
        """Return the last index of the b-file.

        Args:
            upto: the requested one; None for the default.

        Raises:
            UsageError: it is below the offset, or gpunim does not compute the sequence.
        """
        if upto is not None:
            self.entry.check_index(upto, "upto")
            return upto
        chosen = self.draft.reach if self.draft else self.correction.reach if self.correction else None
        return self.entry.offset + _REACH if chosen is None else chosen


def submissions(names: Sequence[str]) -> list[Submission]:
    """Return what can be submitted for each name.

    Args:
        names: names of drafts, or A-numbers in upper or lower case.

    Raises:
        UsageError: a name is unknown.

    >>> [each.name for each in submissions(["edge-births", "a236305"])]
    ['edge-births', 'A236305']
    """
    known = entries()
    every = {*known, *CORRECTIONS}
    found: dict[str, Submission] = {}
    for given in names:
        name = given if given in every else given.upper()
        if name not in every:
            raise unknown("name", given, sorted(every), ", which `gpunim oeis` lists")
        found[name] = Submission(name, known.get(name), DRAFTS.get(name), CORRECTIONS.get(name))
    return list(found.values())


def by_worth() -> list[Submission]:
    """Return every correction and draft, the most valuable first.

    These are wrong terms, then wrong statements; drafts whose terms were looked up, and others; and what adds to an entry.

    >>> [each.name for each in by_worth()][:2]
    ['A186410', 'A186411']
    """
    return sorted(submissions([*CORRECTIONS, *DRAFTS]), key=_place)


def _place(each: Submission) -> int:
    if each.draft is not None:
        return 2 if each.draft.searched else 3
    replaced = {change.tag for change in each.correction.changes if change.present} if each.correction else set()
    return 0 if "S" in replaced else 1 if replaced & set("CFet") else 4


def listing() -> list[tuple[str, int | None, str, str]]:
    """Return all entries: name, offset, what can be submitted ("draft", "changes" or ""), and what it counts.

    >>> next(row for row in listing() if row[0] == "edge-births")
    ('edge-births', 0, 'draft', 'births of the automaton edge')
    """
    known = entries()
    rows = []
    for name in sorted({*known, *CORRECTIONS}):
        entry = known.get(name)
        submit = "draft" if name in DRAFTS else "changes" if name in CORRECTIONS else ""
        rows.append((name, None if entry is None else entry.offset, submit, entry.summary if entry else CORRECTIONS[name].counts))
    return rows
