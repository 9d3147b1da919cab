"""What commands print: JSON for programs and tables for people on stdout, notes and progress bars on stderr."""

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.globals import resolve_color_default

from gpu_nim.model.arguments import escaped
from gpu_nim.model.work import OnStep, Outcome, unreported

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Batch

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
    """Print rows under a header in aligned columns; on a terminal they are fitted to its width."""
    cells = [[_text(value) for value in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in table_lines(cells, header, width):
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
_READABLE = 16  # columns below which text is not wrapped for the sake of others


def table_lines(cells: Sequence[Sequence[str]], header: Sequence[str] = (), width: int | None = None) -> Iterator[str]:
    r"""Yield the lines of a table in aligned columns, numbers to the right and words to the left.

    Where it does not fit, the widest columns of words are wrapped, and if that is not enough, each row becomes a list of its cells.
    No word is cut: one that is longer than the terminal stands alone on its line.

    Args:
        cells: the rows.
        header: the names of the columns; empty for none.
        width: the columns of the terminal; None for any.

    >>> print(*table_lines([["nim", "1,024"], ["edge", "8"]], ["name", "births"]), sep="\n")
    name  births
    nim    1,024
    edge       8
    """
    if not cells:
        yield _GAP.join(header)
        return
    columns = list(zip(*([header] if header else []), *cells, strict=True))
    numeric = [all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    if width is not None and not _fit(widths, columns, numeric, width):
        yield from _stacked(cells, header, width) if header else _facts(cells, width)
        return
    for row in ([header] if header else []) + list(cells):
        wrapped = [_wrap(text, size) for text, size in zip(row, widths, strict=True)]
        for i in range(max(map(len, wrapped))):
            line = (lines[i] if i < len(lines) else "" for lines in wrapped)
            yield _GAP.join(
                text.rjust(size) if right else text.ljust(size) for text, size, right in zip(line, widths, numeric, strict=True)
            ).rstrip()


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(",", "").replace(".", "").isdigit()


def _fit(widths: list[int], columns: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> bool:
    """Narrow the widest columns of words until they fit, and return whether they do."""
    words = [max((len(word) for text in column for word in text.split()), default=0) for column in columns]
    least = [size if right else max(word, min(size, _READABLE)) for size, word, right in zip(widths, words, numeric, strict=True)]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    while excess > 0:
        spare = [size - low for size, low in zip(widths, least, strict=True)]
        widest = max(range(len(widths)), key=lambda i: widths[i] if spare[i] else 0)
        if not spare[widest]:
            return False
        widths[widest] -= 1
        excess -= 1
    return True


def _stacked(cells: Sequence[Sequence[str]], header: Sequence[str], width: int) -> Iterator[str]:
    """The rows as paragraphs: the first cell, and the others below it, each after its name."""
    for row in cells:
        yield from _wrap(row[0], width)
        others = list(zip(header[1:], row[1:], strict=True))
        yield from (f"{_GAP}{line}" for line in _facts(others, width - len(_GAP)))


def _facts(cells: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Names and values, of which those with a word that is too long stand below their names."""
    label = max((len(name) for name, *_ in cells), default=0)
    for name, *values in cells:
        text = _GAP.join(values)
        below = max(map(len, text.split()), default=0) > width - label - len(_GAP)
        if below:
            yield name
        indent = 0 if below else label
        for k, line in enumerate(_wrap(text, width - len(_GAP) - indent)):
            start = "" if below or k else name
            yield f"{start:<{indent}}{_GAP}{line}".rstrip()


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]


@contextmanager
def step_progress(quiet: bool = False) -> Iterator[OnStep]:
    """Yield a function that takes the name of a step, the amount done and the total, and updates a bar on a terminal.

    The bar is on stderr, and is erased at the end of the block. There is none with `quiet`.
    """
    if quiet or not sys.stderr.isatty():
        yield unreported
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


@contextmanager
def growth_progress(generations: int, quiet: bool) -> Iterator[Callable[["Batch"], None]]:
    """Yield a function that takes each batch and updates the bar: births, cells a second, generation, time left."""
    if quiet or not sys.stderr.isatty():
        yield lambda batch: None
        return
    population, began = 0, time.perf_counter()
    with step_progress(quiet) as step:

        def take(batch: "Batch") -> None:
            nonlocal population
            population += sum(batch.births.tolist())
            rate = population / max(time.perf_counter() - began, 1e-9)
            last = batch.first + len(batch.births) - 1
            step(f"{int(batch.births[-1]):,} births, {rate:,.0f} cells/s, generation", last, generations)

        yield take
