"""Patterns of Golly are read as seeds, and as growths that are checked; what gpunim writes is read back as the same growth."""

import re
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import Growth, grow, load, save
from gpu_nim.automata import define
from gpu_nim.jobs import GrowthJob
from gpu_nim.storage.rle_files import read_pattern
from tests.helpers import ON_NUMPY, facts, printed
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
    found = load(tmp_path / file, Growth)
    assert found == growth
    assert np.array_equal(found.cells(), growth.cells())
    if file == "a.rle3":  # 3D.lua asks for the pattern to lie within its grid
        corner = re.match(r"3D version=1 size=100 pos=(\d+),(\d+),(\d+) gen=", (tmp_path / file).read_text())
        assert corner is not None
        assert max(map(int, corner.groups())) + np.ptp(growth.cells(), axis=0).max() < 100
    assert facts("verify", tmp_path / file)["digest"] == growth.digest


@pytest.mark.parametrize(
    "automaton",
    [
        define([(2, 1), (-1, 0), (0, -3)], [1], [(0, 0), (5, 0)]),
        define([(1, 0, 0), (-1, 1, 0)], [1, 2], [(3, 3, 3)], octant=True),
        define([(1, 0), (-1, 0), (0, 1), (0, -1)], [1], [(4 * x, 2) for x in range(300)]),  # a rule on several lines
    ],
    ids=["two seeds", "octant", "many seeds"],
)
def test_a_rule_of_ones_own_is_read_back(tmp_path: Path, automaton) -> None:
    path = tmp_path / ("a.rle" if automaton.rule.dimension == 2 else "a.rle3")
    growth = grow(automaton, 5, backend="numpy")
    save(growth, path)
    found = load(path, Growth)
    assert (found, found.rule) == (growth, growth.rule)
    assert max(map(len, path.read_text().splitlines())) < 2000


def test_a_pattern_at_generation_0_is_its_seeds(tmp_path: Path) -> None:
    (tmp_path / "a.rle").write_text(GLIDER.replace("S23", "S012345678"))
    growth = load(tmp_path / "a.rle", Growth)
    assert growth.cells().tolist() == [[0, -2], [1, -2], [1, 0], [2, -2], [2, -1]]
    assert growth.rule is not None
    assert growth.rule.births == {3}
    assert grow(growth.rule, 3, backend="numpy").births.tolist() == [len(born) for born in literal(growth.rule, 3)]


def test_seeds_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.rle").write_text("#CXRLE Pos=-1,2\nx = 4, y = 1, rule = B1/S01234V\no2bo!")
    Path("glider.rle").write_text(GLIDER)
    Path("two.rle3").write_text("3D version=1 size=30 pos=9,9,9\n# two cells\nx=1 y=2 z=2 rule=3D0..12/1E\no/$o!")
    assert read_pattern(Path("two.rle3")).seeds == ((0, 0, 0), (0, 1, 1))
    sides = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    for words, offsets, births, seeds in (
        (("--seed", "two.rle"), sides, [1], [(-1, -2), (2, -2)]),
        (("ulam-warburton", "--seed", "two.rle"), sides, [1], [(-1, -2), (2, -2)]),
        (("rule750", "--seed", "glider.rle"), sides, [1, 3], [(1, 0), (2, -1), (0, -2), (1, -2), (2, -2)]),
        (("--offsets", "1,0;0,2", "--birth", "1,2", "--seed", "two.rle"), [(1, 0), (0, 2)], [1, 2], [(-1, -2), (2, -2)]),
        (("hexagonal", "--seed", "0,0;5,0"), [*sides, (1, -1), (-1, 1)], [1], [(0, 0), (5, 0)]),
        (("--seed", "two.rle3"), EDGES, [1], [(0, 0, 0), (0, 1, 1)]),
    ):
        rule = define(offsets, births, seeds).rule
        found = facts("grow", *words, "--gen", 6, *ON_NUMPY)
        assert (found["automaton"], found["digest"]) == ("own", grow(rule, 6, backend="numpy").digest)
        assert found["births"] == [len(born) for born in literal(rule, 6)]
    assert GrowthJob("edge", 3, seeds="two.rle3", backend="numpy").grow().population > 4
    printed("grow", "--seed", "two.rle", "--gen", 5, "-o", "grown.rle", "--quiet", *ON_NUMPY)
    assert "agree with births" in printed("verify", "grown.rle")
