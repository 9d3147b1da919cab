"""Running gpunim as a process with a time limit: forked from a warm interpreter, which is fast, or started as users do."""

import os
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

GPUNIM = (sys.executable, "-m", "gpu_nim")
MEMORY = 6 << 30  # bytes of address space
LIMIT = 120.0  # seconds
_PART = 1 << 17  # values
DEFECT = 70  # what a forked process leaves with after an exception that nothing caught

# Threads of BLAS would be lost in a fork, and each of them takes address space.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.  `status` is a shell's, 128 + N for signal N; None where the run was stopped at its limit."""

    arguments: tuple[str, ...]
    status: int | None
    output: str
    errors: str
    seconds: float

    @property
    def line(self) -> str:
        """The command line, as one would type it."""
        return shlex.join(("gpunim", *self.arguments))


def warm() -> None:
    """Import the modules of commands once, before forking, and have tables recorded in small parts, so that a kill leaves some."""
    import gpu_nim.cli
    import gpu_nim.storage.growth_files
    import gpu_nim.storage.table_formats
    import gpu_nim.storage.zarr_growths
    from gpu_nim.counting.ranges import Range

    Range.chunks.__defaults__ = (None, _PART)
    gpu_nim.storage.table_formats._ZARR_CHUNK = _PART

    for name in gpu_nim.cli.COMMANDS:
        import_module(f"gpu_nim.cli.{name}")
    for heavy in ("PIL.Image", "pyvista", "scipy.ndimage"):
        try:
            import_module(heavy)
        except ImportError:
            continue


def forked(arguments: Sequence[str], folder: Path, *, limit: float = LIMIT, memory: int | None = MEMORY) -> Outcome:
    """Run a command line in a fork of this process, in a folder."""
    return Fork(arguments, folder, memory=memory).outcome(limit)


def called(
    command: Callable[[], None], arguments: Sequence[str], folder: Path, *, limit: float = LIMIT, memory: int | None = MEMORY
) -> Outcome:
    """Call a function in a fork of this process, in a folder, as a program that prints."""
    return Fork(arguments, folder, command, memory=memory).outcome(limit)


class Fork:
    """A command line, or a function in its place, that runs in a fork of this process, in a folder and a session of its own."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, command: Callable[[], None] | None = None, *, memory: int | None = None
    ) -> None:
        self._arguments = tuple(arguments)
        self._files = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        sys.stdout.flush()
        sys.stderr.flush()
        self._began = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            output, errors = (file.fileno() for file in self._files)
            _become(command or partial(_command_line, self._arguments), folder, (output, errors), memory)

    def ends(self, limit: float) -> bool:
        """Return whether it ends within this many seconds."""
        handle = os.pidfd_open(self.pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            return bool(poll.poll(limit * 1000))
        finally:
            os.close(handle)

    def outcome(self, limit: float) -> Outcome:
        """Return the outcome, where it ends within this many seconds, and stop what is left of its session."""
        in_time = self.ends(limit)
        _kill(self.pid)
        _, status = os.waitpid(self.pid, 0)
        seconds = time.monotonic() - self._began
        texts = [text(file) for file in self._files]
        for file in self._files:
            file.close()
        ended = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        return Outcome(self._arguments, ended if in_time else None, *texts, seconds)


def _command_line(arguments: tuple[str, ...]) -> None:
    from gpu_nim.cli import main

    sys.argv = ["gpunim", *arguments]
    main(list(arguments), prog_name="gpunim")


def spawned(arguments: Sequence[str], folder: Path, *, limit: float = LIMIT, memory: int | None = MEMORY) -> Outcome:
    """Run a command line in a process of its own, in a folder."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = start(arguments, folder, output.fileno(), errors.fileno(), memory=memory)
        try:
            status = shell_status(process.wait(limit))
        except subprocess.TimeoutExpired:
            status = None
            stop(process)
        return Outcome(tuple(arguments), status, text(output), text(errors), time.monotonic() - began)


def start(
    arguments: Sequence[str], folder: Path, output: int, errors: int, *, memory: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command line in a process and a session of its own."""
    return subprocess.Popen(
        (*GPUNIM, *arguments),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        start_new_session=True,
        preexec_fn=None if memory is None else lambda: _limit(memory),
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )


def shell_status(returned: int) -> int:
    """Return the status of a process as a shell reports it."""
    return returned if returned >= 0 else 128 - returned


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all of its session."""
    _kill(process.pid)
    process.wait()


def _become(command: Callable[[], None], folder: Path, outputs: tuple[int, int], memory: int | None) -> None:
    status = DEFECT
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for to, handle in enumerate((nothing, *outputs)):
            os.dup2(handle, to)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        if memory is not None:
            _limit(memory)
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
            os._exit(status)


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _kill(pid: int) -> None:
    for end in (os.killpg, os.kill):  # before its setsid a fork leads no group
        try:
            end(pid, signal.SIGKILL)
            return
        except (ProcessLookupError, PermissionError):
            continue


def text(file: "tempfile._TemporaryFileWrapper[bytes]") -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
