"""Columns of growths, the tables of docs/growth and the page on edge's growth, and the evolution tree."""

import csv
import json
import math
import re
from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.automata.catalogue import CATALOGUE, find
from gpu_nim.automata.columns import COLUMNS, Column, parse_section
from gpu_nim.automata.formulas import steps
from gpu_nim.automata.growth import Table
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.measures import NewCells
from gpu_nim.automata.newborns import ancestry, parents
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.cli.command import COLUMN_NAMES
from gpu_nim.model.rule import Rule
from tests.helpers import CHECKOUT, refused, run
from tests.lattices import EDGE, ONE, literal, nim, rules, tabled, terms_of

quick = settings(deadline=None, max_examples=30)


def table(automaton: object, generations: int, *columns: str) -> dict[str, list[Any]]:
    return grow(automaton, generations, backend=NumpyBackend(), columns=columns).table.lists()  # type: ignore[arg-type]


def test_a_table_holds_arrays() -> None:
    names = ("births", "density", "population/n^3", "dimension")
    found = grow("nim", 7, backend="numpy", columns=names).table
    assert list(found) == list(names)
    assert {name: values.dtype.kind for name, values in found.items()} == dict(zip(names, "ifff", strict=True))
    assert found["births"].tolist() == [1, 3, 3, 9, 3, 9, 9, 27]
    assert found.exact("density")[1:4] == [Fraction(4, 4), Fraction(7, 14), Fraction(16, 32)]  # of even sum, of 8, 27 and 64 cells
    assert np.log2(found["density"])[2] == -1
    assert found.exact("population/n^3")[:3:2] == [None, Fraction(7, 8)]
    assert np.isnan([found["population/n^3"][0], found["dimension"][0]]).all()
    assert repr(found) == "<Table of births, density, population/n^3, dimension: generations 0 to 7>"
    with pytest.raises(ValueError, match="read-only"):
        found["births"][0] = 5
    large = Table({"births": [1, 2**63]})
    assert large["births"].tolist() == [1, 2**63]
    assert large == Table({"births": [1, 2**63]})
    assert large != Table({"births": [1, 2**63 + 1]})
    assert found.get("deaths") is None


def test_data_frames_are_made_of_tables() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    found = grow("nim", 7, backend="numpy", columns=["births", "population/n^3"]).table
    frame = found.to_pandas()
    assert frame["births"].tolist() == [1, 3, 3, 9, 3, 9, 9, 27]
    assert frame.dtypes.tolist() == [np.int64, np.float64]
    assert (frame["population/n^3"][2], frame.index.name) == (7 / 8, "generation")
    assert np.isnan(frame["population/n^3"][0])
    assert list(Table({"births": [1, 2**70]}).to_pandas()["births"]) == [1, 2**70]


