"""Completion in the shell: what is offered, and click's protocol in bash itself, in fish and in the script of a checkout."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.cli import COMMANDS, main
from gpu_nim.games.catalogue import CATALOGUE as GAMES
from gpu_nim.oeis.catalogue import entries
from gpu_nim.papers import statements
from gpu_nim.papers.catalogue import PAPERS
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.figures import FIGURES
from gpu_nim.render.motions import MOTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES

CHECKOUT = Path(__file__).parents[1]


def offered(line: str) -> list[str]:
    """The completions of a line's last word; "<file>" stands for the files of the folder."""
    *words, begun = line.split(" ")
    items = ShellComplete(main, {}, "gpunim", "_GPUNIM_COMPLETE").get_completions(words[1:], begun)
    return ["<file>" if item.type == "file" else item.value for item in items]


def test_what_is_offered_is_in_the_catalogues() -> None:
    assert offered("gpunim ") == list(COMMANDS)
    assert offered("gpunim grow ") == list(AUTOMATA)
    assert offered("gpunim solve ") == offered("gpunim position ") == list(GAMES)
    assert offered("gpunim verify ") == [*(each.name for each in statements()), "all", "<file>"]
    assert offered("gpunim reproduce ") == [*PAPERS, "all"]
    assert offered("gpunim count ")[-len(entries()) :] == offered("gpunim verify b.txt --as ")[-len(entries()) :] == list(entries())
    assert offered("gpunim render figure:") == [f"figure:{name}" for name in FIGURES]
    for option, catalogue in (("theme", THEMES), ("style", STYLES), ("colour", COLOURINGS)):
        assert offered(f"gpunim render nim:7 --{option} ") == list(catalogue)
    assert offered("gpunim movie nim:7 --motion ") == list(MOTIONS)


COMPLETED: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", COMPLETED)
def test_words_are_completed(line: str) -> None:
    assert offered(line) == COMPLETED[line]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A checkout's script, with a name that a shell would split."""
    path = tmp_path / "my scripts" / "gpunim"
    path.parent.mkdir()
    program = f'export GPUNIM_SCRIPT="{path}" PYTHONPATH="{CHECKOUT}"\nexec "{sys.executable}" -P -m gpu_nim "$@"\n'
    path.write_text(f"#!/bin/sh\n{program}")
    path.chmod(0o755)
    return path


def sourced(script: Path, shell: str) -> str:
    environment = {**os.environ, "_GPUNIM_COMPLETE": f"{shell}_source"}
    return subprocess.run([script], capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.nightly
def test_bash_replaces_the_end_of_a_word(script: Path, tmp_path: Path) -> None:
    """As bash calls it: with words that it broke at : and =."""
    lines = ["gpunim render chocolate:a=3,si", "gpunim grow nim --backend=n", "gpunim grow nim --columns sec"]
    cases = "\n".join(f"complete_line '{line}'" for line in lines)
    program = f"""{sourced(script, "bash")}
        compopt() {{ printf '%s ' "$@"; }}
        complete_line() {{
            COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDBREAKS=$' \\t\\n"=:'
            _gpunim_completion
            printf '<%s>' "${{COMPREPLY[@]}}"
            printf '\\n'
        }}
        {cases}
        complete -p gpunim"""
    done = subprocess.run(["bash", "-u", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    *completed, registered = done.stdout.splitlines()
    assert completed == ["-o nospace <3,size=>", "<numpy>", "<section\\ z=0>"]
    assert registered == "complete -o nosort -F _gpunim_completion gpunim"


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(script: Path, tmp_path: Path) -> None:
    program = f"{sourced(script, 'fish')}\ncomplete -C 'gpunim render nim:7 --theme=n'"
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(["fish", "--no-config", "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "--theme=neon\n"


def test_a_script_of_zsh_names_the_program(script: Path) -> None:
    source = sourced(script, "zsh")
    assert source.startswith("#compdef gpunim\n")
    assert f"_GPUNIM_COMPLETE=zsh_complete '{script}'" in source


def test_a_completion_makes_no_environment(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "GPUNIM_VENV": str(tmp_path / "none"),
        "_GPUNIM_COMPLETE": "bash_complete",
        "COMP_WORDS": "gpunim ",
    }
    done = subprocess.run([CHECKOUT / "scripts" / "gpunim"], capture_output=True, text=True, check=True, env=environment)
    assert (done.stdout, done.stderr) == ("", "")
    assert not (tmp_path / "none").exists()


def test_a_completion_of_a_command_loads_no_other() -> None:
    program = (
        "import sys; from gpu_nim.cli import main\ntry: main(prog_name='gpunim')\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    for line, heavy in (("gpunim ", "numpy"), ("gpunim render wy", "vtkmodules")):
        environment = {**os.environ, "_GPUNIM_COMPLETE": "bash_complete", "COMP_WORDS": line}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.startswith("plain\t")
        assert heavy not in done.stderr.split()
