"""The laws between scales: the published tables obey them, and their page says what the tables and growths say."""

import re
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import grow
from gpu_nim.papers.edge_growth import births_by_distance, distances
from gpu_nim.papers.gpunim.scales import corner_births
from tests.lattices import tabled

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "open-problems" / "scales.md"


def _differing(births: list[int], m: int) -> list[int]:
    """The r below 2^m for which the births at 2^m + r and 2^(m+1) + r differ."""
    return [r for r in range(2**m) if births[2**m + r] != births[2 ** (m + 1) + r]]


@pytest.mark.parametrize("automaton", ["edge", "fcc"])
def test_the_tables_obey_the_laws_of_births(automaton: str) -> None:
    births, section = (np.diff(tabled(automaton, key), prepend=0).tolist() for key in ("population", "section z=0"))
    last = 11 if automaton == "edge" else 10
    ends = []
    for m in range(2, last + 1):
        differing = _differing(births, m)
        ends.append(max((r for r in differing if r <= 2 ** (m - 1)), default=-1))
        assert ends[-1] < 2 ** (m - 2)
        assert 2 ** (m - 1) + 1 in differing
        assert all(r < 6 for r in _differing(section, m))
    assert ends[2:9] == [3, 6, 9, 16, 25, 31, 61]
    assert "are 3, 6, 9, 16, 25, 31, 61 for $m = 4$ to 10" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_shares_of_the_tables() -> None:
    rows = re.findall(r"^\| (\d+) \|((?: 0\.\d{5} \|){4})$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(m) for m, _ in rows] == [*range(3, 11)]
    for row, shares in rows:
        start = 2 ** (int(row) + 1)
        found = []
        for column, first, end in (("population", start // 8, start // 4), ("section z=0", 6, start // 2 - 1)):
            for automaton in ("edge", "fcc"):
                known = tabled(automaton, column)
                found.append(f"{(known[start + end] - known[start + first - 1]) / (known[2 * start] - known[start]):.5f}")
        assert shares.strip(" |").split(" | ") == found


@pytest.mark.parametrize("automaton", ["edge", "fcc"])
def test_births_away_from_the_tips_end_as_the_page_says(automaton: str) -> None:
    growth = grow(automaton, 96, backend="numpy", cells=True, verify=False)
    ends = []
    for m in (4, 5, 6):
        away = []
        for r in range(2 ** (m - 1) + 1):
            cells = np.sort(np.abs(growth.newborns(2**m + r)), axis=1)[:, ::-1]  # the nearest tip is then (2^m, 2^m, 0)
            away.append(bool((distances(cells - np.array([2**m, 2**m, 0])) > r).any()))
        ends.append(max(r for r, found in enumerate(away) if found))
    assert ends == [0, 3, 6]
    assert "come at $r = 0, 3, 6, 9, 16$ for $m = 4$ to 8" in PAGE.read_text(encoding="utf-8")


def test_the_last_births_in_the_cubes_of_cubic26() -> None:
    births = births_by_distance("cubic26", 95)
    ends = [int(births[:, : 2**m].sum(axis=1).nonzero()[0].max()) for m in (5, 6)]
    assert ends == [38, 77]
    assert [len(corner_births(2**k)) - 1 for k in range(1, 5)] == [1, 3, 7, 22]
    assert "$t = 1, 3, 7, 22, 45, 95, 167, 295, 566$" in PAGE.read_text(encoding="utf-8")
    assert "last births are at generations 38, 77, 159 and 295" in PAGE.read_text(encoding="utf-8")


def test_mirrors_of_knight_have_no_births() -> None:
    for n, cells in grow("knight", 64, backend="numpy", cells=True, verify=False):
        x, y = np.abs(cells).T
        assert (x * y * (x - y)).all() == (n > 0)
        assert len(cells) % 8 == int(n == 0)
