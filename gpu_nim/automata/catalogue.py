"""The catalogue of automata: one entry each, which growth, tests, command line and documents pick up.

[NF] is Khovanova and Xiong, "Nim Fractals", J. Integer Seq. 17 (2014), Article 14.7.8; [B] is Khovanova's note on the rules that
grow the P-positions in three dimensions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.lattice import Rule
from gpu_nim.errors import UsageError


@dataclass(frozen=True)
class Automaton:
    """An automaton with its name and what is known of it.

    `births_formula` maps generations (int64, any shape) to births (uint64, same shape), and `cell_test` maps cells (N, d) to bool
    (N,), whether each belongs to the growth; both come from a theorem, never from growing, and are None where none is known.
    """

    name: str
    summary: str
    lattice: str
    source: str
    rule: Rule
    oeis: tuple[str, ...] = ()
    births_formula: Callable[[NDArray[np.int64]], NDArray[np.uint64]] | None = None
    cell_test: Callable[[NDArray[np.integer]], NDArray[np.bool_]] | None = None


def nim_births(generations: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return 3^wt(n), the number D_3(n) of P-positions of total 2n [NF Theorem 19], wt counting the 1s in n's binary digits.

    >>> nim_births(np.arange(8)).tolist()
    [1, 3, 3, 9, 3, 9, 9, 27]
    """
    return np.uint64(3) ** np.bitwise_count(generations).astype(np.uint64)


def nim_sum_is_zero(cells: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return whether each position (N, k) is a P-position of Nim: its nim-sum is zero (Bouton's theorem).

    >>> nim_sum_is_zero(np.array([[1, 2, 3], [1, 1, 1]])).tolist()
    [True, False]
    """
    return np.asarray(np.bitwise_xor.reduce(cells, axis=1) == 0)


_AUTOMATA = (
    Automaton(
        name="nim",
        summary="three-pile Nim: born when exactly one of (a-1,b-1,c), (a-1,b,c-1), (a,b-1,c-1) is alive",
        lattice="octant of Z^3",
        source="[B], first rule; [NF] Theorem 19",
        rule=Rule(
            dimension=3,
            offsets=((1, 1, 0), (1, 0, 1), (0, 1, 1)),
            births=frozenset({1}),
            seeds=((0, 0, 0),),
            octant=True,
        ),
        oeis=("A130665", "A048883"),
        births_formula=nim_births,
        cell_test=nim_sum_is_zero,
    ),
)

CATALOGUE: dict[str, Automaton] = {automaton.name: automaton for automaton in _AUTOMATA}


def find(name: str) -> Automaton:
    """Return the catalogue's entry of that name; UsageError where there is none.

    >>> find("nim").oeis
    ('A130665', 'A048883')
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        raise UsageError(f"automaton must be one of {', '.join(CATALOGUE)}, got {name!r}") from None
