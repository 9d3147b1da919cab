"""The pages of the site are true: what they show as output is what their commands and their Python print.

Each page runs by itself, in order and within this process, in a folder of its own:

* `console` blocks: a line `$ gpunim ...` is run, and the lines after it, if there are any, are all that it prints. `...` stands
  for any text, such as a time or a device; a few sizes are made smaller by `tests/shown_commands.py`, without output then.
* `pycon` blocks are doctests, and `{code-cell}` blocks run; the build of the site shows what those print.
* Commands in a line of text run as well, if no block has run them.
"""

import doctest
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.render_files import has_ffmpeg
from tests.shown_commands import NOT_RUN, run_shown, smaller
from tests.test_documents import DOCUMENTS, PAGES, commands, fences, name
from tests.test_help import EXAMPLES

_CHECKER = doctest.OutputChecker()


@dataclass(frozen=True)
class Command:
    """A command of a page, and what the page shows as its output; None where it shows none."""

    line: str
    shown: str | None


def console(text: str) -> list[Command]:
    """The commands of a block; a line that ends in a backslash goes on in the next one."""
    entries = re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)
    assert not entries[0].strip(), "a console block begins with a command"
    split = [entry.partition("\n") for entry in entries[1:]]
    return [Command(re.sub(r" +", " ", line).strip(), shown if shown.strip() else None) for line, _, shown in split]


def spans(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    for _, _, whole in fences(path):
        text = text.replace(whole, "")
    return [span for span in re.findall(r"`(gpunim [^`\n]+)`", text) if not re.search(r"\b[A-Z]{4,}\b|\.\.\.", span)]


def execute(command: Command) -> None:
    line = smaller(command.line)
    if " movie " in line and not has_ffmpeg():
        pytest.skip(f"ffmpeg is not installed, which this and what follows need: {line}")
    done = run_shown(line)
    if "install the extra" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.exit_code == 0, (line, done.output)
    if command.shown is not None and line == command.line:
        shown = command.shown.rstrip("\n") + "\n"
        printed = re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)
        assert _CHECKER.check_output(shown, printed, doctest.ELLIPSIS), f"{line}\n{printed}"


@pytest.mark.thorough
@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_shows_what_is_printed(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    already = set(NOT_RUN)
    for language, text, _ in fences(path):
        if language == "console":
            for command in console(text):
                if command.line not in NOT_RUN:
                    execute(command)
                already.add(command.line)
        elif language == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, name(path), str(path), None)
            report: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, out=report.append, clear_globs=False)
            names.update(test.globs)
            if "MissingDependency" in "".join(report):
                pytest.skip(report[-1])
            assert not report, "".join(report)
        elif language == "{code-cell}":
            exec(re.sub(r"^(:.*\n)+", "", text), names)
    for span in spans(path):
        if span not in already:
            already.add(span)
            execute(Command(span, None))


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_no_command_of_a_page_is_left_unseen(path: Path) -> None:
    for language, text, _ in fences(path):
        commands = [each.line for each in console(text)] if language == "console" else []
        assert language not in ("", "text"), "a block names its language, so that it is run or known not to be"
        assert [line for line in commands if not re.match(r"(\./scripts/)?gpunim ", line) and line not in NOT_RUN] == []


def test_what_is_not_run_is_shown_somewhere() -> None:
    shown = {command for path in DOCUMENTS for command in commands(path)} | {*EXAMPLES}
    shown |= {each.line for path in PAGES for language, text, _ in fences(path) if language == "console" for each in console(text)}
    assert NOT_RUN.keys() - shown == set()


def test_what_a_page_shows_wrongly_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    execute(Command("gpunim count D --piles 3 --at 7", "27\n"))
    with pytest.raises(AssertionError):
        execute(Command("gpunim count D --piles 3 --at 7", "28\n"))
    with pytest.raises(AssertionError):
        execute(Command("gpunim count D --piles 3 --at -7", None))
