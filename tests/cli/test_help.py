"""Help and completion: examples run, help fits a terminal, and what is offered is in the catalogues, also in bash itself."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.cli import COMMANDS, THEMES, main
from gpu_nim.games.named_games import CATALOGUE as GAMES
from gpu_nim.oeis.catalogue import entries
from gpu_nim.papers import statements
from gpu_nim.papers.entries import PAPERS
from gpu_nim.render.colourings import COLOURINGS
from gpu_nim.render.figures import FIGURES
from gpu_nim.render.motions import MOTIONS
from gpu_nim.render.styles import STYLES
from gpu_nim.render.themes import THEMES as COLOURS
from tests.helpers import CHECKOUT, beside, ended, executable, run
from tests.render_files import has_ffmpeg
from tests.shown_commands import NOT_RUN, run_shown, smaller

Found = Iterator[tuple[str, Any, click.Context]]


def every_command() -> Found:
    """The command line's own group, and each command, by path."""
    whole = main.context_class(main, info_name="gpunim")
    yield "gpunim", main, whole
    for name in main.list_commands(whole):
        command = main.get_command(whole, name)
        assert command is not None
        yield f"gpunim {name}", command, command.context_class(command, info_name=name, parent=whole)


EVERY = {path: (command, context) for path, command, context in every_command()}
EXAMPLES = list(dict.fromkeys(line for command, _ in EVERY.values() for line in command.examples))


def words_of(text: str) -> list[str]:
    return re.sub(r"-\n +", "-", text).split()


def test_every_command_has_examples_of_its_own() -> None:
    for path, (command, _) in EVERY.items():
        assert command.examples, path
        for line, about in command.examples.items():
            assert line.startswith(f"{path} ") or line == path
            assert about.endswith(".")


@pytest.mark.nightly
def test_every_example_runs(place: Path) -> None:
    for line in EXAMPLES:
        if line in NOT_RUN or (line.endswith(".mp4") and not has_ffmpeg()):
            name, command, found = main.resolve_command(click.Context(main), shlex.split(line)[1:])
            assert command is not None
            command.make_context(name, found).close()  # with its limits
            continue
        result = run_shown(smaller(line))
        assert result.exit_code == 0, (line, result.output)


@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each width it has the same words, none of which is cut, though a hyphen may end a line."""
    for path, (command, context) in EVERY.items():
        monkeypatch.setenv("COLUMNS", "80")
        expected = words_of(command.get_help(context))
        monkeypatch.setenv("COLUMNS", str(columns))
        narrow = command.get_help(context)
        wide = [line for line in narrow.splitlines() if len(line) > columns]
        assert [line for line in wide if line.strip() not in command.examples] == [], path  # those are copied
        assert words_of(narrow) == expected, path


def test_gpunim_alone_says_how_to_begin() -> None:
    alone = run()
    assert (alone.exit_code, alone.stderr) == (0, "")
    assert alone.stdout == run("--help").stdout
    assert "  gpunim grow\n    Begin here" in alone.stdout


def test_the_first_page_has_every_command_by_theme_and_loads_none() -> None:
    page = run().stdout
    for theme, commands in THEMES.items():
        for name, summary in commands.items():
            assert re.search(rf"^{theme}:\n(?:  .*\n)*  {name} +{re.escape(summary)}$", page, re.MULTILINE), name
    program = "import sys; from gpu_nim.cli import main\ntry: main([])\nfinally: print(*sys.modules, file=sys.stderr)"
    loaded = ended([sys.executable, "-c", program])[2].split()
    assert "gpu_nim.cli" in loaded
    assert not {"numpy", "gpu_nim.cli.grow"} & set(loaded)


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
    for option, catalogue in (("theme", COLOURS), ("style", STYLES), ("colour", COLOURINGS)):
        assert offered(f"gpunim render nim:7 --{option} ") == list(catalogue)
    assert offered("gpunim movie nim:7 --motion ") == list(MOTIONS)


COMPLETED: dict[str, list[str]] = beside(__file__)


@pytest.mark.parametrize("line", COMPLETED)
def test_words_are_completed(line: str) -> None:
    assert offered(line) == COMPLETED[line]


def test_bash_completes(tmp_path: Path) -> None:
    executable(tmp_path / "gpunim", f'PYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -P -m gpu_nim "$@"')
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
