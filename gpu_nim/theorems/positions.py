"""Statements about positions: [NF] sections 2 and 3, [F] section 2.4, [V] section 2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_nim.theorems.catalogue import compare, statement
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.counted import p_positions, side

_PILES = (2, 3, 4, 5)


def _reach(upto: int, piles: tuple[int, ...] = _PILES) -> str:
    return ", ".join(f"piles up to {side(k, upto)} for k = {k}" for k in piles)


@statement("nf-theorem-4", "[NF] Theorem 4, Bouton 1901", "the P-positions are the positions of nim-sum 0")
def bouton(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for k in (1, *_PILES):
            n = side(k, upto)
            grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * k, indexing="ij"), axis=-1).reshape(-1, k)
            zero = grid[np.bitwise_xor.reduce(grid, axis=1) == 0]
            yield f"the list of P-positions of {k} piles up to {n}", p_positions(k, n).tolist(), zero.tolist()

    return compare(cases(), _reach(upto))


@statement("nf-corollary-5", "[NF] Corollary 5", "the last pile of a P-position is the nim-sum of the others")
def last_pile(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for k in _PILES:
            for position in p_positions(k, side(k, upto)).tolist():
                nim_sum = 0
                for pile in position[:-1]:
                    nim_sum ^= pile
                yield f"the last pile of {tuple(position)}", position[-1], nim_sum

    return compare(cases(), _reach(upto))


@statement("nf-lemma-6", "[NF] Lemma 6", "2 max(P) <= #(P) <= k max(P) for each P-position P")
def total_and_maximum(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for k in _PILES:
            for position in p_positions(k, side(k, upto)).tolist():
                largest, total = max(position), sum(position)
                yield f"2 max <= # <= k max at {tuple(position)}", 2 * largest <= total <= k * largest, True

    return compare(cases(), _reach(upto))


@statement("nf-self-similarity", "[NF] section 3", "adding 2^b to two piles keeps a position with piles below 2^b P, or keeps it N")
def self_similarity(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for k in (3, 4):
            n = side(k, upto)
            known = {tuple(position) for position in p_positions(k, n).tolist()}
            for b in range(((n + 1) // 2).bit_length()):
                for position in np.ndindex(*(1 << b,) * k):
                    for i in range(k):
                        for j in range(i):
                            moved = tuple(pile + (1 << b) * (axis in (i, j)) for axis, pile in enumerate(position))
                            yield f"P-position {moved}", moved in known, position in known

    return compare(cases(), _reach(upto, (3, 4)))


@statement(
    "f-winning-moves",
    "[F] section 2.4",
    "an N-position has as many winning moves as its leftmost odd column has 1s, an odd number",
)
def winning_moves(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for k in (2, 3, 4):
            n = side(k, upto)
            known = {tuple(position) for position in p_positions(k, n).tolist()}
            lines = [{(p[:i], p[i + 1 :]): p[i] for p in known} for i in range(k)]
            for position in np.ndindex(*(n + 1,) * k):
                if position in known:
                    continue
                moves = sum(lines[i].get((position[:i], position[i + 1 :]), position[i]) < position[i] for i in range(k))
                columns = [sum(pile >> b & 1 for pile in position) for b in reversed(range(n.bit_length()))]
                stated = next(((ones, 1) for ones in columns if ones % 2), None)
                yield f"the number of winning moves from {position}, and its parity,", (moves, moves % 2), stated

    return compare(cases(), _reach(upto, (2, 3, 4)))


@statement("v-remark-2.2", "[V] Remark 2.2", "x + y + z = 0 in nim-sums implies z <= x + y, x <= y + z and y <= z + x")
def triangle_inequality(upto: int) -> CheckResult:
    def cases() -> Iterator[tuple[str, object, object]]:
        for x, y, z in p_positions(3, side(3, upto)).tolist():
            yield f"the triangle inequality at {(x, y, z)}", z <= x + y and x <= y + z and y <= z + x, True

    return compare(cases(), _reach(upto, (3,)))


@statement(
    "v-corollary-2.1",
    "[V] Corollary 2.1",
    "no move leads from nim-sum 0 to nim-sum 0, and some move leads there from any other nim-sum",
)
def moves_and_nim_sums(upto: int) -> CheckResult:
    n = side(3, min(upto, 31))

    def cases() -> Iterator[tuple[str, object, object]]:
        for position in np.ndindex(*(n + 1,) * 3):
            nim_sum = position[0] ^ position[1] ^ position[2]
            reached = any(nim_sum ^ pile ^ less == 0 for pile in position for less in range(pile))
            yield f"a move from {position} to nim-sum 0", reached, nim_sum != 0

    return compare(cases(), f"piles up to {n} for k = 3")
