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


_BRICKS = ("*ci4", "i4", "i4", "u4", "i4", "i4", "i4", "u4")  # how the bricks of exactly_one.cu lie
_RINGS = ("*u4", "*u4", "*u8", "*u4", "u8", "u4", "u4")  # their newborns, slots and lists, and the generation
_INEQUALITIES = ("*cu4", "*ci8", "*ci8", "*ci8", "u4", "*cu4", "u4", "u4", "u8", "u4")  # a game of games.cu, choices and total

# Grouped by .cu file, in the order of the file.
KERNELS: dict[str, Kernel] = {
    "count_rows": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "*u8")),
    "count_rows_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "*u8")),
    "count_fill": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "*u8")),
    "count_fill_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "*u8")),
    "count_survey": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "*u8", "*u8")),
    "count_survey_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "*u8", "*u8")),
    "count_residues": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "u8", "u4", "u4", "*u8")),
    "count_residues_wide": Kernel("counting.cu", ("*cu8", "*cu8", "u4", "u4", "u8", "u8", "u4", "u4", "u8", "u4", "u4", "*u8")),
    "count_totals": Kernel("counting.cu", ("u4", "u4", "u4", "u4", "u4", "u4", "u4", "u8", "u4", "u8", "*u8")),
    "count_maxima": Kernel("counting.cu", ("u4", "u4", "u4", "u4", "u4", "u4", "u4", "u8", "u4", "u8", "*u8")),
    "exactly_one_grow": Kernel(
        "exactly_one.cu",
        (*_BRICKS, "*ci4", "u4", "*u4", *_RINGS, "u8", "u8", "u8", "u8", "u4", "i4", "*u8", "*u8", "*u8", "u4"),
    ),
    "exactly_one_announce": Kernel("exactly_one.cu", (*_BRICKS, *_RINGS)),
    "exactly_one_export": Kernel("exactly_one.cu", (*_BRICKS, "*ci8", "u4", "*cu4", "*u4", "u8", "u8")),
    "exactly_one_import": Kernel("exactly_one.cu", (*_BRICKS, "*ci8", "u4", "*u4", "*cu4", "u8", "u8")),
    "frontier_touch": Kernel("frontier.cu", ("*cu8", "u8", "*ci8", "u4", "*cu1", "u4", "*u8", "*u4", "u4", "*u8", "*u8")),
    "frontier_decide": Kernel("frontier.cu", ("*cu8", "u8", "*cu1", "*cu8", "*u4", "*u8", "*u8")),
    "frontier_enter": Kernel("frontier.cu", ("*cu8", "*cu4", "u8", "*u8", "*u4", "u4")),
    "frontier_survey": Kernel("frontier.cu", ("*cu8", "u8", "*ci8", "u4", "u4", "u4", "*cu8", "u4", "i8", "*u8", "*u8", "u4")),
    "wedge_outcomes": Kernel(
        "games.cu",
        (
            *("*cu4", "u4", "u4", "u4", "u4", "u4", "u4", "u4"),
            *("*u8", "*u4", "*u8", "*u8", "*cu8", "*u8", "*u4", "*u4", "*u8", "*u8"),
        ),
    ),
    "wedge_grundy": Kernel("games.cu", ("*cu4", "u4", "u4", "u4", "u4", "u4", "u4", "*u8", "*u8", "*u8", "*u2")),
    "inequality_outcomes": Kernel("games.cu", (*_INEQUALITIES, "*u1", "*u8", "*u8")),
    "inequality_outcomes_wide": Kernel("games.cu", (*_INEQUALITIES, "*u4", "*u8", "*u8")),
    "inequality_grundy": Kernel("games.cu", (*_INEQUALITIES, "u4", "*u2")),
    "nim_advance": Kernel("nim.cu", ("*cu8", "*u8", "u4", "u4", "u4", "u4", "u8", "u8", "u8", "*u8", "*u8", "u4")),
    "nim_cells": Kernel("nim.cu", ("*cu8", "u4", "u4", "u4", "u4", "*cu8", "*u8", "*u8")),
}


def kernels_of(source: str) -> tuple[str, ...]:
    """The names of the kernels in one `.cu` file, in table order.

    >>> kernels_of("nim.cu")
    ('nim_advance', 'nim_cells')
    """
    return tuple(name for name, kernel in KERNELS.items() if kernel.source == source)
