"""[V]: Matsui, Yamauchi, Inoue, Tomari, "Variants of the Game of Nim that have Inequalities as Conditions".

The games are solved, and the statements are evaluated independently, on every position up to a size.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from gpu_nim.games.inequality import Vector, chocolate
from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.exhaustive import ENUMERATED, max_pile, p_positions, pile_scope

_MOVED = 15  # the largest coordinate with which every move is tried in a second or so
_CONSTRUCTED = 31
_LARGEST_A = 27
_SOLVED = 255  # the largest coordinate for which a chocolate is solved in a second or so

# The positions of [V] Example 3.4 and the options to which it moves from them.
EXAMPLE_3_4: dict[Vector, Vector] = {
    (53, 27, 59): (53, 14, 59),
    (61, 23, 33): (54, 23, 33),
    (38, 10, 4): (7, 3, 4),
    (36, 5, 14): (11, 5, 14),
}


@statement(
    "v-remark-2.2", "[V] Remark 2.2", "x + y + z = 0 in nim-sums implies z <= x + y, x <= y + z and y <= z + x", thorough=ENUMERATED
)
@compared_cases(lambda upto: pile_scope((3,), upto))
def triangle_inequality(upto: int) -> Iterator[Case]:
    for x, y, z in p_positions(3, max_pile(3, upto)).tolist():
        yield f"the triangle inequality at {(x, y, z)}", z <= x + y and x <= y + z and y <= z + x, True


@statement(
    "v-corollary-2.1",
    "[V] Corollary 2.1",
    "no move leads from nim-sum 0 to nim-sum 0, and some move leads there from any other nim-sum",
    at_most=31,
    thorough=(63, 2),
)
@compared_cases(lambda upto: pile_scope((3,), upto))
def moves_and_nim_sums(upto: int) -> Iterator[Case]:
    for position in np.ndindex(*(max_pile(3, upto) + 1,) * 3):
        total = nim_sum(position)
        reached = any(total ^ pile ^ less == 0 for pile in position for less in range(pile))
        yield f"a move from {position} to nim-sum 0", reached, total != 0


@statement(
    "v-theorem-3.1",
    "[V] Theorem 3.1",
    "the P-positions of y <= x + z are (x, 0, x), and (x+1, y, z+1) with y > 0 where x, y, z have nim-sum 0",
    at_most=_SOLVED,
    thorough=(511, 4),
)
def theorem_3_1(size: int) -> CheckResult:
    solution = solve(chocolate(1), size)
    expected: set[Vector] = {(x, 0, x) for x in range(size + 1)}
    x, z = (axis.ravel() for axis in np.indices((size, size)))
    y = x ^ z
    # x XOR z is at most x + z, so these are positions.
    stated = np.stack([x + 1, y, z + 1], axis=1)[y > 0]
    expected.update(map(tuple, stated.tolist()))
    return _compare_sets(solution.p_positions.tolist(), expected, f"{solution.positions} positions of y <= x + z to {size}")


@statement(
    "v-theorem-3.2",
    "[V] Theorem 3.2",
    "from each position of 3y <= x + z with another nim-sum than 0 some option has nim-sum 0",
    at_most=_MOVED,
    thorough=(47, 8),
)
@compared_cases(lambda upto: f"the positions of 3y <= x + z to {upto} with another nim-sum than 0")
def theorem_3_2(upto: int) -> Iterator[Case]:
    for position, nim_sums in _nim_sums_of_options(upto):
        if nim_sum(position):
            yield f"whether an option of {position} has nim-sum 0", 0 in nim_sums, True


@statement(
    "v-proof-3.2",
    "[V] proof of Theorem 3.2",
    "the option of 3y <= x + z that the proof constructs is a move, and to nim-sum 0",
    at_most=_CONSTRUCTED,
    thorough=(255, 28),
)
@compared_cases(lambda upto: f"the positions of 3y <= x + z to {upto} with another nim-sum than 0")
def proof_3_2(upto: int) -> Iterator[Case]:
    for x, z in product(range(upto + 1), repeat=2):
        for y in range((x + z) // 3 + 1):
            if x ^ y ^ z:
                u, v, w = _constructed((x, y, z)) if x >= z else _constructed((z, y, x))[::-1]
                lowered = [axis for axis, (old, new) in enumerate(zip((x, z), (u, w), strict=True)) if new < old]
                follows = v == min(y, (u + w) // 3) if lowered else v < y
                risen = u > x or v > y or w > z
                yield f"whether {(u, v, w)} is an option of {(x, y, z)}", follows and len(lowered) < 2 and not risen, True
                yield f"the nim-sum of {(u, v, w)}", u ^ v ^ w, 0


def _constructed(position: Vector) -> Vector:
    """The option of a position with x >= z that the proof of Theorem 3.2 constructs, by its cases."""
    x, y, z = position
    n, p, q = (pile.bit_length() - 1 for pile in position)  # of an empty pile, of which the proof does not speak, -1
    if n == q:
        k = (x ^ y ^ z).bit_length() - 1
        if y >> k & 1:
            return x, x ^ z, z  # [1.1]
        return (y ^ z, y, z) if x >> k & 1 else (x, y, x ^ y)  # [1.2]
    if p >= q:
        return (3 * 2**q - 1 - z, 2**q - 1, z) if z else (0, 0, 0)  # [2.1]
    return y ^ z, y, z  # [2.2]


@statement(
    "v-theorem-3.4",
    "[V] Theorem 3.4",
    "from each position of 3y <= x + z with nim-sum 0 no option has nim-sum 0",
    at_most=_MOVED,
    thorough=(47, 8),
)
@compared_cases(lambda upto: f"the positions of 3y <= x + z to {upto} with nim-sum 0")
def theorem_3_4(upto: int) -> Iterator[Case]:
    for position, nim_sums in _nim_sums_of_options(upto):
        if not nim_sum(position):
            yield f"whether an option of {position} has nim-sum 0", 0 in nim_sums, False


def _nim_sums_of_options(size: int) -> Iterator[tuple[Vector, set[int]]]:
    """Each position of 3y <= x + z up to a size, with the nim-sums of all its options."""
    game = chocolate(3)
    for position in game.within(size).positions():
        yield position, {nim_sum(option) for _, _, option in game.moves(position)}


@statement(
    "v-theorem-3.3",
    "[V] Theorem 3.3",
    "p, q, r with q = floor((p+r)/3), not all 0, have nim-sum 0 just for p = 2^n + m, q = 2^n - 1, r = 2^(n+1) - m - 1",
    at_most=_SOLVED,
    thorough=(4095, 2),
)
def theorem_3_3(size: int) -> CheckResult:
    """P XOR q XOR r = 0 and q = floor((p + r) / 3) just for (2^n + m, 2^n - 1, 2^(n+1) - m - 1), 0 <= m < 2^n [V Theorem 3.3].

    As printed it has one counterexample, (0, 0, 0), which no n gives: the check is that this is the only one.

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
    return _compare_sets(found, stated | {(0, 0, 0)}, tried)


