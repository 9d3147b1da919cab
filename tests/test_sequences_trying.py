"""Counting by trying every tuple."""

import numpy as np
import pytest

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.enumeration import Enumeration
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family

ENGINE = HostCounting(threads=2)


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


def test_every_tuple_is_tried() -> None:
    seen = []

    class Counting(HostCounting):
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
