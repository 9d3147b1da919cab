"""Corrections of entries of the OEIS and additions to them, as the entries stood in 2026.

Each is a file of `gpu_nim/oeis/corrections`, which quotes no more of an entry than what it replaces. `tests/test_oeis_drafts.py`
runs the check of each change.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_nim.model.registry import Registry
from gpu_nim.oeis.draft import SIGNATURE, b_file_link, read_entries
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
