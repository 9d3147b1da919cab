"""What the command line says of an error: its exit status and one sentence; and the restart with what was not installed.

A file that is for another command is refused with the name of that command.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import PurePath

import click

from gpu_nim.cli.output import say
from gpu_nim.model.arguments import LONGEST_DIGITS
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
from gpu_nim.model.process import MISSING, mpi_rank, script_for
from gpu_nim.model.registry import one_of

#: The signals that end a command, and their messages.
SIGNALS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}

_INTERRUPTED = 130  # 128 + SIGINT, what a shell reports
_WRONG = 2  # wrong use, and shortages
_LONGEST_WORD = 500  # characters; a name in a folder has at most 255
_LONGEST_LINE = 4000  # characters
_DEBUG = "GPUNIM_DEBUG"  # if set, a defect shows its traceback
_FOLDER = "a folder of checkpoints"


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
