"""The command line as its users see it: what it prints, its exit status, and its one sentence for wrong use."""

import ctypes
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from gpu_nim import __version__
from gpu_nim.automata import CATALOGUE
from gpu_nim.backends import selection
from gpu_nim.bench.harness import Contender, Work, compare
from gpu_nim.cli import main
from tests.helpers import ANSWERS, Terminal, beside, ended, facts, gpunim, refused, run

DATA: dict[str, Any] = beside(__file__)


@contextmanager
def law(births: Callable[[int], int]) -> Iterator[None]:
    """A plug-in's automaton `mine`, which is Nim with another law of births, for the block."""
    CATALOGUE.add(replace(CATALOGUE["nim"], name="mine", births_formula=births))
    try:
        yield
    finally:
        del CATALOGUE["mine"]


def broken(error: Exception) -> AbstractContextManager[None]:
    """The same, whose law ends with an error."""

    def births(generation: int) -> int:
        raise error

    return law(births)


def test_version() -> None:
    assert run("--version").output == f"gpunim, version {__version__}\n"


def test_a_contradiction_fails() -> None:
    with law(lambda generation: 3 ** generation.bit_count() + (generation == 3)):
        result = run("grow", "mine", "--gen", "7", "--backend", "numpy")
    assert result.exit_code == 1
    assert "generation 3 of mine contradicts [B]" in result.stderr
    assert "NO, generation 3 differs" in result.stdout


def test_info(monkeypatch: pytest.MonkeyPatch) -> None:
    has_driver(monkeypatch, Driver(0))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    said = facts("info")
    assert said["version"] == __version__
    assert said["backends"]["numpy"]["available"] is True
    assert said["backends"]["cuda"]["available"] is False
    assert "the driver finds none" in said["backends"]["cuda"]["reason"]
    monkeypatch.setenv("GPUNIM_MEMORY", "8GiB")
    output = run("info").output
    assert "unavailable: the CUDA backend needs an NVIDIA GPU" in output
    assert "GPUNIM_MEMORY" in output
    assert "8GiB" not in output


# Colours


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({"FORCE_COLOR": ""}, False)],
)
def test_text_is_coloured_as_the_environment_says(variables: dict[str, str], coloured: bool) -> None:
    environment = {"NO_COLOR": None, "FORCE_COLOR": None, **variables}
    result = CliRunner(env=environment).invoke(main, ("verify", "nf-lemma-8", "--upto", "4"))
    assert result.exit_code == 0
    assert ("\x1b[" in result.stdout) is coloured


# The error of an unavailable CUDA backend names the missing part


class Driver:
    """As much of libcuda as is asked: an error of cuInit, and the compute capability of each device."""

    def __init__(self, error: int, *capabilities: Sequence[int]) -> None:
        self.cuInit, self.capabilities = lambda flags: error, capabilities

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self.capabilities)
        return 0

    def cuDeviceGet(self, device: Any, number: int) -> int:
        device._obj.value = number
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        value._obj.value = self.capabilities[device.value][attribute - 75]  # its major number, and the minor one
        return 0


@pytest.fixture(autouse=True)
def _forgets_the_driver() -> Iterator[None]:
    yield
    selection.cuda_obstacle.cache_clear()


def has_driver(monkeypatch: pytest.MonkeyPatch, driver: Driver | None) -> None:
    def load(name: str) -> Driver:
        if driver is None:
            raise OSError(f"{name}: cannot open shared object file")
        return driver

    monkeypatch.setattr(selection, "ctypes", SimpleNamespace(CDLL=load, c_int=ctypes.c_int, byref=ctypes.byref))
    selection.cuda_obstacle.cache_clear()


