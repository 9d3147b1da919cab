"""Atomic writes: a file is written under a temporary name in the same folder, then renamed, by one writer at a time.

A file NAME is written in a private folder `.NAME.gpunim-RANDOM.partial` beside it, under the lock `.NAME.gpunim-lock`.  So every
other such folder that the holder of the lock finds was left by a dead process, and is removed.

A lock is a file that its holder keeps locked and removes at the end; its content names the holder.  The system releases it when its
holder ends, even if it is killed: a file that was left behind is not locked, so it is taken over like a free one.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from gpu_nim.model.errors import FileError
from gpu_nim.model.registry import wrong_ending
from gpu_nim.model.work import interrupts_deferred

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


_held: set[tuple[int, int, Path]] = set()  # by process, thread and file


@contextmanager
def locked(file: Path, refusal: str) -> Iterator[bool]:
    """Hold the lock `file` for the block; yield whether what others left under it is nobody's from now on.

    It may be somebody's where the file system has no locks, and where this thread holds the lock already, which may take it again.
    Raises FileError where another process or thread holds it; the message has `refusal` and the holder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder, "lock"), "cannot write") as alone:
    ...     alone, Path(folder, "lock").exists()
    (True, True)
    """
    file = file.parent.resolve() / file.name
    key = os.getpid(), threading.get_ident(), file
    if key in _held:
        yield False
        return
    handle = None
    try:
        with interrupts_deferred():  # else the file would stay where a signal comes before it is held
            handle = _acquire(file, refusal)
            _held.add(key)
        yield handle is not None
    finally:
        with interrupts_deferred():
            _held.discard(key)
            if handle is not None:
                _release(file, handle)


def _acquire(file: Path, refusal: str) -> int | None:
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            raise FileError(f"{refusal}: {error.strerror} ({file})") from error
        taken = False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = _is(file, handle)  # or else its holder has removed it since it was opened
        except BlockingIOError:
            raise FileError(f"{refusal}: {_holder(handle)}") from None
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


_OLD = ".gpunim-old"  # in such a folder: what had the name before, where the two could not be exchanged
_FLUSHES = 16  # files at a time: a disk takes many in hardly more time than one
_AT_FDCWD = -100
_RENAME_EXCHANGE, _RENAME_SWAP = 2, 2  # Linux, macOS
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextmanager
def replacing(path: Path, is_ours: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which is renamed to `path` on success and removed on failure.

    A file or a symbolic link of that name is replaced (not the link's target); a folder only if `is_ours`, that is, if gpunim wrote
    it.  At every instant, also after a power loss, either the complete old or the complete new file exists.  Raises FileError, with
    the system's own reason, where the path cannot be written, or another process is writing it.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "terms.txt")
    ...     with replacing(path) as scratch:
    ...         _ = scratch.write_text("1 3 3 9")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, '1 3 3 9')
    """
    check_writable(path, is_ours)
    with claim(path), writing(path), placing(path) as scratch:
        yield scratch


