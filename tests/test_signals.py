"""The end of a command that is told to end: cleaned up, one sentence, the status that a shell reports."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpu_nim.cli.signals import Terminated, terminations_raised
from gpu_nim.interrupts import interrupts_deferred

ENDINGS = [(signal.SIGINT, 130, "\ngpunim: interrupted\n"), (signal.SIGTERM, 143, "gpunim: terminated\n")]
ENDINGS += [(signal.SIGHUP, 129, "gpunim: hung up\n")]


@pytest.mark.parametrize(("number", "status", "sentence"), ENDINGS)
def test_a_signal_leaves_no_file(tmp_path: Path, number: signal.Signals, status: int, sentence: str) -> None:
    command = ["grow", "--gen", "100000", "--backend", "numpy", "--quiet", "--out", str(tmp_path / "a.zarr")]
    process = subprocess.Popen([sys.executable, "-m", "gpu_nim", *command], stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.rglob("cells")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (status, sentence)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_handlers_last_as_long_as_a_command(number: signal.Signals) -> None:
    with pytest.raises(Terminated), terminations_raised():
        signal.raise_signal(number)
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with terminations_raised():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_waits_for_a_write(number: signal.Signals) -> None:
    done = []
    with terminations_raised():
        handler = signal.getsignal(number)
        with pytest.raises((Terminated, KeyboardInterrupt)), interrupts_deferred():  # noqa: PT012
            signal.raise_signal(number)
            done.append("the write")
        assert signal.getsignal(number) is handler
    assert done == ["the write"]


class Finalized:
    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize(("number", "error"), [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_that_python_drops_comes_again(number: signal.Signals, error: type[BaseException]) -> None:
    with terminations_raised():
        Finalized(number)
        with pytest.raises(error):
            time.sleep(30)
