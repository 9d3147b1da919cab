"""What [V] proves about chocolates, and what is proved since, tried on every position up to a size.

Each function takes a size and returns a `CheckResult`: what was tried, and the first counterexample. The games are solved; the
statements are evaluated apart from that.
"""

import numpy as np

from gpu_nim.games.inequality import Vector, bar, chocolate
from gpu_nim.games.solution import solve
from gpu_nim.theorems.check_result import CheckResult

# The positions of [V] Example 3.4 and the options to which it moves from them.
EXAMPLE_3_4: dict[Vector, Vector] = {
    (53, 27, 59): (53, 14, 59),
    (61, 23, 33): (54, 23, 33),
    (38, 10, 4): (7, 3, 4),
    (36, 5, 14): (11, 5, 14),
}


def theorem_3_1(size: int) -> CheckResult:
    """The P-positions of y <= x + z: (x, 0, x), and (x + 1, y, z + 1) with y > 0 and x XOR y XOR z = 0 [V Theorem 3.1].

    >>> theorem_3_1(31).holds
    True
    """
    solution = solve(chocolate(1), size)
    expected: set[Vector] = {(x, 0, x) for x in range(size + 1)}
    x, z = (axis.ravel() for axis in np.indices((size, size)))
    y = x ^ z
    # x XOR z is at most x + z, so these are positions.
    stated = np.stack([x + 1, y, z + 1], axis=1)[y > 0]
    expected.update(map(tuple, stated.tolist()))
    return _compare(solution.p_positions.tolist(), expected, f"{solution.positions} positions of y <= x + z to {size}")


def theorem_3_3(size: int) -> CheckResult:
    """P XOR q XOR r = 0 and q = floor((p + r) / 3) just for (2^n + m, 2^n - 1, 2^(n+1) - m - 1), 0 <= m < 2^n [V Theorem 3.3].

    As printed it has one counterexample, (0, 0, 0), which no n gives: that this one is there, and no other, is what is tried.

    >>> theorem_3_3(63)
    CheckResult(scope='all p, r <= 63; (0, 0, 0) is no such triple, against the theorem as printed', counterexample=None)
    """
    p, r = (axis.ravel() for axis in np.indices((size + 1, size + 1)))
    q = (p + r) // 3
    found = np.stack([p, q, r], axis=1)[p ^ q ^ r == 0].tolist()
    stated: set[Vector] = {
        (2**n + m, 2**n - 1, 2 ** (n + 1) - m - 1)
        for n in range(size.bit_length() + 1)
        for m in range(2**n)
        if max(2**n + m, 2 ** (n + 1) - m - 1) <= size
    }
    tried = f"all p, r <= {size}; (0, 0, 0) is no such triple, against the theorem as printed"
    return _compare(found, stated | {(0, 0, 0)}, tried)


def theorem_3_5(size: int) -> CheckResult:
    """The P-positions of 3y <= x + z are the positions with nim-sum 0 [V Theorem 3.5].

    >>> theorem_3_5(63).holds
    True
    """
    solution = solve(chocolate(3), size)
    return CheckResult(f"{solution.positions} positions of 3y <= x + z to {size}", solution.first_difference)


def remark_3_1(size: int) -> CheckResult:
    """Where lowering x or z of 3y <= x + z drags y down, y becomes floor((x + z) / 3) of the position reached [V Remark 3.1].

    From each position, the moves of the game must be just these, written out: x or z lowered and y brought down to what is left of
    it, or y lowered.

    >>> remark_3_1(7)
    CheckResult(scope='444 moves of 3y <= x + z to 7 that drag y, of 1797', counterexample=None)
    """
    game = chocolate(3)
    tried = dragged = 0
    for x, y, z in game.within(size).positions():
        stated = {(u, min(y, (u + z) // 3), z) for u in range(x)} | {(x, min(y, (x + w) // 3), w) for w in range(z)}
        moves = {reached for _, _, reached in game.moves((x, y, z))}
        if moves != stated | {(x, v, z) for v in range(y)}:
            return CheckResult(f"{tried} moves of 3y <= x + z", (x, y, z))
        tried += len(moves)
        dragged += sum(v < y for _, v, _ in stated)
    return CheckResult(f"{dragged} moves of 3y <= x + z to {size} that drag y, of {tried}")


def example_3_4() -> CheckResult:
    """The four options that [V Example 3.4] works out are moves of 3y <= x + z, and to P-positions.

    >>> example_3_4()
    CheckResult(scope='4 moves', counterexample=None)
    """
    game = chocolate(3)
    lost = {tuple(p) for p in solve(game, 61).p_positions.tolist()}
    for position, option in EXAMPLE_3_4.items():
        if option not in lost or position in lost or option not in {reached for _, _, reached in game.moves(position)}:
            return CheckResult("4 moves", (position, option))
    return CheckResult(f"{len(EXAMPLE_3_4)} moves")


def even_bars(size: int, largest_k: int = 8) -> CheckResult:
    """For even k the Grundy value of y <= floor(z / k) beside a pile x is the nim-sum (Nakamura and Miyadera, Integers 15 #G4).

    >>> even_bars(15).holds
    True
    """
    for k in range(2, largest_k + 1, 2):
        difference = solve(bar(k), size, grundy=True).first_grundy_difference
        if difference is not None:
            return CheckResult(f"k = {k}, x, z <= {size}", (k, difference))
    return CheckResult(f"even k to {largest_k}, x, z <= {size}")


def _compare(found: list[list[int]], stated: set[Vector], tried: str) -> CheckResult:
    differ = {tuple(vector) for vector in found} ^ stated
    return CheckResult(tried, min(differ, key=lambda vector: (sum(vector), vector)) if differ else None)
