"""scripts/gpu-check: its report of parts that pass, fail, crash, hang or are interrupted. Parts of a few lines stand in."""

import ctypes
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from scripts.lib import device_state

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "gpu-check"
PYTHON = (sys.executable, "-S", "-c")  # without packages, which take long to find

# What every stand-in of a part begins with: `part` and `skip` as it is given them, and how it tells of its checks.
PART = f"""
import os, signal, subprocess, sys, time
sys.path.insert(0, {str(ROOT)!r})
from scripts.lib.part_process import end_with_parent, tell
part, skip = sys.argv[1], int(sys.argv[2])
end_with_parent()

def checks(*every):
    tell(plan=[title for title, _ in every])
    for title, check in every[skip:]:
        tell(begin=title)
        passed = check()
        tell(end=passed)
        if not passed:
            break

def says(text, passed=True):
    def check():
        print(text)
        return passed
    return check

def hangs():
    print("begun", os.getpid())
    time.sleep(1000)

if part == "device":
    checks(("what there is", says("device: a stand-in")))
    sys.exit()
"""


def load() -> ModuleType:
    """The script as a module."""
    loader = SourceFileLoader("gpu_check", str(SCRIPT))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def gpu_check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, which sees no device and leaves the signals alone."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    module = load()
    monkeypatch.setattr(module, "device_state", lambda bus: {"SM clock": "1980 MHz"})
    monkeypatch.setattr(module, "SIGNALS", ())
    return module


