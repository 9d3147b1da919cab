"""Options that take a name from a catalogue, which is read only when a command needs it."""

from collections.abc import Callable, Iterable
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


def named_option(
    flag: str, choices: Callable[[], Iterable[str]], about: str | Callable[[], str] = "{}.", **extra: Any
) -> Callable[[F], F]:
    """Return a decorator that adds a `NamedOption`."""
    return click.option(flag, cls=NamedOption, choices=choices, about=about, **extra)
