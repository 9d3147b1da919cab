"""What commands print: JSON for programs on stdout, tables for people, progress bars on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import click


def emit_json(value: Any) -> None:
    """Print one JSON object on stdout, on one line."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_table(rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> None:
    """Print rows under a header, columns aligned: numbers to the right, words to the left."""
    cells = [[_text(value) for value in row] for row in rows]
    columns = [list(column) for column in zip(*([list(header)] if header else []), *cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    body = list(zip(*cells, strict=True))
    numeric = [all(text.lstrip("-").replace(",", "").replace(".", "").isdigit() for text in column) for column in body]
    if header:
        click.echo("  ".join(_pad(h, w, n) for h, w, n in zip(header, widths, numeric, strict=True)).rstrip())
    for row in cells:
        click.echo("  ".join(_pad(c, w, n) for c, w, n in zip(row, widths, numeric, strict=True)).rstrip())


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def wants_progress(quiet: bool) -> bool:
    """Return whether a progress bar has a reader: stderr is a terminal, nobody asked for silence, and Rich is there to draw it."""
    return not quiet and sys.stderr.isatty() and find_spec("rich") is not None
