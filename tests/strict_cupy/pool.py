"""CuPy's pool of device memory: blocks of multiples of 512 bytes, within a limit, as `cupy/cuda/memory.pyx` on one stream.

An array has a block as long as it or a view of it lives. Then the block is kept, and given, or a part of it, to what fits in it. It
counts against the limit until `free_all_blocks`, and longer while a part of it is used.
"""

import os
import threading
import weakref
from collections import deque
from dataclasses import dataclass

import numpy as np

__all__ = ["MemoryPool", "OutOfMemoryError", "hold", "use"]

_UNIT = 512


class OutOfMemoryError(MemoryError):
    """The pool's limit is reached."""


@dataclass(eq=False)
class _Block:
    """A block, between those that were split from it."""

    size: int
    before: "_Block | None" = None
    after: "_Block | None" = None


class MemoryPool:
    """The pool of one device."""

    def __init__(self) -> None:
        self._limit, self._total, self._used = int(os.environ.get("CUPY_GPU_MEMORY_LIMIT", 0)), 0, 0
        self._free: list[_Block] = []
        self._held: set[int] = set()  # the arrays that have blocks
        self._lock, self._returned = threading.Lock(), deque[tuple[int, _Block]]()  # by arrays that ended since

    def free_all_blocks(self) -> None:
        """Give back blocks of which no part is used."""
        with self._lock:
            self._sort()
            whole = [block for block in self._free if block.before is block.after is None]
            self._free = [block for block in self._free if block not in whole]
            self._total -= sum(block.size for block in whole)

    def set_limit(self, size: int) -> None:
        """Set the limit in bytes; 0 for none."""
        self._limit = size

    def get_limit(self) -> int:
        """The limit in bytes; 0 for none."""
        return self._limit

    def total_bytes(self) -> int:
        """Bytes of all blocks."""
        return self._total

    def used_bytes(self) -> int:
        """Bytes of the blocks that arrays have."""
        with self._lock:
            self._sort()
            return self._used

    def free_bytes(self) -> int:
        """Bytes of the others."""
        return self._total - self.used_bytes()

    def _malloc(self, size: int) -> _Block:
        """A block: the smallest that is free and fits, else a new one."""
        size = -(-size // _UNIT) * _UNIT
        block = min((block for block in self._free if block.size >= size), key=lambda block: block.size, default=None)
        if block is not None:
            self._free.remove(block)
            self._split(block, size)
        elif self._limit and self._total + size > self._limit:
            raise OutOfMemoryError(
                f"Out of memory allocating {size:,} bytes (allocated so far: {self._total:,} bytes, "
                f"limit set to: {self._limit:,} bytes)."
            )
        else:
            block = _Block(size)
            self._total += size
        self._used += size
        return block

    def _split(self, block: _Block, size: int) -> None:
        if block.size > size:
            rest = _Block(block.size - size, block, block.after)
            if rest.after is not None:
                rest.after.before = rest
            block.size, block.after = size, rest
            self._free.append(rest)

    def _sort(self) -> None:
        """Join the blocks that were returned with those beside them that are free."""
        while self._returned:
            whole, block = self._returned.popleft()
            self._held.remove(whole)
            self._used -= block.size
            if block.after in self._free:
                self._free.remove(block.after)
                self._join(block, block.after)
            if block.before in self._free:
                self._free.remove(block.before)
                block = self._join(block.before, block)
            self._free.append(block)

    @staticmethod
    def _join(block: _Block, after: _Block) -> _Block:
        block.size, block.after = block.size + after.size, after.after
        if block.after is not None:
            block.after.before = block
        return block

    def hold(self, array: np.ndarray) -> None:
        """Have a block for as long as an array, or a view of it, lives: one for its memory, which a view has from the whole."""
        whole = array if array.base is None else array.base
        with self._lock:
            self._sort()
            if not whole.nbytes or id(whole) in self._held:
                return
            block = self._malloc(whole.nbytes)
            self._held.add(id(whole))
            weakref.finalize(whole, self._returned.append, (id(whole), block)).atexit = False


_pool: MemoryPool | None = None


def use(pool: MemoryPool | None) -> None:
    """Take the memory of arrays that are made from here on from a pool, or from none."""
    global _pool
    _pool = pool


def hold(array: np.ndarray) -> None:
    """Take the memory of an array from the pool, if there is one."""
    if _pool is not None:
        _pool.hold(array)
