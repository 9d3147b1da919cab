"""One writer at a time: locks that the system releases when their holder ends, even if it is killed.

A lock is a file that its holder keeps locked and removes at the end; its content names the holder.  A file that a killed process
left behind is not locked, so it is taken over like a free one.
"""

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpu_nim.model.errors import FileError
from gpu_nim.model.work import interrupts_deferred

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


_held: dict[tuple[int, int, Path], bool] = {}  # by process, thread and file: whether that excludes others


@contextmanager
def locked(file: Path, refusal: str) -> Iterator[bool]:
    """Hold the lock `file` for the block; yield whether that excludes others, since a few file systems have no locks.

    The thread that holds a lock may take it again.  Raises FileError where another process or thread holds it; the message has
    `refusal` and the holder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder, "lock"), "cannot write") as alone:
    ...     alone, Path(folder, "lock").exists()
    (True, True)
    """
    file = file.parent.resolve() / file.name
    key = os.getpid(), threading.get_ident(), file
    if key in _held:
        yield _held[key]
        return
    handle = None
    try:
        with interrupts_deferred():  # else the file would stay where a signal comes before it is held
            handle = _acquire(file, refusal)
            _held[key] = handle is not None
        yield _held[key]
    finally:
        with interrupts_deferred():
            _held.pop(key, None)
            if handle is not None:
                _release(file, handle)


def _acquire(file: Path, refusal: str) -> int | None:
    from filelock import lock_descriptor

    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            raise FileError(f"{refusal}: {error.strerror} ({file})") from error
        taken = False
        try:
            if not lock_descriptor(handle, blocking=False):
                raise FileError(f"{refusal}: {_holder(handle)}")
            taken = _is(file, handle)  # or else its holder has removed it since it was opened
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            file.unlink(missing_ok=True)
            return None
        finally:
            if not taken:
                os.close(handle)
        if taken:
            _sign(handle)
            return handle


def _release(file: Path, handle: int) -> None:
    # Removed before it is unlocked: a later open makes another file, and a process that opened this one detects the removal.
    with suppress(OSError):
        if _is(file, handle):
            file.unlink()
    os.close(handle)


def _is(file: Path, handle: int) -> bool:
    """Whether the file of this name is still the one that was opened."""
    try:
        return os.path.samestat(file.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _sign(handle: int) -> None:
    with suppress(OSError):  # on a full disk the file does not name its holder
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)


def _holder(handle: int) -> str:
    process, _, host = os.pread(handle, 300, 0).decode(errors="replace").strip().partition(" ")
    if not process.isdecimal():
        return "another process is using it"
    return f"process {process} is using it" if host == socket.gethostname() else f"process {process} on {host} is using it"
