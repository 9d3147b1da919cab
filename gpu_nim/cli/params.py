"""Types of parameters that several commands have, with numbers as `gpu_nim.model.arguments` reads them, and common options."""

from collections.abc import Callable, Collection, Iterable
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.model.arguments import parse_integer, parse_size
from gpu_nim.model.errors import close
from gpu_nim.model.memory import VARIABLE, capped
from gpu_nim.model.registry import one_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LARGEST_SIZE = 2**62  # for numbers of items in memory or of steps


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """What a function makes of a text; the message of its ValueError says what is wrong with one.

    Args:
        name: the placeholder in help texts.
        parse: the function.
        words: texts that are offered in the shell.
    """

    def __init__(self, name: str, parse: Callable[[str], Any], words: Iterable[str] = ()) -> None:
        self.name, self._parse, self._words = name, parse, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what the text names; defaults are not parsed."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        """Return the words that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]


class Choice(click.Choice):  # type: ignore[type-arg]  # generic only in new releases of click
    """One of some names, with an error in the words of the other types."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name."""
        if value not in self.choices:
            self.fail(f"expected {one_of(self.choices)}, got {value!r}{close(value, self.choices) or '.'}", param, ctx)
        return value


def number(above: int, most: int) -> Parsed:
    """A number above `above`, at most `most`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
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


def _parse_integers(text: str) -> tuple[int, ...]:
    """Integers such as 1,3."""
    try:
        return tuple(map(parse_integer, text.split(",")))
    except ValueError as error:
        raise ValueError(f"{error}, and several are separated by commas") from None


def memory_option() -> click.Option:
    """Return the option that caps the memory of a command."""

    def cap(ctx: click.Context, _: click.Parameter, size: int | None) -> None:
        if size is not None:
            ctx.find_root().with_resource(capped(size))  # the command's own context is not closed if a later option is wrong

    text = "Most main memory, and most memory of a GPU, to use: 8GiB, 500MB.  [default: what is free]"
    size = Parsed("size", parse_size)
    return click.Option(["--memory"], type=size, envvar=VARIABLE, show_envvar=True, expose_value=False, callback=cap, help=text)


def given(names: Collection[str]) -> frozenset[str]:
    """Return which of these options were given on the command line, even with their default values."""
    context = click.get_current_context()
    return frozenset(name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE)


BIGINT = Parsed("integer", parse_integer)
FILE = click.Path(path_type=Path, readable=False)  # checked where it is opened, for a better message than click's
PILE = integer(0, 10**10_000)  # printing the binary columns of longer ones takes minutes
SIZE = integer(0)
AMOUNT = integer(1)
CELLS = Parsed("cells", _parse_cells)
COUNTS = Parsed("integers", _parse_integers)
RANGE = Parsed("start:stop", _parse_range)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
