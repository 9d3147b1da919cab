"""Corrections of entries of the OEIS and additions to them, as the entries stood in 2026.

Each is a file of `gpu_nim/oeis/corrections`, which quotes no more of an entry than what it replaces. `tests/test_oeis_drafts.py`
runs the check of each change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpu_nim.model.registry import Registry
from gpu_nim.oeis.draft import CONTRIBUTOR, read_entries
from gpu_nim.oeis.entry import OeisEntry


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of a line of an entry.

    Attributes:
        tag: the letter of the line in the internal format.
        present: the words that are replaced; empty for a new line.
        proposed: the words in their place.
        reason: why, for the editors.
        check: a program in Python whose last line, an expression, is true if the proposed words and the reason are.
    """

    tag: str
    present: str = ""
    proposed: str
    reason: str
    check: str


@dataclass(frozen=True, kw_only=True)
class Correction:
    """The changes of an entry.

    Attributes:
        name: the A-number.
        changes: the changes of its words.
        reach: the last index of a b-file that is longer than the entry's; None where none is proposed.
        b_file: the entry's words about its b-file; empty where it has none.
        counts: what the entry counts, where gpunim does not compute it.
    """

    name: str
    changes: tuple[Change, ...] = ()
    reach: int | None = None
    b_file: str = ""
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
        return [line for words in self._changes(entry) for line in self._change(*words)]

    def _changes(self, entry: OeisEntry | None) -> Iterator[tuple[str, str, str, str]]:
        for change in self.changes:
            yield change.tag, change.present, change.proposed, change.reason
        if self.reach is not None and entry is not None:
            table = f"Table of n, a(n) for n = {entry.offset}..{self.reach}"
            link = f'{CONTRIBUTOR}, <a href="/{self.name}/b{self.name[1:]}.txt">{table}</a>'
            yield "H", self.b_file, link, self._b_file_reason

    def _change(self, tag: str, present: str, proposed: str, reason: str) -> list[str]:
        removed = [f"-%{tag} {self.name} {present}"] if present else []
        return [*removed, f"+%{tag} {self.name} {proposed}", f"# {reason}"]


#: The corrections, by A-number.
CORRECTIONS = Registry[Correction]("correction")

for _fields in read_entries("corrections"):
    CORRECTIONS.add(Correction(**_fields | {"changes": tuple(Change(**change) for change in _fields.get("changes", ()))}))
