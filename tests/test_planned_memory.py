"""Computations take the planned memory, and those that do not fit are refused in advance, in one sentence."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_nim.backends.numpy import games as numpy_games
from gpu_nim.backends.selection import select
from gpu_nim.games import solvers
from gpu_nim.games.inequality import nim, parse_game
from gpu_nim.games.nim import evolution_graph
from gpu_nim.games.solve import solve
from gpu_nim.model.errors import InsufficientMemoryError


class Plan:
    """The memory that `require_memory` checked, and the peak that was measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *modules: Any) -> None:
        self.needed: list[int] = []
        for module in modules:
            monkeypatch.setattr(module, "require_memory", lambda needed, *_: self.needed.append(needed))

    def taken(self, work: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("inequalities", "size", "grundy"),
    [
        ("x <= 400 + y; y <= 400 + x", 400, False),
        ("w <= 2x; y <= x + z/2", 24, False),
        ("w <= 2x; y <= x + z/2", 16, True),
        ("y <= x + z", 60, True),
    ],
)
def test_a_game_is_solved_in_what_is_planned(monkeypatch: pytest.MonkeyPatch, inequalities: str, size: int, grundy: bool) -> None:
    game = parse_game(inequalities)
    plan = Plan(monkeypatch, numpy_games, solvers)
    backend = select("numpy")
    taken = plan.taken(lambda: solve(game, size, grundy=grundy, backend=backend.name).summary())
    assert max(plan.needed) / 4 < taken < 1.05 * max(plan.needed)


def test_totals_with_a_position_each_take_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # One pile has as many totals as positions: an array each, all at once, took 220 bytes a position.
    plan = Plan(monkeypatch, numpy_games)
    game, limits = nim(1), (4000,)
    taken = plan.taken(lambda: numpy_games.inequality_outcomes(game.bounds(limits), np.array(limits)))
    assert taken < max(plan.needed)


@pytest.mark.parametrize("suffix", [".dot", ".graphml"])
def test_a_graph_is_written_in_what_is_planned(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    if suffix == ".graphml":
        pytest.importorskip("networkx", reason="networkx is not installed")
    plan = Plan(monkeypatch, evolution_graph)

    def write() -> None:
        evolution_graph.require_graph(4, 15, suffix)
        lines = (evolution_graph.dot if suffix == ".dot" else evolution_graph.graphml)(evolution_graph.evolution_graph(4, 15))
        for _ in lines:
            pass

    taken = plan.taken(write)
    assert max(plan.needed) / 3 < taken < max(plan.needed)


def test_a_refusal_of_a_graph_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolution_graph, "host_memory", lambda: 10**6)
    assert evolution_graph.require_graph(4, 7) == 364
    with pytest.raises(
        InsufficientMemoryError, match=r"^a graph of 364 P-positions needs 1,\d{3},\d{3} bytes, .* fewer generations"
    ):
        evolution_graph.require_graph(4, 7, ".graphml")
