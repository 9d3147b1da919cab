"""Statements about games with inequalities: [V] section 3 and what is proved since."""

from gpu_nim.theorems import inequality_games
from gpu_nim.theorems.catalogue import statement
from gpu_nim.theorems.check_result import CheckResult

_SOLVED = 255  # the largest coordinate for which a chocolate is solved in a second or so
_MOVES = 15
_GRUNDY = 31


@statement(
    "v-theorem-3.1",
    "[V] Theorem 3.1",
    "the P-positions of y <= x + z are (x, 0, x), and (x+1, y, z+1) with y > 0 where x, y, z have nim-sum 0",
)
def theorem_3_1(upto: int) -> CheckResult:
    return inequality_games.theorem_3_1(min(upto, _SOLVED))


@statement(
    "v-theorem-3.3",
    "[V] Theorem 3.3",
    "p, q, r with q = floor((p+r)/3), not all 0, have nim-sum 0 just for p = 2^n + m, q = 2^n - 1, r = 2^(n+1) - m - 1",
)
def theorem_3_3(upto: int) -> CheckResult:
    return inequality_games.theorem_3_3(min(upto, _SOLVED))


@statement("v-theorem-3.5", "[V] Theorem 3.5", "the P-positions of 3y <= x + z are its positions of nim-sum 0")
def theorem_3_5(upto: int) -> CheckResult:
    return inequality_games.theorem_3_5(min(upto, _SOLVED))


@statement("v-remark-3.1", "[V] Remark 3.1", "a move of 3y <= x + z in x or z leaves y, or drags it to floor((x+z)/3)")
def remark_3_1(upto: int) -> CheckResult:
    return inequality_games.remark_3_1(min(upto, _MOVES))


@statement("v-example-3.4", "[V] Example 3.4", "the four options worked out for 3y <= x + z are moves, and to P-positions")
def example_3_4(upto: int) -> CheckResult:
    return inequality_games.example_3_4()


@statement(
    "even-bars",
    "Nakamura and Miyadera, Integers 15 #G4",
    "for even k the Grundy value of y <= floor(z/k) beside a pile x is the nim-sum",
)
def even_bars(upto: int) -> CheckResult:
    return inequality_games.even_bars(min(upto, _GRUNDY))
