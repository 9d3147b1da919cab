"""The documents are correct: each command and each block of Python runs as printed, and each link and path exists.

A command is a line of an indented block or of a fenced one without a language, or a span of code that begins with the name of a
script of the project. The commands of a document run in order in one folder with the checkout's scripts and pictures: the first,
and those with the shell's syntax, under the shell, the others in this process. A few sizes are made smaller, and commands that
cannot run here are listed with the reason.
"""

import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from gpu_nim.render.metadata import read_provenance
from gpu_nim.theorems import statements
from tests.helpers import run
from tests.render_files import has_ffmpeg

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
ANOTHER_MACHINE = "changes the machine or needs another one"
NOT_RUN = {
    "./scripts/test": "runs these tests",
    "./scripts/test --all": "runs these tests",
    "scripts/test --all": "runs these tests",
    "./scripts/test --all tests/test_mutants.py": "runs these tests",
    "./scripts/test -x tests/test_rule.py": "runs these tests",
    "./scripts/test -x --pdb tests/test_scripts.py": "runs these tests",
    "sudo apt-get install python3-venv": ANOTHER_MACHINE,
    "GPUNIM_EXTRAS=cuda13 ./scripts/gpunim info": "installs; held in test_scripts.py",
    "GPUNIM_EXTRAS=render ./scripts/gpunim info": "installs; held in test_scripts.py",
    "GPUNIM_EXTRAS=dev ./scripts/gpunim info": "installs; held in test_scripts.py",
    "pip install .": "installs; held by scripts/check-package",
    'pip install ".[cuda13]"': "installs; held by scripts/check-package",
    ".venv/bin/python scripts/gpu-check REPORT.md": "needs a GPU; held in test_gpu_check.py",
    "scripts/docs --links": "needs a network",
    "gpunim grow edge --gen 512 --backend cuda --workers 2": "needs a GPU; scripts/gpu-check runs it",
    "gpunim grow edge --gen 512 --devices all": "needs GPUs",
    "gpunim oeis NAME -o docs/oeis": "NAME stands for a draft; held in test_oeis_drafts.py",
    "gpunim verify all": "long; test_verify.py holds each statement, and checks all of a made-up catalogue",
    "gpunim bench device": "needs a GPU; held in test_device_bench.py",
    "gpunim bench grow": "long; held in test_bench.py",
    "gpunim bench count": "long; held in test_count_bench.py",
    "gpunim bench workers": "needs MPI; held in test_mpi.py",
    "mpirun -n 8 gpunim grow edge --gen 4096": ANOTHER_MACHINE,
    "docker build -t gpunim .": ANOTHER_MACHINE,
    'docker run --rm --gpus all -v gpunim-kernels:/cache -v "$PWD":/work --user "$(id -u):$(id -g)" '
    "gpunim grow --gen 1024 --out nim.zarr": ANOTHER_MACHINE,
}
# What is made smaller: pictures, the generations and sizes of what is drawn, long growths, and how far checks go.
SMALLER = [
    (r"(gpunim render (?!.*(?:--resolution|\.svg|\.pdf)).*)", r"\1 --resolution 160x90"),
    (r"--resolution (720p|1080p|4k|960x540|800x690|480x480|400x300|240x180)", "--resolution 160x90"),
    (r"(?=.*(?:--legend|--axes|figure:))(.*)--resolution 160x90", r"\1--resolution 320x180"),  # words beside a body need space
    (r"--seconds \d+", "--seconds 1"),
    (r"--fps \d+", "--fps 2"),
    (r"(gpunim movie (?!.*--fps).*)", r"\1 --fps 2"),
    (r"nim:\d{3,}", "nim:63"),
    (r"(fcc|edge):\d+", r"\1:12"),
    ("size=127", "size=31"),
    (r"bench ranks edge --gen \d+", "bench ranks edge --gen 64"),
    (r"(solve chocolate --a \d+:\d{2,}:\d+ .*--size) \d+", r"\1 31"),
    (r"verify (chocolate6?)$", r"verify \1 --upto 8"),
    (r"verify (all|[a-z]+-[\w.-]+)$", r"verify \1 --upto 4"),
    ("gpunim reproduce", "gpunim reproduce --upto 2"),
    (r"grow (fcc|edge) --gen \d{3,}", r"grow \1 --gen 64"),
    (r"(verify .*)--upto \d{3,}", r"\1--upto 16"),
    (r"(verify .*)--thorough$", r"\1--thorough --upto 4"),
]
TYPED = "1 1\n" * 9 + "q\n"  # what is typed into a game


def name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


@cache
def fences(path: Path) -> list[tuple[str, str, str]]:
    """The fenced blocks of a document: language or {directive}, text, and the whole block with its fences."""
    found = re.finditer(r"^(`{3,})([^\s`]*)[^\n`]*\n(.*?)^\1$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(block[2], block[3], block[0]) for block in found]


def smaller(command: str) -> str:
    """Return the command with smaller sizes."""
    for pattern, less in SMALLER:
        command = re.sub(pattern, less, command)
    return command


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


def test_what_is_not_run_is_there() -> None:
    assert set(NOT_RUN) <= {command for path in DOCUMENTS for command in commands(path)}


def arguments(command: str) -> list[str] | None:
    """The arguments of gpunim in a command that needs no shell, else None."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    first, *words = lexer
    plain = first in ("gpunim", "./scripts/gpunim") and not any(set(word) <= set(lexer.punctuation_chars) for word in words if word)
    return words if plain and "$" not in command else None


def failure(command: str, folder: Path, in_a_process: bool) -> str | None:
    """What went wrong with a command in a folder, or None."""
    words = None if in_a_process else arguments(command)
    if words is not None:
        result = run(*words, text=TYPED)
        return result.output + repr(result.exception) if result.exit_code or result.exception else None
    # An alias lasts as long as the shell, which here runs one command.
    program = f'shopt -s expand_aliases\nalias gpunim="$PWD/scripts/gpunim"\n{command}\n'
    done = subprocess.run(["bash", "-c", program], cwd=folder, input=TYPED, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode or "Traceback" in done.stderr else None


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path not in PAGES and set(commands(path)) - set(NOT_RUN)], ids=name)
def test_every_command_runs(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    earlier = {command for other in DOCUMENTS[: DOCUMENTS.index(path)] for command in commands(other)}
    for command in commands(path):
        if command in NOT_RUN or (command in earlier and not re.search(" -o | --out ", command)):
            continue
        if " movie " in command and not has_ffmpeg():
            pytest.skip(f"ffmpeg is not installed, which this and what follows need: {command}")
        wrong = failure(smaller(command), folder, in_a_process=command == commands(path)[0])
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