@statement(
    "v-theorem-3.5",
    "[V] Theorem 3.5",
    "the P-positions of 3y <= x + z are its positions of nim-sum 0",
    at_most=_SOLVED,
    thorough=(1023, 5),
)
def theorem_3_5(size: int) -> CheckResult:
    solution = solve(chocolate(3), size)
    return CheckResult(f"{solution.positions} positions of 3y <= x + z to {size}", solution.first_difference)


@statement(
    "v-remark-4.1",
    "[V] Remark 4.1, which asks for other a",
    "for a = 3 mod 4 the P-positions of a y <= x + z are its positions of nim-sum 0",
    at_most=63,
    thorough=(255, 1),
)
def three_mod_four(size: int) -> CheckResult:
    """For a = 3 mod 4 the P-positions of a y <= x + z are the positions with nim-sum 0.

    Proof.  For a bit t, let X, Y, Z be x, y, z without bits 0 to t, and x1, y1, z1 < 2^t their bits below t; W = X + Z - aY. If X,
    Y, Z have nim-sum 0, then X + Z = Y + 2 (X & Z), and W = 2 (X & Z) - (a - 1) Y is a multiple of 2^(t+2), since a - 1 is even.
    So is (a - 3) 2^t, since a = 3 mod 4. The game is the same with x and z exchanged, so let moves in x stand for both.

    No move leads from nim-sum 0 to nim-sum 0. Lowering one number alone changes the nim-sum, so such a move lowers x to u and drags
    y down to y', the greatest with u. As x XOR u = y XOR y', both pairs differ in the same bits. Let t be the highest: x and y have
    it; u, y' and z have not. From ay <= x + z follows W >= (a - 1) 2^t + a y1 - x1 - z1 > (a - 3) 2^t, hence W >= (a + 1) 2^t. But
    from u + z < a (y' + 1) follows W < a 2^t.

    From any other nim-sum some move leads to nim-sum 0. Let t be its highest bit. If y has it, lower y. Else x alone has it, say;
    then W >= a y1 - 2^t - x1 - z1 > -3 * 2^t, hence W >= 0. Lower x to u = v XOR z, where v has the bits of y from t on, and its
    bits below t are chosen from the highest. Let D be u + z - av with the bits so far: W at first and, like W, a multiple of
    2^(j+2) before bit j. There a 1 takes (a - 1) 2^j off D, and a 0 adds 0 or 2^(j+1). Follow y as long as D >= 0. If that is all
    of y, then (u, y, z) is a position. Else y has 1 at some j where D < (a - 1) 2^j, hence D <= (a - 3) 2^j; choose 0, after which
    D <= (a - 1) 2^j. From there on choose 1 wherever D >= (a - 1) 2^i: so 0 <= D <= (a - 1) 2^i after each bit i. At the end
    D <= a - 1, so v = floor((u + z) / a), and v < y: the move drags y to v.

    >>> three_mod_four(31).holds
    True
    """
    for a in range(7, _LARGEST_A + 1, 4):
        difference = solve(chocolate(a), size).first_difference
        if difference is not None:
            return CheckResult(f"a = {a}, x, z <= {size}", (a, difference))
    return CheckResult(f"a = 7, 11, ..., {_LARGEST_A}, x, z <= {size}")


