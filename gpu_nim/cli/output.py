"""What commands print: JSON for programs and tables for people on stdout, notes, progress bars and errors on stderr.

Of an error that is its exit status and one sentence; a file that is for another command is refused with the name of that command.
What was not installed may be, and the command begins again.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import click
from click.globals import resolve_color_default

from gpu_nim.model.arguments import LONGEST_DIGITS, escaped
from gpu_nim.model.errors import (
    GpunimError,
    MissingDependency,
    RankFailed,
    UsageError,
    close,
    is_shortage,
    message_of,
    not_installed,
)
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import MISSING, OnStep, Outcome, mpi_rank, no_progress, script_for

#: The signals that end a command, and their messages.
SIGNALS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}

_INTERRUPTED = 130  # 128 + SIGINT, what a shell reports
_WRONG = 2  # wrong use, and shortages
_LONGEST_WORD = 500  # characters; a name in a folder has at most 255
_LONGEST_LINE = 4000  # characters
_DEBUG = "GPUNIM_DEBUG"  # if set, a defect shows its traceback
_FOLDER = "a folder of checkpoints"

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
        yield no_progress
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


class Terminated(SystemExit):
    """SIGTERM or SIGHUP came; `code` is the exit status that a shell reports, 128 + the signal's number."""


def explain(error: BaseException, words: Sequence[str]) -> tuple[int, str | None]:
    """Return the exit status for an error, and the sentence that says what it is; raise the error if it is to be debugged."""
    match error:
        case Terminated():
            return error.args[0], SIGNALS[error.args[0] - 128]
        case BrokenPipeError():  # the reader of what it prints has ended, such as `head`: SIGPIPE, which Python ignores
            return 128 + signal.SIGPIPE, None
        case KeyboardInterrupt() | EOFError():
            click.echo(err=True)  # ends the line on which a terminal shows ^C
            return _INTERRUPTED, "interrupted"
        case click.exceptions.Abort():  # at a question
            return _INTERRUPTED, "interrupted"
        case click.exceptions.Exit():
            return error.exit_code, None
        case click.NoSuchOption():
            return error.exit_code, _one_line(_no_such_option(error, words))
        case click.MissingParameter():
            return error.exit_code, _one_line(f"{error.format_message().rstrip('.')}. --help has examples.")
        case click.ClickException():
            return error.exit_code, _one_line(error.format_message())
        case RankFailed():
            return 1, None  # the other rank says why
        case GpunimError() if error.exit_status == _WRONG or not is_shortage(error):
            if isinstance(error, MissingDependency):
                restart(error)
            return error.exit_status, _one_line(str(error))
        case _ if is_shortage(error):
            shortage = f"there is not enough memory for this ({message_of(error) or 'none left'}): --memory sets the limit"
            return _WRONG, _one_line(shortage)
        case ModuleNotFoundError() if not (error.name or __name__).startswith("gpu_nim"):
            sentence = not_installed(error)
        case OSError():  # mostly of stdout, since the files of gpunim raise FileError
            sentence = f"cannot read or write {error.filename or 'the output'}: {error.strerror or error}"
        case ValueError() if "integer string conversion" in str(error):
            sentence = f"the output has an integer of more than {LONGEST_DIGITS:,} digits"
        case _:
            if os.environ.get(_DEBUG) or type(error).__name__ == "BdbQuit":  # a debugger's q
                if mpi_rank() is None:
                    raise error
                import traceback

                traceback.print_exception(error, file=sys.__stderr__)  # the other ranks wait for this one's outcome
            sentence = f"this is a defect of gpunim, please report it: {type(error).__name__}: {error} ({_DEBUG}=1 shows where)"
    return 1, _one_line(sentence)


