"""The documents are correct: commands and Python run, print what is shown, and each link and path exists.

Each document runs by itself, in order, in one folder with the checkout's scripts and pictures:

* a line of an indented block, or of a fenced one without a language, is a command;
* in `console` blocks a line `$ gpunim ...` is one, and the lines after it, if there are any, are all that it prints. `...` stands
  for any text, such as a time or a device;
* `pycon` blocks are doctests, and `python` and `{code-cell}` blocks run; the build of the site shows what the latter print;
* a span of code that begins with the name of a script of the project is a command, if no block has run it.

The first command of all, and those with the shell's syntax, run under the shell, the others in this process.
`tests/shown_commands.toml` makes a few sizes smaller where no output is shown, and lists the commands that cannot run here with the
reason, which is printed.
"""

import doctest
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpu_nim.papers import statements
from gpu_nim.render.look import Look
from gpu_nim.render.metadata import read_provenance
from gpu_nim.render.source import read_source
from tests.cli.test_help import EXAMPLES
from tests.helpers import CHECKOUT, executable
from tests.render_files import has_ffmpeg
from tests.shown_commands import NOT_RUN, TYPED, run_shown, smaller

DOCUMENTS = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "tests/cuda_host/README.md")),
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]
#: Pages that show what commands print.
PAGES = [
    *(CHECKOUT / "docs" / f"{page}.md" for page in ("index", "tour", "glossary", "formats", "faq", "performance")),
    *(path for folder in ("tutorials", "howto", "theory") for path in sorted((CHECKOUT / "docs" / folder).glob("*.md"))),
]
#: The first command of README.md.
FIRST = "./scripts/gpunim grow --gen 1024"
FENCED = re.compile(r"^(`{3,})([^\s`]*)[^\n`]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
OURS = re.compile(r"(\w+=\S* )*(\./scripts/|scripts/|gpunim )")
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b|\.\.\.")
PATH = re.compile(r"(?:gpu_nim|tests|scripts|cuda|docs|\.ci)/[\w./-]*")

#: A command, and what is shown as its output; "" where nothing is.
Command = tuple[str, str]


def name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


@cache
def blocks(path: Path) -> list[tuple[str, str]]:
    """The blocks of code of a document: language or {directive}, and text without its indentation."""
    text = path.read_text(encoding="utf-8")
    indented = [] if path in PAGES else re.findall(r"(?:^ {4}.*\n)+", FENCED.sub("", text), re.MULTILINE)
    fenced = [(block[2], block[3]) for block in FENCED.finditer(text)]
    return fenced + [("", re.sub(r"^ {4}", "", block, flags=re.MULTILINE)) for block in indented]


def written(language: str, text: str) -> list[Command]:
    """The commands of a block; a line that ends in a backslash goes on in the next one."""
    text = text.replace("\\\n", "")
    if language == "console":
        before, *entries = re.split(r"^\$ ", text, flags=re.MULTILINE)
        assert not before.strip(), "a console block begins with a command"
        split = [entry.partition("\n") for entry in entries]
    else:
        split = [(re.sub(r"\s+# .*", "", line), "", "") for line in text.splitlines() if not language]
    return [(re.sub(r" +", " ", line).strip(), shown.strip("\n")) for line, _, shown in split if line.strip()]


def spans(path: Path) -> list[str]:
    found = re.findall(r"`([^`\n]+)`", FENCED.sub("", path.read_text(encoding="utf-8")))
    return [span for span in dict.fromkeys(found) if OURS.match(span) and " " in span and not PLACEHOLDER.search(span)]


def commands(path: Path) -> list[str]:
    """The commands of a document."""
    return [line for block in blocks(path) for line, _ in written(*block)] + spans(path)


def anchors(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def links(path: Path) -> list[str]:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in which scripts/gpunim runs the gpunim that is tested, as the working directory."""
    made = shutil.ignore_patterns("examples", "generated")  # by the build of the site, which may be under way
    shutil.copytree(CHECKOUT / "docs", tmp_path / "docs", ignore=made)
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    executable(scripts / "gpunim", f'PYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -P -m gpu_nim "$@"')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs_no_shell(command: str) -> bool:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    first, *words = lexer
    plain = not any(set(word) <= set(lexer.punctuation_chars) for word in words if word)
    return first in ("gpunim", "./scripts/gpunim") and plain and "$" not in command


def execute(command: str, shown: str = "") -> None:
    line = command if shown else smaller(command)
    if " movie " in line and not has_ffmpeg():
        pytest.skip(f"ffmpeg is not installed, which this and what follows need: {line}")
    if command != FIRST and needs_no_shell(line):
        result = run_shown(line)
        status, stdout, stderr = result.exit_code, result.stdout, result.stderr
    else:
        # An alias lasts as long as the shell, which here runs one command.
        program = f'shopt -s expand_aliases\nalias gpunim="$PWD/scripts/gpunim"\n{line}\n'
        done = subprocess.run(["bash", "-c", program], input=TYPED, capture_output=True, text=True, check=False)
        status, stdout, stderr = done.returncode, done.stdout, done.stderr
    if "install the extra" in stderr:
        pytest.skip(stderr.strip())
    assert status == 0, (line, stderr)
    assert "Traceback" not in stderr, (line, stderr)
    if shown:
        printed = re.sub(r" +$", "", stdout, flags=re.MULTILINE)
        assert doctest.OutputChecker().check_output(f"{shown}\n", printed, doctest.ELLIPSIS), f"{line}\n{printed}"


def run_examples(path: Path, text: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, name(path), str(path), None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if "MissingDependency" in "".join(report):
        pytest.skip(report[-1])
    assert not report, "".join(report)


def runs() -> Iterator[Any]:
    """The documents with something to run."""
    runnable = {"python", "pycon", "{code-cell}"}
    for path in DOCUMENTS:
        if {*commands(path)} - {*NOT_RUN} or runnable & {language for language, _ in blocks(path)}:
            yield pytest.param(path, id=name(path))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", [*runs()])
def test_a_document_shows_what_is_printed(path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    already = {*NOT_RUN}
    for language, text in blocks(path):
        for command, shown in written(language, text):
            if command in NOT_RUN:
                print(f"not run: {command}: {NOT_RUN[command]}")
            else:
                execute(command, shown)
            already.add(command)
        if language == "pycon":
            run_examples(path, text, names)
        elif language in ("python", "{code-cell}"):
            exec(re.sub(r"^(:.*\n)+", "", text), names)
            for expression, number in re.findall(r"^(\S.*?) +# (\d+)\b", text, re.MULTILINE):
                assert eval(expression, names) == int(number)
    for span in spans(path):
        if span not in already:
            execute(span)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_no_block_hides_what_could_run(path: Path) -> None:
    """A block of another language has no command of gpunim, and no Python but the magic of a notebook.

    Those of a page name their language, and each of their commands is run or known not to be.
    """
    for language, text in blocks(path):
        lines = [line for line, _ in written(language, text)]
        if path in PAGES:
            assert language not in ("", "text")
            assert [line for line in lines if not re.match(r"(\./scripts/)?gpunim ", line) and line not in NOT_RUN] == []
        if language not in ("", "console", "python", "pycon", "{code-cell}"):
            assert not re.search(r"^(\$ )?(\./scripts/)?gpunim ", text, re.MULTILINE), text
            assert "import gpu" not in text
            assert not language.startswith("ipython") or text.startswith("%"), text


def test_what_is_not_run_is_shown_somewhere() -> None:
    shown = {command for path in DOCUMENTS for command in commands(path)} | {*EXAMPLES}
    assert NOT_RUN.keys() - shown == set()


def test_what_a_page_shows_wrongly_is_noticed() -> None:
    execute("gpunim count D --piles 3 --at 7", "27")
    wrong = (
        ("gpunim count D --piles 3 --at 7", "28"),
        ("gpunim count D --piles 3 --at -7", ""),
        ("gpunim verify nf-lemma-8", "5 cases"),
    )
    for line, shown in wrong:
        with pytest.raises(AssertionError):
            execute(line, shown)


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


def test_the_talk_has_twelve_slides_that_can_be_drawn() -> None:
    slides = runpy.run_path(str(CHECKOUT / "docs" / "howto" / "talk.py"))["SLIDES"]
    assert len({source for source, *_ in slides}) == 12
    for source, title, caption, options in slides:
        assert read_source(source)
        assert Look(title=title, caption=caption, resolution=(320, 180), **options).drawn_theme


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
