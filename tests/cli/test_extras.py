"""Optional packages: the message for a missing one, the restart with the extra that installs it, and what a checkout sets up."""

import ast
import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.numba import NumbaBackend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.cli.output import restart
from gpu_nim.model.errors import MissingDependency, installing, missing
from gpu_nim.model.rule import Rule
from gpu_nim.render.exports import EXPORTS
from tests.helpers import CHECKOUT, ended, executable

EXTRAS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
SOURCES = sorted((CHECKOUT / "gpu_nim").rglob("*.py"))


@cache
def distributions() -> list[str]:
    """The second arguments, where written out, of all calls of `missing` and `import_optional`, and the packages of exports."""
    nodes = (node for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    calls = (node for node in nodes if isinstance(node, ast.Call))
    called = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("missing", "import_optional"))
    written = {ast.literal_eval(call.args[1]) for call in called if isinstance(call.args[1], ast.Constant)}
    return sorted(written.union(*(known.packages for known in EXPORTS.values())))


def test_the_extra_that_is_named_brings_the_package() -> None:
    assert {"pyvista", "imageio-ffmpeg", "networkx", "distributed"} <= set(distributions())
    for distribution in distributions():
        error = missing("this needs it", distribution)
        assert error.extra is not None, distribution
        assert distribution in [re.split("[<>=[]", requirement)[0] for requirement in EXTRAS[error.extra]]
        assert f"install the extra {error.extra} " in str(error)


def test_the_smallest_extra_is_named() -> None:
    assert [missing("", name).extra for name in ("networkx", "distributed", "trimesh")] == ["graph", "distributed", "export"]


def test_without_metadata_no_extra_is_named() -> None:
    program = (
        "from gpu_nim.model.errors import missing; e = missing('graphs need x', 'networkx', ', or do without'); print(e, e.extra)"
    )
    assert ended([sys.executable, "-S", "-c", program]) == (0, "graphs need x, which is not installed, or do without None\n", "")


def test_advice_fits_where_gpunim_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installing("graph") == "pip install 'gpunim[graph]'"  # which adds to the gpunim that is there
    (tmp_path / "gpunim-stamp").write_text("/home/me/a check out\nmore\n")
    assert installing("graph") == "GPUNIM_EXTRAS=graph '/home/me/a check out/scripts/gpunim' info"
    monkeypatch.setenv("GPUNIM_IMAGE", "cuda13")
    assert installing("graph") == "docker build --build-arg EXTRAS=cuda13,graph -t gpunim ."


def run_without(module: str, *args: str, **environ: str) -> tuple[int, str, str]:
    program = f"import sys; sys.modules[{module!r}] = None; from gpu_nim.__main__ import main; main()"
    return ended([sys.executable, "-c", program, *args], environ)


