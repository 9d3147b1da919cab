"""The campaigns: a short round of each, and tests that their rules detect faults."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.campaign import judge, runner
from tests.campaign.__main__ import COUNTS, KINDS
from tests.campaign.lines import KNOWN, every_option, made_up

ROOT = Path(__file__).resolve().parent.parent
# Cases of a short round: all known lines, and of the others each work, or the first of them, and each kind of file a few times.
SHORT = {"lines": len(KNOWN) + 300, "files": 24, "kills": 7, "pairs": 7, "memory": 10}

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="campaigns fork and read /proc"),
    pytest.mark.thorough,
]


def test_each_kind_has_a_short_and_a_long_round() -> None:
    assert KINDS.keys() == COUNTS.keys() == SHORT.keys()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_short_round_finds_no_fault(kind: str) -> None:
    line = [sys.executable, "-m", "tests.campaign", kind, "--count", str(SHORT[kind])]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "default"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{SHORT[kind]} cases of seed 0, 0 faults" in done.stdout


def test_lines_try_every_option() -> None:
    """New ones as well, of which no table knows."""
    words = {word.partition("=")[0] for seed in range(1000) for word in made_up(Random(seed))}
    assert every_option() <= words


def _raise() -> None:
    raise ValueError("an expectation that nobody had")


def _print(text: str, status: int, errors: str = "") -> Callable[[], None]:
    def run() -> None:
        print(text)
        print(errors, file=sys.stderr, end="")
        sys.exit(status)

    return run


@pytest.mark.parametrize(
    ("command", "arguments", "fault"),
    [
        (_raise, ("grow",), "talk of the interpreter"),
        (_print("", 3), ("grow",), "status 3"),
        (_print("", 2), ("grow",), "refused without a word"),
        (_print("", 2, "no such thing\n"), ("grow",), "no sentence of gpunim's"),
        (_print("", 2, "gpunim: a\ngpunim: b\ngpunim: c\n"), ("grow",), "more than one sentence"),
        (_print("", 2, f"gpunim: {'words ' * 200}\n"), ("grow",), "over 600 characters"),
        (_print("\x1b[31mred", 0), ("grow",), "control characters"),
        (_print("{} {}", 0), ("grow", "--json"), "not one JSON object"),
        (_print('{"a": NaN}', 0), ("grow", "--json"), "not one JSON object"),
        (_print("", 0, "x.py:1: UserWarning: odd\n"), ("grow",), "talk of the interpreter"),
        (lambda: time.sleep(60), ("grow",), "no end"),
        (lambda: os.abort(), ("grow",), "status 134"),
    ],
)
def test_the_rules_see_a_planted_fault(command: Callable[[], None], arguments: tuple[str, ...], fault: str, tmp_path: Path) -> None:
    outcome = runner.called(command, arguments, tmp_path, limit=1.0, memory=None)
    assert any(fault in found for found in judge.faults(outcome))


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (_print("done", 0), ("grow",)),
        (_print('{"a": 1}', 0), ("grow", "--json")),
        (_print("", 2, "gpunim: gen must be an integer of at least 0, got -1\n"), ("grow",)),
        (_print("counterexample: 5", 1), ("verify", "all")),
    ],
)
def test_the_rules_let_pass_what_is_well(command: Callable[[], None], arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert judge.faults(runner.called(command, arguments, tmp_path, memory=None)) == []


def test_litter_is_what_a_refusal_changes_and_what_nobody_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    before = judge.contents(tmp_path)
    (tmp_path / ".out.npz.partial").mkdir()
    after = judge.contents(tmp_path)
    done, refused = (runner.Outcome(("grow", "--out", "out.npz"), status, "", "", 0.0) for status in (0, 2))
    assert judge.litter(done, before, before) == judge.litter(refused, before, before) == []
    assert judge.litter(done, before, after) == ["it left .out.npz.partial"]
    assert judge.litter(refused, before, after) == ["a refusal that changed .out.npz.partial"]
    (tmp_path / ".out.npz.partial").rmdir()
    (tmp_path / "out.npz").write_text("whole")
    assert judge.litter(done, before, judge.contents(tmp_path)) == []
