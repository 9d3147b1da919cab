"""Counting by trying every tuple."""

import numpy as np
import pytest

from gpu_nim.backends.host_counting import NumpyCounting
from gpu_nim.counting.enumeration import Enumeration
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family

ENGINE = NumpyCounting(threads=2)


def tried(counts: Family, limit: int) -> list[int]:
    trial = Enumeration(counts, limit, ENGINE)
    counted: list[int] = trial.combine([trial.do(piece) for piece in trial.chunks()]).tolist()
    return counted


@pytest.mark.parametrize("name", [*FAMILIES])
@pytest.mark.parametrize("piles", [1, 2, 3, 4, 5, 6, 7])
def test_all_totals_and_all_maxima(name: str, piles: int) -> None:
    counts = find_family(name, piles)
    for limit in (0, 1, 2, 5, 8):
        assert tried(counts, limit) == [counts.value(n) for n in range(limit + 1)]


@pytest.mark.parametrize(("piles", "limit"), [(3, 40), (4, 20), (5, 9)])
def test_pieces_add_up(piles: int, limit: int) -> None:
    for attempt in (ENGINE.try_totals, ENGINE.try_maxima):
        whole = attempt(piles, limit, 0, limit + 1)
        parts = [attempt(piles, limit, first, min(first + 7, limit + 1)) for first in range(0, limit + 1, 7)]
        assert np.array_equal(sum(parts), whole)


def test_every_tuple_is_tried() -> None:
    seen = []

    class Counting(NumpyCounting):
        def try_totals(self, piles: int, limit: int, first: int, stop: int) -> np.ndarray:
            seen.append((first, stop))
            return super().try_totals(piles, limit, first, stop)

    trial = Enumeration(find_family("D", 4), 600, Counting(threads=1))
    assert trial.tuples == 601**3
    for piece in trial.chunks()[:2]:
        trial.do(piece)
    pieces = trial.chunks()
    assert seen == pieces[:2]
    assert len(pieces) > 2
    assert [piece[0] for piece in pieces[1:]] == [piece[1] for piece in pieces[:-1]]
    assert (pieces[0][0], pieces[-1][1]) == (0, 601)
