"""Atomic exchange of two names, where the system supports it."""

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE, _RENAME_SWAP = 2, 2  # Linux, macOS
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


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
