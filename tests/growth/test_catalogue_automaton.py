"""Entries of the catalogue by their definition; an automaton and a format registered by one entry; patterns and rules of Golly."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim import Growth, count, grow, load, save
from gpu_nim.automata import define
from gpu_nim.automata.catalogue import CATALOGUE, Automaton, GrowthEntry, find
from gpu_nim.automata.newborns import by_generation
from gpu_nim.automata.user_defined import as_automaton, is_golly, rule_of_golly
from gpu_nim.errors import UsageError
from gpu_nim.jobs import automaton_of
from gpu_nim.model.rule import Rule
from gpu_nim.oeis.catalogue import find as find_sequence
from gpu_nim.render.geometry import tiles
from gpu_nim.render.source import blocks_of
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, GrowthFormat, describe_formats
from gpu_nim.storage.rle_files import read_pattern
from tests.helpers import ON_NUMPY, facts, printed, refused, run
from tests.lattices import HEXAGON, SEED2, growth_of, literal


@pytest.mark.parametrize("name", [a.name for a in CATALOGUE.values() if a.cell_test])
def test_cell_tests_reject_what_is_so_far_that_sums_overflow(name: str) -> None:
    """Nearby, and all growths, the statements gpunim-theorems and gpunim-growths hold them against the literal growth."""
    for far in (np.iinfo(np.int64).max, np.iinfo(np.int64).min):
        assert not find(name).cell_test(np.full((1, find(name).rule.dimension), far), np.array([3])).any()


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


def write_made_up(growth: Growth, path: Path) -> None:
    """Write a JSON object: automaton, births, cells, and each cell's parent if the growth has them."""
    whole = {"automaton": growth.automaton, "births": growth.births.tolist()}
    if growth.parents is not None:
        whole["parents"] = [parent for _, parents in growth.parents(0, len(growth)) for parent in parents.tolist()]
    path.write_text(json.dumps({**whole, "cells": growth.cells().tolist()}))


def load_made_up(path: Path) -> Growth:
    found = json.loads(path.read_text())
    return growth_of(find(found["automaton"]), by_generation(np.array(found["cells"]), np.array(found["births"])))


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = GrowthFormat(".made", "as JSON", write_made_up, load_made_up, dimensions=(3,), parents=True)
    monkeypatch.setitem(GROWTH_FORMATS, ".made", entry)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("more", [(), ("--checkpoint", "run", "--every", "4")], ids=["at once", "from checkpoints"])
def test_a_made_up_format_is_grown_into_with_parents_and_verified(place: Path, more: tuple[str, ...]) -> None:
    assert run("grow", "nim", "--gen", 9, "--out", "nim.made", "--parents", *more).exit_code == 0
    assert facts("verify", "nim.made")["digest"] == grow("nim", 9).digest
    assert run("grow", "nim", "--gen", 9, "--out", "nim.zarr", "--parents").exit_code == 0
    saved = load("nim.zarr", Growth)
    assert saved.parents is not None
    parents = [parent for _, found in saved.parents(0, 10) for parent in found.tolist()]
    assert json.loads(Path("nim.made").read_text())["parents"] == parents
    edited = json.loads(Path("nim.made").read_text())
    edited["cells"][5] = [9, 9, 9]
    Path("nim.made").write_text(json.dumps(edited))
    assert run("verify", "nim.made").exit_code == 1


@pytest.mark.usefixtures("made_up")
def test_a_made_up_format_is_named(tmp_path: Path) -> None:
    assert describe_formats().endswith(", .made as JSON")
    for args, words in (
        (
            ("grow", "nim", "--out", tmp_path / "nim.mad"),
            f"must end in {', '.join(GROWTH_FORMATS)}, got '{tmp_path / 'nim.mad'}'; did you mean .made?",
        ),
        (("grow", "knight", "--out", tmp_path / "knight.made"), "a .made file as JSON holds 3 dimensions, this growth has 2"),
        (("verify",), "a growth's .zarr, .npz or .made"),
        (("grow", "nim", "--parents"), "parents are saved in the .zarr or .made file of the growth, got no file"),
        (("grow", "nim", "--parents", "--out", tmp_path / "nim.npz"), "parents are saved in a .zarr or .made file, got"),
        (("render", "nim.mad", "-o", tmp_path / "a.png"), "source must be a .zarr, .npz, .made, .rle or .rle3 file"),
    ):
        assert words in refused(*args)
    (tmp_path / "nim.mad").touch()
    with pytest.raises(ValueError, match=r"ends in \.zarr, \.npz, \.made, got 'nim.mad'|got .*nim\.mad'; did you mean \.made\?"):
        load(tmp_path / "nim.mad")


