"""Ranks on CUDA: what they send, what they share, and how they are refused. tests/growth/test_ranks.py compares their growths."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.backends import selection
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda import bricks as bricks_module
from gpu_nim.backends.cuda import exactly_one as engine_module
from gpu_nim.backends.cuda.bricks import DeviceBricks, exchange_parts
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.interface import free_per_rank
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.shared.bricks import FIELD
from gpu_nim.jobs.grow_job import Planned, plan_growth
from gpu_nim.jobs.mpi import select_on_rank
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from tests.cuda_host import HostLauncher, compiler
from tests.lattices import EDGE, FCC
from tests.threads import on_ranks

pytestmark = [pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")]


def births(rule, last, ranks, *, directly=False):
    backend = CudaBackend(HostLauncher())

    def work(communicator):
        communicator.device_buffers = directly
        return backend.on_rank(communicator).engine(rule, last).make().advance(last).births.tolist()

    return on_ranks(ranks, work)[0]


def expected(rule, last):
    return NumpyBackend().engine(rule, last).make().advance(last).births.tolist()


def test_buffers_stay_on_the_device_where_the_communicator_takes_them(monkeypatch):
    monkeypatch.setattr(HostLauncher, "start_copy_to_host", lambda *_: pytest.fail("they need not go to the host"))
    assert births(EDGE, 20, 3, directly=True) == expected(EDGE, 20)


def test_what_ranks_tell_each_other_is_what_the_kernels_write():
    assert read_constants("exactly_one.cu")["FIELD"] == FIELD


def test_more_newborns_than_planned_are_refused_on_ranks(monkeypatch):
    monkeypatch.setattr(DeviceBricks, "capacity", lambda bricks, free: 20)
    with pytest.raises(InsufficientMemoryError, match="active bricks, 20 were planned for"):
        births(FCC, 63, 2)


def test_more_to_send_than_planned_is_refused(monkeypatch):
    monkeypatch.setattr(bricks_module, "_listed", lambda bricks: np.minimum(bricks, 2))
    monkeypatch.setattr(DeviceBricks, "capacity", lambda bricks, free: bricks.held)
    with pytest.raises(InsufficientMemoryError, match=r"^generation \d+ has \d+ bricks more to send than were planned for$"):
        births(FCC, 30, 3)


def busiest(rule, last, ranks):
    return DeviceBricks(rule, last, 0, ranks).busiest()


def test_ranks_divide_the_memory():
    for ranks in (2, 4, 8):
        assert busiest(EDGE, 2048, ranks).count < 1.1 * DeviceBricks(EDGE, 2048).count / ranks
        assert busiest(EDGE, 2048, ranks).device_bytes < busiest(EDGE, 2048, ranks // 2).device_bytes
    parts = [DeviceBricks(EDGE, 256, rank, 4) for rank in range(4)]
    assert sum(part.count for part in parts) == DeviceBricks(EDGE, 256).count
    backend = CudaBackend(HostLauncher()).on_rank(Planned(4))
    assert backend.engine(EDGE, 256).memory == busiest(EDGE, 256, 4).device_bytes
    assert CudaBackend(HostLauncher()).engine(EDGE, 256, general=True).memory is None


def test_ranks_that_share_a_device_share_its_memory():
    free = {"a": 900, "b": 500}
    assert on_ranks(3, lambda ranks: free_per_rank(ranks, "aba"[ranks.rank], free["aba"[ranks.rank]])) == [450, 500, 450]


def test_a_rank_takes_the_gpu_of_its_number(monkeypatch):
    made = []
    monkeypatch.setattr(selection, "cuda_obstacle", lambda number=0: None)
    monkeypatch.setattr("gpu_nim.backends.cuda.CupyLauncher", lambda number: made.append(number) or HostLauncher())
    ranks: Any = SimpleNamespace(rank=1, size=2, local_rank=1, exchange=lambda parts: list(parts))
    assert select_on_rank("cuda", ranks).communicator is ranks
    assert made == [1]
    # A refusal comes before a GPU is chosen.
    with pytest.raises(UsageError, match="threads is for backend numpy"):
        select_on_rank("cuda", ranks, threads=2)
    assert made == [1]
    assert selection.select("cuda").communicator.size == 1
    assert made == [1, None]


def test_the_plan_of_ranks_bounds_what_is_sent(monkeypatch):
    last, sizes = 60, []
    words = 1 + DeviceBricks(EDGE, last).words  # of a brick, with its place

    def exchanged(launch, ranks, sent, parts, received):
        arrived = exchange_parts(launch, ranks, sent, parts, received)
        sizes.append((ranks.rank, *(parts // words), arrived // words))
        return arrived

    monkeypatch.setattr(engine_module, "exchange_parts", exchanged)
    backend = CudaBackend(HostLauncher())
    births(EDGE, last, 3)
    for rank in range(3):
        *sent, received = np.array([found for number, *found in sizes if number == rank]).max(axis=0)
        planned, arriving = DeviceBricks(EDGE, last, rank, 3).exchanged
        assert 0 < received <= arriving
        assert (planned > 0).tolist() == (np.array(sent) > 0).tolist()
        assert (sent <= planned).all()
    bricks = busiest(EDGE, last, 3)
    assert plan_growth("edge", last, backend=backend, ranks=3).costs["memory"] == bricks.device_bytes
    nim = find("nim").rule
    assert plan_growth("nim", last, backend=backend, ranks=3).costs["memory"] == busiest(nim, last, 3).device_bytes
