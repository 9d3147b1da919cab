"""The planted bugs of `seeded_bugs.cu`: how each is launched, and what has to catch it.

Run as a module (``python -m tests.cuda_host.seeded FLAVOUR``) it launches those that this flavour judges, and prints the results as
JSON: that is how the tests see the flavours that need another process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from gpu_nim.backends.cuda.table import read_kernels
from tests import strict_cupy as xp
from tests.cuda_host import HostLauncher, KernelDefect

SOURCES = Path(__file__).resolve().parent
LAUNCH_ORDERS = (("forward", 0), ("reverse", 0), ("shuffle", 1), ("shuffle", 2))

GOOD = (
    "good_tree_sum",
    "good_block_sum",
    "good_add_sums",
    "good_bounded",
    "good_half_warps",
    "good_syncwarp",
    "good_lock",
    "good_last_block",
)

WRONG_SUM = "^wrong sum$"
RACE = "ThreadSanitizer: data race"
OVERFLOW = "AddressSanitizer: (heap|global)-buffer-overflow"
# Each bug, with what finds it: flavour -> pattern. "any" is a check of the emulator's or of UBSan, and holds in all.
BUGS: dict[str, dict[str, str]] = {
    "missing_barrier": {"ubsan": WRONG_SUM, "tsan": RACE},
    "missing_barrier_in_loop": {"ubsan": WRONG_SUM, "tsan": RACE},
    "reuse_without_barrier": {"ubsan": WRONG_SUM, "tsan": RACE},
    "vote_is_no_barrier": {"tsan": RACE},
    "all_write_one_cell": {"ubsan": WRONG_SUM, "tsan": RACE},
    "plain_add_between_blocks": {"tsan": RACE},
    "depends_on_block_order": {"ubsan": WRONG_SUM, "tsan": RACE},
    "last_block_without_fence": {"tsan": RACE},
    "past_shared_array": {"any": r"out of bounds: index 64 of '.*\[64\]'"},
    "past_shared_array_by_pointer": {"asan": OVERFLOW},
    "past_dynamic_shared": {"ubsan": "wrote outside its dynamic shared memory of 512 bytes", "asan": OVERFLOW},
    "before_dynamic_shared": {"ubsan": "wrote outside its dynamic shared memory of 512 bytes", "asan": OVERFLOW},
    "past_global_array": {"asan": OVERFLOW},
    "uninitialised_shared": {"ubsan": WRONG_SUM, "tsan": WRONG_SUM},
    "uninitialised_dynamic_shared": {"ubsan": WRONG_SUM, "asan": WRONG_SUM, "tsan": WRONG_SUM},
    "shared_outlives_block": {"ubsan": WRONG_SUM, "tsan": WRONG_SUM},
    "misaligned": {"any": "misaligned address for 'const u64'"},
    "null_pointer": {"any": "null pointer to 'const u32'"},
    "shift_by_width": {"any": "shift by .* the width or more"},
    "signed_overflow": {"any": "signed addition overflows"},
    "division_by_zero": {"any": "division by zero"},
    "barrier_for_some": {"any": "32 of 64 threads exited before this __syncthreads"},
    "barrier_after_return": {"any": "3 of 64 threads exited before this __syncthreads"},
    "two_barriers": {"any": "divergent barrier: thread 0 .* thread 32 "},
    "barrier_against_collective": {"any": "deadlock: thread 0 waits at __syncthreads"},
    "spins_forever": {"any": "livelock: thread 1 spins"},
    "mask_without_caller": {"any": "__ballot_sync with the mask 0x0000ffff, which leaves it out"},
    "mask_names_absent_lanes": {"any": "__ballot_sync names lane 16, which has exited"},
    "masks_differ": {"any": "divergent collective in warp 0"},
    "different_collectives": {"any": r"divergent collective in warp 0: .*__ballot_sync.*__any_sync"},
    "shuffle_from_outside_mask": {"any": "lane 0 reads lane 16, which takes no part"},
    "shuffle_width": {"any": "width 24, which is no power of two"},
}

# All others are made by a macro that gives them the same parameters.
TABLE = dict.fromkeys((*GOOD, *BUGS), read_kernels(SOURCES)["good_bounded"])


def judged(flavour: str) -> list[str]:
    """The kernels of which a flavour has something to say: the correct ones, and the bugs that it must catch."""
    return [*GOOD, *(name for name, finders in BUGS.items() if {flavour, "any"} & finders.keys())]


def outcome(name: str, order: str, seed: int, flavour: str) -> str:
    """What one launch led to: ``ok``, ``wrong sum``, or the defect's message."""
    elements = 200 if name == "past_global_array" else 256
    x = np.arange(1, elements + 1, dtype=np.uint32) * np.uint32(7919)
    out = xp.zeros(6, np.uint64)
    try:
        HostLauncher(order, seed, flavour, SOURCES, TABLE)(name, (4,), (64,), (xp.asarray(x), out, elements), 64 * 8)
    except KernelDefect as defect:
        return str(defect)
    return "ok" if out[0] == x.sum(dtype=np.uint64) else "wrong sum"


def outcomes(name: str, flavour: str) -> list[str]:
    """What a kernel led to in each of the orders."""
    return [outcome(name, order, seed, flavour) for order, seed in LAUNCH_ORDERS]


if __name__ == "__main__":
    json.dump({name: outcomes(name, sys.argv[1]) for name in judged(sys.argv[1])}, sys.stdout)
