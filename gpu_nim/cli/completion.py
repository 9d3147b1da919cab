"""Completion in bash, zsh and fish, by click's protocol and scripts of gpunim's own.

click's script for bash takes the words that bash makes of a line, which end at ":" and "=", as in nim:255 and --size=7. These take
the line as it is typed, end no unfinished word with a space, and call the script of a checkout by its path where it wrote them,
since an alias is no program (`completion.bash` and so on beside this file). What is offered is decided by the types of parameters.
"""

import os
import shlex
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, shell_complete, split_arg_string


class _Shell(ShellComplete):
    """What the three have in common: a line up to the cursor in COMP_WORDS, and TYPE, VALUE and DESCRIPTION on a line each.

    `program` is what the script calls, quoted.
    """

    program: str

    def source_vars(self) -> Any:
        """Return what a script is made with."""
        return {**super().source_vars(), "program": self.program}

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one at the cursor, and the beginning of that."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        begun = words.pop() if words and not line[-1].isspace() else ""
        return words, begun

    def format_completion(self, item: CompletionItem) -> str:
        """Return a completion of the whole word as a line."""
        return f"{item.type}\t{self._whole(item)}\t{item.help or ''}"

    def _whole(self, item: CompletionItem) -> str:
        """A completion with --option= before it, where that belongs to the word."""
        option, sign, _ = self.get_completion_args()[1].partition("=")
        return f"{option}{sign}{item.value}" if option.startswith("--") and sign and item.type == "plain" else str(item.value)


class Bash(_Shell):
    """bash, which replaces what follows the last of its own breaks."""

    name = "bash"

    def _whole(self, item: CompletionItem) -> str:
        """A completion without what stands before the last break of the word, and with its blanks quoted."""
        _, begun = self.get_completion_args()
        kept = max((begun.rfind(each) + 1 for each in ":=" if each in os.environ.get("COMP_BREAKS", "")), default=0)
        return super()._whole(item).removeprefix(begun[:kept]).replace(" ", "\\ ")


class Zsh(_Shell):
    """zsh."""

    name = "zsh"


class Fish(_Shell):
    """fish."""

    name = "fish"


def complete(command: click.Command, asked: str, program: str) -> int:
    """Print what the shell asks for, a script or completions, and return the exit status.

    Args:
        command: the command line.
        asked: the shell, and which of the two, by click's protocol.
        program: what the script calls.
    """
    for shell in (Bash, Zsh, Fish):
        shell.source_template = Path(__file__).with_name(f"completion.{shell.name}").read_text(encoding="utf-8")
        add_completion_class(shell)
    _Shell.program = shlex.quote(program)
    return shell_complete(command, {}, "gpunim", "_GPUNIM_COMPLETE", asked)
