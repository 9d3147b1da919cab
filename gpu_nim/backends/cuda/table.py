"""The kernel table: every kernel of `cuda/`, the file it lives in and the types of its parameters.

CuPy passes whatever it is given: an `int64` array where the kernel wants `unsigned int*`, or one argument too few,
reads garbage without a word. So the types are stated here once, `check_arguments` holds every launch against them,
and a test holds them against the C++ signatures themselves.

A parameter is written as NumPy writes a type, ``u1 u4 u8 i4 i8`` for a scalar, with ``*`` before it for a pointer and
``*c`` for a pointer to const: ``*cu4`` is ``const unsigned int*``, ``*u8`` is ``unsigned long long*``.
"""

from dataclasses import dataclass

__all__ = ["KERNELS", "Kernel", "kernels_of"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Where a kernel lives and what it takes: the name of its `.cu` file, and its parameters in order."""

    source: str
    params: tuple[str, ...]


# Grouped by .cu file, in the order of the file.
KERNELS: dict[str, Kernel] = {
    "count_rows": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "*u8")),
    "count_rows_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "*u8")),
    "count_fill": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "*u8")),
    "count_fill_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "*u8")),
    "count_survey": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "*u8", "*u8")),
    "count_survey_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "*u8", "*u8")),
    "count_residues": Kernel(
        "counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "u8", "u4", "u4", "*u8")
    ),
    "count_residues_wide": Kernel(
        "counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "u8", "u4", "u4", "*u8")
    ),
    "count_totals": Kernel("counting.cu", ("u4", "u4", "u4", "u4", "u4", "u4", "u4", "u8", "u4", "u8", "*u8")),
    "count_maxima": Kernel("counting.cu", ("u4", "u4", "u4", "u4", "u4", "u4", "u4", "u8", "u4", "u8", "*u8")),
    "nim_advance": Kernel(
        "nim.cu", ("*cu8", "*u8", "u4", "u4", "u4", "u4", "u8", "u8", "u8", "*u8", "*u8", "u4")
    ),
    "nim_cells": Kernel("nim.cu", ("*cu8", "u4", "u4", "u4", "u4", "*cu8", "*u8", "*u8")),
}


def kernels_of(source: str) -> tuple[str, ...]:
    """The names of the kernels in one `.cu` file, in table order."""
    return tuple(name for name, kernel in KERNELS.items() if kernel.source == source)
