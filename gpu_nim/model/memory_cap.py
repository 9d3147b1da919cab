"""The user's cap on memory: GPUNIM_MEMORY, for this process and for those that it starts.

It limits a process's main memory, and separately the device memory of its arrays.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_size

VARIABLE = "GPUNIM_MEMORY"


def memory_cap() -> int | None:
    """Return the cap in bytes, or None if there is none.

    Raises:
        UsageError: GPUNIM_MEMORY is not a size.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(f"{VARIABLE}: {error}") from None


@contextmanager
def capped(size: int) -> Iterator[None]:
    """Set the cap to this number of bytes in the block.

    >>> with capped(2**30):
    ...     memory_cap()
    1073741824
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(size)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