def test_help_names_every_format() -> None:
    assert describe_formats() in " ".join(printed("grow", "--help").split())


GLIDER = "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n"
EDGES = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if abs(x) + abs(y) + abs(z) == 2]


@pytest.mark.parametrize(
    ("name", "last", "file"),
    [
        *((name, 13, "a.rle") for name in ("ulam-warburton", "hexagonal", "ulam-warburton-3", "knight", "triangular", "rule750")),
        *((name, 9, "a.rle3") for name in ("nim", "edge", "fcc", "cubic26")),
        ("fcc", 0, "a.rle3"),
    ],
)
def test_what_is_written_is_read_back(tmp_path: Path, name: str, last: int, file: str) -> None:
    growth = grow(name, last, backend="numpy")
    save(growth, tmp_path / file)
    cells = growth.cells() - (growth.cells().min(axis=0) if file == "a.rle3" else 0)
    assert read_pattern(tmp_path / file).seeds == tuple(sorted(map(tuple, cells.tolist())))


#: Neighbours, what is between numbers, and notations of one rule: those of Golly, lifelib, Generations and Visions of Chaos.
NOTATIONS = [
    (8, "", "B{b}/S{s} B{b}S{s} b{b}s{s} S{s}/B{b} {s}/{b} {s}/{b}/3 B{b}/S{s}/C2"),
    (4, "", "B{b}/S{s}V B{b}S{s}V b{b}s{s}v S{s}/B{b}V {s}/{b}/2V"),
    (6, "", "B{b}/S{s}H b{b}s{s}h {s}/{b}H"),
    (26, ",", "3D{s}/{b} 3d{s}/{b} {s}/{b}/2/M {s}/{b}/5/m"),
    (6, ",", "3D{s}/{b}F 3D{s}/{b}V {s}/{b}/2/VN {s}/{b}/9/N"),
]


@given(st.sampled_from(NOTATIONS), st.lists(st.integers(1, 4), unique=True), st.sets(st.integers(0, 4)))
def test_notations_of_one_rule_are_read_alike(notation, births, dying):
    neighbours, between, written = notation
    stays = between.join(str(count) for count in range(neighbours + 1) if count not in dying)
    rules = written.format(b=between.join(map(str, births)), s=stays).split()
    assert all(map(is_golly, rules))
    if dying:
        for rule in rules:
            with pytest.raises(UsageError, match=r"rule must let no cell die, as .* does, got"):
                as_automaton(rule)
    else:
        ((offsets, born),) = {*map(rule_of_golly, rules)}
        assert (len(offsets), born) == (neighbours, {*births})


def test_seeds_are_read(place: Path) -> None:
    Path("two.rle").write_text("#CXRLE Pos=-1,2\nx = 4, y = 1, rule = B1/S01234V\no2bo!")
    Path("glider.rle").write_text(GLIDER)
    Path("stays.rle").write_text(GLIDER.replace("/S23", "S012345678"))
    Path("two.rle3").write_text("3D version=1 size=30 pos=9,9,9\n# two cells\nx=1 y=2 z=2 rule=3D0..12/1E\no/$o!")
    assert read_pattern(Path("two.rle3")).seeds == ((0, 0, 0), (0, 1, 1))
    sides = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    glider = [(1, 0), (2, -1), (0, -2), (1, -2), (2, -2)]
    for words, offsets, births, seeds in (
        (("--seed", "two.rle"), sides, [1], [(-1, -2), (2, -2)]),
        (("ulam-warburton", "--seed", "two.rle"), sides, [1], [(-1, -2), (2, -2)]),
        (("rule750", "--seed", "glider.rle"), sides, [1, 3], glider),
        (("--seed", "stays.rle"), [*sides, (1, 1), (1, -1), (-1, 1), (-1, -1)], [3], glider),
        (("--offsets", "1,0;0,2", "--birth", "1,2", "--seed", "two.rle"), [(1, 0), (0, 2)], [1, 2], [(-1, -2), (2, -2)]),
        (("hexagonal", "--seed", "0,0;5,0"), [*sides, (1, -1), (-1, 1)], [1], [(0, 0), (5, 0)]),
        (("--seed", "two.rle3"), EDGES, [1], [(0, 0, 0), (0, 1, 1)]),
    ):
        rule = define(offsets, births, seeds).rule
        found = facts("grow", *words, "--gen", 6, *ON_NUMPY)
        assert (found["automaton"], found["digest"]) == ("own", grow(rule, 6, backend="numpy").digest)
        assert found["births"] == [len(born) for born in literal(rule, 6)]
    assert grow(automaton_of("edge", seeds="two.rle3"), 3, backend="numpy").population > 4
