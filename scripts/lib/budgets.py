"""The budget of each kernel: `scripts/check-kernels` fails if an architecture exceeds it.

A budget is what the worst architecture needed when the kernel was last changed for speed, by NVRTC 13.0 or 13.5, and a little more
for other versions of the compiler. A commit that needs more raises the number here and says why. From sm_100 on the compiler makes
other loops: some it unrolls twice as far (`count_fill_wide`: 985 instructions, not 520), out of others it takes jumps (`look_nim`:
181 instructions and 86 on the shortest way, not 312 and 14). So that neither hides what the other needs, the two have budgets of
their own.
"""

from dataclasses import dataclass

__all__ = ["BUDGETS", "FREQUENCIES", "Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of one kernel.

    Attributes:
        registers: the most registers per thread.
        blocks: the least blocks resident on a multiprocessor.
        loop: the most machine instructions of the largest loop, inner loops included, to sm_90 and from sm_100 on.
        turn: the most machine instructions on the shortest path through that loop, likewise; those that a turn issues on average
            where the kernel has `FREQUENCIES`.
        dynamic: bytes of dynamic shared memory per block of a typical launch, with which the blocks are counted.
    """

    registers: int
    blocks: int
    loop: tuple[int, int]
    turn: tuple[int, int]
    dynamic: int = 0


# "NAME for WHAT" is the kernel compiled for a rule or a dimension; NAME alone is compiled for all of them, and runs on the CPU and
# where there is no special build.
BUDGETS: dict[str, Budget] = {
    "count_rows": Budget(registers=64, blocks=4, loop=(600, 450), turn=(60, 90)),
    "count_rows_wide": Budget(registers=64, blocks=4, loop=(410, 360), turn=(50, 105)),
    "count_fill": Budget(registers=96, blocks=2, loop=(630, 550), turn=(55, 45)),
    "count_fill for dimension 1": Budget(registers=56, blocks=4, loop=(240, 250), turn=(50, 45)),
    "count_fill for dimension 3": Budget(registers=80, blocks=3, loop=(360, 390), turn=(45, 45)),
    "count_fill_wide": Budget(registers=128, blocks=2, loop=(550, 1030), turn=(55, 45)),
    "count_lengths": Budget(registers=80, blocks=3, loop=(330, 360), turn=(55, 40)),
    "count_lengths for dimension 1": Budget(registers=40, blocks=4, loop=(150, 170), turn=(55, 30)),
    "count_lengths for dimension 3": Budget(registers=48, blocks=4, loop=(270, 200), turn=(50, 40)),
    "count_lengths_wide": Budget(registers=104, blocks=2, loop=(640, 340), turn=(55, 45)),
    "count_residues": Budget(registers=80, blocks=3, loop=(480, 390), turn=(55, 45)),
    "count_residues for dimension 1": Budget(registers=40, blocks=4, loop=(200, 190), turn=(60, 45)),
    "count_residues for dimension 3": Budget(registers=48, blocks=4, loop=(260, 240), turn=(55, 45)),
    "count_residues_wide": Budget(registers=104, blocks=2, loop=(850, 420), turn=(60, 45)),
    "count_totals": Budget(registers=48, blocks=4, loop=(1040, 920), turn=(95, 85)),
    "count_maxima": Budget(registers=48, blocks=4, loop=(1030, 930), turn=(90, 85)),
    "exactly_one_grow": Budget(registers=100, blocks=5, loop=(2400, 2050), turn=(310, 260)),
    "exactly_one_grow for edge": Budget(registers=80, blocks=5, loop=(1490, 1510), turn=(1040, 1060)),
    "exactly_one_grow for fcc": Budget(registers=80, blocks=5, loop=(1490, 1510), turn=(1040, 1060)),
    "exactly_one_tick": Budget(registers=16, blocks=16, loop=(0, 0), turn=(0, 0)),
    "exactly_one_lay": Budget(registers=48, blocks=8, loop=(610, 500), turn=(120, 110)),
    "exactly_one_send": Budget(registers=48, blocks=8, loop=(270, 190), turn=(185, 120)),
    "exactly_one_receive": Budget(registers=56, blocks=8, loop=(640, 500), turn=(125, 100)),
    "wedge_outcomes": Budget(registers=64, blocks=4, loop=(300, 270), turn=(170, 90)),
    "wedge_grundy": Budget(registers=48, blocks=8, loop=(320, 170), turn=(20, 40)),
    "wedge_values": Budget(registers=24, blocks=4, loop=(0, 0), turn=(0, 0)),
    "inequality_outcomes": Budget(registers=64, blocks=8, loop=(1170, 730), turn=(15, 15)),
    "inequality_outcomes_wide": Budget(registers=64, blocks=8, loop=(1170, 730), turn=(15, 15)),
    "inequality_grundy": Budget(registers=64, blocks=16, loop=(1560, 1290), turn=(70, 50)),
    "general_touch": Budget(registers=32, blocks=4, loop=(150, 150), turn=(35, 35)),
    "general_decide": Budget(registers=28, blocks=4, loop=(60, 60), turn=(30, 25)),
    "general_enter": Budget(registers=24, blocks=4, loop=(80, 70), turn=(25, 20)),
    "general_survey": Budget(registers=64, blocks=4, loop=(850, 850), turn=(15, 15)),
    "nim_advance": Budget(registers=96, blocks=5, loop=(1790, 1720), turn=(90, 105)),
    "nim_cells": Budget(registers=96, blocks=5, loop=(1860, 1830), turn=(70, 60)),
    "trace_nim": Budget(registers=96, blocks=5, loop=(360, 320), turn=(210, 190)),
    "trace_bricks": Budget(registers=96, blocks=5, loop=(260, 240), turn=(235, 220)),
    "trace_tree": Budget(registers=88, blocks=5, loop=(230, 220), turn=(200, 190)),
    "look_nim": Budget(registers=48, blocks=8, loop=(330, 200), turn=(15, 90)),
    "look_bricks": Budget(registers=72, blocks=7, loop=(440, 270), turn=(15, 95)),
    "look_tree": Budget(registers=56, blocks=8, loop=(290, 180), turn=(15, 95)),
}

# How often a warp goes through a part of the kernel in a turn, by the text with which the part begins. Averages over the turns
# of eight bricks that no wall is near, of the lists with which `edge` grows to generation 256
# (tests/cuda/test_launch_order.py). A round in which reached bricks are looked up counts as if one were entered. What walls and
# a section need is left out.
FREQUENCIES: dict[str, dict[str, float]] = {
    "exactly_one_grow": {
        "for (u32 left = g.dealt(known": 2.06,
        "for (u32 left = static_cast<u32>(born & ~near)": 4.88,
        "for (u32 left = static_cast<u32>((born & ~near) >> 32)": 4.6,
        "for (u32 k = lane; k < queued": 2.12,
        "for (u32 left = dealt(reached": 1.99,
        "for (u32 k = lane; k < entered": 1,
        "if (beside(brick)) {": 0,
        "for (u64 left = near & ~closed": 0,
        "for (u64 left = in_queue ?": 0,
        "if (won && walled) {": 0,
    }
}
