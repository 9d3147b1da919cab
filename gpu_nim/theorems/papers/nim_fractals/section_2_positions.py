"""[NF] sections 2 and 3: positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from gpu_nim.games.nim.positions import nim_sum
from gpu_nim.theorems.catalogue import Case, compared_cases, statement
from gpu_nim.theorems.exhaustive import ENUMERATED, counts, index_scope, max_index, max_pile, p_positions, pile_scope

_PILES = (2, 3, 4, 5)
_GAME = 5  # positions of a game; there are 1,024 games of five, 32,768 of six


@statement(
    "nf-theorem-2",
    "[NF] Theorem 2",
    "a partition into A and B with the three properties is that into P- and N-positions",
    at_most=_GAME,
    thorough=(6, 3),
)
@compared_cases(lambda upto: f"all games of up to {upto} positions, each with all partitions")
def partition(upto: int) -> Iterator[Case]:
    """Sets of positions are bits of an integer; the options of a position are among those before it."""
    for size in range(1, upto + 1):
        for options in product(*(range(1 << position) for position in range(size))):
            fits = [chosen for chosen in range(1 << size) if _has_the_properties(options, chosen)]
            yield f"the sets A in the game with the options {options}", fits, [_previous_player_wins(options)]


def _has_the_properties(options: Sequence[int], chosen: int) -> bool:
    """Whether the set `chosen`, as A, and all other positions, as B, have the three properties of Theorem 2."""
    return all(
        not reached & chosen if chosen >> position & 1 else reached & chosen != 0 and reached != 0
        for position, reached in enumerate(options)
    )


def _previous_player_wins(options: Sequence[int]) -> int:
    """The P-positions, by playing out each game: the next player wins with an option from which the one after it loses."""

    def next_wins(position: int) -> bool:
        return any(not next_wins(option) for option in range(position) if options[position] >> option & 1)

    return sum(1 << position for position in range(len(options)) if not next_wins(position))


@statement("nf-theorem-4", "[NF] Theorem 4, Bouton 1901", "the P-positions are the positions of nim-sum 0", thorough=ENUMERATED)
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def bouton(upto: int) -> Iterator[Case]:
    for k in (1, *_PILES):
        n = max_pile(k, upto)
        grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * k, indexing="ij"), axis=-1).reshape(-1, k)
        zero = grid[np.bitwise_xor.reduce(grid, axis=1) == 0]
        yield f"the list of P-positions of {k} piles up to {n}", p_positions(k, n).tolist(), zero.tolist()


@statement("nf-corollary-5", "[NF] Corollary 5", "the last pile of a P-position is the nim-sum of the others", thorough=ENUMERATED)
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def last_pile(upto: int) -> Iterator[Case]:
    for k in _PILES:
        for position in p_positions(k, max_pile(k, upto)).tolist():
            yield f"the last pile of {tuple(position)}", position[-1], nim_sum(position[:-1])


@statement("nf-lemma-6", "[NF] Lemma 6", "2 max(P) <= #(P) <= k max(P) for each P-position P", thorough=ENUMERATED)
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def total_and_maximum(upto: int) -> Iterator[Case]:
    for k in _PILES:
        for position in p_positions(k, max_pile(k, upto)).tolist():
            largest, total = max(position), sum(position)
            yield f"2 max <= # <= k max at {tuple(position)}", 2 * largest <= total <= k * largest, True


@statement(
    "nf-self-similarity",
    "[NF] section 3",
    "adding 2^b to two piles keeps a position with piles below 2^b P, or keeps it N",
    thorough=ENUMERATED,
)
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


@statement("nf-even-totals", "[NF] section 3", "the total number of counters in a P-position is even", thorough=ENUMERATED)
@compared_cases(lambda upto: pile_scope(_PILES, upto))
def even_totals(upto: int) -> Iterator[Case]:
    for k in _PILES:
        for position in p_positions(k, max_pile(k, upto)).tolist():
            yield f"the total of {tuple(position)} modulo 2", sum(position) % 2, 0


@statement("nf-differences", "[NF] section 3", "d_k are the first differences of a_k, and D_k those of A_k", thorough=ENUMERATED)
@compared_cases(lambda upto: index_scope(range(1, 6), upto))
def differences(upto: int) -> Iterator[Case]:
    for k in range(1, 6):
        for upto_n, at_n in ("ad", "AD"):
            sums, terms = (counts(name, k, max_index(k, upto)) for name in (upto_n, at_n))
            yield f"the first differences of {upto_n}_{k}", np.diff(sums, prepend=0).tolist(), [*terms]


@statement(
    "nf-one-pile",
    "[NF] section 3.2",
    "one pile has the P-position (0) alone: a_1 = A_1 = 1, and d_1 = D_1 = 1 at 0, 0 after",
    thorough=ENUMERATED,
)
@compared_cases(lambda upto: f"{pile_scope((1,), upto)}, {index_scope((1,), upto)}")
def one_pile(upto: int) -> Iterator[Case]:
    yield "the list of P-positions of one pile", p_positions(1, max_pile(1, upto)).tolist(), [[0]]
    last = max_index(1, upto)
    for name in "aA":
        yield f"{name}_1 up to {last}", counts(name, 1, last), (1,) * (last + 1)
    for name in "dD":
        yield f"{name}_1 up to {last}", counts(name, 1, last), (1,) + (0,) * last


@statement("nf-lemma-10", "[NF] Lemma 10", "the P-positions of two piles are the (x, x)", thorough=ENUMERATED)
@compared_cases(lambda upto: pile_scope((2,), upto))
def two_piles(upto: int) -> Iterator[Case]:
    n = max_pile(2, upto)
    yield f"the list of P-positions of 2 piles up to {n}", p_positions(2, n).tolist(), [[x, x] for x in range(n + 1)]


@statement("nf-two-piles", "[NF] section 3.2", "a_2(n) = A_2(n) = n + 1 and d_2(n) = D_2(n) = 1", thorough=ENUMERATED)
@compared_cases(lambda upto: index_scope((2,), upto))
def counts_of_two_piles(upto: int) -> Iterator[Case]:
    last = max_index(2, upto)
    for name in "aA":
        yield f"{name}_2 up to {last}", counts(name, 2, last), tuple(range(1, last + 2))
    for name in "dD":
        yield f"{name}_2 up to {last}", counts(name, 2, last), (1,) * (last + 1)