@statement(
    "v-remark-3.1",
    "[V] Remark 3.1",
    "a move of 3y <= x + z in x or z leaves y, or drags it to floor((x+z)/3)",
    at_most=15,
    thorough=(47, 8),
)
def remark_3_1(size: int) -> CheckResult:
    """Where lowering x or z of 3y <= x + z drags y down, y becomes floor((x + z) / 3) of the position reached [V Remark 3.1].

    From each position, the moves of the game must be exactly these: x or z lowered, and y to its new bound if it exceeds it; or y
    lowered.

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


@statement("v-example-3.4", "[V] Example 3.4", "the four options worked out for 3y <= x + z are moves, and to P-positions")
def example_3_4(upto: int = 61) -> CheckResult:
    game = chocolate(3)
    lost = {tuple(p) for p in solve(game, 61).p_positions.tolist()}
    for position, option in EXAMPLE_3_4.items():
        if option not in lost or position in lost or option not in {reached for _, _, reached in game.moves(position)}:
            return CheckResult("4 moves", (position, option))
    return CheckResult(f"{len(EXAMPLE_3_4)} moves")


def _compare_sets(found: list[list[int]], stated: set[Vector], scope: str) -> CheckResult:
    differ = {tuple(vector) for vector in found} ^ stated
    return CheckResult(scope, min(differ, key=lambda vector: (sum(vector), vector)) if differ else None)
