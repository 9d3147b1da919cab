"""Statements about parents and children: [NF] section 5.2 to 5.5, tried by `gpu_nim.theorems.evolution_of_nim`."""

from gpu_nim.theorems import evolution_of_nim
from gpu_nim.theorems.catalogue import statement
from gpu_nim.theorems.check_result import CheckResult

_FOUR_PILES = 48  # 49,393 positions and their neighbours
_MOVES = 16  # each position with all its moves, and theirs
_THREE_PILES = 1024
_BY_PLAYING = 12  # the largest pile where the whole game is played out


@statement("nf-lemma-20", "[NF] Lemma 20", "a parent of a P-position is reached from it in two moves of the game")
def lemma_20(upto: int) -> CheckResult:
    return evolution_of_nim.lemma_20(min(upto, _MOVES))


@statement(
    "nf-lemma-21",
    "[NF] Lemma 21",
    "parents come by taking 1 from two piles with equally many trailing zeros, and all but 0 have one",
)
def lemma_21(upto: int) -> CheckResult:
    return evolution_of_nim.lemma_21(min(upto, _FOUR_PILES))


@statement("nf-corollary-22", "[NF] Corollary 22", "with three piles each P-position but 0 has exactly one parent")
def corollary_22(upto: int) -> CheckResult:
    return evolution_of_nim.corollary_22(min(upto, _THREE_PILES))


@statement("nf-lemma-23", "[NF] Lemma 23", "children come by adding 1 to two piles with equally many trailing ones")
def lemma_23(upto: int) -> CheckResult:
    return evolution_of_nim.lemma_23(min(upto, _FOUR_PILES))


@statement("nf-lemma-24", "[NF] Lemma 24", "P-positions of Nim found at step i of the standard algorithm are born in generation i")
def lemma_24(upto: int) -> CheckResult:
    return evolution_of_nim.lemma_24(min(upto, _BY_PLAYING))


@statement("nf-theorem-25", "[NF] Theorem 25", "three-pile Nim evolves as the Ulam-Warburton automaton without its south branch")
def theorem_25(upto: int) -> CheckResult:
    return evolution_of_nim.theorem_25(min(upto, _THREE_PILES))


@statement("nf-table-1", "[NF] Table 1", "four piles have 1, 2 or 6 parents and 1, 2 or 6 children, in every combination")
def table_1(upto: int) -> CheckResult:
    return evolution_of_nim.table_1(min(upto, _FOUR_PILES))
