"""Installed packages add entries to the catalogues by entry points; one that is broken is named once, and everything else works."""

import doctest
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpu_nim import grow
from tests.helpers import ANSWERS, CHECKOUT
from tests.papers.test_documents import blocks, written

ZOO = CHECKOUT / "docs" / "tutorials" / "plug-in"
PAGE = ZOO.with_suffix(".md")


def installed(project: Path, site: Path) -> Path:
    """Install the packages of a project into a folder, without its build backend, and return the folder."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in project.glob("*/__init__.py"):
        shutil.copytree(package.parent, site / package.parent.name, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / f"{declared['name'].replace('-', '_')}-{declared['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n")
    with (about / "entry_points.txt").open("w", encoding="utf-8") as file:
        for group, points in declared["entry-points"].items():
            file.writelines([f"[{group}]\n", *(f"{name} = {place}\n" for name, place in points.items())])
    return site


def python(site: Path, program: str, *words: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program, or with words a module, beside the packages of a folder."""
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{CHECKOUT}", **variables}
    how = ["-m", program, *words] if words else ["-c", program]
    return subprocess.run(
        [sys.executable, "-P", *how], input=given, env=environment, cwd=site, capture_output=True, text=True, check=False
    )


def answers(site: Path, *lines: str) -> list[tuple[int, str, str]]:
    """The exit status, stdout and stderr of command lines, all of one process."""
    done = python(site, ANSWERS, given=json.dumps([shlex.split(line)[1:] for line in lines]))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(ZOO, tmp_path_factory.mktemp("site"))


def test_the_page_shows_what_is_printed(site: Path) -> None:
    shown = [command for language, text in blocks(PAGE) if language == "console" for command in written(language, text)]
    assert len(shown) == 3
    for (line, expected), (status, stdout, stderr) in zip(shown, answers(site, *(line for line, _ in shown)), strict=True):
        assert status == 0, (line, stderr)
        if expected:
            assert doctest.OutputChecker().check_output(f"{expected}\n", stdout, doctest.ELLIPSIS), (line, stdout)


def test_commands_help_and_completion_know_them(site: Path) -> None:
    births = grow("knight", 12, backend="numpy").births.tolist()  # A319018, since a camel is a knight on one colour
    found = answers(
        site,
        "gpunim grow camel --gen 12 --json --backend numpy",
        "gpunim verify gpunim-growths --upto 3",
        "gpunim automata",
        "gpunim games",
        "gpunim solve moore --size 5 --json",
        "gpunim solve --help",
        "gpunim grow camle",
    )
    assert json.loads(found[0][1])["births"] == births
    assert found[1][0] == 0
    for (_, stdout, _), words in zip(found[2:6], ("camel", "moore", '"p_positions": 6', "--upto"), strict=True):
        assert words in " ".join(stdout.split())
    assert found[6][2].endswith("got 'camle'; did you mean camel?\n")
    for line, name in (("gpunim grow cam", "camel"), ("gpunim solve moo", "moore"), ("gpunim count ste", "stern")):
        done = python(site, "gpu_nim", "-", _GPUNIM_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD="2")
        assert done.stdout == f"plain,{name}\n", line


def test_the_library_knows_them_and_imports_none_before(site: Path) -> None:
    program = """
import sys, gpu_nim
assert not [name for name in sys.modules if name.startswith("gpunim_zoo") or name == "importlib.metadata"]
growth = gpu_nim.grow("camel", 3)
assert [name for name in sys.modules if name.startswith("gpunim_zoo.")] == ["gpunim_zoo.automata"]
import pickle
assert pickle.loads(pickle.dumps(gpu_nim.automata.find("camel"))) is gpu_nim.automata.find("camel")
gpu_nim.save(growth, "camel.npz")
assert gpu_nim.load("camel.npz") == growth and gpu_nim.load("camel.npz").rule == growth.rule
assert gpu_nim.solve("moore", 7).p_positions.tolist() == [[n, n, n] for n in range(8)]
print(gpu_nim.count("stern", range(9), piles=1))
"""
    done = python(site, program)
    assert (done.returncode, done.stdout) == (0, "[1 1 2 1 3 2 3 1 4]\n"), done.stderr  # A002487


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Packages with every fault, beside the one that has none."""
    folder = installed(ZOO, tmp_path)
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "taken.py").write_text(
        "import dataclasses, gpu_nim\nNIM = dataclasses.replace(gpu_nim.automata.find('edge'), name='nim')\n"
    )
    about = folder / "menagerie-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: menagerie\nVersion: 2.0\n")
    (about / "entry_points.txt").write_text("[gpunim.automata]\nraises = broken:RULE\ntaken = taken:NIM\n")
    return folder


def test_a_broken_plugin_is_named_once_and_left_out(broken: Path) -> None:
    done = python(broken, "gpu_nim", *shlex.split("grow camel --gen 3 --json --backend numpy"))
    assert done.returncode == 0
    assert json.loads(done.stdout)["births"] == [1, 8, 8, 40]
    assert sorted(done.stderr.splitlines()) == [
        "gpunim: the plug-in raises (broken:RULE) is left out: division by zero",
        "gpunim: the plug-in taken (taken:NIM) is left out: an automaton is called nim already",
    ]
    quiet = python(broken, "gpu_nim", *shlex.split("nim 1 2 3 --json"))
    assert (quiet.returncode, quiet.stderr) == (0, "")
