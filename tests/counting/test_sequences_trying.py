"""Counting by trying every tuple."""

import pytest

from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Enumeration

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
