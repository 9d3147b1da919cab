"""Parameter types of the command line: big integers and ranges of them, as `gpu_nim.model.notation` reads them."""

from pathlib import Path
from typing import Any

import click

from gpu_nim.model.memory_cap import VARIABLE, capped
from gpu_nim.model.notation import parse_integer, parse_size

_LARGEST_SIZE = 2**62  # for numbers of items in memory or of steps


class BigInteger(click.ParamType):  # type: ignore[type-arg]  # generic only in new releases of click
    """An integer, from `least` to `most` where these are given."""

    name = "integer"

    def __init__(self, least: int | None = None, most: int | None = None) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the integer; a usage error says what is wrong with it."""
        try:
            number = value if isinstance(value, int) else parse_integer(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)
        if self.least is not None and number < self.least:
            self.fail(f"expected an integer of at least {self.least}, got {value}.", param, ctx)
        if self.most is not None and number > self.most:
            most = self.most if self.most <= _LARGEST_SIZE else f"10^{len(str(self.most)) - 1}"
            self.fail(f"expected an integer of at most {most}, got {value}.", param, ctx)
        return number


class IntegerRange(click.ParamType):  # type: ignore[type-arg]
    """START:STOP, START at least `least` and STOP (excluded) beyond START; converts to a pair of integers."""

    name = "start:stop"

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return (start, stop); a usage error says what is wrong with them."""
        if isinstance(value, tuple):
            return value
        head, colon, tail = value.partition(":")
        if not colon:
            self.fail(f"expected START:STOP with STOP excluded, got {value!r}.", param, ctx)
        try:
            # 2^40:+1e9 and 2^40:2^40+1e9 name the same range
            start = parse_integer(head)
            stop = start + parse_integer(tail[1:]) if tail.startswith("+") else parse_integer(tail)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)
        if start < self.least:
            self.fail(f"expected START of at least {self.least}, got {head}.", param, ctx)
        if stop <= start:
            self.fail(f"expected STOP beyond START, got {value}, an empty range.", param, ctx)
        return start, stop


class IntegerLists(click.ParamType):  # type: ignore[type-arg]
    """Integers separated by commas, lists of them by semicolons: "1,1,0;1,0,1" converts to ((1, 1, 0), (1, 0, 1))."""

    name = "cells"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[tuple[int, ...], ...]:
        """Return a tuple of tuples of integers; a usage error says what is wrong with them."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(tuple(parse_integer(number) for number in cell.split(",")) for cell in value.split(";"))
        except ValueError as error:
            self.fail(f'{error}; cells are written as "1,1,0;1,0,1".', param, ctx)


class IntegerList(click.ParamType):  # type: ignore[type-arg]
    """Integers separated by commas."""

    name = "integers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return a tuple of integers; a usage error says what is wrong with them."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(parse_integer(number) for number in value.split(","))
        except ValueError as error:
            self.fail(f"{error}, and several are separated by commas.", param, ctx)


class MemorySize(click.ParamType):  # type: ignore[type-arg]
    """A size of memory, such as 8GiB; converts to bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes; a usage error says what is wrong with them."""
        try:
            return value if isinstance(value, int) else parse_size(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


def memory_option() -> click.Option:
    """Return the option that caps the memory of a command."""

    def cap(ctx: click.Context, _: click.Parameter, size: int | None) -> None:
        if size is not None:
            ctx.find_root().with_resource(capped(size))  # the command's own context is not closed if a later option is wrong

    text = "Most main memory, and most memory of a GPU, to use: 8GiB, 500MB.  [default: what is free]"
    return click.Option(
        ["--memory"], type=MemorySize(), envvar=VARIABLE, show_envvar=True, expose_value=False, callback=cap, help=text
    )


BIGINT = BigInteger()
FILE = click.Path(path_type=Path, readable=False)  # checked where it is opened, for a better message than click's
PILE = BigInteger(least=0, most=10**10_000)  # printing the binary columns of longer ones takes minutes
SIZE = BigInteger(least=0, most=_LARGEST_SIZE)
AMOUNT = BigInteger(least=1, most=_LARGEST_SIZE)
CELLS = IntegerLists()
COUNTS = IntegerList()
RANGE = IntegerRange()
