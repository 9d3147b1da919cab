"""Parameters that take names of catalogues, which are read where a completion is requested.

The library checks the names, with a message that suggests similar ones.
"""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from gpu_nim.model.registry import one_of

Described = Iterable[tuple[str, str]]

F = TypeVar("F", bound=Callable[..., Any])


class Named(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """A name of a catalogue.

    Args:
        name: the placeholder in help texts.
        described: returns the names with their summaries.
        or_file: whether it may be a file, too.
    """

    def __init__(self, name: str, described: Callable[[], Described], *, or_file: bool = False) -> None:
        self.name, self.described, self._or_file = name, described, or_file

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what `incomplete` may be the beginning of."""
        return _beginning(self.described(), incomplete) or ([CompletionItem("", type="file")] if self._or_file else [])


class SeveralNames(Named):
    """Names of a catalogue, separated by commas."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        return tuple(" ".join(name.split()) for name in value.split(","))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what the last name may be."""
        head, comma, begun = incomplete.rpartition(",")
        return _beginning(self.described(), begun, head + comma)


def named_option(flag: str, names: Iterable[str], about: str = "{}.", **extra: Any) -> Callable[[F], F]:
    """Return a decorator that adds an option that takes one of some names, of which the library says which are wrong.

    Args:
        flag: the option.
        names: the names; those in capitals are placeholders, which the shell does not offer.
        about: the help text, with {} for the names.
        extra: as for `click.option`.
    """
    words = list(names)

    def offered(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete) and not word.isupper()]

    return click.option(flag, help=about.format(one_of(words)), shell_complete=offered, **extra)


def _beginning(described: Described, begun: str, before: str = "") -> list[CompletionItem]:
    """The names that begin so, after what stands before."""
    return [CompletionItem(before + name, help=about) for name, about in described if name.startswith(begun)]


def _summaries(module: str, name: str = "CATALOGUE") -> Described:
    """The entries of a catalogue, which is imported only here."""
    found: Described = getattr(import_module(f"gpu_nim.{module}"), name).summaries()
    return found


automata = partial(_summaries, "automata.catalogue")
games = partial(_summaries, "games.named_games")


def families() -> Described:
    """Return the families of sequences."""
    from gpu_nim.counting.families import FAMILIES

    return [(name, family.summary.format(piles="K")) for name, family in FAMILIES.items()]


def sequences() -> Described:
    """Return the families of sequences and the OEIS entries."""
    from gpu_nim.oeis.catalogue import entries

    return [*families(), *((number, entry.summary) for number, entry in entries().items())]


def figures() -> Described:
    """Return the figures, as sources of pictures."""
    return [(f"figure:{name}", about) for name, about in _summaries("render.figures", "FIGURES")]


def oeis_names() -> Described:
    """Return the OEIS entries, drafts and corrections, and all."""
    from gpu_nim.oeis.submissions import listing

    return [*((name, summary) for name, _, _, summary in listing()), ("all", "every draft and every correction")]


def statements() -> Described:
    """Return the statements, and all."""
    from gpu_nim.papers import statements as every

    return [*((each.name, each.summary) for each in every()), ("all", "all of them")]


AUTOMATON_NAME = Named("automaton", automata)
GAME_NAME = Named("game", games)
SEQUENCE_NAME = Named("name", sequences)
OEIS_NAME = Named("name", oeis_names)
AUTOMATON_OR_SEQUENCE = Named("source", lambda: [*automata(), *sequences()], or_file=True)
COLUMN_NAME = Named("name", partial(_summaries, "automata.columns", "COLUMNS"))
COLUMN_NAMES = SeveralNames("names", COLUMN_NAME.described)
REDUCTION_NAMES = SeveralNames("names", partial(_summaries, "counting.reductions", "REDUCTIONS"))
KIND_NAMES = SeveralNames("names", partial(_summaries, "guessing.search", "KINDS"))
PAPER_NAME = Named("paper", lambda: [*_summaries("papers.entries", "PAPERS"), ("all", "all of them")])
STATEMENT_NAME = Named("statement", statements, or_file=True)
SOURCE = Named("source", lambda: [*games(), *automata()], or_file=True)
SOURCE_OR_FIGURE = Named("source", lambda: [*SOURCE.described(), *figures()], or_file=True)
