"""Ranks on this machine that a command starts by itself: the same command again, as several processes under mpiexec.

mpiexec has pipes for the streams of its processes, and messages of its own. So rank 0 gets the streams of the command that started
it, over a socket, and prints to them as if it were alone; the same socket takes back how it ended, and tells rank 0 if that
command is killed. Messages of mpiexec and of the other ranks go to a file, and are not shown.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpu_nim.jobs.ranks import Outcome
from gpu_nim.model.errors import BackendError, RanksLost, missing

_SOCKET = "GPUNIM_WORKERS"  # the path of the socket, for the workers
_STREAMS = 3
_NAP = 0.05  # seconds
_PATIENCE = 10  # seconds for workers to clean up after a signal, and to end after rank 0
# What Open MPI, and MPICH, which does not say who, print of a process that a signal has ended.
_KILLED = re.compile(
    r"rank (\d+) with PID \d+ on node \S+ exited on signal (\d+)|TERMINATED WITH THE EXIT STRING:.*\(signal (\d+)\)"
)
# Open MPI refuses root, more processes than cores, and binds each to a core as if no other command ran. Set for versions 4 and 5.
_SETTINGS = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpiexec() -> str:
    """Return the path of the program that starts ranks; BackendError where there is none."""
    found = shutil.which("mpiexec") or shutil.which("mpirun")
    if found is None:
        raise BackendError("several workers need mpiexec, which is not on PATH: install Open MPI (openmpi-bin on Debian) or MPICH")
    return found


def settings() -> dict[str, str]:
    """Return the variables of the environment by which mpiexec starts any number of ranks on this machine."""
    return _SETTINGS | (_AS_ROOT if os.geteuid() == 0 else {})


def run_on_workers(workers: int, words: Sequence[str]) -> Outcome:
    """Run the command line `gpunim` with these words on some workers, and return how it ended.

    Ctrl-C, SIGTERM and SIGHUP are passed on to the workers, and are raised here once these have ended.

    Raises:
        MissingDependency: mpi4py is not installed.
        BackendError: mpiexec is not installed, or does not start the workers.
        RanksLost: a worker was ended from outside.
    """
    program = mpiexec()
    try:
        import mpi4py  # noqa: F401
    except ImportError as error:
        raise missing("several workers need mpi4py", "mpi4py") from error
    with tempfile.TemporaryDirectory(prefix="gpunim-") as folder:
        place = Path(folder, "rank-0")
        with socket.socket(socket.AF_UNIX) as door, open(Path(folder, "log"), "w+b") as log:
            door.bind(str(place))
            door.listen(1)
            door.settimeout(_NAP)
            process = subprocess.Popen(
                [program, "-n", str(workers), sys.executable, "-m", "gpu_nim", *words],
                env={**os.environ, **settings(), _SOCKET: str(place)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal reaches this process alone
            )
            try:
                outcome = _watched(process, door, Path(log.name))
            finally:
                _end(process)
            if outcome is None:
                raise RanksLost(_ended(Path(log.name)))
            return outcome


def _watched(process: subprocess.Popen[bytes], door: socket.socket, log: Path) -> Outcome | None:
    """How the workers ended; None where one of them was ended from outside."""
    line = _accepted(process, door)
    if line is None:
        raise BackendError(f"mpiexec did not start the workers (status {process.wait()}): {_last_words(log)}")
    with line:
        socket.send_fds(line, [b"streams"], range(_STREAMS))
        number = int.from_bytes(line.recv(8))
        try:
            report = _heard(line)
            status = _status(process)
        except BaseException:
            with suppress(OSError):
                if number:
                    os.kill(number, signal.SIGTERM)
                line.settimeout(_PATIENCE)
                _heard(line)
            raise
    if report is None:
        return None
    outcome = Outcome(*json.loads(report))
    # Rank 0 may have failed by itself before the ranks joined: then mpiexec ends the others, with a status of its own.
    failed = outcome.status in (1, 2) and _killed(log) is None
    return outcome if failed or not status else None


def _accepted(process: subprocess.Popen[bytes], door: socket.socket) -> socket.socket | None:
    """The connection of rank 0; None where mpiexec ends without one."""
    while process.poll() is None:
        with suppress(TimeoutError):
            line, _ = door.accept()
            line.setblocking(True)
            return line
    return None


def _heard(line: socket.socket) -> bytes | None:
    """What rank 0 says at its end; None where it ends without a word."""
    parts = []
    while part := line.recv(1 << 16):
        parts.append(part)
    return b"".join(parts) or None


def _status(process: subprocess.Popen[bytes]) -> int | None:
    """The status of mpiexec after the end of rank 0; None where others do not end, which have nothing left to do."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(_PATIENCE)
    return None


def _ended(log: Path) -> str:
    """A sentence for workers that ended without saying why."""
    killed = _killed(log)
    if killed is None:
        return "a worker was ended from outside, which ends the growth"
    who = "a worker" if killed[1] is None else f"worker {killed[1]}"
    return f"{who} was ended by signal {killed[2] or killed[3]}, which ends the growth"


def _killed(log: Path) -> re.Match[str] | None:
    """What mpiexec says of a rank that a signal has ended."""
    return _KILLED.search(log.read_text(errors="replace"))


def _last_words(log: Path) -> str:
    words = " ".join(log.read_text(errors="replace").replace("-" * 20, "").split())
    return words[-300:] or "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End mpiexec and its ranks, if they have not ended."""
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1 if number is None else 5)
            return


class Starter:
    """The command that started this rank 0."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._told = line, False
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """End this run if the command ends before it, even if that is killed."""
        with suppress(OSError):
            self._line.recv(1)  # it says nothing more
        if not self._told:
            os.kill(os.getpid(), signal.SIGTERM)

    def tell(self, outcome: Outcome) -> None:
        """Tell it how this run ended; it prints the sentence."""
        self._told = True
        with suppress(OSError):
            self._line.sendall(json.dumps(outcome).encode())
            self._line.shutdown(socket.SHUT_RDWR)  # which ends what watches, too
        self._line.close()


def starter() -> Starter | None:
    """Connect rank 0 with the command that started it, and take its standard streams; None where mpirun was started by itself."""
    place = os.environ.pop(_SOCKET, None)
    if place is None:
        return None
    line = socket.socket(socket.AF_UNIX)
    line.connect(place)
    _, handles, _, _ = socket.recv_fds(line, 16, _STREAMS)
    for stream, handle in enumerate(handles):
        os.dup2(handle, stream)
        os.close(handle)
    line.sendall(os.getpid().to_bytes(8))
    return Starter(line)
