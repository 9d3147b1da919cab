"""Patterns of Golly are read as seeds, and as growths that are checked; what gpunim writes is read back as the same growth."""

import re
from pathlib import Path

import numpy as np
import pytest

from gpu_nim import Growth, grow, load, save
from gpu_nim.automata import define
from gpu_nim.jobs import GrowthJob
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage.rle_files import read_pattern
from tests.helpers import ON_NUMPY, facts, printed, refused
from tests.lattices import literal

CROSS = "#CXRLE Pos=-2,-2 Gen=2\nx = 5, y = 5, rule = B1/S01234V\n2bo$2bo$5o$2bo$2bo!\n"  # 1, 5, 9 cells: A147562
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


@pytest.mark.parametrize(
    "text",
    [
        CROSS,
        CROSS.replace("Pos=-2,-2", "Pos=100,7"),
        CROSS.replace("\n", "\r\n"),
        CROSS.replace("x =", "#N A cross\n#C of Ulam and Warburton\nx ="),
        CROSS.replace("5o$2bo", "5\no$\n  2b o").replace("b", ".").replace("o", "A") + "what follows is a comment",
        CROSS.replace("B1/S01234V", "b1/s01234v"),
        CROSS.replace(", rule = B1/S01234V", "").replace("x =", "#r B1/S01234V\nx ="),
    ],
)
def test_a_file_of_golly_is_the_growth_from_one_cell(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.rle").write_text(text)
    growth = load(tmp_path / "a.rle", Growth)
    assert (growth.automaton, growth.births.tolist()) == ("ulam-warburton", [1, 4, 4])


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


def test_a_pattern_that_is_not_the_growth_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.rle").write_text(CROSS.replace("2bo!", "2bobo!"))
    assert "a.rle: it is not ulam-warburton at generation 2: of cell (2, -2) they differ" in refused(
        "verify", tmp_path / "a.rle", status=1
    )
    (tmp_path / "a.rle").write_text(CROSS.replace("2bo!", "3bo!"))  # as many cells
    assert "of cell (0, -2) they differ" in refused("verify", tmp_path / "a.rle", status=1)
    (tmp_path / "a.rle").write_text(CROSS.replace("Gen=2", "Gen=20"))
    assert "it has 9 cells, and ulam-warburton more at generation 20" in refused("verify", tmp_path / "a.rle", status=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GLIDER, "rule must let no cell die, as B.../S012345678 does, got 'B3/S23'"),
        (CROSS.replace("B1/S01234V", "B1/S0123V"), "rule must let no cell die, as B.../S01234V does, got 'B1/S0123V'"),
        (CROSS.replace("B1/S01234V", "B01/S01234V"), "rule must give birth beside living cells alone"),
        (CROSS.replace("B1/S01234V", "B2-a/S12"), "rule must be one such as B1/S012345678, B1/S01234V or B1/S0123456H"),
        (CROSS.replace("B1/S01234V", "B1/S01234V:T40,40"), "rule must be one such as"),
        (CROSS.replace("B1", "B"), "by its rule B/S01234V nothing is born"),
        (CROSS.replace("5o", "3oBo"), "expected cells that are alive, o, or dead, b, got 'B'"),
        (CROSS.replace("5o", "pA4o"), "got 'pA'"),
        (CROSS.replace("5o", "5o/"), "got '/'"),
        (CROSS.replace("5o", "9999999999999o"), "got '9'"),
        (CROSS.replace("5o", "999999999999b"), "it has coordinates beyond"),
        (CROSS.replace("Gen=2", "Gen=99999"), "patterns are read to generation 65,536"),
        ("x = 0, y = 0, rule = B3/S23\n!", "it has no living cell"),
        (
            CROSS.replace("x =", "#C gpunim 9.9: undreamt to generation 2, digest 00\nx ="),
            "its automaton 'undreamt' is not known here",
        ),
        (CROSS.replace("x =", "#C gpunim 9.9: own to generation 2\n#C rule {}\nx ="), "its comments are damaged"),
    ],
)
def test_other_patterns_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.rle").write_text(text)
    with pytest.raises(FileError) as refusal:
        load(tmp_path / "a.rle")
    assert words in str(refusal.value)


def test_a_pattern_in_space_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.rle3").write_text("x=1 y=1 z=1 rule=3D0..12/1E\no!")
    with pytest.raises(FileError, match="begins with 3D version=1"):
        load(tmp_path / "a.rle3")
    with pytest.raises(UsageError, match=r"ends in \.rle, \.rle3"):
        read_pattern(tmp_path / "a.txt")
