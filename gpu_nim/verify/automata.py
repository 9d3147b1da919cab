"""Statements about the automata that grow P-positions: [B]'s two theorems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.growth import grow
from gpu_nim.finding import Finding
from gpu_nim.verify.registry import compare, statement

_MOST_GENERATIONS = 256  # generation n is held against all (n+1)^2 pairs of piles; edge has millions of cells by then


def _p_positions(total: int) -> list[list[int]]:
    """The P-positions of three piles with that even total, in lexicographic order, by trying all pairs of piles."""
    piles = np.arange(total // 2 + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(piles, piles, indexing="ij"))
    c = a ^ b
    found: list[list[int]] = np.stack([a, b, c], axis=1)[a + b + c == total].tolist()
    return found


def _born(automaton: str, upto: int, choose: Callable[[NDArray[np.integer], int], NDArray[np.integer]]) -> Finding:
    generations = min(upto, _MOST_GENERATIONS)
    growth = grow(automaton, generations, backend="numpy", verify=False)

    def cases() -> Iterator[tuple[str, object, object]]:
        for n, cells in growth:
            yield f"generation {n} of {automaton}", choose(cells, n).tolist(), _p_positions(2 * n)

    return compare(cases(), f"generations up to {generations}")


@statement("b-first", "[B] first theorem", "the cells of `nim` born at step n are the P-positions of three piles with total 2n")
def first_rule(upto: int) -> Finding:
    return _born("nim", upto, lambda cells, n: cells)


@statement("b-second", "[B] second theorem", "the cells of `edge` born at step n with total 2n are the P-positions with total 2n")
def second_rule(upto: int) -> Finding:
    return _born("edge", upto, lambda cells, n: cells[cells.sum(axis=1) == 2 * n])
