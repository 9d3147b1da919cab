"""Help: its examples run, it fits a terminal, and the first page needs no command."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from gpu_nim.cli import THEMES, main
from tests.helpers import run
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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "gpu_nim.cli" in done.stderr.split()
    assert not {"numpy", "gpu_nim.cli.grow"} & set(done.stderr.split())
