"""What an engine asks of its device: the order of launches, and where the host waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from gpu_nim.backends.cuda import exactly_one, general, nim
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.interface import Engine
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.backends.numpy.nim import NimEngine as NumpyNim
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.model.rule import Rule
from tests import strict_cupy
from tests.cuda_host import HostLauncher, compiler
from tests.lattices import EDGE, FCC, RULE750, TRIANGULAR

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
GROW, TICK = "exactly_one_grow", "exactly_one_tick"
WAITS = {"asnumpy", "ndarray.get", "ndarray.item", "ndarray.tolist"}  # copies to the host


def watched(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> HostLauncher:
    """A launcher whose `launched` has "wait" where `module` copies from the device, which waits for all that is queued."""
    launcher, copy = HostLauncher(), module.to_host

    def to_host(array: object) -> object:
        if launcher.launched[-1:] != ["wait"]:  # what comes next finds nothing to wait for
            launcher.launched.append("wait")
        return copy(array)

    monkeypatch.setattr(module, "to_host", to_host)
    return launcher


class TestExactlyOne:
    def test_a_batch_is_graphs_and_a_rest_and_then_one_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        launcher = watched(monkeypatch, exactly_one)
        engine = exactly_one.ExactlyOneEngine(launcher, DeviceBricks(FCC, 20))
        engine.recorded = 4
        graph = [GROW] * 4 + [TICK]
        for to, expected in (
            (10, ["exactly_one_lay", *graph, *graph, GROW, GROW, TICK, "wait"]),
            (14, [*graph, "wait"]),
            (15, [GROW, TICK, "wait"]),
            (20, [*graph, GROW, TICK, "wait"]),
        ):
            launcher.launched.clear()
            with strict_cupy.recorded() as calls:
                engine.advance(to)
            assert launcher.launched == expected
            # The lists' lengths and the reports, one after the other.
            assert sum(count for (name, _), count in calls.items() if name in WAITS) == 2

    @pytest.mark.parametrize("sections", [((2, 0), (2, 1), (2, 2)), ((0, 1), (1, 1), (0, 1))], ids=["levels", "axes"])
    def test_each_section_has_its_own_graph(self, sections: tuple[tuple[int, int], ...]) -> None:
        engine = exactly_one.ExactlyOneEngine(HostLauncher(), DeviceBricks(EDGE, 18))
        engine.recorded = 2
        engines = engine, NumpyExactlyOne(Bricks(EDGE, 18))
        for to, section in zip((5, 11, 17), sections, strict=True):
            found, expected = (engine.advance(to, section=section).section.tolist() for engine in engines)
            assert found == expected


@pytest.mark.cuda_host
class TestNim:
    def test_a_batch_waits_for_its_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        launcher = watched(monkeypatch, nim)
        engine = nim.NimEngine(launcher, 200)
        for to, launches in ((100, 4), (101, 1), (165, 2), (200, 2)):
            launcher.launched.clear()
            with strict_cupy.recorded() as calls:
                engine.advance(to)
            assert launcher.launched == ["nim_advance"] * launches + ["wait"]
            assert sum(count for (name, _), count in calls.items() if name in WAITS) == 2  # births and checksums

    def test_few_warps_go_through_many_tiles(self) -> None:
        last, middle = 500, 130
        host = NumpyNim(last)
        host.advance(middle)
        resumed = nim.NimEngine(HostLauncher(multiprocessors=1), last, host.state())
        batch, wanted = resumed.advance(last, cells=True), host.advance(last, cells=True)
        for name in ("births", "checksums", "cells"):
            assert np.array_equal(getattr(batch, name), getattr(wanted, name))


class TestGeneral:
    STEP = ("general_touch", "general_decide", "wait", "general_survey")

    @pytest.mark.parametrize("rule", [RULE750, TRIANGULAR], ids=["rule 750", "a universe"])
    def test_a_generation_waits_once(self, monkeypatch: pytest.MonkeyPatch, rule: Rule) -> None:
        launcher = watched(monkeypatch, general)
        engine = general.GeneralEngine(launcher, rule, 5)
        engine.advance(1)
        launcher.launched.clear()
        with strict_cupy.recorded() as calls:
            engine.advance(5)
        assert launcher.launched == [*self.STEP * 4, "wait"]
        # Nothing but `to_host` waits: four times, and for the reports.
        assert sum(count for (name, _), count in calls.items() if name in WAITS) == 5


@pytest.mark.parametrize(
    ("start", "source"),
    [
        (partial(nim.NimEngine, last=9), "nim.cu"),
        (partial(exactly_one.ExactlyOneEngine, bricks=DeviceBricks(FCC, 9)), "exactly_one.cu"),
        (partial(general.GeneralEngine, rule=RULE750, last=9), "general.cu"),
    ],
    ids=["nim", "exactly one", "general"],
)
def test_a_growth_compiles_one_module(start: Callable[..., Engine], source: str) -> None:
    launcher = HostLauncher()
    first = start(launcher)
    first.advance(4, cells=True)
    start(launcher, state=first.state()).advance(9, section=(0, 1))
    assert [module for module, _ in launcher.modules] == [source]