@pytest.fixture
def parts(gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Runs the script with stand-ins of parts, and gives its status and its report."""

    def run(program: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(gpu_check, "COMMAND", (*PYTHON, PART + program))
        report = tmp_path / "report.md"
        status = gpu_check.main([str(report), *arguments])
        assert list(tmp_path.iterdir()) == [report]
        return status, report.read_text()

    return run


def test_a_report_of_what_holds(parts: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]) -> None:
    program = """
tell(header=["work", "s"])
tell(row=[part, "1|2"])
checks((f"one of {part}", says("7 cells")), (f"two of {part}", says("```")))
"""
    status, report = parts(program, "--commit", "abc", "--only", "bench", "--only", "tests")
    assert status == 0
    assert report.startswith("# gpunim on a GPU\n\n- state: finished\n- commit: abc\n- begun: ")
    assert "- device: a stand-in\n" in report
    assert "## compare" not in report
    for part in ("tests", "bench"):
        assert f"\n## {part}: 2 passed\n\n| work | s |\n| --- | --- |\n| {part} | 1\\|2 |\n" in report
        assert re.search(rf"\n### one of {part}: passed in \d\.\d s\n\n```\n7 cells\n```\n", report)
        assert f"| after {part} | 1980 MHz |" in report
    assert "| before | 1980 MHz |" in report
    assert "bench: two of bench: passed in " in capsys.readouterr().err


def test_a_failure_is_reported_and_the_next_check_has_a_new_process(parts: Callable[..., tuple[int, str]]) -> None:
    program = 'checks(("a", says(f"in {os.getpid()}", False)), ("b", says(f"in {os.getpid()}")), ("c", says(f"in {os.getpid()}")))'
    status, report = parts(program, "--only", "compare")
    assert status == 1
    assert "## compare: 2 passed, 1 FAILED" in report
    assert "## tests" not in report
    first, second, third = re.findall(r"in (\d+)\n", report)
    assert first != second == third


@pytest.mark.parametrize(
    ("dies", "ending"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "its process ended by SIGSEGV"),
        ("os._exit(3)", "its process ended with status 3"),
        ("os._exit(0)", "its process ended without a result"),
    ],
)
def test_a_check_that_takes_its_process_along(parts: Callable[..., tuple[int, str]], dies: str, ending: str) -> None:
    status, report = parts(f'checks(("a", says("x")), ("b", lambda: {dies}), ("c", says("y")))', "--only", "large")
    assert status == 1
    assert "## large: 2 passed, 1 FAILED" in report
    assert re.search(rf"### b: FAILED in \d\.\d s: {ending}", report)


def test_a_part_that_cannot_start(parts: Callable[..., tuple[int, str]]) -> None:
    status, report = parts("import no_such_package", "--only", "tests", "--only", "bench")
    assert status == 1
    for part in ("tests", "bench"):
        assert f"## {part}: 1 FAILED\n\n### starting: FAILED" in report
    assert "No module named 'no_such_package'" in report


@pytest.mark.thorough
def test_a_part_that_hangs_is_cut_at_its_limit_and_the_rest_goes_on(parts: Callable[..., tuple[int, str]]) -> None:
    program = """
if part == "large":
    child = 'import time; print("x"); time.sleep(1000)'
    checks(("a", says("x")), ("b", lambda: subprocess.run([sys.executable, "-c", child])), ("c", says("y")))
checks(("d", says("z")))
"""
    status, report = parts(program, "--only", "large", "--only", "bench", "--limit", "large=1")
    assert status == 1
    assert "## large: 1 passed, 1 FAILED, 1 not run" in report
    assert re.search(r"### b: FAILED in \d\.\d s: cut at the limit of 1 s\n\n```\nx\n```\n\nNot run: c\.", report)
    assert "## bench: 1 passed" in report


def alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux what has become of a process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_a_report_and_no_process(tmp_path: Path, number: signal.Signals) -> None:
    program = 'tell(row=[str(os.getpid())]); checks(("a", says("x")), ("b", hangs), ("c", says("y")))'
    driver = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.test_gpu_check import PART, load
script = load()
script.COMMAND = ({sys.executable!r}, "-S", "-c", PART + {program!r})
script.device_state = lambda bus: {{}}
sys.exit(script.main([{str(tmp_path / "report.md")!r}, "--only", "tests", "--only", "bench"]))
"""
    run = subprocess.Popen([sys.executable, "-c", driver], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    text = ""
    patience = time.monotonic() + 60
    while "### b: under way" not in text and time.monotonic() < patience:
        time.sleep(0.02)
        text = (tmp_path / "report.md").read_text() if (tmp_path / "report.md").exists() else ""
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    report = (tmp_path / "report.md").read_text()
    assert re.search(r"### a: passed in \d\.\d s\n\n```\nx\n```", report)
    if number == signal.SIGKILL:
        assert report.startswith("# gpunim on a GPU\n\n- state: running tests\n")
        assert "## tests: 1 passed, 1 under way, 1 not run" in report
    else:
        assert report.startswith(f"# gpunim on a GPU\n\n- state: interrupted by {number.name}\n")
        assert run.returncode == 128 + number
        assert f"gpu-check: interrupted by {number.name}; " in said
    assert "| bench | 80 |  | not run |" in report
    part = int(re.search(r"\n\| (\d+) \|\n", report)[1])
    while alive(part) and time.monotonic() < patience:
        time.sleep(0.02)
    assert not alive(part)


def test_without_a_gpu_there_is_one_sentence(
    gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    program = PART.replace('says("device: a stand-in")', 'says("obstacle: there is no GPU", False)')
    monkeypatch.setattr(gpu_check, "COMMAND", (*PYTHON, program))
    assert gpu_check.main([str(tmp_path / "r.md")]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "gpu-check: there is no GPU"
    assert "- state: not run" in (tmp_path / "r.md").read_text()


@pytest.mark.thorough
def test_a_device_that_does_not_answer(
    gpu_check: ModuleType, parts: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PART", PART.replace('says("device: a stand-in")', "hangs"))
    monkeypatch.setattr(gpu_check, "FACTS_LIMIT", 1)
    status, report = parts('checks(("a", says("x")))', "--only", "bench")
    assert status == 1
    assert "- device: did not answer: 1 FAILED" in report
    assert "## bench: 1 passed" in report


def test_the_defaults_end_within_eight_minutes(gpu_check: ModuleType) -> None:
    looks = (1 + len(gpu_check.LIMITS)) * 2 * device_state._PATIENCE  # two questions each time
    ends = 2 * (1 + len(gpu_check.LIMITS))  # for a killed process to be gone
    assert sum(gpu_check.LIMITS.values()) + gpu_check.FACTS_LIMIT + device_state._PATIENCE + looks + ends <= 8 * 60


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: REPORT.md"),
        (["r.md", "--only", "all"], "argument --only: invalid choice: 'all'"),
        (["r.md", "--limit", "tests=0"], "argument --limit: expected PART=SECONDS, as in tests=115, "),
        (["r.md", "--limit", "all=9"], "got 'all=9'"),
    ],
)
def test_wrong_use(gpu_check: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as left:
        gpu_check.main(arguments)
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_a_report_that_cannot_be_written(gpu_check: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main([str(tmp_path / "missing" / "r.md")]) == 2
    assert capsys.readouterr().err == f"gpu-check: cannot write {tmp_path}/missing/r.md: No such file or directory\n"


def test_the_commit_is_unknown_without_git(gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_check, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert gpu_check.commit() == "unknown"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_check.commit() == "unknown"


class TestDeviceState:
    """nvidia-smi, by a script that answers in its place."""

    @pytest.fixture
    def smi(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
        def install(script: str) -> None:
            (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "nvidia-smi").chmod(0o755)

        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setattr(device_state, "_by_nvml", lambda bus: {})
        return install

    def test_all_that_it_knows(self, smi: Callable[[str], None]) -> None:
        smi('test "$2" = 0000:1B:00.0 || exit 1; echo "1980 MHz, 1980 MHz, 3201 MHz, 31, 120.5 W, 0 %, 4 MiB, 0x1, Disabled, On"')
        state = device_state.device_state("0000:1B:00.0")
        assert state["SM clock"] == "1980 MHz"
        assert state["power"] == "120.5 W"
        assert state["ECC"] == "On"

    def test_an_older_one_knows_fewer_names(self, smi: Callable[[str], None]) -> None:
        refusal = 'case "$*" in *event_reasons*) echo not a valid field; exit 2;; esac'
        smi(f'{refusal}; echo "1410 MHz, 1410 MHz, 1215 MHz, 31, 50 W, 0 %, 4 MiB"')
        assert device_state.device_state(None)["SM clock"] == "1410 MHz"

    @pytest.mark.parametrize("script", ["exit 9", "sleep 100", "echo nothing"])
    def test_nothing_at_worst(self, smi: Callable[[str], None], script: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(device_state, "_PATIENCE", 0.2)
        smi(script)
        assert device_state.device_state(None) == {}

    @pytest.mark.parametrize(("bus", "asked"), [("0000:1B:00.0", b"0000:1B:00.0"), (None, 0)])
    def test_the_driver_s_library_where_there_is_no_nvidia_smi(
        self, monkeypatch: pytest.MonkeyPatch, bus: str | None, asked: object
    ) -> None:
        seen: list[object] = []

        def gives(value: int) -> Callable[..., int]:
            def function(*arguments: Any) -> int:
                seen.append(arguments[0] if arguments else None)
                if arguments:
                    arguments[-1]._obj.value = value
                return 0

            return function

        library = SimpleNamespace(
            nvmlInit_v2=gives(0),
            nvmlShutdown=gives(0),
            nvmlDeviceGetHandleByPciBusId_v2=gives(7),
            nvmlDeviceGetHandleByIndex_v2=gives(7),
            nvmlDeviceGetClockInfo=gives(1980),
            nvmlDeviceGetMaxClockInfo=gives(1981),
            nvmlDeviceGetTemperature=gives(31),
            nvmlDeviceGetPowerUsage=gives(120_500),
        )
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
        clocks = {"SM clock": "1980 MHz", "memory clock": "1980 MHz", "most": "1981 MHz"}
        assert device_state.device_state(bus) == {**clocks, "temperature": "31", "power": "120.5 W"}
        assert seen[1] == asked
        library.nvmlInit_v2 = lambda: 9
        assert device_state.device_state(bus) == {}
