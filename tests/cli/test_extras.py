"""Optional packages: the message for a missing one is correct, and the command restarts with the extra that installs it."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.numba import NumbaBackend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.cli.failures import restart
from gpu_nim.model.errors import MissingDependency, _extras, installing, missing
from gpu_nim.model.rule import Rule
from gpu_nim.render.exports import EXPORTS
from tests.helpers import CHECKOUT

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


def test_without_metadata_no_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> list[str]:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "requires", absent)
    _extras.cache_clear()
    try:
        error = missing("graphs need networkx", "networkx", ", or do without")
    finally:
        _extras.cache_clear()
    assert (str(error), error.extra) == ("graphs need networkx, which is not installed, or do without", None)


def test_advice_fits_where_gpunim_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installing("graph") == "pip install 'gpunim[graph]'"  # which adds to the gpunim that is there
    (tmp_path / "gpunim-stamp").write_text("/home/me/a check out\nmore\n")
    assert installing("graph") == "GPUNIM_EXTRAS=graph '/home/me/a check out/scripts/gpunim' info"
    monkeypatch.setenv("GPUNIM_IMAGE", "cuda13")
    assert installing("graph") == "docker build --build-arg EXTRAS=cuda13,graph -t gpunim ."


def run_without(module: str, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.modules[{module!r}] = None; from gpu_nim.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *args], env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


def test_a_required_package_that_is_missing_is_one_sentence() -> None:
    done = run_without("click", GPUNIM_SCRIPT="/a/gpunim")
    how = f"remove {sys.prefix} and run /a/gpunim again"
    assert (done.returncode, done.stderr) == (1, f"gpunim: this needs the package click, which is not installed: {how}\n")


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A stand-in for scripts/gpunim, which records its arguments."""
    path = tmp_path / "gpunim"
    path.write_text('#!/bin/sh\nprintf "[%s]" "$GPUNIM_MISSING" "$@"\n')
    path.chmod(0o755)
    return str(path)


def test_a_command_starts_again_with_the_extra_it_needs(script: str, tmp_path: Path) -> None:
    args = ("evolution", "--gen", "3", "--out", f"{tmp_path}/a b.graphml")
    done = run_without("networkx", *args, GPUNIM_SCRIPT=script)
    assert (done.returncode, done.stdout) == (0, "".join(f"[{word}]" for word in ("graph", *args)))
    assert done.stderr.startswith("gpunim: this graph needs networkx: install the extra graph")
    done = run_without("networkx", *args, GPUNIM_SCRIPT=script, GPUNIM_MISSING="mpi")
    assert done.stdout.startswith("[mpi,graph]")


def test_a_large_growth_starts_again_with_what_makes_it_faster(script: str, tmp_path: Path) -> None:
    args = ("grow", "edge", "--gen", "600", "--backend", "numpy", "--checkpoint", f"{tmp_path}/run")
    done = run_without("numba", *args, GPUNIM_SCRIPT=script)
    assert (done.returncode, done.stdout) == (0, "".join(f"[{word}]" for word in ("fast", *args)))
    assert done.stderr.startswith("gpunim: this growth takes a fraction of the time with numba: install the extra fast")
    assert not (tmp_path / "run").exists()
    for more in (["--gen", "9"], ["--gen", "600", "--plan"], ["--gen", "9", "--threads", "0"]):
        assert run_without("numba", "grow", "edge", "--backend", "numpy", *more, GPUNIM_SCRIPT=script).stdout[0] != "["


@pytest.mark.parametrize(("command", "out"), [("render", "a.png"), ("movie", "a.gif")])
def test_pictures_start_again_with_pyvista_where_opengl_is_there(command: str, out: str, script: str, tmp_path: Path) -> None:
    args = (command, "edge:3", "--resolution", "64x48", "--quality", "draft", "-o", f"{tmp_path}/{out}")
    environ = {"GPUNIM_SCRIPT": script, "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow"}
    done = run_without("pyvista", *args, **environ)
    assert (done.returncode, done.stdout) == (0, "".join(f"[{word}]" for word in ("render", *args)))
    assert done.stderr.startswith("gpunim: drawing with OpenGL needs PyVista: install the extra render")
    for more, tried in ((["--engine", "numpy"], ""), ([], "render"), (["--engine", "trace"], "")):
        done = run_without("pyvista", *args, *more, **environ, GPUNIM_MISSING=tried)
        assert (done.returncode, done.stdout[0]) == (0, "/"), done.stderr


@pytest.mark.parametrize("started", [True, False], ids=["for the second time", "by no script"])
def test_a_command_that_cannot_start_again_only_says_it(script: str, started: bool, tmp_path: Path) -> None:
    environ = {"GPUNIM_SCRIPT": script, "GPUNIM_MISSING": "graph"} if started else {}
    done = run_without("networkx", "evolution", "--out", f"{tmp_path}/a.graphml", **environ)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


def test_what_no_extra_brings_is_only_said(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setenv("GPUNIM_SCRIPT", script)
    restart(MissingDependency("show needs a display"))


def test_what_gains_by_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.backends.numba.compilation.find_spec", lambda name: None)
    nim, edge = find("nim").rule, find("edge").rule
    assert [NumbaBackend().engine(nim, last).lacks_numba for last in (1024, 4096)] == [False, True]
    assert [NumbaBackend().engine(edge, last).lacks_numba for last in (64, 1024)] == [False, True]
    assert not NumbaBackend().engine(edge, 1024, general=True).lacks_numba
    assert not NumpyBackend().engine(edge, 1024).lacks_numba
    far = Rule(3, ((10**9, 0, 0), (0, 1, 0)), frozenset({1}), ((0, 0, 0),))  # the general engine grows it
    assert not GrowthProcess(far, 1, NumbaBackend()).choice.lacks_numba
