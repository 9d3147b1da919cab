"""An OEIS entry by formula that is registered by one entry: every command and the library know it."""

from pathlib import Path

import pytest

from gpu_nim import count
from gpu_nim.oeis.catalogue import CATALOGUE, entries, find, function_entry
from tests.helpers import facts, printed, run

CUBES = function_entry("A999991", "cubes from 1 on", 1, lambda n: n**3)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, CUBES.name, CUBES)


def test_the_library_knows_it() -> None:
    assert find("a999991") is CUBES
    assert entries()[CUBES.name] is CUBES
    assert count("A999991", 10**12) == 10**36
    assert count("A999991", range(1, 5)).tolist() == [1, 8, 27, 64]


def test_the_commands_know_it(tmp_path: Path) -> None:
    assert printed("count", "A999991", "--at", "1e6") == f"{10**18}\n"
    assert facts("count", "A999991", "--range", "2:4")["values"] == ["8", "27"]
    assert "A999991" in printed("oeis")
    path = tmp_path / "b999991.txt"
    assert run("count", "A999991", "--range", "1:50", "--out", path).exit_code == 0
    assert "49 terms, n = 1 to 49, all those of A999991" in printed("verify", path, "--as", "A999991")
    path.write_text("1 1\n2 9\n")
    assert "A999991 has 8 at n = 2, not 9" in run("verify", path, "--as", "A999991").stdout
    assert run("verify", path, "--as", "A999991").exit_code == 1


@pytest.mark.parametrize(("name", "n", "unit"), [("A151723", 2**14, "doublings"), ("chocolate-2", 40, "position")])
def test_a_term_that_takes_long_tells_how_much_is_done(name, n, unit):
    steps = []
    find(name).term(n, lambda *step: steps.append(step))
    assert steps == sorted(steps)
    assert len({*steps}) > 1
    assert {step[0] for step in steps} <= {unit, "slice"}  # which compiled loops count
