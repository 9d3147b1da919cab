"""Patterns of Golly are read as seeds, also those that gpunim writes."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_nim import grow, save
from gpu_nim.automata import define
from gpu_nim.automata.user_defined import as_automaton, is_golly, rule_of_golly
from gpu_nim.errors import UsageError
from gpu_nim.jobs import automaton_of
from gpu_nim.storage.rle_files import read_pattern
from tests.helpers import ON_NUMPY, facts
from tests.lattices import literal

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
    if file == "a.rle3":  # 3D.lua asks for the pattern to lie within its grid
        corner = re.match(r"3D version=1 size=100 pos=(\d+),(\d+),(\d+) gen=", (tmp_path / file).read_text())
        assert corner is not None
        assert max(map(int, corner.groups())) + np.ptp(growth.cells(), axis=0).max() < 100


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