def test_a_required_package_that_is_missing_is_one_sentence() -> None:
    how = f"remove {sys.prefix} and run /a/gpunim again"
    sentence = f"gpunim: this needs the package click, which is not installed: {how}\n"
    assert run_without("click", GPUNIM_SCRIPT="/a/gpunim") == (1, "", sentence)


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A stand-in for scripts/gpunim, which records its arguments."""
    return str(executable(tmp_path / "gpunim", 'printf "[%s]" "$GPUNIM_MISSING" "$@"'))


def starts_again(said: str, extra: str, module: str, *args: str, **environ: str) -> None:
    """Assert that a command without a module says this, and starts itself again with an extra."""
    status, stdout, stderr = run_without(module, *args, **environ)
    assert (status, stdout) == (0, "".join(f"[{word}]" for word in (extra, *args)))
    assert stderr.startswith(f"gpunim: {said}")


def test_a_command_starts_again_with_the_extra_it_needs(script: str, tmp_path: Path) -> None:
    args = ("evolution", "--gen", "3", "--out", f"{tmp_path}/a b.graphml")
    said = "this graph needs networkx: installing the extra graph, once"
    starts_again(said, "graph", "networkx", *args, GPUNIM_SCRIPT=script)
    starts_again(said, "mpi,graph", "networkx", *args, GPUNIM_SCRIPT=script, GPUNIM_MISSING="mpi")
    for environ in ({"GPUNIM_SCRIPT": script, "GPUNIM_MISSING": "graph"}, {}):  # for the second time, or by no script
        status, stdout, stderr = run_without("networkx", *args, **environ)
        assert (status, stdout, stderr.count("\n")) == (1, "", 1)


def test_a_large_growth_starts_again_with_what_makes_it_faster(script: str, tmp_path: Path) -> None:
    args = ("grow", "edge", "--gen", "600", "--backend", "numpy", "--checkpoint", f"{tmp_path}/run")
    said = "this growth takes a fraction of the time with numba: installing the extra fast, once"
    starts_again(said, "fast", "numba", *args, GPUNIM_SCRIPT=script)
    assert not (tmp_path / "run").exists()
    for more in (["--gen", "9"], ["--gen", "600", "--plan"], ["--gen", "9", "--threads", "0"]):
        assert run_without("numba", "grow", "edge", "--backend", "numpy", *more, GPUNIM_SCRIPT=script)[1][0] != "["


@pytest.mark.parametrize(("command", "out"), [("render", "a.png"), ("movie", "a.gif")])
def test_pictures_start_again_with_pyvista_where_opengl_is_there(command: str, out: str, script: str, tmp_path: Path) -> None:
    args = (command, "edge:3", "--resolution", "64x48", "--quality", "draft", "-o", f"{tmp_path}/{out}")
    environ = {"GPUNIM_SCRIPT": script, "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow"}
    starts_again("drawing with OpenGL needs PyVista: installing the extra render, once", "render", "pyvista", *args, **environ)
    for more, tried in ((["--engine", "numpy"], ""), ([], "render"), (["--engine", "trace"], "")):
        status, stdout, stderr = run_without("pyvista", *args, *more, **environ, GPUNIM_MISSING=tried)
        assert (status, stdout[0]) == (0, "/"), stderr


def test_what_no_extra_brings_is_only_said(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setenv("GPUNIM_SCRIPT", script)
    restart(MissingDependency("show needs a display"))


def test_what_gains_by_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    nim, edge = find("nim").rule, find("edge").rule
    assert [NumbaBackend().engine(nim, last).lacks_numba for last in (1024, 4096)] == [False, True]
    assert [NumbaBackend().engine(edge, last).lacks_numba for last in (64, 1024)] == [False, True]
    assert not NumbaBackend().engine(edge, 1024, general=True).lacks_numba
    assert not NumpyBackend().engine(edge, 1024).lacks_numba
    far = Rule(3, ((10**9, 0, 0), (0, 1, 0)), frozenset({1}), ((0, 0, 0),))  # the general engine grows it
    assert not GrowthProcess(far, 1, NumbaBackend()).choice.lacks_numba


# The set-up of a checkout: which Pythons it takes, and what it says before a download.


def test_one_list_of_pythons() -> None:
    names = "pyproject.toml", ".github/workflows/tests.yml", "scripts/lib/pythons.sh", "docs/install.md", "recipe/recipe.yaml"
    project, workflow, script, page, recipe = ((CHECKOUT / name).read_text(encoding="utf-8") for name in names)
    first, *_, last = minors = re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', project)
    assert f"python: {json.dumps([f'3.{minor}' for minor in minors])}" in workflow
    assert f"MINORS=({' '.join(reversed(minors))})" in script
    assert f"with Python 3.{first} to 3.{last}. " in page
    assert (f'requires-python = ">=3.{first}"' in project, f'python_min: "3.{first}"' in recipe) == (True, True)


def test_addresses_are_those_of_the_project() -> None:
    urls = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    site, repository = urls["Documentation"], urls["Repository"]
    where = {"CITATION.cff", "README.md", "docs/install.md", "recipe/recipe.yaml", "pyproject.toml"}
    text = {name: (CHECKOUT / name).read_text(encoding="utf-8") for name in where}
    found = {name: set(re.findall(r"https://[\w./]*gpunim[\w./]*\w", text[name])) for name in where}
    assert found.pop("pyproject.toml") == {site, repository, f"{repository}/issues"}
    assert found.pop("docs/install.md") == {repository}
    assert all(each == {site, repository} for each in found.values()), found


def test_the_size_of_what_is_new_is_said() -> None:
    words = "extras=cuda13,fast made_extras=fast reason=; for verb in making updating; do announce $verb pip; done"
    script = f". scripts/lib/environment.sh; . scripts/lib/make.sh; {words}"
    _, _, said = ended(["bash", "-eu", "-c", script], cwd=CHECKOUT)
    assert re.findall(r"(\w+) takes? (\d+) MB", said) == [
        *zip(("packages", "cuda13", "fast", "cuda13"), ("240", "360", "210", "360"), strict=True)
    ]
