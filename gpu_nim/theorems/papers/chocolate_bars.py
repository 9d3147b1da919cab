"""Nakamura and Miyadera, "Impartial chocolate bar games", Integers 15 (2015), #G4."""

from gpu_nim.games.inequality import bar
from gpu_nim.games.solve import solve
from gpu_nim.theorems.catalogue import statement
from gpu_nim.theorems.check_result import CheckResult

_LARGEST_K = 8


@statement(
    "even-bars",
    "Nakamura and Miyadera, Integers 15 #G4",
    "for even k the Grundy value of y <= floor(z/k) with a separate pile x is the nim-sum",
    at_most=31,
    thorough=(127, 1),
)
def even_bars(size: int) -> CheckResult:
    for k in range(2, _LARGEST_K + 1, 2):
        difference = solve(bar(k), size, grundy=True).first_grundy_difference
        if difference is not None:
            return CheckResult(f"k = {k}, x, z <= {size}", (k, difference))
    return CheckResult(f"even k to {_LARGEST_K}, x, z <= {size}")
