"""scripts/gpu-check: its report of parts that pass, fail, crash, hang or are interrupted. Parts of a few lines stand in."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from scripts.lib import device_state
from tests.helpers import wait_for

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


HOLDS = """
tell(header=["work", "s"])
tell(row=[part, "1|2"])
checks((f"one of {part}", says("7 cells")), (f"two of {part}", says("```")))
"""
HANGS = """
if part == "large":
    child = 'import time; print("x"); time.sleep(1000)'
    checks(("a", says("x")), ("b", lambda: subprocess.run([sys.executable, "-c", child])), ("c", says("y")))
checks(("d", says("z")))
"""


def test_a_report_of_what_holds(parts: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]) -> None:
    status, report = parts(HOLDS, "--commit", "abc", "--only", "bench", "--only", "tests")
    assert status == 0
    assert report.startswith("# gpunim on a GPU\n\n- state: finished\n- commit: abc\n- begun: ")
    assert "- device: a stand-in\n" in report
    assert "## compare" not in report
    for part in ("tests", "bench"):
        assert f"\n## {part}: 2 passed\n\n| work | s |\n| --- | --- |\n| {part} | 1\\|2 |\n" in report
        assert re.search(rf"\n### one of {part}: passed in \d\.\d s\n\n```\n7 cells\n```\n", report)
        assert f"| after {part} | 1980 MHz |" in report
    assert "bench: two of bench: passed in " in capsys.readouterr().err


def test_a_failure_is_reported_and_the_next_check_has_a_new_process(parts: Callable[..., tuple[int, str]]) -> None:
    program = 'checks(("a", says(f"in {os.getpid()}", False)), ("b", says(f"in {os.getpid()}")), ("c", says(f"in {os.getpid()}")))'
    status, report = parts(program, "--only", "compare")
    assert status == 1
    assert "## compare: 2 passed, 1 FAILED" in report
    first, second, third = re.findall(r"in (\d+)\n", report)
    assert first != second == third


@pytest.mark.parametrize(
    ("program", "found"),
    [
        *(
            (
                f'checks(("a", says("x")), ("b", lambda: {dies}), ("c", says("y")))',
                rf"2 passed, 1 FAILED\n(?s:.)*### b: FAILED.*: {how}",
            )
            for dies, how in (
                ("os.kill(os.getpid(), signal.SIGSEGV)", "its process ended by SIGSEGV"),
                ("os._exit(3)", "its process ended with status 3"),
                ("os._exit(0)", "its process ended without a result"),
            )
        ),
        ("import no_such_package", "1 FAILED\n\n### starting: FAILED(?s:.)*No module named 'no_such_package'"),
        pytest.param(
            HANGS,
            r"1 passed, 1 FAILED, 1 not run\n(?s:.)*### b: FAILED .*: cut at the limit of 1 s\n\n```\nx\n```\n\nNot run: c\.",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_check_that_takes_its_process_along(parts: Callable[..., tuple[int, str]], program: str, found: str) -> None:
    """Or hangs, or cannot start: the rest of the parts goes on."""
    limits = ("--limit", "large=1") if program is HANGS else ()
    status, report = parts(program, "--only", "large", "--only", "bench", *limits)
    assert status == 1
    assert re.search(f"## large: {found}", report), report
    assert "\n## bench: " in report


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
    written = tmp_path / "report.md"
    wait_for(lambda: written.exists() and "### b: under way" in written.read_text(), "the second check")
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    report = written.read_text()
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
    wait_for(lambda: not alive(part), "the end of the part")


def test_without_a_gpu_there_is_one_sentence(
    gpu_check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    program = PART.replace('says("device: a stand-in")', 'says("obstacle: there is no GPU", False)')
    monkeypatch.setattr(gpu_check, "COMMAND", (*PYTHON, program))
    assert gpu_check.main([str(tmp_path / "r.md")]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "gpu-check: there is no GPU"
    assert "- state: not run" in (tmp_path / "r.md").read_text()


def test_the_defaults_end_within_eight_minutes(gpu_check: ModuleType) -> None:
    looks = (1 + len(gpu_check.LIMITS)) * 2 * device_state._PATIENCE  # two questions each time
    ends = 2 * (1 + len(gpu_check.LIMITS))  # for a killed process to be gone
    assert sum(gpu_check.LIMITS.values()) + gpu_check.FACTS_LIMIT + device_state._PATIENCE + looks + ends <= 8 * 60


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: REPORT.md"),
        (["r.md", "--limit", "tests=0"], "argument --limit: expected PART=SECONDS, as in tests=115, "),
        (["missing/r.md"], "gpu-check: cannot write missing/r.md: No such file or directory"),
    ],
)
def test_wrong_use(gpu_check: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as left:
        sys.exit(gpu_check.main(arguments))
    assert left.value.code == 2
    assert said in capsys.readouterr().err


# The state of the device


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            'test "$2" = 0000:1B:00.0 || exit 1; echo "1980 MHz, 1980 MHz, 3201 MHz, 31, 120.5 W, 0 %, 4 MiB, 0x1, Disabled, On"',
            {"SM clock": "1980 MHz", "power": "120.5 W", "ECC": "On"},
        ),
        (  # an older one knows fewer names
            'case "$*" in *event_reasons*) echo not a valid field; exit 2;; esac; '
            'echo "1410 MHz, 1410 MHz, 1215 MHz, 31, 50 W, 0 %, 4 MiB"',
            {"SM clock": "1410 MHz"},
        ),
        *((nothing, {}) for nothing in ("exit 9", "sleep 100", "echo nothing")),
    ],
)
def test_the_state_by_nvidia_smi(script: str, expected: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(device_state, "_by_nvml", lambda bus: {})
    if script == "sleep 100":
        monkeypatch.setattr(device_state, "_PATIENCE", 0.2)
    state = device_state.device_state("0000:1B:00.0")
    assert state.items() >= expected.items()
    assert bool(state) == bool(expected)
