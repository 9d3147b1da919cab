"""Tables of bytes in memory, or on a disk where they do not fit."""

import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpu_nim.model.errors import FileError


def zeros(size: int, folder: Path | None = None) -> NDArray[np.uint8]:
    """Return a table of zeros, uint8 of shape (size,).

    Args:
        size: 1 or more.
        folder: the table is a file there, mapped to memory: the system keeps those parts in memory for which there is room, and
            writes back the others. The file has no name, so that nothing is left when the process ends, however it does.

    Raises:
        FileError: the folder is not there, is not writable or has no room. Room is taken before the table is used.

    >>> zeros(3)
    array([0, 0, 0], dtype=uint8)
    """
    if folder is None:
        return np.zeros(size, np.uint8)
    try:
        free = shutil.disk_usage(folder).free
        if free < size:
            raise OSError(f"{free:,} are free")
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except OSError as error:
        raise FileError(f"{folder} must take a table of {size:,} bytes: {error.strerror or error}") from error
