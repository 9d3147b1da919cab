"""The command line: one thin module a command, loaded only when that command is run.

The modules parse, call the library and print; none of them computes.  A new command is a module and
an entry of `gpu_nim.cli.commands`.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import click

from gpu_nim._version import __version__
from gpu_nim.cli.command import Group
from gpu_nim.cli.commands import COMMANDS, THEMES
from gpu_nim.cli.output import report
from gpu_nim.cli.restart import restart
from gpu_nim.cli.signals import Terminated, closed_pipes_raised, terminations_raised
from gpu_nim.jobs.ranks import Outcome, place
from gpu_nim.model.arguments import LONGEST_DIGITS
from gpu_nim.model.errors import GpunimError, MissingDependency, RankFailed, UsageError, close, message_of
from gpu_nim.model.files import command_line

_ON_RANKS = ("grow", "bench")
"""The commands that divide their work among ranks."""

_INTERRUPTED = 130  # 128 + SIGINT, what a shell reports
_LONGEST_WORD = 500  # characters; a name in a folder has at most 255
_COMPLETE = "_GPUNIM_COMPLETE"  # set by the scripts of `gpu_nim.cli.completion`, which click reads
_DEBUG = "GPUNIM_DEBUG"  # if set, a defect shows its traceback


class LazyGroup(Group):
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
            from gpu_nim.cli.params import memory_option

            command.params.append(memory_option())
        return command

    def themes(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the commands with their summaries, by theme, from the catalogue alone."""
        return {theme: [(name, each.summary) for name, each in COMMANDS.items() if each.theme == theme] for theme in THEMES}

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; UsageError where each of several ranks would do all of it."""
        found = super().resolve_command(ctx, args)
        if place() is not None and found[0] not in _ON_RANKS:
            raise UsageError(f"only {_ON_RANKS[0]} divides its work among ranks, got {found[0]}: start it without mpirun")
        return found

    # Each turns a closed pipe into the status of SIGPIPE, before click makes it a failure.

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the command line, and print the help where it is wanted."""
        with closed_pipes_raised():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with closed_pipes_raised():
            status = super().invoke(ctx)
            sys.stdout.flush()
            return status

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit with its status: 0 done, 1 a check failed, 2 wrong use, 128 + a signal's number."""
        sys.set_int_max_str_digits(LONGEST_DIGITS)
        if _COMPLETE in os.environ:
            from gpu_nim.cli.completion import register

            register()
        run = partial(self._outcome, args, prog_name, extra)
        if (here := place()) is not None:
            from gpu_nim.cli.ranks import run_as_rank

            run_as_rank(here, run)
        outcome = run()
        report(outcome)
        sys.exit(outcome.status)

    def _outcome(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> Outcome:
        """Run the command line and return how it ended."""
        extra["standalone_mode"] = False
        try:
            with terminations_raised(), command_line(sys.argv[1:] if args is None else args):
                status = super().main(args, prog_name, **extra)
        except Terminated as error:
            return Outcome(128 + error.number, error.sentence)
        except click.exceptions.Abort:
            return Outcome(_INTERRUPTED, "interrupted")
        except click.NoSuchOption as error:
            return Outcome(error.exit_code, _one_line(_no_such_option(error, sys.argv[1:] if args is None else args)))
        except click.MissingParameter as error:
            return Outcome(error.exit_code, _one_line(f"{error.format_message()} --help has examples."))
        except click.ClickException as error:
            return Outcome(error.exit_code, _one_line(error.format_message()))
        except RankFailed:
            return Outcome(1)  # the other rank says why
        except GpunimError as error:
            if isinstance(error, MissingDependency) and place() is None:
                restart(error)
            return Outcome(error.exit_status, _one_line(str(error)))
        except Exception as error:
            if (sentence := _of_the_machine(error)) is not None:
                return Outcome(1, _one_line(sentence))
            if os.environ.get(_DEBUG):
                if place() is None:
                    raise
                traceback.print_exc(file=sys.__stderr__)  # the other ranks wait for this one's outcome
            defect = f"this is a defect of gpunim, please report it: {type(error).__name__}: {error} ({_DEBUG}=1 shows where)"
            return Outcome(1, _one_line(defect))
        return Outcome(status if isinstance(status, int) else 0)


def _of_the_machine(error: Exception) -> str | None:
    """The message for an error that the machine causes, such as a full disk; None for a defect of gpunim."""
    if isinstance(error, ModuleNotFoundError) and not (error.name or __name__).startswith("gpu_nim"):
        return f"this needs the package {error.name}, which is not installed: reinstall the environment"
    if isinstance(error, MemoryError):
        return f"there is not enough memory for this ({message_of(error) or 'none left'})"
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


_EXAMPLES = {
    "gpunim grow": "Begin here: grow three-pile Nim, and check each of its cells.",
    "gpunim nim 13 12 8": "Explain a position.",
    "gpunim render nim:63 -o nim.png": "Draw the P-positions with piles below 64.",
    "gpunim grow --help": "Describe a command, with its options and examples.",
}


@click.group(cls=LazyGroup, examples=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="gpunim")
def main() -> None:
    """Grow, count, solve and draw the fractals of Nim, on an NVIDIA GPU or on NumPy alone."""
