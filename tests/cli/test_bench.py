"""`gpunim bench` on the host: its fairness, and that its contenders make the same values; never its figures."""

import json
import shutil
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from gpu_nim import grow
from gpu_nim.automata import MacroGrowth
from gpu_nim.bench.count import plain_formula
from gpu_nim.bench.harness import Contender, Work, compare
from gpu_nim.bench.macro_cells import RULES, golly
from gpu_nim.cli import main
from gpu_nim.counting.families import find_family
from tests.lattices import convolve

pytestmark = pytest.mark.nightly


def test_contenders_take_turns_after_a_warm_up() -> None:
    calls: list[str] = []

    def contender(name: str) -> Contender:
        return Contender(name, lambda: calls.append(name) or 7)

    rows = compare(Work("seven", (contender("a"), contender("b"))), runs=3)
    assert calls == ["a", "b"] * 4
    assert [(row.contender, len(row.seconds), row.result) for row in rows] == [("a", 3, 7), ("b", 3, 7)]
    assert min(rows[0].seconds) <= rows[0].median <= max(rows[0].seconds)
    assert rows[1].ratio == rows[1].median / rows[0].median


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    works = (("nim", 15, ("python set", "scipy convolve")), ("edge", 9, ("compiled loops",)))
    monkeypatch.setattr("gpu_nim.bench.grow._WORKS", works)
    monkeypatch.setattr("gpu_nim.bench.harness._HOST_BYTES", 1 << 16)


@pytest.mark.usefixtures("small")
def test_bench_grow_without_scipy_and_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    monkeypatch.setitem(sys.modules, "numba", None)
    result = CliRunner().invoke(main, ["bench", "grow", "--runs", "1", "--json"])
    remarks = {row["contender"]: row["remark"] for row in json.loads(result.stdout)["rows"]}
    assert remarks["gpunim numpy"] == remarks["python set"] == ""
    assert "this convolution needs scipy" in remarks["scipy convolve"]
    assert "numba is not installed" in remarks["gpunim compiled, 1 thread"]


@pytest.mark.usefixtures("small")
def test_bench_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.ndimage", SimpleNamespace(convolve=convolve))
    output = CliRunner().invoke(main, ["bench", "grow", "--runs", "1"]).output
    assert "gpunim numpy" in output
    assert "scipy convolve" in output
    assert "ceiling, " in output
    assert "kernel" not in output  # a column without an entry
    facts = json.loads(CliRunner().invoke(main, ["bench", "grow", "--runs", "2", "--work", "nim", "--json"]).stdout)
    rows = {row["contender"]: row for row in facts["rows"]}
    assert rows["python set"]["result"] == 256
    assert all(len(row["seconds"]) == 2 for row in facts["rows"])
    assert "gpunim compiled, 1 thread" not in rows


def fake_golly(folder, monkeypatch, script: str) -> None:
    (folder / "bgolly").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "bgolly").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.parametrize(("last", "words"), [("16: 1", "the contenders disagree ("), ("no rule", "bgolly failed: no rule")])
def test_a_golly_that_counts_otherwise_or_fails_is_an_error(tmp_path, monkeypatch, last: str, words: str) -> None:
    monkeypatch.setattr("gpu_nim.bench.macro_cells._WORKS", (("square8", 4),))
    monkeypatch.setattr("gpu_nim.bench.harness._HOST_BYTES", 1 << 16)
    fake_golly(tmp_path, monkeypatch, f"echo '{last}'")
    assert words in CliRunner().invoke(main, ["bench", "macro-cells", "--runs", "1"]).output


def test_bench_macro_cells_without_golly(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.macro_cells._WORKS", (("square8", 6),))
    monkeypatch.setattr("gpu_nim.bench.harness._HOST_BYTES", 1 << 16)
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = json.loads(CliRunner().invoke(main, ["bench", "macro-cells", "--runs", "1", "--json"]).stdout)
    rows = {row["contender"]: row for row in facts["rows"]}
    assert "bgolly is not on PATH" in rows["bgolly"]["remark"]
    assert rows["gpunim numpy"]["result"] == sum(grow("square8", 64).births)


@pytest.mark.skipif(shutil.which("bgolly") is None, reason="Golly is not installed")
@pytest.mark.parametrize("name", RULES)
def test_golly_grows_the_same(name: str) -> None:
    growth = MacroGrowth(name)
    growth.advance(300)
    assert golly(RULES[name], 300) == growth.population()


@pytest.mark.parametrize(("name", "piles"), [("D", 3), ("D", 4), ("D", 7), ("a", 3), ("d", 3)])
def test_the_plain_formulas_are_right(name: str, piles: int) -> None:
    counts = find_family(name, piles)
    assert plain_formula(counts, 300).tolist() == [counts.value(n) for n in range(300)]


def test_bench_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.count._SIZE", 1 << 10)
    monkeypatch.setattr("gpu_nim.bench.count._BY_FORMULA", 1 << 9)
    monkeypatch.setattr("gpu_nim.bench.harness._HOST_BYTES", 1 << 16)
    facts = json.loads(CliRunner().invoke(main, ["bench", "count", "--runs", "1", "--json"]).stdout)
    names = {row["contender"] for row in facts["rows"]}
    assert {"gpunim numpy", "numpy, plain formula"} <= names
    assert all(row["result"] in (1 << 9, 1 << 10) for row in facts["rows"])
