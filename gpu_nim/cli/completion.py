"""Completion in bash, zsh and fish, by click's protocol and scripts of gpunim's own.

click's script for bash takes the words that bash makes of a line, which end at ":" and "=", as in nim:255 and --size=7. These take
the line as it is typed, end no unfinished word with a space, and call the script of a checkout by its path where it wrote them,
since an alias is no program. What is offered is decided by the types of parameters.
"""

import os
import shlex
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, shell_complete, split_arg_string

_BASH = """\
%(complete_func)s() {
    local type value about files=
    COMPREPLY=()
    while IFS=$'\\t' read -r type value about; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            file | dir) files=$type ;;
        esac
    done < <(COMP_WORDS=${COMP_LINE:0:COMP_POINT} COMP_BREAKS=$COMP_WORDBREAKS \\
        %(complete_var)s=bash_complete %(program)s 2>/dev/null)
    if [[ $files && ${#COMPREPLY[@]} -eq 0 ]]; then
        compopt -o default
    elif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=,] ]]; then
        compopt -o nospace
    fi
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local line type value about files=
    local -a fields whole open
    for line in "${(@f)$(COMP_WORDS="${(j: :)words[1,CURRENT]}" %(complete_var)s=zsh_complete %(program)s 2>/dev/null)}"; do
        fields=("${(@ps:\\t:)line}")
        type=$fields[1] value=${fields[2]//:/\\\\:} about=$fields[3]
        case $type in
            plain) if [[ $value == *[:=,] ]]; then open+=("$value:$about"); else whole+=("$value:$about"); fi ;;
            file | dir) files=$type ;;
        esac
    done
    (( $#whole )) && _describe -V %(prog_name)s whole
    (( $#open )) && _describe -V %(prog_name)s open -S ''
    [[ -n $files ]] && _files
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
function %(complete_func)s
    for line in (COMP_WORDS=(commandline -cp) %(complete_var)s=fish_complete %(program)s 2>/dev/null)
        set -l fields (string split \\t -- $line)
        switch $fields[1]
            case plain
                string join \\t -- $fields[2..]
            case file dir
                __fish_complete_path (commandline -ct)
        end
    end
end
complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Shell(ShellComplete):
    """What the three have in common: a line up to the cursor in COMP_WORDS, and TYPE, VALUE and DESCRIPTION on a line each."""

    program: str
    """What the script calls, quoted."""

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
    source_template = _BASH

    def _whole(self, item: CompletionItem) -> str:
        """A completion without what stands before the last break of the word, and with its blanks quoted."""
        _, begun = self.get_completion_args()
        kept = max((begun.rfind(each) + 1 for each in ":=" if each in os.environ.get("COMP_BREAKS", "")), default=0)
        return super()._whole(item).removeprefix(begun[:kept]).replace(" ", "\\ ")


class Zsh(_Shell):
    """zsh."""

    name = "zsh"
    source_template = _ZSH


class Fish(_Shell):
    """fish."""

    name = "fish"
    source_template = _FISH


def complete(command: click.Command, asked: str, program: str) -> int:
    """Print what the shell asks for, a script or completions, and return the exit status.

    Args:
        command: the command line.
        asked: the shell, and which of the two, by click's protocol.
        program: what the script calls.
    """
    for shell in (Bash, Zsh, Fish):
        add_completion_class(shell)
    _Shell.program = shlex.quote(program)
    return shell_complete(command, {}, "gpunim", "_GPUNIM_COMPLETE", asked)
