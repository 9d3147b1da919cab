"""The open problem of edge's growth: its page says what the tables say."""

import re

import pytest

from gpu_nim import grow
from gpu_nim.automata.formulas import steps
from tests.helpers import CHECKOUT
from tests.lattices import tabled

DOCS = CHECKOUT / "docs"


@pytest.mark.parametrize(("automaton", "largest"), [("edge", 0.941), ("fcc", 6.764)])
def test_the_tables_satisfy_the_conjecture(automaton: str, largest: float) -> None:
    population = tabled(automaton)
    last = (len(population) - 1) // 2
    assert last == 4096
    quotients = [abs(population[2 * n] - 8 * population[n]) / n**2.5 for n in range(32, last + 1)]
    assert round(max(quotients), 3) == largest


def test_the_page_has_the_ratios_of_the_tables() -> None:
    page = (DOCS / "open-problems" / "edge-growth.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\d+) \|(.*)\| (\d+) \|(.*)\|$", page, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [1, 3]
    for c, *rest in rows:
        for automaton, last, ratios in zip(("edge", "fcc"), rest[::2], rest[1::2], strict=True):
            n, population = int(last), tabled(automaton)
            assert n // int(c) & (n // int(c) - 1) == 0
            assert 2 * n >= len(population)  # the last of the table
            assert ratios.split("|") == [f" {population[n >> i] / (n >> i) ** 3:.5f} " for i in (3, 2, 1, 0)]


def test_the_page_has_the_births_at_powers_of_two() -> None:
    page = (DOCS / "open-problems" / "edge-growth.md").read_text()
    columns = {"all": "births"} | {f"delay {delay}": f"delay {delay}" for delay in (0, 5, 6, 8)}
    found = grow("edge", 128, backend="numpy", columns=tuple(columns.values())).table
    for row, column in columns.items():
        (printed,) = re.findall(rf"^\| {row} \| (.*) \|$", page, re.MULTILINE)
        assert [*map(int, printed.split(" | "))][:5] == found[column][[8, 16, 32, 64, 128]].tolist()


def test_the_hole_of_the_page() -> None:
    alive = {*map(tuple, grow("fcc", 8, backend="numpy").cells().tolist())}
    for x, y, z in steps(3, 2):
        near = {(4 + x + a, 4 + y + b, 4 + z + c) for a, b, c in steps(3, 2)} & alive
        assert (4 + x, 4 + y, 4 + z) not in alive
        assert len(near) >= 2
