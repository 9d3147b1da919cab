"""Commands and groups whose help fits any terminal and ends with examples and with lists made from catalogues."""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.model.errors import UsageError, close

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_WIDTH = 80  # of the widest help
_NARROWEST = 20
_WORD = re.compile(r'(?:"[^"]*"|\S)+')  # of a shell
_DESCRIBED = 28  # columns that descriptions have beside names, at least

Listings = Mapping[str, Iterable[tuple[str, str]]]


class Formatter(click.HelpFormatter):
    """Help at the width of the terminal, which click takes to have 50 columns at least."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        columns = min(shutil.get_terminal_size().columns, max_width or _WIDTH)
        super().__init__(indent_increment, width or max(columns - 2, _NARROWEST))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and descriptions in two columns, the second with most of a narrow terminal."""
        super().write_dl(list(rows), min(col_max, max(self.width - _DESCRIBED, 8)), col_spacing)

    def write_command(self, line: str) -> None:
        """Write a command line, continued as in a shell where it is too long."""
        lines = [""]
        for word in _WORD.findall(line):
            if lines[-1] and self.current_indent + len(f"{lines[-1]} {word} \\") > self.width:
                lines.append("  ")
            lines[-1] += f" {word}" if lines[-1].strip() else word
        self.write(" \\\n".join(f"{'':{self.current_indent}}{each}" for each in lines) + "\n")


class _Context(click.Context):
    formatter_class = Formatter


class _Helpful(click.Command):
    """What commands and groups have in common.

    Args:
        args: as for `click.Command`.
        examples: command lines, each with what it does; the tests run them.
        listings: returns the lists at the end of the help by title, each of names and descriptions; called for help alone.
        options: returns the options that come before the command's own; called whenever the command is.
        extra: as for `click.Command`.
    """

    context_class = _Context

    def __init__(
        self,
        *args: Any,
        examples: Mapping[str, str],
        listings: Callable[[], Listings] = dict,
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
        assert isinstance(formatter, Formatter)
        for title, rows in self._listings().items():
            with formatter.section(title):
                formatter.write_dl(list(rows))
        with formatter.section("Examples"):
            for line, about in self.examples.items():
                formatter.write_command(line)
                with formatter.indentation():
                    formatter.write_text(about)


class Command(_Helpful):
    """A command with examples, and perhaps with lists and options made from catalogues."""


class Group(_Helpful, click.Group):
    """A group with examples, which prints its help where no command is given, and suggests similar ones where it is unknown."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; without any, print the help and exit, which newer releases of click take for wrong use."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; UsageError where there is none."""
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name)):
            hint = close(name, self.list_commands(ctx)) or ": --help lists the commands"
            raise UsageError(f"no command is called {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def themes(self, ctx: click.Context) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the commands with their summaries, by theme."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return {"Commands": [(name, command.get_short_help_str(1000)) for name, command in commands if command is not None]}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by theme, with their whole summaries."""
        width = max(map(len, self.list_commands(ctx)))
        for theme, rows in self.themes(ctx).items():
            with formatter.section(theme):
                formatter.write_dl((name.ljust(width), summary) for name, summary in rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the commands and options that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        rows = (row for rows in self.themes(ctx).values() for row in rows)
        items = [CompletionItem(name, help=summary) for name, summary in rows if name.startswith(incomplete)]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]
