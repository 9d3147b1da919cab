"""Drafts of entries that the OEIS lacks, in its internal format (https://oeis.org/eishelp1.html).

A draft has the words, and is a file of `gpu_nim/oeis/drafts`; its terms are those of the entry of the same name in
`gpu_nim.oeis.catalogue`, which `gpunim count`, `gpunim verify --as` and its b-file have too. `tests/test_oeis_drafts.py` runs its
programs and the check of each claim.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gpu_nim.model.arguments import is_a_number, short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry
from gpu_nim.oeis.entry import OeisEntry

#: Stands for the A-number until the OEIS has allocated one.
UNNUMBERED = "Axxxxxx"
#: Stands for the name under which the contributor is registered.
CONTRIBUTOR = "YOUR NAME"
#: How a contribution is signed.
SIGNATURE = f"_{CONTRIBUTOR}_, MMM DD YYYY"

_DATA = 260  # characters of the terms, with a comma and a space between two
_LINE = 80  # characters of a line of terms
_ENDLESS = 200  # terms, more than the data can have


@dataclass(frozen=True)
class Claim:
    """What a draft says of its sequence beyond the definition.

    Attributes:
        tag: the letter of its lines in the internal format: C for a comment, F for a formula, e for an example.
        text: its words, in one line or several.
        check: a program in Python whose last line, an expression, is true; `tests/test_oeis_drafts.py` has the names for it.
    """

    tag: str
    text: str
    check: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Draft:
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
    claims: tuple[Claim, ...] = ()
    sources: tuple[str, ...] = ()
    related: Mapping[str, str] = field(default_factory=dict)
    searched: bool = False

    @property
    def summary(self) -> str:
        """The title."""
        return self.title

    def __repr__(self) -> str:
        return f"<Draft {self.name}: {self.title}>"

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

    def notes(self) -> list[str]:
        """Return what a contributor must know beside the entry."""
        sought = "the first terms and for the subject" if self.searched else "the subject, not for the terms,"
        pending = [f"{name} ({about})" for name, about in self.related.items() if not is_a_number(name)]
        return [
            f"{UNNUMBERED} is the number that the OEIS allocates; `gpunim oeis {self.name} --number` writes it in its place.",
            f"{CONTRIBUTOR} is the name under which you are registered, MMM DD YYYY the day.",
            *([f"To be added to the cross-references when they have numbers: {', '.join(pending)}."] if pending else []),
            "Its terms are not those of an entry that gpunim's tests hold. "
            f"In stored, incomplete copies of oeis.org of 2026 a search for {sought} found none.",
            "Look the terms up, without the first, at https://oeis.org before you submit.",
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
    return next((place for place, term in enumerate(terms, 1) if abs(term) > 1), 1)


def read_entries(folder: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of each file of a folder beside this module, the file's name without its ending as `name`.

    Args:
        folder: the folder, drafts or corrections.
    """
    for path in sorted((_HERE / folder).glob("*.toml")):
        yield {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}


_HERE = Path(__file__).parent
#: Papers and pages, each with its link, by the names that drafts give them.
SOURCES: dict[str, str] = tomllib.loads((_HERE / "sources.toml").read_text(encoding="utf-8"))

#: The drafts, by the name of the entry that each describes.
DRAFTS = Registry[Draft]("draft")

for _fields in read_entries("drafts"):
    DRAFTS.add(Draft(**_fields | {"claims": tuple(Claim(**claim) for claim in _fields.get("claims", ()))}))
