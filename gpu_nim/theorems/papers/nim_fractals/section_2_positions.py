"""[NF] sections 2 and 3: positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.exhaustive import max_pile, p_positions, pile_scope

_PILES = (2, 3, 4, 5)


@statement("nf-theorem-4", "[NF] Theorem 4, Bouton 1901", "the P-positions are the positions of nim-sum 0")
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def bouton(upto: int) -> Iterator[Case]:
    for k in (1, *_PILES):
        n = max_pile(k, upto)
        grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * k, indexing="ij"), axis=-1).reshape(-1, k)
        zero = grid[np.bitwise_xor.reduce(grid, axis=1) == 0]
        yield f"the list of P-positions of {k} piles up to {n}", p_positions(k, n).tolist(), zero.tolist()


@statement("nf-corollary-5", "[NF] Corollary 5", "the last pile of a P-position is the nim-sum of the others")
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def last_pile(upto: int) -> Iterator[Case]:
    for k in _PILES:
        for position in p_positions(k, max_pile(k, upto)).tolist():
            nim_sum = 0
            for pile in position[:-1]:
                nim_sum ^= pile
            yield f"the last pile of {tuple(position)}", position[-1], nim_sum


@statement("nf-lemma-6", "[NF] Lemma 6", "2 max(P) <= #(P) <= k max(P) for each P-position P")
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def total_and_maximum(upto: int) -> Iterator[Case]:
    for k in _PILES:
        for position in p_positions(k, max_pile(k, upto)).tolist():
            largest, total = max(position), sum(position)
            yield f"2 max <= # <= k max at {tuple(position)}", 2 * largest <= total <= k * largest, True


@statement("nf-self-similarity", "[NF] section 3", "adding 2^b to two piles keeps a position with piles below 2^b P, or keeps it N")
@compared_cases(lambda upto: pile_scope((3, 4), upto))
def self_similarity(upto: int) -> Iterator[Case]:
    for k in (3, 4):
        n = max_pile(k, upto)
        known = {tuple(position) for position in p_positions(k, n).tolist()}
        for b in range(((n + 1) // 2).bit_length()):
            for position in np.ndindex(*(1 << b,) * k):
                for i in range(k):
                    for j in range(i):
                        moved = tuple(pile + (1 << b) * (axis in (i, j)) for axis, pile in enumerate(position))
                        yield f"P-position {moved}", moved in known, position in known
