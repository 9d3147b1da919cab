"""What can be submitted to the OEIS: drafts of new entries, corrections of entries and additions to them, and b-files, by name.

Corrections are of the entries as they stood in 2026. Each is a file of `gpu_nim/oeis/corrections`, which quotes no more of an entry
than what it replaces. `tests/test_oeis_drafts.py` runs the check of each change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_nim.model.arguments import short_repr
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import Registry, unknown
from gpu_nim.oeis.b_files import bfile_name
from gpu_nim.oeis.catalogue import entries
from gpu_nim.oeis.draft import DRAFTS, SIGNATURE, Draft, b_file_link, read_entries
from gpu_nim.oeis.entry import OeisEntry

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


@dataclass(frozen=True, kw_only=True)
class Correction:
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
CORRECTIONS = Registry[Correction]("correction")

for _fields in read_entries("corrections"):
    CORRECTIONS.add(Correction(**_fields | {"changes": tuple(Change(**change) for change in _fields.get("changes", ()))}))

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

    def lines(self, number: str | None = None, upto: int | None = None) -> list[str]:
        """Return the lines to submit, followed by notes to the contributor that begin with #.

        Args:
            number: the A-number that the OEIS has allocated for a draft.
            upto: the last index of the b-file.

        Raises:
            UsageError: the number is no A-number, or there is no draft to number.
        """
        if self.draft is not None:
            notes = self.draft.notes()
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

    def b_file_name(self, number: str | None = None) -> str:
        """Return the name of the b-file.

        Args:
            number: the A-number that the OEIS has allocated for a draft.
        """
        return bfile_name(number or self.name)

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
    """Return what can be submitted for each name; 'all' stands for every draft and every correction.

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
        for name in (*DRAFTS, *CORRECTIONS) if given == "all" else (given if given in every else given.upper(),):
            if name not in every:
                raise unknown("name", given, ("all", *sorted(every)), ", which `gpunim oeis` lists")
            found[name] = Submission(name, known.get(name), DRAFTS.get(name), CORRECTIONS.get(name))
    return list(found.values())


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