@quick
@given(rules(most=3), st.integers(0, 5), st.integers(-2, 2), st.data())
def test_columns_are_their_definitions(rule: Rule, generations: int, value: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, rule.dimension - 1))
    generations = min(generations, 6 - rule.dimension)  # the definitions of a rule with many offsets take long
    grown = literal(rule, generations)
    alive = [[cell for cells in grown[: n + 1] for cell in cells] for n in range(len(grown))]
    plane, power = f"section {'xyz'[axis]}={value}", f"population/n^{rule.dimension}"
    delays = [f"delay {delay}" for delay in range(3)]
    found = table(rule, generations, "births", "population", plane, "boxes 1", "boxes 2", "boxes 8", "density", power, *delays)
    assert found["births"] == [len(cells) for cells in grown]
    assert found["population"] == found["boxes 1"] == [len(cells) for cells in alive]
    assert found[plane] == [sum(cell[axis] == value for cell in cells) for cells in alive]
    for side in (2, 8):
        assert found[f"boxes {side}"] == [len({tuple(x // side for x in cell) for cell in cells}) for cells in alive]
    ways = [way for way in product((-1, 0, 1), repeat=rule.dimension) if any(way)]
    late = [Counter(n - _earliest(rule, ways, cell) for cell in cells) for n, cells in enumerate(grown)]
    assert [found[name] for name in delays] == [[counted[delay] for counted in late] for delay in range(3)]
    even = all(sum(cell) % 2 == 0 for cell in (*rule.seeds, *rule.offsets))
    reached = [{seed[axis] for seed in rule.seeds} for axis in range(rule.dimension)]
    for n, cells in enumerate(alive):
        sides = [range(max(0, min(xs)) if rule.octant else min(xs), max(xs) + 1) for xs in reached]
        room = sum(not even or sum(cell) % 2 == 0 for cell in product(*sides))
        assert found["density"][n] == Fraction(len(cells), room)
        reached = [xs | {x + o[axis] for x in xs for o in rule.offsets} for axis, xs in enumerate(reached)]
        assert found[power][n] == (Fraction(len(cells), n**rule.dimension) if n else None)


def _earliest(rule: Rule, ways: list[tuple[int, ...]], cell: tuple[int, ...]) -> int:
    """The steps from the nearest seed to a cell, the most over the directions, in each of which the longest offset is taken."""

    def along(way: tuple[int, ...], other: tuple[int, ...]) -> int:
        return sum(w * x for w, x in zip(way, other, strict=True))

    longest = [max(along(way, offset) for offset in rule.offsets) for way in ways]

    def steps(seed: tuple[int, ...]) -> int:
        far = [along(way, cell) - along(way, seed) for way in ways]
        return max((math.ceil(Fraction(x, most)) for x, most in zip(far, longest, strict=True) if x > 0 < most), default=0)

    def can_reach(seed: tuple[int, ...]) -> bool:
        return all(most > 0 or along(way, cell) <= along(way, seed) for way, most in zip(ways, longest, strict=True))

    return min(map(steps, filter(can_reach, rule.seeds)))


def test_edge_bears_each_p_position_on_time() -> None:
    # [B]: what is born at n with total 2n is exactly the P-positions of total 2n.
    found = table("edge", 100, "births", "p-positions", "n-positions")
    assert found["p-positions"] == [3 ** n.bit_count() for n in range(101)]
    assert [p + other for p, other in zip(found["p-positions"], found["n-positions"], strict=True)] == found["births"]


@pytest.mark.parametrize("m", [1, 2, 5, 8])
def test_nim_has_dimension_two(m: int) -> None:
    # The P-positions with piles below 2^m: each of the 4^(m - k) blocks of side 2^k that are P-positions themselves is alike.
    found = table("nim", 2**m - 1, "dimension", *(f"boxes {2**k}" for k in range(m + 1)))
    assert math.isclose(found["dimension"][-1], 2)
    assert [found[f"boxes {2**k}"][-1] for k in range(m + 1)] == [4 ** (m - k) for k in range(m + 1)]
    assert found["dimension"][0] is None


def test_boxes_of_the_largest_side() -> None:
    """The quadrants that hold a cell: all but the one below 0 in both coordinates."""
    assert table("ulam-warburton", 1, f"boxes {2**32}")[f"boxes {2**32}"] == [1, 3]


def test_sections_of_many_dimensions() -> None:
    assert parse_section(" z=0", 3) == parse_section("x2=0", 3) == (2, 0)
    cells = grow("nim-4", 12, backend="numpy", cells=True).cells()
    assert table("nim-4", 12, "section x3=1")["section x3=1"][-1] == np.count_nonzero(cells[:, 3] == 1)


def test_a_column_is_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Near(Column):
        name = "near 1"
        summary = "births at most that far from the seed along each axis"
        pattern = "near ([0-9]+)"
        needs_cells = True
        kept = "near {}"

        def keep(self, newborns: NewCells) -> np.ndarray:
            return newborns.count((np.abs(newborns.cells) <= int(self.argument)).all(axis=1))

    monkeypatch.setitem(COLUMNS, Near.name, Near)
    cells = grow("fcc", 8, backend="numpy", cells=True)
    expected = [int((abs(born) <= 2).all(axis=1).sum()) for born in cells]
    found = run("grow", "fcc", "--gen", 8, "--columns", "near 2", "--json", "--backend", "numpy", "--checkpoint", tmp_path / "run")
    assert json.loads(found.stdout)["columns"] == {"near 2": expected}
    resumed = run("grow", "--gen", 12, "--resume", tmp_path / "run", "--json", "--backend", "numpy")
    assert json.loads(resumed.stdout)["columns"] == {"near 2": [*expected, 0, 0, 0, 0]}
    assert "births at most that far from the seed" in " ".join(run("grow", "--help").stdout.split())
    assert [each.value for each in COLUMN_NAMES.shell_complete(None, None, "births,nea")] == ["births,near 1"]
    assert "near 1" in refused("grow", "--gen", 1, "--columns", "farther")


def test_fractions_are_not_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    made = type(
        "Half", (Column,), {"name": "half", "summary": "x", "values": lambda self, births, kept: [Fraction(1, 2)] * len(births)}
    )
    monkeypatch.setitem(COLUMNS, "half", made)
    with pytest.raises(TypeError, match="holds other numbers than integers"):
        Table({"half": made("", None, 1).values([1, 3], np.zeros(0, np.uint64))})


@quick
@given(rules(most=3), st.integers(2, 9), st.data())
def test_a_snapshot_measures_on(rule: Rule, generations: int, data: st.DataObject) -> None:
    names = ("births", "population", "section x=0", "delay 1", "boxes 2", "dimension", "density")
    every = data.draw(st.integers(1, generations - 1))
    more = data.draw(st.integers(0, 3))
    snapshots = []
    growing = GrowthProcess(rule, generations, NumpyBackend(), columns=names, every=every)
    for _ in growing:
        snapshots.append(growing.snapshot())
    taken = data.draw(st.sampled_from(snapshots))
    resumed = GrowthProcess(rule, generations + more, NumpyBackend(), columns=names, resume=taken)
    for _ in resumed:
        pass
    whole = grow(rule, generations + more, backend="numpy", columns=names)
    assert resumed.growth().digest == whole.digest
    assert resumed.growth().births.tolist() == whole.births.tolist()
    assert resumed.growth().table == whole.table


def test_the_general_engine_resumes_itself() -> None:
    growing = GrowthProcess("edge", 30, NumpyBackend(), every=10, general=True)
    snapshot = next(growing.snapshot() for batch in growing if growing.generation == 10)
    assert "touches" in snapshot.state
    resumed = GrowthProcess("edge", 30, NumpyBackend(), resume=snapshot)
    assert all("touches" in resumed.snapshot().state for _ in resumed)
    assert resumed.growth().digest == grow("edge", 30, backend="numpy").digest


# The tables in docs/growth

EVIDENCE = CHECKOUT / "docs" / "growth"


@pytest.mark.parametrize(("number", "column"), [("A151776", "population"), ("A147552", "section z=0")])
def test_the_bfiles_begin_as_published_and_go_on_as_grown(number: str, column: str) -> None:
    lines = (EVIDENCE / f"b{number[1:]}.txt").read_text().splitlines()
    terms = dict(tuple(map(int, line.split())) for line in lines)
    assert list(terms) == list(range(8194))
    published = terms_of(number)
    assert {n: terms[n] for n in published} == published
    assert table("fcc", 150, column)[column] == [terms[n + 1] for n in range(151)]
    # What two other programs had at generations 64 to 1024, one in NumPy without symmetry and one in C++.
    if column == "population":
        assert [terms[n + 1] for n in (64, 128, 512, 1024)] == [340777, 2742193, 178638361, 1435773241]
    else:
        assert terms[1025] == 705961


def test_the_table_of_edge_goes_on_as_grown() -> None:
    with (EVIDENCE / "edge.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["generation"]) for row in rows] == list(range(8193))
    population = [int(row["population"]) for row in rows]
    assert list(accumulate(int(row["births"]) for row in rows)) == population
    assert [population[n] for n in (7, 15, 63, 127, 512, 1024)] == [130, 826, 43102, 344062, 22447861, 179946835]
    bfile = (EVIDENCE / "edge-population.txt").read_text()
    assert bfile == "".join(f"{n} {alive}\n" for n, alive in enumerate(population))
    assert [float(row["population/n^3"]) for row in rows[1:]] == [alive / n**3 for n, alive in enumerate(population) if n]
    found = table("edge", 150, "births", "section z=0")
    for name in found:
        assert found[name] == [int(row[name]) for row in rows[:151]]


# The evolution tree


def touching(rule: Rule, before: list[tuple[int, ...]]) -> dict[tuple[int, ...], list[int]]:
    """By touched cell, the indices of the cells that touch it."""
    found: dict[tuple[int, ...], list[int]] = {}
    for index, old in enumerate(before):
        for offset in rule.offsets:
            found.setdefault(tuple(x + o for x, o in zip(old, offset, strict=True)), []).append(index)
    return found


@settings(deadline=None, max_examples=25)
@given(rules(most=3, births=ONE), st.integers(1, 3))
def test_parents_are_found(rule: Rule, generations: int) -> None:
    grown = literal(rule, generations)
    for before, newborns in pairwise(grown):
        arrays = (np.array(cells, np.int16).reshape(-1, rule.dimension) for cells in (before, newborns))
        touched = touching(rule, before)
        assert [[parent] for parent in parents(rule, *arrays).tolist()] == [touched[cell] for cell in newborns]


@pytest.mark.parametrize("name", [name for name, automaton in CATALOGUE.items() if automaton.rule.exactly_one])
def test_the_tree_of_every_exactly_one_growth(name: str) -> None:
    growth = grow(name, 12, backend="numpy", cells=True)
    cells = growth.cells().astype(int)
    tree = np.concatenate([indices for _, indices in ancestry(find(name).rule, enumerate(growth))])
    births = growth.births.tolist()
    generation = np.repeat(np.arange(13), births)
    assert tree[: births[0]].tolist() == [-1] * births[0]
    assert np.array_equal(generation[tree[births[0] :]], generation[births[0] :] - 1)
    steps_taken = {tuple(step) for step in (cells - cells[tree])[births[0] :].tolist()}
    assert steps_taken <= set(find(name).rule.offsets)


def test_no_cells_have_no_parents() -> None:
    assert parents(EDGE, np.zeros((0, 3), int), np.zeros((0, 3), int)).tolist() == []


def test_parents_heed_touches() -> None:
    # (1, 1) -> (2, 2) is a child; (0, 1) -> (1, 2), of unequal trailing ones, is refused among the refusals of the library.
    two_piles = Rule(2, ((1, 1),), ONE, ((0, 0),), octant=True, touches=nim(2).touches)
    assert parents(two_piles, np.array([[1, 1]]), np.array([[2, 2]])).tolist() == [0]


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
