"""Runs of gpunim with a time limit: forked from a process that has imported it, which is fast, or started as users do."""

import multiprocessing
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpu_nim.model.memory import VARIABLE

MEMORY = 6 << 30  # bytes of address space
LIMIT = 120.0  # seconds
_FULL = 5 << 20  # bytes of the longest file, where a disk is full
MARK = "GPUNIM_CAMPAIGN_RUN"
"""The environment variable that marks the programs that a run starts."""
_DEFECT = 70  # the status after an exception that nothing caught
_GREEDY = 71  # the status where more memory was taken than the cap and a fifth

# Threads of BLAS would be lost in a fork, and each of them takes address space.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.campaign.warm"])


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.  `status` is a shell's, 128 + N for signal N; None where the run was stopped at its limit."""

    arguments: tuple[str, ...]
    status: int | None
    output: str
    errors: str
    seconds: float

    def __str__(self) -> str:
        said = "\n".join(text[-1500:] for text in (self.output, self.errors))
        return f"{shlex.join(('gpunim', *self.arguments))[:1500]}\nstatus {self.status}, {self.seconds:.1f} s\n{said}"


class Run:
    """A command line, or a function in its place, that runs in a fork, in a folder and a session of its own."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        command: Callable[[], None] | None = None,
        *,
        memory: int | None = None,
        spare: int | None = None,
    ) -> None:
        self._arguments, self._room = tuple(arguments), tempfile.TemporaryDirectory()
        self._process = _SERVER.Process(target=_become, args=(self._arguments, folder, self._room.name, command, memory, spare))
        self._began = time.monotonic()
        self._process.start()

    @property
    def mark(self) -> bytes:
        """The entry that marks the environment of what it starts."""
        return f"{MARK}={self._room.name}".encode()

    @property
    def begun(self) -> bool:
        """Whether it catches SIGTERM: before it does, a signal ends it as any program that is still being loaded."""
        with suppress(OSError):  # it has ended
            lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
            caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
            return bool(caught >> signal.SIGTERM - 1 & 1)
        return False

    def ends(self, limit: float) -> bool:
        """Return whether it ends within this many seconds."""
        self._process.join(limit)
        return self._process.exitcode is not None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, where it is still there."""
        assert self._process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def outcome(self, limit: float = LIMIT) -> Outcome:
        """Return the outcome, where it ends within this many seconds, and stop what is left of its session."""
        in_time = self.ends(limit)
        assert self._process.pid is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        seconds, status = time.monotonic() - self._began, self._process.exitcode
        assert status is not None
        texts = (path.read_text(errors="replace") if path.exists() else "" for path in _outputs(self._room.name))
        outcome = Outcome(self._arguments, (status if status >= 0 else 128 - status) if in_time else None, *texts, seconds)
        self._room.cleanup()
        return outcome


def forked(arguments: Sequence[str], folder: Path, *, memory: int | None = MEMORY, spare: int | None = None) -> Outcome:
    """Run a command line in a fork, in a folder; `spare` is what the user's cap leaves of memory."""
    return Run(arguments, folder, memory=memory, spare=spare).outcome()


def spawned(arguments: Sequence[str], folder: Path, enter: str) -> Outcome:
    """Run a command line in a process that shares nothing with this one, from a shell that has done something in a folder."""
    began = time.monotonic()
    program = Path(sys.executable).with_name("gpunim")
    words, status, texts = ("sh", "-c", f'{enter}\nexec "$@"', "-", program, *arguments), None, ("", "")
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            words, cwd=folder, capture_output=True, timeout=LIMIT, check=False, errors="replace", stdin=subprocess.DEVNULL
        )
        status, texts = done.returncode if done.returncode >= 0 else 128 - done.returncode, (done.stdout, done.stderr)
    return Outcome(tuple(arguments), status, *texts, time.monotonic() - began)


def _outputs(room: str) -> tuple[Path, Path]:
    return Path(room, "output"), Path(room, "errors")


def _become(
    arguments: tuple[str, ...],
    folder: Path,
    room: str,
    command: Callable[[], None] | None,
    memory: int | None,
    spare: int | None,
) -> None:
    status, cap = _DEFECT, None if spare is None else _taken("VmRSS") + spare
    try:
        os.setsid()
        os.environ[MARK] = room
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for to, path in enumerate(_outputs(room), start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), to)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        if memory is not None:
            _limit(memory)
        if cap is not None:
            os.environ[VARIABLE] = str(cap)
        if command is None:
            _command_line(arguments)
        else:
            command()
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(_GREEDY if cap is not None and _taken("VmHWM") > 1.2 * cap else status)


def _command_line(arguments: tuple[str, ...]) -> None:
    from gpu_nim.__main__ import _keep_one_heap
    from gpu_nim.cli import main

    _keep_one_heap()
    sys.argv = ["gpunim", *arguments]
    main(list(arguments), prog_name="gpunim")


def cut_short(arguments: tuple[str, ...]) -> None:
    """Run a command line whose files cannot become long, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL, _FULL))
    _command_line(arguments)


def _taken(what: str) -> int:
    """The bytes of memory of this process, VmRSS now or VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(what))


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
