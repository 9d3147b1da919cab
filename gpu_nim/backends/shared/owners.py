"""Which rank, or thread, owns which slabs of a growth.

Births follow powers of two: a generation has most of them in slabs whose numbers agree with its own in some binary digits.
Contiguous parts, even of equal births, are idle by turns, and blocks dealt out in turn to an even number of ranks meet those
digits. Dealt out by the sum of a block's digits to the base of that number, as the sequence of Thue and Morse does for two ranks,
every aligned run of blocks is shared evenly. An odd number of ranks is in no step with powers of two, and there dealing out in turn
is more even. docs/scaling.md has the figures.
"""

import numpy as np
from numpy.typing import NDArray

#: The slabs are cut into at least so many blocks for each rank, where that leaves them wide enough: fewer send less, more are
#: spread more evenly.
BLOCKS = 32


def owners(slabs: int, narrowest: int, ranks: int) -> NDArray[np.int64]:
    """Return the owner of each slab, shape (slabs,).

    Args:
        slabs: the number of slabs.
        narrowest: no block has fewer slabs; the last one may.
        ranks: the number of ranks.

    >>> owners(128, 1, 2)[::2][:8].tolist(), owners(96, 1, 3)[:8].tolist()
    ([0, 1, 1, 0, 1, 0, 0, 1], [0, 1, 2, 0, 1, 2, 0, 1])
    """
    width = max(narrowest, 1 << (max(1, slabs // (BLOCKS * ranks)).bit_length() - 1))
    block = np.arange(slabs, dtype=np.int64) // width
    if ranks % 2:
        return block % ranks
    digits, rest = np.zeros_like(block), block
    while rest.any():
        rest, digit = np.divmod(rest, ranks)
        digits += digit
    return digits % ranks
