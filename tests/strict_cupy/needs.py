"""What the functions of CuPy 14 that the CUDA backend may use need, read in CuPy's source; and a record of which were used.

The extras install CuPy, NVRTC and the CUDA runtime: no cuBLAS, cuSOLVER, cuSPARSE or cuRAND.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

__all__ = ["NEEDS", "Need", "capturing", "note", "recorded"]


class Need(Enum):
    """What a function needs, from nothing to most."""

    VIEW = "nothing on the device: another look at the same memory"
    MEMORY = "the runtime alone: allocations, memset and copies"
    PRECOMPILED = "Thrust, compiled into CuPy's own wheel with the runtime linked in"
    KERNEL = "a kernel that CuPy writes, and that NVRTC compiles at the first use with these types"


#: The most that each function may need. It needs less where it can: a slice is a view, filling with zero is a memset.
NEEDS: dict[str, Need] = {
    name: Need[need]
    for need, names in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
    for name in names
}

_records: list[Counter[tuple[str, Need]]] = []
_captures = 0


@contextmanager
def recorded() -> Iterator[Counter[tuple[str, Need]]]:
    """Inside, count the functions used, each with what it needed that time."""
    calls: Counter[tuple[str, Need]] = Counter()
    _records.append(calls)
    try:
        yield calls
    finally:
        _records[:] = [other for other in _records if other is not calls]


@contextmanager
def capturing() -> Iterator[None]:
    """Inside, a stream captures launches into a graph: arrays are neither made, copied nor waited for."""
    global _captures
    _captures += 1
    try:
        yield
    finally:
        _captures -= 1


def note(name: str, need: Need | None = None) -> None:
    """Record a use of a function, of which this time less may be needed."""
    need = NEEDS[name] if need is None else need
    if _captures and need is not Need.VIEW:
        raise RuntimeError(f"cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing ({name})")
    for calls in _records:
        calls[name, need] += 1
