"""Atomic writes: a file or folder is written under a temporary name beside its own, then renamed; the last writer wins.

The temporary name is in a private folder `.gpunim-RANDOM`, which only a process that is killed leaves behind.  One rename replaces
a file; a folder is first renamed to `.gpunim-RANDOM.old`, until the new one has the name.
"""

import atexit
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from gpu_nim.model.errors import FileError
from gpu_nim.model.registry import wrong_ending

_SPARE = 8  # descriptors kept to remove a folder, one for each level of a store, when all others are in use


@contextmanager
def atomic_write(path: Path, is_ours: Callable[[Path], bool] = lambda _: False, *, named: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which is renamed to `path` on success and removed on failure.

    A file or a symbolic link of that name is replaced (not the link's target); a folder, and what nobody has `named`, only if
    `is_ours`, that is, if gpunim wrote it.  Raises FileError, with the system's own reason, where the path cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "terms.txt")
    ...     with atomic_write(path) as scratch:
    ...         _ = scratch.write_text("1 3 3 9")
    ...         before = path.exists()
    ...     before, path.read_text()
    (False, '1 3 3 9')
    """
    check_writable(path, is_ours, named=named)
    with writing(path), scratch_folder(path.parent) as folder:
        yield folder / path.name
        flush(folder / path.name)
        check_writable(path, is_ours, named=named)  # again, as that may have taken hours
        _rename(folder / path.name, path)
        with suppress(OSError):  # not every file system flushes folders
            _flush(path.parent)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder within another, which is removed at the end of the block."""
    folder = parent.resolve() / f".gpunim-{os.urandom(8).hex()}"
    with ExitStack() as spare:
        try:
            for _ in range(_SPARE):
                spare.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            folder.mkdir(0o700)
            yield folder
            spare.close()
            shutil.rmtree(folder, ignore_errors=True)
        except BaseException:
            spare.close()
            shutil.rmtree(folder, ignore_errors=True)
            # The threads of zarr do not stop at an interrupt, and make a folder again that they write to.
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            raise


def _rename(new: Path, path: Path) -> None:
    old = Path(f"{new.parent}.old")

    def settle() -> None:
        if os.path.lexists(old):
            old.rename(new.with_name(old.name) if os.path.lexists(path) else path)

    with ExitStack() as stack:
        for _ in range(2):  # the second one is for an interrupt during the first
            stack.callback(settle)
        if (new.is_dir() or path.is_dir()) and os.path.lexists(path):
            path.rename(old)
        new.replace(path)


def check_writable(path: Path, is_ours: Callable[[Path], bool] = lambda _: False, *, named: bool = True) -> None:
    """Raise FileError where `atomic_write` could not write `path`, to be called before long work."""
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {path}: the folder {path.parent} is not writable")
    if not named and os.path.lexists(path) and not is_ours(path):
        raise FileError(f"cannot write {path}: it is there already, and is no earlier output of this")
    if path.is_dir() and not is_ours(path):
        raise FileError(f"cannot write {path}: it is a folder that gpunim did not make, or that holds other files")
    if path.exists() and not path.is_dir() and not path.is_file():
        raise FileError(f"cannot write {path}: it is a device or a pipe, and only a file can be replaced by another")


def check_output(path: Path, what: str, suffixes: Collection[str], is_ours: Callable[[Path], bool] = lambda _: False) -> None:
    """Raise UsageError where `path`, which is to be `what`, has none of these suffixes, FileError where it could not be written."""
    if path.suffix not in suffixes:
        raise wrong_ending(f"{what} must end in", path, suffixes)
    check_writable(path, is_ours)


def flush(path: Path) -> None:
    """Flush a file, or all of a folder, to the disk."""
    from concurrent.futures import ThreadPoolExecutor  # here, for its start-up time

    if path.is_file():  # without threads: where memory is short, Python may wait for ever for the start of one
        _flush(path)
        return
    with ThreadPoolExecutor() as pool:  # a disk takes many files in hardly more time than one
        list(pool.map(_flush, (path, *path.rglob("*"))))


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path, left: Callable[[], str] = str) -> Iterator[None]:
    """Raise FileError for an OSError of the block, which writes this file: it says what is `left`, if anything is.

    >>> with writing(Path("a.npz"), lambda: "a part of it is left"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    gpu_nim.model.errors.FileError: cannot write a.npz: No space left on device; a part of it is left
    """
    try:
        yield
    except OSError as error:
        reason = str(error) if isinstance(error, FileError) else f"cannot write {path}: {error.strerror or error}"
        raise FileError("; ".join(filter(None, [reason, left()]))) from error
