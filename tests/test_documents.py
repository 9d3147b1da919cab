"""The documents are correct: each command and each block of Python runs as printed, and each link and path exists.

A command is a line of an indented block or of a fenced one without a language, or a span of code that begins with the name of a
script of the project. The commands of a document run in order in one folder with the checkout's scripts and pictures: the first
of all, and those with the shell's syntax, under the shell, the others in this process. `tests/shown_commands.py` makes a few sizes
smaller, and lists the commands that cannot run here with the reason.
"""

import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from gpu_nim.papers import statements
from gpu_nim.render.metadata import read_provenance
from tests.render_files import has_ffmpeg
from tests.shown_commands import NOT_RUN, TYPED, run_shown, smaller

CHECKOUT = Path(__file__).parents[1]
DOCUMENTS = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "tests/cuda_host/README.md")),
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]
PAGES = [
    *(CHECKOUT / "docs" / f"{page}.md" for page in ("index", "tour", "glossary", "formats", "faq", "performance")),
    *(path for folder in ("tutorials", "howto", "theory") for path in sorted((CHECKOUT / "docs" / folder).glob("*.md"))),
]
"""The pages of the site: `tests/test_site.py` runs them, and the build checks their links."""
PATH = re.compile(r"(?:gpu_nim|tests|scripts|cuda|docs|\.ci)/[\w./-]*")

OURS = re.compile(r"(\w+=\S* )*(\./scripts/|scripts/|gpunim )")


def name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


@cache
def fences(path: Path) -> list[tuple[str, str, str]]:
    """The fenced blocks of a document: language or {directive}, text, and the whole block with its fences."""
    found = re.finditer(r"^(`{3,})([^\s`]*)[^\n`]*\n(.*?)^\1$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(block[2], block[3], block[0]) for block in found]


@cache
def blocks(path: Path) -> list[tuple[str, str]]:
    """The blocks of code of a document: language, and text without its indentation."""
    text = path.read_text(encoding="utf-8")
    fenced = [(language, block) for language, block, _ in fences(path)]
    rest = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?:^ {4}.*\n)+", rest, re.MULTILINE)
    return fenced + [("", re.sub(r"^ {4}", "", block, flags=re.MULTILINE)) for block in indented]


def commands(path: Path) -> list[str]:
    """The commands of a document, in its order, each once."""
    lines = [line for language, text in blocks(path) if not language for line in text.replace("\\\n", "").splitlines()]
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = [span for span in re.findall(r"`([^`\n]+)`", text) if OURS.match(span) and " " in span]
    lines = [re.sub(r"\s+# .*", "", re.sub(r" +", " ", line)).strip() for line in lines]
    return list(dict.fromkeys([*filter(None, lines), *spans]))


def anchors(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def links(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout in which scripts/gpunim runs the gpunim that is tested."""
    made = shutil.ignore_patterns("examples")  # by the build of the site, which may be under way
    shutil.copytree(CHECKOUT / "docs", tmp_path / "docs", ignore=made)
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "gpunim").write_text(f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -P -m gpu_nim "$@"\n')
    (scripts / "gpunim").chmod(0o755)
    return tmp_path


def test_something_is_read() -> None:
    read = [command for path in DOCUMENTS for command in commands(path)]
    assert "./scripts/gpunim grow --gen 1024" in read
    assert "gpunim nim 13 12 8" in read
    assert sum("./scripts/gpunim render" in command for command in read) >= 20
    assert len([link for path in DOCUMENTS for link in links(path)]) >= 30


def needs_no_shell(command: str) -> bool:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    first, *words = lexer
    plain = not any(set(word) <= set(lexer.punctuation_chars) for word in words if word)
    return first in ("gpunim", "./scripts/gpunim") and plain and "$" not in command


def failure(command: str, folder: Path, in_a_process: bool) -> str | None:
    """What went wrong with a command in a folder, or None."""
    if not in_a_process and needs_no_shell(command):
        result = run_shown(command)
        return result.output + repr(result.exception) if result.exit_code or result.exception else None
    # An alias lasts as long as the shell, which here runs one command.
    program = f'shopt -s expand_aliases\nalias gpunim="$PWD/scripts/gpunim"\n{command}\n'
    done = subprocess.run(["bash", "-c", program], cwd=folder, input=TYPED, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode or "Traceback" in done.stderr else None


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path not in PAGES and set(commands(path)) - set(NOT_RUN)], ids=name)
def test_every_command_runs(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for command in commands(path):
        if command in NOT_RUN:
            continue
        if " movie " in command and not has_ffmpeg():
            pytest.skip(f"ffmpeg is not installed, which this and what follows need: {command}")
        wrong = failure(smaller(command), folder, in_a_process=command == commands(DOCUMENTS[0])[0])
        assert wrong is None, (command, wrong)


@pytest.mark.parametrize("text", [text for path in DOCUMENTS for language, text in blocks(path) if language == "python"])
def test_every_block_of_python_runs_and_says_true_numbers(text: str) -> None:
    names: dict[str, object] = {}
    exec(text, names)
    for expression, number in re.findall(r"^(\S.*?) +# (\d+)\b", text, re.MULTILINE):
        assert eval(expression, names) == int(number)


def test_every_picture_of_the_gallery_holds_the_command_beside_it() -> None:
    gallery = CHECKOUT / "docs" / "gallery"
    text = gallery.with_suffix(".md").read_text(encoding="utf-8")
    beside = dict(re.findall(r"^!\[.+\]\(gallery/(\S+)\)\n```\n\./scripts/(.+)\n```$", text, re.MULTILINE))
    assert set(beside) == {file.name for file in gallery.iterdir()}
    for picture, command in beside.items():
        assert shlex.split(read_provenance(gallery / picture).command) == shlex.split(command)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in links(path):
        target, _, anchor = link.partition("#")
        file = path.parent / target if target else path
        assert file.exists(), link
        assert not anchor or anchor in anchors(file), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_path_named_is_there(path: Path) -> None:
    named = {span for span in re.findall(r"`([^`\n]+)`", path.read_text(encoding="utf-8")) if PATH.fullmatch(span)}
    assert sorted(span for span in named if not (CHECKOUT / span).exists()) == []


def test_every_conjecture_is_named_on_a_page_of_open_problems() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (CHECKOUT / "docs" / "open-problems").glob("*.md"))
    conjectures = [each.name for each in statements() if each.conjecture]
    assert [each for each in conjectures if f"{{statement}}`{each}`" not in pages] == []
    assert len(conjectures) >= 5


def test_fractions_in_formulas_have_braces() -> None:
    r"""The converter of formulas reads \frac12 as 12 over whatever follows."""
    unclear = [
        (name(path), found) for path in DOCUMENTS for found in re.findall(r"\\[td]?frac\d\d.*", path.read_text(encoding="utf-8"))
    ]
    assert unclear == []