@pytest.mark.parametrize("lack", DATA["lacks"], ids=lambda lack: lack["said"])
def test_what_cuda_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lack: dict[str, Any]) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    has_driver(monkeypatch, Driver(lack["cuda_init"], *lack["capabilities"]) if "cuda_init" in lack else None)
    monkeypatch.setenv("HOME", __file__)  # where no folder can be made
    for name in ("CUPY_ACCELERATORS", "CUPY_CACHE_DIR", "CUPY_CACHE_IN_MEMORY"):
        monkeypatch.setenv(name, "")  # so that it is removed in the end
        monkeypatch.delenv(name)
    for module in [name for name in sys.modules if name.split(".")[0] == "cupy"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "cupy", None)  # so that what is imported now is removed in the end
    if "cupy" in lack:
        (tmp_path / "cupy").mkdir()
        (tmp_path / "cupy" / "__init__.py").write_text(lack["cupy"])
        del sys.modules["cupy"]
        monkeypatch.syspath_prepend(tmp_path)
    assert lack["said"] in refused("grow", "--gen", "3", "--backend", "cuda")


@pytest.mark.parametrize(("driver", "said"), [(None, []), (Driver(0), []), (Driver(0, (6, 1)), ["has 6.1; NumPy does the work"])])
def test_auto_falls_back_to_numpy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, driver: Driver | None, said: list[str]
) -> None:
    """A GPU that is there and cannot be used is worth a word, once."""
    has_driver(monkeypatch, driver)
    for _ in range(2):
        assert facts("grow", "--gen", "3")["backend"] == "numpy"
    assert [record.getMessage().rpartition("this one ")[2] for record in caplog.records] == said


# What the machine refuses is one sentence, too


FULL = "gpunim: cannot read or write the output: No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])  # what is left in a buffer is tried again at Python's end
def test_a_full_disk_behind_what_is_printed(unbuffered: str) -> None:
    environ = {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        assert ended(gpunim("automata"), environ, stdout=full) == (1, None, FULL)
        assert ended(gpunim("grow", "--gen", "-1"), environ, stderr=full) == (2, "", None)
        for asked in ("bash_source", "bash_complete"):
            completed = {**environ, "_GPUNIM_COMPLETE": asked, "COMP_WORDS": "gpunim gr", "COMP_CWORD": "1"}
            assert ended(gpunim(), completed, stdout=full) == (1, None, FULL)


@pytest.mark.parametrize("line", ["--help", "automata", "count D --piles 3 --range 0:9"])
def test_a_pipe_that_noobject_reads_ends_a_command_as_sigpipe_does(line: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert ended(gpunim(*line.split()), stdout=writer) == (128 + signal.SIGPIPE, None, "")
    os.close(writer)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (MemoryError("Unable to allocate 8 GiB"), 2, "there is not enough memory for this (Unable to allocate 8 GiB): --memory"),
        (
            ModuleNotFoundError("No module named 'zarr'", name="zarr"),
            1,
            "needs the package zarr, which is not installed: pip install",
        ),
        (KeyError([7] * 10**5), 1, "7] (GPUNIM_DEBUG=1 shows where)"),
        (PermissionError(13, "Permission denied", "/a/b"), 1, "cannot read or write /a/b: Permission denied"),
    ],
)
def test_what_no_command_expects(error: Exception, status: int, words: str) -> None:
    with broken(error):
        said = refused("grow", "mine", "--gen", "3", "--backend", "numpy", status=status)
    assert words in said
    assert len(said) < 5000


