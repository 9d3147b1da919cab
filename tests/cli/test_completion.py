"""Completion in the shell: what is offered, also in bash itself and by the script of a checkout."""

import os
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.cli import COMMANDS, main
from gpu_nim.games.named_games import CATALOGUE as GAMES
from gpu_nim.oeis.catalogue import entries
from gpu_nim.papers import statements
from gpu_nim.papers.entries import PAPERS
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.figures import FIGURES
from gpu_nim.render.motions import MOTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES
from tests.helpers import CHECKOUT, beside, ended


def offered(line: str) -> list[str]:
    """The completions of a line's last word; "<file>" stands for the files of the folder."""
    *words, begun = line.split(" ")
    items = ShellComplete(main, {}, "gpunim", "_GPUNIM_COMPLETE").get_completions(words[1:], begun)
    return ["<file>" if item.type == "file" else item.value for item in items]


def test_what_is_offered_is_in_the_catalogues() -> None:
    assert offered("gpunim ") == list(COMMANDS)
    assert offered("gpunim grow ") == list(AUTOMATA)
    assert offered("gpunim solve ") == offered("gpunim position ") == list(GAMES)
    assert offered("gpunim verify ") == [*(each.name for each in statements()), "all"]
    assert offered("gpunim reproduce ") == [*PAPERS, "all"]
    assert offered("gpunim count ")[-len(entries()) :] == offered("gpunim verify b.txt --as ")[-len(entries()) :] == list(entries())
    assert offered("gpunim render figure:") == [f"figure:{name}" for name in FIGURES]
    for option, catalogue in (("theme", THEMES), ("style", STYLES), ("colour", COLOURINGS)):
        assert offered(f"gpunim render nim:7 --{option} ") == list(catalogue)
    assert offered("gpunim movie nim:7 --motion ") == list(MOTIONS)


COMPLETED: dict[str, list[str]] = beside(__file__)


@pytest.mark.parametrize("line", COMPLETED)
def test_words_are_completed(line: str) -> None:
    assert offered(line) == COMPLETED[line]


def test_bash_completes(tmp_path: Path) -> None:
    program = tmp_path / "gpunim"
    program.write_text(f'#!/bin/sh\nexport PYTHONPATH="{CHECKOUT}"\nexec "{sys.executable}" -P -m gpu_nim "$@"\n')
    program.chmod(0o755)
    lines = """
        eval "$(_GPUNIM_COMPLETE=bash_source gpunim)"
        COMP_WORDS=(gpunim grow nim --backend n) COMP_CWORD=4
        _gpunim_completion gpunim
        echo "${COMPREPLY[@]}" $(complete -p gpunim)"""
    done = ended(["bash", "-c", lines], {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done == (0, "numpy complete -o nosort -F _gpunim_completion gpunim\n", "")


COMPLETE = {"_GPUNIM_COMPLETE": "bash_complete"}


def test_a_completion_makes_no_environment(tmp_path: Path) -> None:
    asked = {**COMPLETE, "GPUNIM_VENV": str(tmp_path / "none"), "COMP_WORDS": "gpunim ", "COMP_CWORD": "1"}
    assert ended([str(CHECKOUT / "scripts" / "gpunim")], asked) == (0, "", "")
    assert not (tmp_path / "none").exists()


def test_a_completion_of_a_command_loads_no_other() -> None:
    program = (
        "import sys; from gpu_nim.cli import main\ntry: main(prog_name='gpunim')\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    for line, heavy in (("gpunim ", "numpy"), ("gpunim render wy", "vtkmodules")):
        asked = {**COMPLETE, "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        _, stdout, loaded = ended([sys.executable, "-c", program], asked)
        assert stdout.startswith("plain,")
        assert heavy not in loaded.split()
