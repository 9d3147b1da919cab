"""What a catalogue of a paper holds: its items, with what the paper prints beside the function that computes the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpu_nim.model.registry import Registry

REACH = 20
"""The reach of the checks by default: all of them take some ten seconds."""

_KINDS = ("definition", "rule", "theorem", "lemma", "corollary", "example", "remark", "table", "figure", "graph")


@dataclass(frozen=True)
class Comparison:
    """One thing that a paper prints and gpunim computes; values are numbers, texts, truths and lists of them.

    Attributes:
        about: what is compared, in words.
        compute: computes it.
        printed: what the paper prints, or what follows from its words; None for a question that it leaves to the reader.
        right: the right value, where what the paper prints is a slip.
    """

    about: str
    compute: Callable[[], Any]
    printed: Any = None
    right: Any = None


@dataclass(frozen=True)
class Item:
    """A definition, theorem, example, table, figure or sequence of a paper, or a statement of its text.

    Attributes:
        number: the paper's number, such as "Theorem 19"; of a statement in its text the section and a few words.
        statement: what it says, in a sentence or two.
        comparisons: what it prints, beside what gpunim computes.
        checks: the statements of `gpunim verify` that stand for it.
        command: the command that shows the same; by default the verification of its checks.
        slip: in words, how the paper is wrong, where it is.
        figure: a name of the catalogue of figures, if gpunim draws it.
    """

    number: str
    statement: str
    comparisons: tuple[Comparison, ...] = ()
    checks: tuple[str, ...] = ()
    command: str = ""
    slip: str = ""
    figure: str = ""

    @property
    def kind(self) -> str:
        """What it is, by its number: "theorem", "sequence", "figure", ..., or "text" for a statement without a number.

        >>> [Item(number, "").kind for number in ("First theorem", "A048883", "Section 3, self-similarity", "Lemma 24, proof")]
        ['theorem', 'sequence', 'text', 'lemma']
        """
        if self.number[0] == "A" and self.number[1:].isdigit():
            return "sequence"
        words = self.number.split(",")[0].lower().split()
        return next((kind for kind in _KINDS if kind in words), "text")

    @property
    def shown_by(self) -> str:
        """The command that shows what it says."""
        return self.command or f"gpunim verify {' '.join(self.checks)}"


@dataclass(frozen=True)
class Paper:
    """A source of gpunim.

    Attributes:
        name: its name in `gpunim reproduce`.
        label: how gpunim cites it, such as "NF".
        title: authors, title and where it was published.
        items: its items, in its order.
        note: what a reader of the comparison has to know of its versions and numbers.
    """

    name: str
    label: str
    title: str
    items: tuple[Item, ...]
    note: str = ""

    @property
    def summary(self) -> str:
        """The label and the title."""
        return f"[{self.label}] {self.title}"

    def anchor(self, item: Item) -> str:
        """Return the name of an item in links.

        Args:
            item: one of its items.

        >>> Paper("nim-fractals", "NF", "Nim Fractals", ()).anchor(Item("Section 3, self-similarity", ""))
        'nf-section-3-self-similarity'
        """
        return re.sub(r"[^a-z0-9]+", "-", f"{self.label} {item.number}".lower()).strip("-")


PAPERS = Registry[Paper]("paper", also=", or all")