@pytest.mark.parametrize("error", [ModuleNotFoundError("No module named 'gpu_nim.x'", name="gpu_nim.x"), KeyError("branch")])
def test_a_defect_says_so_and_where_on_request(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    with broken(error):
        said = refused("grow", "mine", "--gen", "3", "--backend", "numpy", status=1)
        assert said.startswith(f"gpunim: this is a defect of gpunim, please report it: {type(error).__name__}: ")
        assert said.endswith("(GPUNIM_DEBUG=1 shows where)\n")
        monkeypatch.setenv("GPUNIM_DEBUG", "1")
        assert run("grow", "mine", "--gen", "3", "--backend", "numpy").exception is error


def test_no_message_commands_a_terminal() -> None:
    for hostile in ("\x1b[2J", "\x9b2J", "\u202ecod", "\udcff"):
        for args in (("grow", hostile), ("nim", hostile), ("render", f"{hostile}:3", "-o", "a.png"), ("verify", f"{hostile}.npz")):
            said = refused(*args) if args[0] != "verify" else run(*args).stderr
            assert ascii(hostile)[1:-1] in said
            assert said.isprintable() or said[:-1].isprintable()


def test_a_message_is_of_a_length_that_people_read() -> None:
    assert len(refused("nim", "9" * 10**5 + "x")) < 700


# The process around the command line


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_closed_stream(name: str, tmp_path: Path) -> None:
    closed = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-"}[name]
    line = f"{sys.executable} -m gpu_nim play 3 4 {closed} {'' if name == 'stdin' else '</dev/null'}"
    status, stdout, stderr = ended(["sh", "-c", line], cwd=tmp_path)
    if name == "stdout":
        assert (status, stderr) == (1, "gpunim: cannot read or write the output: Bad file descriptor\n")
    else:
        assert (status, stderr) == (0, "")
        assert "Input has ended" in stdout


def test_a_file_does_not_become_a_closed_stream(tmp_path: Path) -> None:
    line = f"{sys.executable} -m gpu_nim evolution --gen 1 --out {tmp_path}/g.dot <&- >&- 2>&-"
    assert ended(["sh", "-c", line])[0] == 1  # which has nowhere to say what it saved
    assert (tmp_path / "g.dot").read_text().splitlines()[1] == "digraph evolution {"


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    command = gpunim("evolution", "--gen", "1", "--out", tmp_path / "≤.dot")
    status, stdout, stderr = ended(command, {"PYTHONIOENCODING": "latin-1"})
    assert (status, stderr, stdout.endswith("\\u2264.dot\n")) == (0, "", True)


# Root may read everything: without its capabilities it is as anyone else


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("setpriv") is None, reason="setpriv, of Linux, gives up capabilities")
def test_what_may_not_be_read_or_written(place: Path) -> None:
    for line in (["--out", "g.npz"], ["--out", "g.zarr"], ["--checkpoint", "ck"]):
        assert run("grow", "--gen", "5", "--backend", "numpy", "--quiet", *line).exit_code == 0
    (place / "b.txt").write_text("1 1\n")
    (place / "kept").mkdir()
    for name in ("g.npz", "g.zarr", "ck", "b.txt"):
        (place / name).chmod(0)
    (place / "kept").chmod(0o555)
    expected = {
        "verify g.npz": "cannot read g.npz: Permission denied",
        "verify g.zarr": "cannot read g.zarr: Permission denied",
        "verify b.txt --as A000027": "cannot read b.txt: Permission denied",
        "grow --resume ck": "cannot read ck: Permission denied",
        "grow --gen 3 --out g.zarr": "cannot write g.zarr: it is a folder that gpunim did not make, or that holds other files",
        "grow --gen 3 --out kept/a.npz": "cannot write kept/a.npz: the folder kept is not writable",
        "count D --piles 3 --range 0:9 --out kept/a.csv": "cannot write kept/a.csv: the folder kept is not writable",
        "grow --gen 3 --out g.npz --quiet": None,  # a file is replaced, and need not be read for that
    }
    bounded = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
    try:
        _, stdout, _ = ended([*bounded, sys.executable, "-c", ANSWERS], input=json.dumps([*map(str.split, expected)]))
    finally:
        for path in place.iterdir():
            path.chmod(0o755)
    found = dict(zip(expected, map(json.loads, stdout.splitlines()), strict=True))
    assert found == {line: [1, "", f"gpunim: {words}\n"] if words else [0, "", ""] for line, words in expected.items()}


# Progress


@pytest.mark.nightly
@pytest.mark.parametrize("line", DATA["bars"])
@pytest.mark.usefixtures("place")
def test_long_work_shows_a_bar(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with redirect_stderr(Terminal()) as shown, redirect_stdout(StringIO()), pytest.raises(SystemExit) as end:
        main(shlex.split(line), prog_name="gpunim")
    assert end.value.code == 0, shown.getvalue()
    assert [word for word in DATA["bars"][line] if word not in shown.getvalue()] == []


def test_the_steps_of_a_benchmark() -> None:
    steps: list[tuple[str, int, int]] = []
    contenders = (Contender("sum", lambda: 2), Contender("product", lambda: 2))
    compare(Work("two", contenders), 2, progress=lambda *step: steps.append(step))
    assert steps == [("two", done, 6) for done in range(6)]
