"""What commands print: JSON for programs and tables for people on stdout, notes and progress bars on stderr."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import click
from click.globals import resolve_color_default

from gpu_nim.model.arguments import escaped
from gpu_nim.model.work import OnStep, Outcome

_SHORT = 4000  # bits of an integer that Python writes as quickly as anyone, and without a limit


def say(line: str, *, err: bool = False, colours: Mapping[str, str] = MappingProxyType({})) -> None:
    """Print one line, on stdout or stderr, that may hold untrusted text: a path, an argument, a name from a file.

    Args:
        line: the text.
        err: whether to print it on stderr.
        colours: those of first words.
    """
    first, *rest = escaped(line).partition(" ")
    click.echo("".join((click.style(first, fg=colours.get(first)) if first in colours else first, *rest)), err=err)


def report(outcome: Outcome) -> None:
    """Print why a command failed, on stderr."""
    if outcome.sentence is not None:
        try:
            say(f"gpunim: {outcome.sentence}", err=True)
        except OSError:  # of a full disk, say; the exit status still tells
            sys.stderr = None  # else Python tries again at its end, and changes the status


def emit_json(value: Any) -> None:
    """Print one JSON object on stdout, on one line, in ASCII, which escapes control characters."""
    click.echo(json.dumps(value))


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> None:
    """Print rows under a header in aligned columns; words that do not fit a terminal are wrapped within their columns."""
    cells = [[_text(value) for value in row] for row in rows]
    if sys.stdout.isatty() and any(len(line) > shutil.get_terminal_size().columns for line in table_lines(cells, header)):
        _print_wrapped(cells, header)
        return
    for line in table_lines(cells, header):
        click.echo(line)


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, tuple):
        return point(value)
    return "" if value is None else escaped(str(value))


def point(position: Sequence[int] | None) -> str:
    """A position as it is printed, (1,2,3); nothing for None.

    >>> point((1, 2, 3)), point(()), point(None)
    ('(1,2,3)', '()', '')
    """
    return "" if position is None else f"({','.join(map(str, position))})"


def digits(number: int) -> str:
    """The decimal digits of an integer of any length, without Python's limit on it.

    >>> digits(-(10**20)), len(digits(7**40000))
    ('-100000000000000000000', 33804)
    """
    if number.bit_length() > _SHORT:
        from gpu_nim.counting.long_integers import long

        return str(long(number))
    return str(number)


_GAP = "  "
_NARROWEST = 16  # columns of words that are wrapped


def table_lines(cells: Sequence[Sequence[str]], header: Sequence[str] = ()) -> Iterator[str]:
    r"""Yield the lines of a table in aligned columns, numbers to the right and words to the left.

    Args:
        cells: the rows.
        header: the names of the columns; empty for none.

    >>> print(*table_lines([["nim", "1,024"], ["edge", "8"]], ["name", "births"]), sep="\n")
    name  births
    nim    1,024
    edge       8
    """
    if not cells:
        yield _GAP.join(header)
        return
    rows = [header, *cells] if header else cells
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numeric = _numeric(cells)
    for row in rows:
        columns = zip(row, widths, numeric, strict=True)
        yield _GAP.join(text.rjust(width) if right else text.ljust(width) for text, width, right in columns).rstrip()


def _numeric(cells: Sequence[Sequence[str]]) -> list[bool]:
    """Which columns are of numbers."""
    return [all(map(_is_number, column)) for column in zip(*cells, strict=True)]


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(",", "").replace(".", "").isdigit()


def _print_wrapped(cells: Sequence[Sequence[str]], header: Sequence[str]) -> None:
    from rich.console import Console  # a tenth of a second
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, len(_GAP), 0, 0), show_header=bool(header), header_style="")
    least = -len(_GAP)
    for i, numbers in enumerate(_numeric(cells)):
        widest = max(len(row[i]) for row in [*cells, *filter(None, [header])])
        name, width = header[i] if header else "", widest if numbers else None
        table.add_column(name, justify="right" if numbers else "left", width=width, overflow="fold")
        least += len(_GAP) + (width or min(widest, _NARROWEST))
    for row in cells:
        table.add_row(*row)
    width = max(shutil.get_terminal_size().columns, least)  # in less Rich leaves out whole columns
    Console(markup=False, emoji=False, highlight=False, width=width).print(table)


@contextmanager
def step_progress(quiet: bool = False) -> Iterator[OnStep]:
    """Yield a function that takes the name of a step, the amount done and the total, and updates a bar on a terminal.

    The bar is on stderr, and is erased at the end of the block. There is none with `quiet`.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    # Imported only where a bar is shown: Rich takes a tenth of a second.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    done_of_all = TextColumn("{task.description} {task.fields[whole]:,} of {task.total:,}")
    plain = resolve_color_default() is False
    console = Console(stderr=True, no_color=plain or None)
    with Progress(done_of_all, BarColumn(), TimeRemainingColumn(), console=console, transient=True) as progress:
        progress.add_task("", total=1, visible=False, whole=0, step=None)
        (task,) = progress.tasks

        def step(what: str, done: float, total: int) -> None:
            if new := task.fields["step"] != (kind := what.rpartition(", ")[2]):
                progress.reset(task.id, step=kind, whole=0)
            progress.update(
                task.id, description=what, completed=done, whole=int(done), total=total, visible=True, refresh=new
            )  # however soon it is over

        yield step
