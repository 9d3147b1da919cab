"""Options and help that are made from catalogues, which are read only when a command needs them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from gpu_nim.model.registry import one_of

F = TypeVar("F", bound=Callable[..., Any])


class NamedOption(click.Option):
    """An option that takes a name from a catalogue, which is read when help or a completion is requested.

    Args:
        args: as for `click.Option`.
        choices: returns the names.
        about: the help text, with {} for the names, or a function that returns it.
        extra: as for `click.Option`.
    """

    def __init__(self, *args: Any, choices: Callable[[], Iterable[str]], about: str | Callable[[], str], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._choices, self._about = choices, about

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, which names the choices."""
        self.help = (self._about if isinstance(self._about, str) else self._about()).format(one_of(self._choices()))
        return super().get_help_record(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the choices that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self._choices() if name.startswith(incomplete)]


class CatalogueCommand(click.Command):
    """A command whose help ends with lists of catalogues, and which may have options made from them.

    Args:
        args: as for `click.Command`.
        listings: returns the lists by title, each of names and descriptions; called when help is requested.
        options: returns the options that come before the command's own; called whenever the command is.
        extra: as for `click.Command`.
    """

    def __init__(
        self,
        *args: Any,
        listings: Callable[[], Mapping[str, Iterable[tuple[str, str]]]] = dict,
        options: Callable[[], list[click.Parameter]] = list,
        **extra: Any,
    ) -> None:
        super().__init__(*args, **extra)
        self._listings, self._options = listings, options

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options made from catalogues and then the command's own."""
        return [*self._options(), *super().get_params(ctx)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for title, rows in self._listings().items():
            with formatter.section(title):
                formatter.write_dl(list(rows))


def named_option(
    flag: str, choices: Callable[[], Iterable[str]], about: str | Callable[[], str] = "{}.", **extra: Any
) -> Callable[[F], F]:
    """Return a decorator that adds a `NamedOption`."""
    return click.option(flag, cls=NamedOption, choices=choices, about=about, **extra)