@contextmanager
def placing(path: Path) -> Iterator[Path]:
    """Like `replacing`, for a name that another lock protects; OSError where it cannot be written."""
    with _folder_for(path) as folder:
        yield folder / path.name
        _take_place(folder / path.name, path)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a folder beside `path` for what is needed to write it, which is removed at the end of the block."""
    with claim(path), writing(path), _folder_for(path) as folder:
        yield folder


@contextmanager
def _folder_for(path: Path) -> Iterator[Path]:
    folder: Path | None = None
    try:
        with interrupts_deferred():
            folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.gpunim-", suffix=".partial", dir=path.parent.resolve()))
        yield folder
    finally:
        if folder is not None:
            with interrupts_deferred():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def claim(path: Path) -> Iterator[None]:
    """Reserve the name `path` for this thread for the block, before long work for it, and remove what dead processes left of it.

    Raises FileError where another process is writing it.
    """
    with locked(path.with_name(f".{path.name}.gpunim-lock"), f"cannot write {path}") as alone:
        if alone:
            with writing(path):
                remove_leftovers(path.parent, re.escape(path.name))
        yield


def remove_leftovers(folder: Path, names: str) -> None:
    """Remove what dead processes left of files in `folder` whose names match a regular expression; their locks must be held.

    Files that were moved away are moved back.
    """
    pattern = re.compile(rf"\.({names})\.gpunim-[a-z0-9_]{{8}}\.partial")
    for path in sorted(folder.resolve().iterdir()):
        if (match := pattern.fullmatch(path.name)) is None:
            continue
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            continue  # not ours, whatever it is
        if os.path.lexists(path / _OLD) and not os.path.lexists(path.with_name(match[1])):
            (path / _OLD).rename(path.with_name(match[1]))
        shutil.rmtree(path, ignore_errors=True)


def check_writable(path: Path, is_ours: Callable[[Path], bool] = lambda _: False) -> None:
    """Raise FileError where `path` could not be written, to be called before long work."""
    folder = path.parent
    if not folder.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {path}: the folder {folder} is not writable")
    if path.is_dir() and not os.access(path, os.R_OK | os.X_OK):
        raise FileError(f"cannot write {path}: it is a folder that cannot be read")
    if path.is_dir() and not is_ours(path):
        raise FileError(f"cannot write {path}: it is a folder that gpunim did not make")
    if path.exists() and not path.is_dir() and not path.is_file():
        raise FileError(f"cannot write {path}: it is a device or a pipe, and only a file can be replaced by another")


def check_output(path: Path, what: str, suffixes: Collection[str], is_ours: Callable[[Path], bool] = lambda _: False) -> None:
    """Raise UsageError where `path`, which is to be `what`, has none of these suffixes, FileError where it could not be written."""
    if path.suffix not in suffixes:
        raise wrong_ending(f"{what} must end in", path, suffixes)
    check_writable(path, is_ours)


def make_folder(folder: Path) -> None:
    """Make a folder for files, where there is none.

    Raises:
        FileError: it cannot be made, or is a file.
    """
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise FileError(f"cannot write into {folder}: it is a file, not a folder") from None
    except OSError as error:
        raise FileError(f"cannot write into {folder}: {error.strerror}") from error


def flush(path: Path) -> None:
    """Flush a file, or all of a folder, to the disk."""
    if not path.is_dir():
        _flush(path)
        return
    folders, files = [], []
    for folder, _, names in os.walk(path):
        folders.append(Path(folder))
        files += [Path(folder, name) for name in names]
    with ThreadPoolExecutor(_FLUSHES) as pool:
        for paths in (files, folders):
            list(pool.map(_flush, paths))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path, left: Callable[[], str] = str) -> Iterator[None]:
    """Raise FileError for an OSError of the block, which writes this file: it says what is left of it, if anything is.

    >>> with writing(Path("a.npz"), lambda: "a part of it is left"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    gpu_nim.model.errors.FileError: cannot write a.npz: No space left on device; a part of it is left
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError("; ".join(filter(None, [f"cannot write {path}: {error.strerror or error}", left()]))) from error


def _take_place(new: Path, path: Path) -> None:
    flush(new)
    with interrupts_deferred():
        _rename(new, path)
        with suppress(OSError):  # not every file system flushes folders
            _flush(path.parent)


def _rename(new: Path, path: Path) -> None:
    folders = new.is_dir() or (path.is_dir() and not path.is_symlink())
    if not folders or not os.path.lexists(path):
        new.rename(path)
    elif not exchange(new, path):
        old = new.with_name(_OLD)
        path.rename(old)
        try:
            new.rename(path)
        except BaseException:
            old.rename(path)
            raise


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two files or folders of one file system atomically.

    Returns False, and changes nothing, where the system or the file system cannot do it, such as NFS.  Raises OSError for other
    errors.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new, old = Path(folder, "new"), Path(folder, "old")
    ...     new.mkdir(), old.touch()
    ...     exchange(new, old) == old.is_dir() == new.is_file()
    (None, None)
    True
    """
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = library.renamex_np(*names, _RENAME_SWAP)
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number))
