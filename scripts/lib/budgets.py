"""The budget of each kernel: `scripts/check-kernels` fails if an architecture exceeds it.

A budget is what the worst architecture needed when the kernel was last changed for speed, and a little more for other versions of
the compiler. A commit that needs more raises the number here and says why.
"""

from dataclasses import dataclass

__all__ = ["BUDGETS", "Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of one kernel.

    Attributes:
        registers: the most registers per thread.
        blocks: the least blocks resident on a multiprocessor.
        loop: the most machine instructions of the largest loop, inner loops included.
        turn: the most machine instructions on the shortest path through that loop.
        dynamic: bytes of dynamic shared memory per block of a typical launch, with which the blocks are counted.
    """

    registers: int
    blocks: int
    loop: int
    turn: int
    dynamic: int = 0


# "NAME for WHAT" is the kernel compiled for a rule or a dimension; NAME alone is compiled for all of them, and runs on the CPU and
# where there is no special build.
BUDGETS: dict[str, Budget] = {
    "count_rows": Budget(registers=64, blocks=4, loop=490, turn=75),
    "count_rows_wide": Budget(registers=64, blocks=4, loop=410, turn=90),
    "count_fill": Budget(registers=96, blocks=2, loop=650, turn=55),
    "count_fill for dimension 1": Budget(registers=56, blocks=4, loop=240, turn=50),
    "count_fill for dimension 3": Budget(registers=80, blocks=3, loop=380, turn=50),
    "count_fill_wide": Budget(registers=128, blocks=2, loop=910, turn=50),
    "count_lengths": Budget(registers=80, blocks=3, loop=320, turn=55),
    "count_lengths for dimension 1": Budget(registers=40, blocks=4, loop=170, turn=55),
    "count_lengths for dimension 3": Budget(registers=48, blocks=4, loop=270, turn=35),
    "count_lengths_wide": Budget(registers=104, blocks=2, loop=630, turn=55),
    "count_residues": Budget(registers=80, blocks=3, loop=490, turn=55),
    "count_residues for dimension 1": Budget(registers=40, blocks=4, loop=200, turn=60),
    "count_residues for dimension 3": Budget(registers=48, blocks=4, loop=280, turn=55),
    "count_residues_wide": Budget(registers=104, blocks=2, loop=850, turn=55),
    "count_totals": Budget(registers=48, blocks=4, loop=1040, turn=95),
    "count_maxima": Budget(registers=48, blocks=4, loop=1040, turn=90),
    "exactly_one_grow": Budget(registers=64, blocks=8, loop=1640, turn=210, dynamic=3584),
    "exactly_one_grow for edge": Budget(registers=64, blocks=8, loop=900, turn=295, dynamic=3584),
    "exactly_one_grow for fcc": Budget(registers=64, blocks=8, loop=1030, turn=305, dynamic=3584),
    "exactly_one_tick": Budget(registers=16, blocks=16, loop=0, turn=0),
    "exactly_one_lay": Budget(registers=48, blocks=8, loop=230, turn=105),
    "exactly_one_send": Budget(registers=48, blocks=8, loop=270, turn=35),
    "exactly_one_receive": Budget(registers=56, blocks=8, loop=310, turn=30),
    "wedge_outcomes": Budget(registers=64, blocks=4, loop=290, turn=170),
    "wedge_grundy": Budget(registers=48, blocks=8, loop=320, turn=40),
    "wedge_values": Budget(registers=24, blocks=4, loop=0, turn=0),
    "inequality_outcomes": Budget(registers=64, blocks=8, loop=1010, turn=15),
    "inequality_outcomes_wide": Budget(registers=64, blocks=8, loop=1010, turn=15),
    "inequality_grundy": Budget(registers=64, blocks=16, loop=1530, turn=70),
    "general_touch": Budget(registers=32, blocks=4, loop=150, turn=35),
    "general_decide": Budget(registers=28, blocks=4, loop=60, turn=30),
    "general_enter": Budget(registers=24, blocks=4, loop=80, turn=25),
    "general_survey": Budget(registers=64, blocks=4, loop=860, turn=20),
    "nim_advance": Budget(registers=80, blocks=6, loop=1040, turn=120),
    "nim_cells": Budget(registers=80, blocks=6, loop=1500, turn=115),
    "nim_send": Budget(registers=40, blocks=8, loop=120, turn=50),
    "nim_receive": Budget(registers=32, blocks=8, loop=90, turn=70),
    "trace_nim": Budget(registers=96, blocks=5, loop=375, turn=215),
    "trace_bricks": Budget(registers=96, blocks=5, loop=270, turn=240),
    "look_nim": Budget(registers=48, blocks=8, loop=340, turn=80),
    "look_bricks": Budget(registers=72, blocks=7, loop=450, turn=85),
}
