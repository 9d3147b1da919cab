"""The command line: its commands, a module each, loaded only when that command is run; and how a command ends.

The modules parse, call the library and print; none of them computes. A new command NAME is a module `gpu_nim.cli.NAME`, which has
it under the same name, and an entry of `THEMES`.
"""

import os
import shlex
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from gpu_nim._version import __version__
from gpu_nim.cli.command import Helpful, color_option, coloured_by_environment, memory_option
from gpu_nim.cli.output import report, say
from gpu_nim.model.arguments import LONGEST_DIGITS
from gpu_nim.model.errors import GpunimError, MissingDependency, RankFailed, UsageError, close, message_of
from gpu_nim.model.files import COMMAND
from gpu_nim.model.work import Outcome, mpi_rank

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: The commands with their summaries by theme, for the first page of the help, which loads none of them.
THEMES = {
    "Automata": {
        "grow": "Grow an automaton, check it against its theorem, save it.",
        "automata": "List the automata, with their rules and OEIS entries.",
    },
    "Counts": {
        "count": "Count P-positions of Nim: at an index, over a range, reduced.",
        "oeis": "Draft entries of the OEIS, corrections and b-files.",
        "guess": "Guess recurrences and other laws of a sequence from its terms.",
    },
    "Games": {
        "nim": "Explain a position of Nim.",
        "play": "Play Nim or another game.",
        "position": "Explain a position of any game.",
        "solve": "Find the P-positions or Grundy values of a game.",
        "games": "List the games, with their parameters.",
        "evolution": "Build the evolution graph of Nim or of another game.",
    },
    "Pictures": {
        "render": "Draw a picture, or a figure of the papers.",
        "movie": "Make a movie of a rotating, growing or changing object.",
        "export": "Write a mesh for other programs, or an interactive page.",
    },
    "Checks": {
        "verify": "Check theorems exhaustively; check growths and b-files.",
        "reproduce": "Compare what the papers print with what gpunim computes.",
    },
    "Machine": {
        "bench": "Measure the speed.",
        "info": "Print versions and devices, or what made a file.",
    },
}

#: The summaries of all commands.
COMMANDS = {name: summary for commands in THEMES.values() for name, summary in commands.items()}

#: The command that divides its work among ranks.
_ON_RANKS = "grow"

_INTERRUPTED = 130  # 128 + SIGINT, what a shell reports
_LONGEST_WORD = 500  # characters; a name in a folder has at most 255
_COMPLETE = "_GPUNIM_COMPLETE"  # set by click's scripts for shells
_SCRIPT = "GPUNIM_SCRIPT"  # set by scripts/gpunim to its own path
_MISSING = "GPUNIM_MISSING"  # read by scripts/lib/environment.sh: extras to install beside the user's choice
_DEBUG = "GPUNIM_DEBUG"  # if set, a defect shows its traceback
_SIGNALS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


class LazyGroup(Helpful, click.Group):
    """A group whose commands are imported on use, and whose errors are one sentence on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, theme by theme."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"gpu_nim.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        if not any(param.name == "memory" for param in command.params):
            command.params += [memory_option(), color_option()]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and words that other programs have for commands; without any, print the help and exit."""
        if not args and not ctx.resilient_parsing:  # newer releases of click take that for wrong use
            click.echo(ctx.get_help())
            ctx.exit()
        match args:
            case ["help", *rest]:
                args = [*rest, "--help"]
            case ["version", *rest]:
                args = ["--version", *rest]
            case ["plot" | "draw", *rest]:
                args = ["render", *rest]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; UsageError where there is none, which suggests similar ones."""
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or name in COMMANDS):
            raise UsageError(f"no command is called {name!r}{close(name, COMMANDS) or ': --help lists the commands'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by theme, with their whole summaries."""
        width = max(map(len, COMMANDS))
        for theme, commands in THEMES.items():
            with formatter.section(theme):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the commands and options that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        items = [CompletionItem(name, help=summary) for name, summary in COMMANDS.items() if name.startswith(incomplete)]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit with its status: 0 done, 1 a check failed, 2 wrong use, 128 + a signal's number."""
        sys.set_int_max_str_digits(LONGEST_DIGITS)
        words = sys.argv[1:] if args is None else args
        with ended(words) as outcome, terminations_raised():
            if _COMPLETE in os.environ:
                from click.shell_completion import shell_complete

                outcome.status = shell_complete(self, {}, "gpunim", _COMPLETE, os.environ[_COMPLETE])
            else:
                with self.make_context("gpunim", list(words), color=coloured_by_environment()) as context:
                    outcome.status = self.invoke(context) or 0
            sys.stdout.flush()
        sys.exit(outcome.status)


