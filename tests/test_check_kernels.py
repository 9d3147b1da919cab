"""What `scripts/check-kernels` computes from machine code and from the limits of architectures."""

import pytest

from gpu_nim.backends.cuda.table import KERNELS
from scripts.lib.budgets import BUDGETS
from scripts.lib.occupancy import resident_blocks
from scripts.lib.sass import Loop, largest_loop, listings


def listing(*lines: str) -> list[str]:
    """Lines as nvdisasm prints them: labels as they are, instructions with their address."""
    return [line if line.endswith(":") else f"        /*{16 * k:04x}*/   {line} ;" for k, line in enumerate(lines)]


TWO_LOOPS = listing(
    *("S2R R2, SR_TID.X", "MOV R1, 0x4"),
    ".outer:",
    *("IADD3 R1, R1, -0x1, RZ", "ISETP.NE.AND P0, PT, R1, RZ, PT", "@!P0 BRA `(.next)"),
    ".inner:",
    *("LDG.E R3, [R4.64]", "IADD3 R5, R3, R5, RZ", "@P1 BRA `(.inner)"),
    ".next:",
    *("BSYNC B0", "@P2 BRA `(.outer)", "EXIT"),
    ".padding:",
    "BRA `(.padding)",
)


def test_the_largest_loop_holds_those_within_it() -> None:
    assert largest_loop(TWO_LOOPS) == Loop(instructions=8, shortest=5)


def test_a_jump_back_from_code_out_of_line_is_no_loop() -> None:
    """The compiler moves what rarely runs behind the exit and jumps back from there."""
    straight = listing("BRA.DIV UR4, `(.rare)", ".on:", "STG.E [R2.64], R3", "EXIT", ".rare:", "WARPSYNC R5", "BRA `(.on)")
    assert largest_loop(straight) is None


def test_a_loop_is_left_by_a_call_that_never_returns() -> None:
    lines = listing(".head:", "IADD3 R1, R1, -0x1, RZ", "@P0 CALL.REL.NOINC `(.L_x_1)", "BRA `(.head)", ".L_x_1:", "EXIT")
    assert largest_loop(lines) == Loop(instructions=3, shortest=3)
    helped = listing(".head:", "MOV R8, 0x110", "CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_u64)", "@P0 BRA `(.head)", "EXIT")
    assert largest_loop(helped) == Loop(instructions=3, shortest=3)


def test_a_jump_by_such_a_call_leads_into_the_loop() -> None:
    lines = listing(
        ".head:", "@P1 BRA `(.L_x_2)", ".L_x_1:", "BRA `(.head)", "EXIT", ".L_x_2:", "MOV R1, R2", "CALL.REL.NOINC `(.L_x_1)"
    )
    assert largest_loop(lines) == Loop(instructions=4, shortest=2)


def test_kernels_are_told_apart() -> None:
    text = "\n".join(["\t.target sm_90", ".text.first:", *listing("EXIT"), ".text.second:", *TWO_LOOPS])
    assert {name: largest_loop(lines) for name, lines in listings(text)} == {"first": None, "second": Loop(8, 5)}


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "blocks"),
    [
        ("90", 256, 32, 0, 8),  # 2048 threads
        ("90", 32, 16, 0, 32),  # 32 blocks
        ("90", 128, 90, 0, 5),  # 65536 registers, 96 granted a thread
        ("90", 128, 128, 0, 4),
        ("90", 128, 32, 227 * 1024, 1),  # the most that a block can have
        ("90", 128, 32, 113 * 1024, 2),  # and its half, for the system keeps 1 KB a block
        ("75", 256, 32, 0, 4),  # 1024 threads
        ("75", 128, 32, 16 * 1024, 4),  # 64 KB
        ("120", 64, 16, 0, 24),
        ("80", 96, 168, 0, 4),  # 12 warps, 3 a block
    ],
)
def test_resident_blocks(architecture: str, threads: int, registers: int, shared: int, blocks: int) -> None:
    assert resident_blocks(architecture, threads, registers, shared) == blocks


def test_every_kernel_has_a_budget() -> None:
    """Some have a second, in a build for one rule: "exactly_one_grow for fcc"."""
    assert [name for name in BUDGETS if " for " not in name] == list(KERNELS)
    assert {name.partition(" for ")[0] for name in BUDGETS} == set(KERNELS)
