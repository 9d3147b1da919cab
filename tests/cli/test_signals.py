"""Commands ended by signals: clean-up, one sentence, the status that a shell reports."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gpu_nim.cli import Terminated, terminations_raised
from tests.helpers import TIMEOUT, gpunim

ENDINGS = [
    (signal.SIGINT, 130, "\ngpunim: interrupted\n"),
    pytest.param(signal.SIGTERM, 143, "gpunim: terminated\n", marks=pytest.mark.nightly),
    pytest.param(signal.SIGHUP, 129, "gpunim: hung up\n", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("number", "status", "sentence"), ENDINGS)
def test_a_signal_leaves_no_file(tmp_path: Path, number: signal.Signals, status: int, sentence: str) -> None:
    command = ["grow", "edge", "--gen", "600", "--backend", "numpy", "--threads", "0", "--quiet", "--out", str(tmp_path / "a.zarr")]
    process = subprocess.Popen(gpunim(*command), stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.rglob("cells")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=TIMEOUT)
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


def test_the_status_after_ctrl_c_in_the_exec_of_a_text(tmp_path: Path) -> None:
    # Python would end by the signal itself then, as it remembers an interrupt that was dealt with.
    (tmp_path / "sitecustomize.py").write_text(
        "import click\ndef invoke(*args):\n    exec('raise KeyboardInterrupt')\nclick.Group.invoke = invoke\n"
        "import atexit, logging\natexit.register(logging.error, 'Task exception was never retrieved')\n"  # as asyncio does for zarr
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), os.getcwd()))}
    done = subprocess.run(gpunim("info"), env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "\ngpunim: interrupted\n")