@contextmanager
def ended(words: Sequence[str]) -> Iterator[Outcome]:
    """Yield the outcome of a command line, and report an error of the block there and, in one sentence, on stderr.

    On several ranks the outcome of rank 0 is that of all, and the others succeed.
    """
    outcome, here = Outcome(), mpi_rank()
    if here is not None and here.rank:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    written = COMMAND.set(shlex.join(("gpunim", *words)))
    try:
        yield outcome
    except (Exception, KeyboardInterrupt, Terminated) as error:
        outcome.status, outcome.sentence = _explained(error, words)
    finally:
        COMMAND.reset(written)
    if here is None:
        report(outcome)
    else:
        from gpu_nim.cli.ranks import end_as_rank

        outcome.status = end_as_rank(here, outcome)


def _explained(error: BaseException, words: Sequence[str]) -> tuple[int, str | None]:
    """The exit status for an error, and the sentence that says what it is; the error itself is raised if it is to be debugged."""
    match error:
        case Terminated():
            return error.args[0], _SIGNALS[error.args[0] - 128]
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
        case GpunimError():
            if isinstance(error, MissingDependency):
                restart(error)
            return error.exit_status, _one_line(str(error))
    if _is_shortage(error):
        return 2, _one_line(f"there is not enough memory for this ({message_of(error) or 'none left'}): --memory sets the limit")
    sentence = _of_the_machine(error)
    if sentence is None:
        if os.environ.get(_DEBUG):
            if mpi_rank() is None:
                raise error
            traceback.print_exception(error, file=sys.__stderr__)  # the other ranks wait for this one's outcome
        sentence = f"this is a defect of gpunim, please report it: {type(error).__name__}: {error} ({_DEBUG}=1 shows where)"
    return 1, _one_line(sentence)


def restart(error: MissingDependency) -> None:
    """Replace this process by the script that started it, which installs the missing extra and runs the command again.

    Returns if no script started it, or mpirun did, if no extra has the dependency, or if the extra is already installed.
    """
    script = os.environ.get(_SCRIPT) if mpi_rank() is None else None
    tried = os.environ.get(_MISSING, "").split(",")
    if script is None or error.extra is None or error.extra in tried:
        return
    say(f"gpunim: {error}", err=True)
    sys.stdout.flush()
    extras = ",".join([*filter(None, tried), error.extra])
    os.execve(script, [script, *sys.argv[1:]], {**os.environ, _MISSING: extras})


def _is_shortage(error: BaseException) -> bool:
    """Whether memory ran out, as Python, the loader of libraries and the start of a thread report it."""
    words = str(error)
    return isinstance(error, MemoryError) or any(each in words for each in ("failed to map segment", "can't start new thread"))


def _of_the_machine(error: BaseException) -> str | None:
    """The message for an error that the machine causes, such as a full disk; None for a defect of gpunim."""
    if isinstance(error, ModuleNotFoundError) and not (error.name or __name__).startswith("gpu_nim"):
        return f"this needs the package {error.name}, which is not installed: reinstall the environment"
    if isinstance(error, OSError):  # mostly of stdout, since the files of gpunim raise FileError
        return f"cannot read or write {error.filename or 'the output'}: {error.strerror or error}"
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return f"the output has an integer of more than {LONGEST_DIGITS:,} digits"
    return None


def _no_such_option(error: click.NoSuchOption, words: Sequence[str]) -> str:
    """The message for an unknown option, which suggests similar ones; -gen is read by click as -g."""
    name = error.option_name
    if not name.startswith("--"):
        name = next((f"-{word}" for word in words if word.startswith(name) and len(word) > 2), "")
    params = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    known = (option for param in params for option in param.opts if option.startswith("--"))
    if error.option_name[1:].isdigit():
        return f"No such option {error.option_name!r}; negative numbers come after --"
    return f"No such option {error.option_name!r}{close(name, known, prefix='--')}"


def _one_line(message: str) -> str:
    """A message on one line, for grep, with very long words cut."""
    return " ".join(word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}..." for word in message.split())


class Terminated(SystemExit):
    """SIGTERM or SIGHUP came; `code` is the exit status that a shell reports, 128 + the signal's number."""


@contextmanager
def terminations_raised() -> Iterator[None]:
    """Raise `Terminated` in the block for SIGTERM and SIGHUP, unless they are ignored, as by nohup, or handled otherwise."""

    def end(number: int, _: object) -> None:
        raise Terminated(128 + number)

    before = {number: signal.signal(number, end) for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_EXAMPLES = {
    "gpunim grow": "Begin here: grow three-pile Nim, and check each of its cells.",
    "gpunim nim 13 12 8": "Explain a position.",
    "gpunim render nim:63 -o nim.png": "Draw the P-positions with piles below 64.",
    "gpunim grow --help": "Describe a command, with its options and examples.",
}


@click.group(
    cls=LazyGroup,
    examples=_EXAMPLES,
    params=[color_option()],
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="gpunim")
@click.pass_context
def main(context: click.Context) -> None:
    """Grow, count, solve and draw the fractals of Nim, on an NVIDIA GPU or on NumPy alone."""
    name = context.invoked_subcommand
    if mpi_rank() is not None and name != _ON_RANKS:  # each of them would do all of it
        raise UsageError(f"only {_ON_RANKS} divides its work among ranks, got {name}: start it without mpirun")
