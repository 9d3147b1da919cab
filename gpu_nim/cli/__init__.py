"""The command line: one thin module a command, loaded only when that command is run.

The modules below parse, call the library and print; none of them computes.  Adding a command is one line in `COMMANDS`.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from gpu_nim._version import __version__
from gpu_nim.errors import GpunimError

COMMANDS = {
    "automata": "gpu_nim.cli.automata:automata",
    "bench": "gpu_nim.cli.bench:bench",
    "count": "gpu_nim.cli.count:count",
    "evolution": "gpu_nim.cli.evolution:evolution",
    "export": "gpu_nim.cli.export:export",
    "grow": "gpu_nim.cli.grow:grow",
    "info": "gpu_nim.cli.info:info",
    "movie": "gpu_nim.cli.movie:movie",
    "nim": "gpu_nim.cli.nim:nim",
    "play": "gpu_nim.cli.play:play",
    "render": "gpu_nim.cli.render:render",
    "show": "gpu_nim.cli.show:show",
    "solve": "gpu_nim.cli.solve:solve",
    "verify": "gpu_nim.cli.verify:verify",
}

# Python refuses to print integers beyond 4300 digits unless told otherwise; counts of P-positions are longer.
_DIGITS = 1_000_000
_INTERRUPTED = 130  # 128 + SIGINT, what a shell reports


class LazyGroup(click.Group):
    """A click group whose commands are imported on use, and whose errors are one sentence on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command line and leave with its exit status: 0 done, 1 a check failed, 2 wrong use, 130 interrupted."""
        sys.set_int_max_str_digits(_DIGITS)
        extra["standalone_mode"] = False
        try:
            status = super().main(args, prog_name, **extra)
        except click.exceptions.Abort:
            click.echo("gpunim: interrupted", err=True)
            sys.exit(_INTERRUPTED)
        except click.ClickException as error:
            click.echo(f"gpunim: {_sentence(error.format_message())}", err=True)
            sys.exit(2)
        except GpunimError as error:
            click.echo(f"gpunim: {_sentence(str(error))}", err=True)
            sys.exit(error.exit_status)
        except ModuleNotFoundError as error:
            if (error.name or __name__).startswith("gpu_nim"):
                raise
            click.echo(f"gpunim: this needs the package {error.name}, which is not installed: install gpunim with it", err=True)
            sys.exit(1)
        except MemoryError as error:
            click.echo(f"gpunim: there is not enough memory for this ({_sentence(str(error)) or 'none left'})", err=True)
            sys.exit(1)
        except OSError as error:  # a growth's files speak for themselves, in a FileError: what is left is mostly stdout
            place = error.filename or "what this prints"
            click.echo(f"gpunim: cannot read or write {place}: {error.strerror or error}", err=True)
            sys.exit(1)
        sys.exit(status if isinstance(status, int) else 0)


def _sentence(message: str) -> str:
    """Return the message on one line, since that is what scripts and people grep."""
    return " ".join(message.split())


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="gpunim")
def main() -> None:
    """Grow, count, solve and draw the fractals of Nim, on an NVIDIA GPU or on NumPy alone."""