def restart(error: MissingDependency) -> None:
    """Replace this process by the script that started it, which installs the missing extra and runs the command again.

    Returns if no script started it, or mpirun did, if no extra has the dependency, or if the extra is already installed.
    """
    script = script_for(error.extra)
    if script is None or error.extra is None:
        return
    say(f"gpunim: {str(error).partition(': ')[0]}: installing the extra {error.extra}, once", err=True)
    sys.stdout.flush()
    extras = ",".join(filter(None, [os.environ.get(MISSING), error.extra]))
    os.execve(script, [script, *sys.argv[1:]], {**os.environ, MISSING: extras})


def _no_such_option(error: click.NoSuchOption, words: Sequence[str]) -> str:
    """The message for an unknown option, which suggests similar ones; -gen is read by click as -g."""
    name = error.option_name
    if not name.startswith("--"):
        name = next((f"-{word}" for word in words if word.startswith(name) and len(word) > 2), "")
    params = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    known = (option for param in params for option in param.opts if option.startswith("--"))
    if error.option_name[1:].isdigit():
        return f"No such option {error.option_name!r}; negative numbers come after --"
    in_python = [f"; did you mean {max(param.opts, key=len)}?" for param in params if param.name == name[2:].replace("-", "_")]
    return f"No such option {error.option_name!r}{(in_python or [close(name, known, prefix='--')])[0]}"


def _one_line(message: str) -> str:
    """A message on one line, for grep, with very long words cut, and the middle of a very long list."""
    line = " ".join(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}..." for word in message.split())
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"


def readers() -> dict[str, Sequence[str]]:
    """Return the endings of the files that each command, or an option of it, reads."""
    from gpu_nim.render.metadata import PROVENANCE_SUFFIXES
    from gpu_nim.storage.growth_formats import readable_suffixes
    from gpu_nim.storage.rle_files import PATTERN_SUFFIXES
    from gpu_nim.storage.save_load import SAYING, TEXTS, readable
    from gpu_nim.storage.tables import TABLE_FORMATS

    saved = readable_suffixes()
    return {
        "grow --seed": PATTERN_SUFFIXES,
        "grow --resume": [_FOLDER],
        "guess": readable(),
        **dict.fromkeys(("render", "movie", "export"), (*saved, *PATTERN_SUFFIXES)),
        "verify": [*saved, *TEXTS],
        "info": [*PROVENANCE_SUFFIXES, *TABLE_FORMATS, *saved, *SAYING],
    }


def read_by(path: str) -> str:
    """Return in words which commands read a file with the ending of this one, or a folder."""
    suffix = PurePath(path).suffix
    for kind in (suffix, suffix.lower(), _FOLDER * os.path.isdir(path)):
        if found := [reader for reader, kinds in readers().items() if kind in kinds]:
            return f"gpunim {one_of(found, 'and')} {'reads' if len(found) == 1 else 'read'} {kind}"
    return f"no command reads {suffix or 'that file'}"


def refused_file(error: UsageError, ctx: click.Context | None) -> UsageError:
    """Return the error for a file that is none of those that a command reads: which these are, and what reads this one.

    Args:
        error: how the command refused it, perhaps as a name; returned where it reads such files, or writes them, and if of no file.
        ctx: the context of the command, or None where there is none.
    """
    if ctx is None:
        return error
    for param in ctx.command.get_params(ctx):
        given = ctx.params.get(param.name or "")
        for path in map(str, given if isinstance(given, tuple) else [given]):
            if f"got {path!r}" not in str(error) or not os.path.exists(path):
                continue
            reader, suffix = ctx.command.name, PurePath(path).suffix
            if isinstance(param, click.Option):
                reader = f"{reader} {max(param.opts, key=len)}"
            reads = readers().get(str(reader), [suffix] if isinstance(param.type, click.Path) else [])
            if suffix in reads:
                return error
            if not suffix:
                return UsageError(f"{error} ({read_by(path)})")
            return UsageError(f"{reader} reads {one_of(reads, 'and') if reads else 'no file'}, got {path!r}; {read_by(path)}")
    return error
