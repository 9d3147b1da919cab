"""The command line: its commands, a module each, loaded only when that command is run.

The modules parse, call the library and print; none of them computes. A new command NAME is a module `gpu_nim.cli.NAME`, which has
it under the same name, and an entry of `THEMES`.
"""

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePath
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

from gpu_nim._version import __version__
from gpu_nim.cli.command import Helpful
from gpu_nim.cli.output import SIGNALS, Terminated, explain, read_by, refused_file, report
from gpu_nim.model.arguments import LONGEST_DIGITS
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.files import COMMAND
from gpu_nim.model.work import MpiRank, Outcome, mpi_rank

#: The commands with their summaries by theme, for the first page of the help, which loads none of them.
THEMES = {
    "Grow": {
        "grow": "Grow an automaton, check it against its theorem, save it.",
        "why": "Explain when a cell is born, or why it never is.",
        "automata": "List the automata, with their rules and OEIS entries.",
    },
    "Count": {
        "count": "Count P-positions of Nim: at an index, over a range, reduced.",
        "guess": "Guess recurrences and other formulas of a sequence.",
        "oeis": "Draft entries of the OEIS, corrections and b-files.",
    },
    "Play": {
        "nim": "Explain a position of Nim.",
        "position": "Explain a position of any game.",
        "play": "Play Nim or another game.",
        "games": "List the games, with their parameters.",
        "evolution": "Build the evolution graph of Nim or of another game.",
    },
    "Prove": {
        "solve": "Find the P-positions of a game, or prove them for every size.",
        "verify": "Prove theorems, or check them; check growths and b-files.",
    },
    "Draw": {
        "render": "Draw a picture, or a figure of the papers.",
        "movie": "Make a movie of a rotating, growing or changing object.",
        "export": "Write a mesh for other programs, or an interactive page.",
    },
    "Check": {
        "reproduce": "Compare what the papers print with what gpunim computes.",
        "bench": "Measure the speed.",
        "info": "Print versions and devices, or what made a file.",
    },
}

#: The summaries of all commands.
COMMANDS = {name: summary for commands in THEMES.values() for name, summary in commands.items()}

_GRACE = 10  # seconds by which rank 0 may be later on a busy machine
_COMPLETE = "_GPUNIM_COMPLETE"  # set by click's scripts for shells


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
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; without any, print the help and exit."""
        if not args and not ctx.resilient_parsing:  # newer releases of click take that for wrong use
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; UsageError where there is none, which suggests similar ones."""
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or name in COMMANDS):
            hint = "; gpunim nim explains a position" if name[:1].isdigit() else ": --help lists the commands"
            hint = f"; {read_by(name)}" if PurePath(name).suffix and os.path.exists(name) else hint
            raise UsageError(f"no command is called {name!r}{close(name, COMMANDS) or hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by theme, with their whole summaries."""
        width = max(map(len, COMMANDS))
        for theme, commands in THEMES.items():
            with formatter.section(theme):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with `incomplete`."""
        items = [CompletionItem(name, help=summary) for name, summary in COMMANDS.items() if name.startswith(incomplete)]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit with its status: 0 done, 1 a check failed, 2 wrong use, 128 + a signal's number."""
        sys.set_int_max_str_digits(LONGEST_DIGITS)
        words = sys.argv[1:] if args is None else args
        with ended(words) as outcome, terminations_raised():
            if _COMPLETE in os.environ:
                outcome.status = shell_complete(self, {}, "gpunim", _COMPLETE, os.environ[_COMPLETE])
            else:
                # None is on a terminal alone.
                colour = False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None
                with self.make_context("gpunim", list(words), color=colour) as context:
                    try:
                        outcome.status = self.invoke(context) or 0
                    except UsageError as error:
                        raise refused_file(error, context.obj) from None
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
        outcome.status, outcome.sentence = explain(error, words)
    finally:
        COMMAND.reset(written)
    if here is None:
        report(outcome)
    else:
        outcome.status = _end_as_rank(here, outcome)


def _end_as_rank(here: MpiRank, outcome: Outcome) -> int:
    """Return the exit status of a command on one of several ranks: of rank 0 that of all, else 0, so that mpirun ends none of them.

    Args:
        here: which of them.
        outcome: how the command ended on this one.
    """
    from gpu_nim.jobs.mpi import joined

    communicator = joined()
    if communicator is not None:
        for number in (signal.SIGINT, *SIGNALS):
            signal.signal(number, signal.SIG_IGN)  # this rank ends already
        outcome = communicator.agree(outcome)
    elif here.rank and outcome.status:
        # Rank 0 fails likewise and says why, and Open MPI then ends this one. If it does not fail, it waits for this one.
        time.sleep(_GRACE)
        if outcome.status != UsageError.exit_status:  # it has the same arguments
            sys.stderr = sys.__stderr__
            report(outcome)
        return outcome.status
    if here.rank == 0:
        report(outcome)
    status = 0 if here.rank else outcome.status
    if communicator is not None and communicator.lost:  # MPI would wait for all at its end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


@contextmanager
def terminations_raised() -> Iterator[None]:
    """Raise `Terminated` in the block for SIGTERM and SIGHUP, unless they are ignored, as by nohup, or handled otherwise."""

    def end(number: int, _: object) -> None:
        raise Terminated(128 + number)

    before = {number: signal.signal(number, end) for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL}
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
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="gpunim")
@click.pass_context
def main(context: click.Context) -> None:
    """Grow, count, solve and draw the fractals of Nim, on an NVIDIA GPU or on NumPy alone.

    Text is coloured on a terminal, unless NO_COLOR is set, and elsewhere if FORCE_COLOR is.
    """
    name = context.invoked_subcommand
    if mpi_rank() is not None and name != "grow":  # each of them would do all of it
        raise UsageError(f"only grow divides its work among ranks, got {name}: start it as one process")
