"""Every entry of the catalogue against its published terms; one that is registered is known to every command and the library."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import count, grow, load, save
from gpu_nim.automata.catalogue import CATALOGUE, Automaton, GrowthEntry, find
from gpu_nim.model.rule import Rule
from gpu_nim.oeis.catalogue import find as find_sequence
from gpu_nim.render.geometry import tiles
from gpu_nim.render.source import blocks_of
from tests.helpers import ON_NUMPY, facts, printed, refused, run
from tests.lattices import HEXAGON, SEED2, literal


@pytest.mark.parametrize("name", CATALOGUE)
def test_growth_is_the_definition(name: str) -> None:
    generations = 9 if find(name).rule.dimension < 5 else 5
    growth = grow(name, generations, backend="numpy", cells=True)
    assert [[tuple(cell) for cell in cells.tolist()] for cells in growth] == literal(find(name).rule, generations)


@pytest.mark.parametrize("name", [a.name for a in CATALOGUE.values() if a.cell_test])
def test_cell_tests_reject_what_is_not_grown(name: str) -> None:
    automaton = find(name)
    dimension = automaton.rule.dimension
    side = {2: 8, 3: 8, 4: 4}.get(dimension, 2)
    # Two piles or more make a total of at most dimension * (side - 1), which is twice the generation.
    generations = 16 if dimension < 4 else dimension * (side - 1) // 2
    grown = {tuple(cell): n for n, cells in enumerate(grow(name, generations, backend="numpy")) for cell in cells.tolist()}
    box = np.stack(np.meshgrid(*[np.arange(0 if automaton.rule.octant else -side, side)] * dimension), -1)
    cells = box.reshape(-1, dimension)
    for generation in (0, 1, 2, 5, generations - 1, generations):
        born = automaton.cell_test(cells, np.full(len(cells), generation))
        assert born.tolist() == [grown.get(tuple(cell)) == generation for cell in cells.tolist()]
    for far in (np.iinfo(np.int64).max, np.iinfo(np.int64).min):  # sums of which overflow
        assert not automaton.cell_test(np.full((1, dimension), far), np.array([3])).any()


# An automaton that is registered by one entry


NAME = "made-up-hexagons"
LAST = 12
RULE = Rule(2, HEXAGON, frozenset({1, 2}), SEED2)
BIRTHS = [len(cells) for cells in literal(RULE, LAST)]
POPULATION = np.cumsum(BIRTHS).tolist()
SECTION = np.cumsum([sum(cell[1] == 0 for cell in cells) for cells in literal(RULE, LAST)]).tolist()
ENTRIES = (
    GrowthEntry("A999991", "population", 1, 1),  # begins with the seed
    GrowthEntry("A999994", "births", 1, 2, divisor=6, counts="a sixth of the births"),  # begins after the seed
    GrowthEntry("A999992", "births", 2),  # begins with two zeros
    GrowthEntry("A999993", "section y=0", 0, differences=True, counts="births in the line y=0"),
)
TERMS = {
    "A999991": dict(enumerate(POPULATION, 1)),
    "A999992": {0: 0, 1: 0, **dict(enumerate(BIRTHS, 2))},
    "A999993": dict(enumerate(np.diff(SECTION, prepend=0).tolist())),
    "A999994": dict(enumerate((births // 6 for births in BIRTHS[1:]), 2)),
}
HEXAGONS = Automaton(
    NAME,
    "hexagons: born when 1 or 2 of the 6 neighbours are alive",
    "a made-up theorem",
    RULE,
    space="hexagonal lattice",
    lattice="hexagonal",
    oeis=ENTRIES,
    births_formula=BIRTHS.__getitem__,
)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for automaton in (HEXAGONS, replace(HEXAGONS, name="made-up-squares", lattice="square", oeis=())):
        monkeypatch.setitem(CATALOGUE, automaton.name, automaton)


def bfile(number: str) -> str:
    return "".join(f"{n} {term}\n" for n, term in TERMS[number].items())


def test_it_grows_and_is_verified(tmp_path: Path) -> None:
    grown = facts("grow", NAME, "--gen", LAST, *ON_NUMPY)
    assert (grown["births"], grown["verified"]) == (BIRTHS, True)
    for name in ("a.zarr", "a.npz"):
        assert run("grow", NAME, "--gen", LAST, "--out", tmp_path / name, *ON_NUMPY).exit_code == 0
        assert "as a made-up theorem has it" in printed("verify", tmp_path / name)
    wrong = replace(HEXAGONS, births_formula=lambda generation: 2)
    assert grow(wrong, 3, backend="numpy").verified is False
    assert f"{len(CATALOGUE)} automata" in printed("verify", "gpunim-growths", "--upto", "3")


@pytest.mark.parametrize("number", TERMS)
def test_its_entries_have_their_offsets(number: str, tmp_path: Path) -> None:
    offset = min(TERMS[number])
    span = f"{offset}:{max(TERMS[number]) + 1}"
    assert printed("count", number, "--range", span, "--format", "bfile") == bfile(number)
    assert printed("count", number.lower(), "--at", offset + 3) == f"{TERMS[number][offset + 3]}\n"
    assert count(number, range(offset, offset + 9)).tolist() == list(TERMS[number].values())[:9]
    if offset:
        assert f"where {number} begins" in refused("count", number, "--at", offset - 1)
    path = tmp_path / f"b{number[1:]}.txt"
    path.write_text(bfile(number))
    assert f"agrees with {number} in all " in printed("verify", path, "--as", number)
    path.write_text(bfile(number).replace(f"\n{offset + 4} ", f"\n{offset + 4} 9"))
    assert run("verify", path, "--as", number).exit_code == 1
    endless = find_sequence(number).terms(offset)
    assert [next(endless) for _ in range(9)] == list(TERMS[number].values())[:9]


def test_it_is_drawn_as_hexagons(tmp_path: Path) -> None:
    growth = grow(NAME, 5, backend="numpy", cells=True)
    save(growth, tmp_path / "a.npz")
    save(growth, tmp_path / "a.zarr")
    unregistered = grow(replace(HEXAGONS, name="nowhere"), 5, backend="numpy")
    sources = (f"{NAME}:5", growth, load(tmp_path / "a.npz"), str(tmp_path / "a.zarr"), unregistered)
    for blocks in map(blocks_of, sources):
        assert blocks.lattice == "hexagonal"
        assert len(tiles(blocks)[0]) == 2 * len(blocks)  # a hexagon is two quadrilaterals
    assert blocks_of("made-up-squares:5").lattice == "square"
    assert "hexagonal tiles" in refused("export", f"{NAME}:5", "-o", tmp_path / "a.html")
