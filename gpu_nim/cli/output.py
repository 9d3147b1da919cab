"""What commands print: JSON for programs on stdout, tables for people, progress bars on stderr."""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from gpu_nim.cli.tables import table_lines
from gpu_nim.jobs.ranks import Outcome

# Control characters, marks that change the direction of text, and surrogates, which no encoding has.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Return a line of text that is safe to print: names in files and arguments could hold escape sequences.

    >>> print(plain("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(line: str, *, err: bool = False) -> None:
    """Print one line, on stdout or stderr, that may hold untrusted text: a path, an argument, a name from a file."""
    click.echo(plain(line), err=err)


def report(outcome: Outcome) -> None:
    """Print why a command failed, on stderr."""
    if outcome.sentence is not None:
        say(f"gpunim: {outcome.sentence}", err=True)


def emit_json(value: Any) -> None:
    """Print one JSON object on stdout, on one line, in ASCII, which escapes control characters."""
    click.echo(json.dumps(value))


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> None:
    """Print rows under a header in aligned columns; on a terminal they are fitted to its width."""
    cells = [[_text(value) for value in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines(cells, header, width):
        click.echo(line)


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else plain(str(value))


def point(position: Sequence[int] | None) -> str:
    """A position as it is printed, (1,2,3); nothing for None.

    >>> point((1, 2, 3)), point(()), point(None)
    ('(1,2,3)', '()', '')
    """
    return "" if position is None else f"({','.join(map(str, position))})"


def reserve(out: Path) -> None:
    """Reserve the name of a file until the command ends, so that no other one writes the same file meanwhile."""
    from gpu_nim.storage.atomic import claim

    click.get_current_context().with_resource(claim(out))


def wants_progress(quiet: bool) -> bool:
    """Return whether to show a progress bar: stderr is a terminal, --quiet was not given, and Rich is installed."""
    return not quiet and sys.stderr.isatty() and find_spec("rich") is not None


def duration(seconds: float) -> str:
    """Return seconds in words, in the largest unit of which there are at least two."""
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:,.1f} seconds"
