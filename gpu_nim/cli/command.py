"""What commands are made of: help that has examples, types of parameters, and the options that several have.

Help ends with lists made from catalogues, whose names are read where a completion is requested; the library checks names, with a
message that suggests similar ones. Numbers are read by `gpu_nim.model.arguments`.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import partial
from importlib import import_module
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from gpu_nim.model.arguments import arguments_written, parse_integer, parse_integers, parse_size
from gpu_nim.model.errors import close
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import VARIABLE, limited

Described = Iterable[tuple[str, str]]

F = TypeVar("F", bound=Callable[..., Any])


class Helpful(click.Command):
    """What commands and their group have in common.

    Args:
        args: as for `click.Command`.
        examples: command lines, each with what it does; the tests run them.
        listings: returns the lists at the end of the help by title, each of names and descriptions; called for help alone.
        options: returns the options that come before the command's own; called whenever the command is.
        extra: as for `click.Command`.
    """

    def __init__(
        self,
        *args: Any,
        examples: Mapping[str, str],
        listings: Callable[[], Mapping[str, Iterable[tuple[str, str]]]] = dict,
        options: Callable[[], list[click.Parameter]] = list,
        **extra: Any,
    ) -> None:
        super().__init__(*args, **extra)
        self.examples = examples
        self.epilog = "\n\n".join(
            ["Examples:", *(f"``{line}``\n    {about}" for line, about in examples.items())]
        )  # for sphinx-click
        self._listings, self._options = listings, options

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options made from catalogues and then the command's own."""
        return [*self._options(), *super().get_params(ctx)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists and the examples."""
        for title, rows in self._listings().items():
            with formatter.section(title):
                formatter.write_dl(list(rows))
        with formatter.section("Examples"):
            for line, about in self.examples.items():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                with formatter.indentation():
                    formatter.write_text(about)


class Command(Helpful):
    """A command with examples, with --memory, and perhaps with lists and options made from catalogues."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.params.append(_MEMORY)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; from then on memory is limited, and messages of the library, which names arguments, name options."""
        rest = super().parse_args(ctx, args)
        size = ctx.params.pop("memory")
        if ctx.resilient_parsing:
            return rest
        ctx.with_resource(limited(size))
        ctx.find_root().obj = ctx  # for what is said of its errors
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        ctx.with_resource(arguments_written({param.name: max(param.opts, key=len) for param in options if param.name is not None}))
        return rest


_LARGEST_SIZE = 2**62  # for numbers of items in memory or of steps


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """What a function makes of a text; the message of its ValueError says what is wrong with one.

    Args:
        name: the placeholder in help texts.
        parse: the function.
    """

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what the text names; defaults are not parsed."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


class File(click.Path):
    """The path of a file, which is not empty: as a path it would be the working directory.

    Args:
        ending: that of a file which is written, where - is stdout, and what the command prints goes to stderr; None for one that is
            read, where - is stdin.
    """

    def __init__(self, ending: str | None = None) -> None:
        super().__init__(path_type=Path, readable=False)  # checked where it is opened, for a better message than click's
        self._ending = ending

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("expected the name of a file, got ''.", param, ctx)
        if value == "-" and self._ending and ctx and not ctx.resilient_parsing:
            return ctx.with_resource(_to_stdout(self._ending))
        return super().convert(value, param, ctx)


@contextmanager
def _to_stdout(ending: str) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"stdout{ending}")
        with redirect_stdout(sys.stderr):
            yield path
        if path.is_file():
            sys.stdout.buffer.write(path.read_bytes())


class Choice(click.Choice):  # type: ignore[type-arg]  # generic only in new releases of click
    """One of some names, with an error in the words of the other types."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name."""
        if value not in self.choices:
            self.fail(f"expected {one_of(self.choices)}, got {value!r}{close(value, self.choices) or '.'}", param, ctx)
        return value


