"""The benchmark's fairness, and that it runs; never its figures."""

import json

import pytest
from click.testing import CliRunner

from gpu_nim.bench.harness import Contender, host_ceiling, race
from gpu_nim.cli import main
from gpu_nim.model.errors import VerificationError

pytestmark = pytest.mark.thorough


def test_contenders_take_turns_after_a_warm_up() -> None:
    calls: list[str] = []

    def contender(name: str) -> Contender:
        return Contender(name, lambda: calls.append(name) or 7)  # type: ignore[func-returns-value]

    timings = race("seven", [contender("a"), contender("b")], runs=3)
    assert calls == ["a", "b"] * 4
    assert [(t.name, len(t.seconds), t.result) for t in timings] == [("a", 3, 7), ("b", 3, 7)]
    assert min(timings[0].seconds) <= timings[0].median <= max(timings[0].seconds)


def test_contenders_who_disagree_do_not_race() -> None:
    with pytest.raises(VerificationError, match=r"sum: the contenders disagree \(right 2, wrong 3\)"):
        race("sum", [Contender("right", lambda: 2), Contender("wrong", lambda: 3)], runs=1)


def test_ceilings_are_bandwidths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.harness._CEILING_BYTES", 1 << 16)
    assert set(host_ceiling(runs=1)) == {"fill", "copy"}
    assert all(bandwidth > 0 for bandwidth in host_ceiling(runs=1).values())


def test_bench_grow_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_nim.bench.grow.find_spec", lambda _: None)
    monkeypatch.setattr("gpu_nim.bench.grow._WORKS", (("nim", 15, ("python set", "scipy convolve")),))
    monkeypatch.setattr("gpu_nim.bench.harness._CEILING_BYTES", 1 << 16)
    result = CliRunner().invoke(main, ["bench", "grow", "--runs", "1", "--json"])
    assert {timing["name"] for timing in json.loads(result.stdout)["timings"]} >= {"gpunim numpy", "python set"}
    assert "scipy convolve" not in result.stdout
    assert "scipy is not installed, so its convolution does not race" in result.stderr


def test_bench_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed")
    works = (("nim", 15, ("python set", "scipy convolve", "general engine")),)
    monkeypatch.setattr("gpu_nim.bench.grow._WORKS", works)
    monkeypatch.setattr("gpu_nim.bench.harness._CEILING_BYTES", 1 << 16)
    output = CliRunner().invoke(main, ["bench", "grow", "--runs", "1"]).output
    assert "gpunim numpy" in output
    assert "scipy convolve" in output
    assert "ceiling, " in output
    facts = json.loads(CliRunner().invoke(main, ["bench", "grow", "--runs", "2", "--json"]).stdout)
    timings = {timing["name"]: timing for timing in facts["timings"]}
    assert timings["python set"]["result"] == timings["general engine"]["result"] == 256
    assert all(len(timing["seconds"]) == 2 for timing in facts["timings"])
