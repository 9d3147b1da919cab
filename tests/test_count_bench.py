"""`gpunim bench count`: its contenders make the same values; never its figures."""

import json
import shutil

import pytest
from click.testing import CliRunner

from gpu_nim.bench.count import longest, pari, plain_formula
from gpu_nim.cli import main
from gpu_nim.counting.families import find_family

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize(("name", "piles"), [("D", 3), ("D", 4), ("D", 7), ("a", 3), ("d", 3)])
def test_the_plain_formulas_are_right(name: str, piles: int) -> None:
    counts = find_family(name, piles)
    assert plain_formula(counts, 300).tolist() == [counts.value(n) for n in range(300)]


@pytest.mark.skipif(shutil.which("gp") is None, reason="PARI/GP is not installed")
def test_pari_is_right() -> None:
    assert pari(shutil.which("gp") or "", 7, 200).tolist() == [find_family("D", 7).value(n) for n in range(200)]


def test_ranges_stay_within_64_bits() -> None:
    assert longest(find_family("D", 4), 2**24) == 2**24
    assert find_family("D", 4).maximum(0, 2**24) < 2**64


def test_bench_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.count._SIZE", 1 << 10)
    monkeypatch.setattr("gpu_nim.bench.count._BY_FORMULA", 1 << 9)
    monkeypatch.setattr("gpu_nim.bench.count._BY_PARI", 100)
    monkeypatch.setattr("gpu_nim.bench.floors._HOST_BYTES", 1 << 16)
    facts = json.loads(CliRunner().invoke(main, ["bench", "count", "--runs", "1", "--json"]).stdout)
    names = {row["contender"] for row in facts["rows"]}
    assert {"gpunim numpy", "numpy, plain formula"} <= names
    assert all(row["result"] in (100, 1 << 9, 1 << 10) for row in facts["rows"])
