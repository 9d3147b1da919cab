"""Writing so that a file is there whole or not at all: beside its final name first, then renamed."""

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gpu_nim.errors import FileError


@contextmanager
def replacing(path: Path, is_ours: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success what was written there takes the name, on failure it is removed.

    A file of that name is replaced, as programs do; a folder only where `is_ours` says that gpunim wrote it.  Raises FileError,
    with the system's own reason, where the place cannot be written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "terms.txt")
    ...     with replacing(path) as scratch:
    ...         _ = scratch.write_text("1 3 3 9")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, '1 3 3 9')
    """
    check_writable(path, is_ours)
    scratch: Path | None = None
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
        yield scratch / path.name
        _take_place(scratch, path)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done, and SIGTERM and SIGHUP where the program handles them.

    Zarr writes in threads of its own, which go on, and make anew the folders that they miss, when the caller is interrupted
    while it waits for them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    with _deferred(signal.SIGHUP), _deferred(signal.SIGTERM), _deferred(signal.SIGINT):
        yield


@contextmanager
def _deferred(number: signal.Signals) -> Iterator[None]:
    if not callable(signal.getsignal(number)):  # ignored, or the end of the process at once
        yield
        return
    pending: list[int] = []
    handler = signal.signal(number, lambda number, _: pending.append(number))
    try:
        yield
    finally:
        signal.signal(number, handler)
    if pending:
        signal.raise_signal(number)


def check_writable(path: Path, is_ours: Callable[[Path], bool] = lambda _: False) -> None:
    """Raise FileError where `path` could not be written: asked before long work, so that it is not done in vain."""
    folder = path.parent
    if not folder.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {path}: the folder {folder} is not writable")
    if path.is_dir() and not is_ours(path):
        raise FileError(f"cannot write {path}: it is a folder that gpunim did not make")


def _take_place(scratch: Path, path: Path) -> None:
    new = scratch / path.name
    if path.is_dir():
        # Folders cannot be exchanged in one step: the old one steps aside and goes with the scratch folder.
        path.rename(scratch / "old")
    new.replace(path)
