"""`gpunim bench` on the host: its fairness, and that its contenders make the same values; never its figures."""

import shutil
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_nim import grow
from gpu_nim.automata import MacroGrowth, find
from gpu_nim.bench.harness import Contender, Work, compare
from gpu_nim.bench.host_works import RULES, golly, plain_formula, python_set
from gpu_nim.bench.host_works import convolve as by_convolution
from gpu_nim.counting.families import find_family
from tests.helpers import executable, facts, printed, run
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


def benchmarked(what: str, work: str) -> dict[str, dict[str, Any]]:
    """The rows of one run of a work, by their contenders."""
    return {row["contender"]: row for row in facts("bench", what, "--work", work, "--runs", 1)["rows"]}


def test_bench_grow_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    rows = benchmarked("grow", "nim 64")
    assert rows["gpunim numpy"]["result"] == rows["python set"]["result"] == 4**6 + 3
    assert "this convolution needs scipy" in rows["scipy convolve"]["remark"]


def test_bench_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.ndimage", SimpleNamespace(convolve=convolve))
    rule = find("edge").rule
    assert python_set(rule, 9) == by_convolution(rule, 9) == grow("edge", 9).population
    output = printed("bench", "grow", "--runs", 2, "--work", "nim 1024")
    assert "gpunim numpy" in output
    assert "ceiling, " in output
    assert "kernel" not in output  # a column without an entry


@pytest.mark.parametrize(("last", "words"), [(f"{2**40}: 1", "the contenders disagree ("), ("no rule", "bgolly failed: no rule")])
def test_a_golly_that_counts_otherwise_or_fails_is_an_error(tmp_path, monkeypatch, last: str, words: str) -> None:
    executable(tmp_path / "bgolly", f"echo '{last}'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert words in run("bench", "macro-cells", "--runs", 1, "--work", "ulam").output


def test_bench_macro_cells_without_golly(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = benchmarked("macro-cells", "ulam-warburton")
    assert "bgolly is not on PATH" in rows["bgolly"]["remark"]
    assert rows["gpunim numpy"]["result"] == 1611901092819505566274905


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


def test_bench_count() -> None:
    rows = benchmarked("count", "D_3")
    assert {"gpunim numpy", "numpy, plain formula"} <= rows.keys()
    assert all(row["result"] in (2**22, 2**24) for row in rows.values())