class CatalogueName(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
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


class SeveralNames(CatalogueName):
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


def number(above: int, most: int) -> Parsed:
    """A number above `above`, at most `most`."""

    def parse(text: str) -> float:
        try:
            value = float(text) if text.isascii() else nan
        except ValueError:
            value = nan
        if not above < value <= most:
            raise ValueError(f"expected a number above {above} and at most {most}, got {text}")
        return value

    return Parsed("number", parse)


def integer(least: int, most: int = _LARGEST_SIZE) -> Parsed:
    """An integer from `least` to `most`."""

    def parse(text: str) -> int:
        number = parse_integer(text)
        if number < least:
            raise ValueError(f"expected an integer of at least {least}, got {text}")
        if number > most:
            bound = most if most <= _LARGEST_SIZE else f"10^{len(str(most)) - 1}"
            raise ValueError(f"expected an integer of at most {bound}, got {text}")
        return number

    return Parsed("integer", parse)


def _parse_range(text: str) -> tuple[int, int]:
    """START:STOP, STOP excluded, where 2^40:+1e9 and 2^40:2^40+1e9 name the same range."""
    head, colon, tail = text.partition(":")
    if not colon:
        raise ValueError(f"expected START:STOP with STOP excluded, got {text!r}")
    start = parse_integer(head)
    stop = start + parse_integer(tail[1:]) if tail.startswith("+") else parse_integer(tail)
    if start < 0:
        raise ValueError(f"expected START of at least 0, got {head}")
    if stop <= start:
        raise ValueError(f"expected STOP beyond START, got {text}, an empty range")
    return start, stop


def _parse_cells(text: str) -> tuple[tuple[int, ...], ...]:
    """Cells such as 1,1,0;1,0,1."""
    try:
        return tuple(tuple(map(parse_integer, cell.split(","))) for cell in text.split(";"))
    except ValueError as error:
        raise ValueError(f'{error}; cells are written as "1,1,0;1,0,1"') from None


def _parse_seeds(text: str) -> Path | tuple[tuple[int, ...], ...]:
    """Cells, or a file that has them."""
    return Path(text) if re.search(r"/|\.\w*[A-Za-z]|^-$", text) else _parse_cells(text)


def given(names: Collection[str]) -> frozenset[str]:
    """Return which of these options were given on the command line, even with their default values."""
    context = click.get_current_context()
    return frozenset(name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE)


def given_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return these options with their values, less those that were not given."""
    return {name: options[name] for name in given(options)}


_MEMORY = click.Option(
    ["--memory"],
    type=Parsed("size", parse_size),
    envvar=VARIABLE,
    show_envvar=True,
    help="Memory limit, host and GPU: 8GiB, 500MB.  [default: what is free]",
)

BIGINT = Parsed("integer", parse_integer)
FILE = File()
PILE = integer(0, 10**10_000)  # printing the binary columns of longer ones takes minutes
SIZE = integer(0)
AMOUNT = integer(1)
CELLS = Parsed("cells", _parse_cells)
SEEDS = Parsed("cells", _parse_seeds)
COUNTS = Parsed("integers", parse_integers)
RANGE = Parsed("start:stop", _parse_range)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


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


AUTOMATON_NAME = CatalogueName("automaton", automata)
GAME_NAME = CatalogueName("game", games)
SEQUENCE_NAME = CatalogueName("name", sequences)
OEIS_NAME = CatalogueName("name", oeis_names)
AUTOMATON_OR_SEQUENCE = CatalogueName("source", lambda: [*automata(), *sequences()], or_file=True)
COLUMN_NAME = CatalogueName("name", partial(_summaries, "automata.columns", "COLUMNS"))
COLUMN_NAMES = SeveralNames("names", COLUMN_NAME.described)
REDUCTION_NAMES = SeveralNames("names", partial(_summaries, "counting.reductions", "REDUCTIONS"))
KIND_NAMES = SeveralNames("names", partial(_summaries, "guessing.search", "KINDS"))
PAPER_NAME = CatalogueName("paper", lambda: [*_summaries("papers.entries", "PAPERS"), ("all", "all of them")])
STATEMENT_NAME = CatalogueName("statement", statements, or_file=True)
SOURCE = CatalogueName("source", lambda: [*games(), *automata()], or_file=True)
SOURCE_OR_FIGURE = CatalogueName("source", lambda: [*SOURCE.described(), *figures()], or_file=True)
