"""scripts/gpu-check: its report of parts that pass, fail, hang or are interrupted. A few lines of shell stand in for Python."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import PATIENCE, wait_for

SCRIPT = Path(__file__).parents[1] / "scripts" / "gpu-check"
HANGS = "echo begun $$; sleep 1000 & wait"
Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def started(tmp_path: Path) -> Started:
    """Starts the script with what each part runs in place of its checks."""

    def start(*arguments: str, facts: str = "echo - device: a stand-in", **parts: str) -> "subprocess.Popen[str]":
        python, smi = tmp_path / "python", tmp_path / "nvidia-smi"
        cases = "".join(f"{name}) {program} ;;\n" for name, program in {"facts": facts, **parts}.items())
        python.write_text(f"#!/bin/bash\ncase $4 in\n{cases}esac\n")
        smi.write_text("#!/bin/sh\necho 1980 MHz\n")
        for each in (python, smi):
            each.chmod(0o755)
        environment = {**os.environ, "PYTHON": str(python), "PATH": f"{tmp_path}:{os.environ['PATH']}", "GPUNIM_COMMIT": "abc"}
        return subprocess.Popen([str(SCRIPT), *arguments], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)

    return start


def test_a_report(started: Started, tmp_path: Path) -> None:
    process = started("r.md", "bench", "tests", "large=1", bench="echo 7 cells", tests="echo 8 cells; exit 1", large=HANGS)
    said = process.communicate(timeout=PATIENCE)[1]
    report = (tmp_path / "r.md").read_text()
    assert process.returncode == 1
    assert report.startswith("# gpunim on a GPU\n\n- commit: abc\n- begun: ")
    assert "- device: a stand-in\n\nThe device: 1980 MHz\n" in report
    assert re.search(r"\n## bench\n\n```\n7 cells\n```\n\nbench: passed, in \d+ s\n\nThe device: 1980 MHz\n\n## tests\n", report)
    assert re.search(r"\n8 cells\n```\n\ntests: FAILED with status 1, in \d+ s\n", report)
    assert re.search(r"\nbegun \d+\n(?s:.*)```\n\nlarge: FAILED: cut at the limit of 1 s, in \d+ s\n", report)
    assert report.endswith("\nfinished\n")
    assert [line.partition(",")[0] for line in said.split("\n") if ": " in line] == [
        *("bench: passed", "tests: FAILED with status 1", "large: FAILED: cut at the limit of 1 s")
    ]
    for compare, status, what in (("echo 9 cells", 0, "passed"), ("exit 3", 3, "passed, but for what was skipped")):
        process = started("r.md", "compare", compare=compare)
        assert f"\n\ncompare: {what}, in " in process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_a_report_and_no_process(started: Started, tmp_path: Path, number: signal.Signals) -> None:
    process = started("r.md", "tests", "bench", tests=HANGS)
    report = tmp_path / "r.md"
    wait_for(lambda: report.exists() and "begun " in report.read_text().partition("## tests")[2], "the part")
    process.send_signal(number)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 128 + number
    assert f"interrupted by {number.name}" in said
    assert report.read_text().endswith(f"```\n\ninterrupted by {number.name}\n")
    part = int(report.read_text().partition("## tests")[2].split("begun ")[1].split()[0])
    wait_for(lambda: not alive(part), "the end of the part")


def alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_without_an_environment_or_git_the_files_are_named(tmp_path: Path) -> None:
    """As on a machine to which the files alone were copied."""
    copy, program = tmp_path / "copy", tmp_path / "programs" / "python3"
    for folder in ("cuda", "gpu_nim", "scripts", "tests"):
        (copy / folder).mkdir(parents=True)
    shutil.copy(SCRIPT, copy / "scripts")
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho run\n")
    program.chmod(0o755)
    hidden = {"PYTHON", "GPUNIM_COMMIT"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden and not name.startswith("GIT_")}
    environment |= {"PATH": f"{program.parent}:{environment['PATH']}", "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    reports = []
    for text in ("", "", "changed"):
        (copy / "cuda" / "a.cu").write_text(text)
        done = subprocess.run([copy / "scripts" / "gpu-check", "r.md", "tests"], cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 0
        reports.append((tmp_path / "r.md").read_text().split("\n")[2])
    assert re.fullmatch("- commit: unknown; the SHA-256 of its files is [0-9a-f]{64}", reports[0])
    assert reports[0] == reports[1] != reports[2]


def test_without_a_gpu_there_is_one_sentence(started: Started) -> None:
    process = started("r.md", facts="echo gpu-check: there is no GPU; exit 1")
    assert process.communicate(timeout=PATIENCE)[1] == "gpu-check: there is no GPU\n"
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "gpu-check: usage: scripts/gpu-check REPORT.md [PART[=SECONDS] ...]"),
        (["--help"], "gpu-check: usage: "),
        (["r.md", "tests=0"], "got tests=0"),
        (["r.md", "test"], "got test"),
        (["missing/r.md"], "missing/r.md: No such file or directory"),
    ],
)
def test_wrong_use(started: Started, arguments: list[str], said: str) -> None:
    process = started(*arguments)
    assert said in process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2


def test_each_part_ends_within_ten_minutes() -> None:
    limits = [int(seconds) for seconds in re.findall(r"\[\w+\]=(\d+)", SCRIPT.read_text())]
    assert len(limits) == 5
    ends = 2 * (1 + 1) * 2  # for a killed process to be gone, and for nvidia-smi
    assert max(limits) + 20 + ends <= 10 * 60
