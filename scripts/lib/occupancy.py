"""How many blocks of a kernel a multiprocessor holds at once, by what each architecture has of everything.

From the CUDA C++ Programming Guide, technical specifications for each compute capability.
"""

from dataclasses import dataclass

__all__ = ["MULTIPROCESSORS", "resident_blocks"]

_REGISTERS = 64 * 1024  # of a multiprocessor, all architectures since sm_50
_REGISTER_UNIT = 256  # granted to a warp at a time
_WARP_UNIT = 4  # a warp belongs to one of four schedulers, each with a quarter of the registers


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """Threads, blocks and bytes of shared memory that it holds; the unit of the last, and what the system keeps of a block's."""

    threads: int
    blocks: int
    shared: int
    shared_unit: int = 128
    shared_kept: int = 1024


MULTIPROCESSORS = {
    "75": Multiprocessor(1024, 16, 64 * 1024, shared_unit=256, shared_kept=0),
    "80": Multiprocessor(2048, 32, 164 * 1024),
    "86": Multiprocessor(1536, 16, 100 * 1024),
    "89": Multiprocessor(1536, 24, 100 * 1024),
    "90": Multiprocessor(2048, 32, 228 * 1024),
    "100": Multiprocessor(2048, 32, 228 * 1024),
    "120": Multiprocessor(1536, 24, 100 * 1024),
}


def resident_blocks(architecture: str, threads: int, registers: int, shared: int) -> int:
    """Resident blocks of `threads` threads with so many registers each and so many bytes of shared memory a block."""
    has = MULTIPROCESSORS[architecture]
    warps = -(-threads // 32)
    of_warp = -(-32 * registers // _REGISTER_UNIT) * _REGISTER_UNIT
    room = _REGISTERS // max(of_warp, 1) // _WARP_UNIT * _WARP_UNIT
    bounds = [has.blocks, has.threads // (32 * warps), room // warps]
    taken = -(-(shared + has.shared_kept) // has.shared_unit) * has.shared_unit
    if taken:
        bounds.append(has.shared // taken)
    return min(bounds)
