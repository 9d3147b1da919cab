"""More than one worker: the same results, also when workers are lost."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpu_nim import count
from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.counting.families import find_family
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import BackendError, MissingDependency

pytest.importorskip("distributed", reason="Dask is not installed")

import dask
import distributed
import psutil  # which distributed needs

from gpu_nim.counting.ranges import Range
from gpu_nim.jobs.clusters import Cluster, cluster
from tests.helpers import facts, gpunim, printed, refused

pytestmark = pytest.mark.nightly
D4 = Range(find_family("D", 4), 0, 4096, HostCounting())


@pytest.fixture(scope="module")
def workers() -> Iterator[Cluster]:
    with cluster(workers=2) as started:
        yield started


def address() -> str:
    """The address of the scheduler of `workers`."""
    return str(distributed.default_client().scheduler.address)


def listening() -> dict[int, set[str]]:
    """The addresses at which this process and its descendants take TCP connections, by process."""
    family = {process.pid for process in (psutil.Process(), *psutil.Process().children(recursive=True))}
    found: dict[int, set[str]] = {}
    for each in psutil.net_connections("tcp"):
        if each.pid in family and each.status == psutil.CONN_LISTEN:
            found.setdefault(each.pid, set()).add(each.laddr.ip)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="other systems than Linux tell only root who listens where")
def test_workers_are_reached_from_this_machine_alone(workers: Cluster) -> None:
    found = listening()
    assert len(found) >= 3  # this process, with the scheduler, and two workers
    assert set.union(*found.values()) <= {"127.0.0.1", "::1"}  # IPv6's, too, where a browser was driven before


def test_no_callback_of_the_garbage_collector_can_drop_a_ctrl_c(workers: Cluster) -> None:
    assert not [callback for callback in gc.callbacks if callback.__module__.startswith("distributed")]


def _die_or_fill(job: tuple[int, str, tuple[int, int]]) -> np.ndarray:
    """Fill a chunk, but kill this worker at the first attempt at chunk `victim`."""
    victim, marker, piece = job
    if piece[0] == victim and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return D4.do(piece)


def test_a_killed_worker_changes_nothing(workers: Cluster, tmp_path: Path) -> None:
    pieces = [(first, first + 256) for first in range(0, 4096, 256)]
    marker = str(tmp_path / "killed")
    parts = list(workers.map(_die_or_fill, [(1024, marker, piece) for piece in pieces]))
    assert Path(marker).exists()
    values = np.concatenate(parts).tolist()
    assert values == [find_family("D", 4).value(n) for n in range(4096)]


def _die(piece: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_piece_that_kills_every_worker_is_one_sentence() -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, dashboard_address="127.0.0.1:0", silence_logs=50) as local,
        cluster(local.scheduler_address) as started,
        pytest.raises(BackendError, match="several workers were lost with one chunk"),
    ):
        list(started.map(_die, [0]))


def test_ctrl_c_at_a_terminal_is_one_word_and_leaves_nothing(tmp_path: Path) -> None:
    """A terminal sends it to the workers, too."""
    args = ["count", "D", "--piles", "4", "--range", "0:10^11", "--reduce", "histogram", "--backend", "numpy", "--workers", "2"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(gpunim(*args), stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("100,000,000,000 values to visit")  # the workers are there
        assert os.listdir(tmp_path)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr.read() == "\ngpunim: interrupted\n"
        assert process.wait(60) == 130
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("address", ["ucx://a:1", "nowhere://x", "tcp://:", "tls://a:3"])
def test_an_address_that_is_none(address: str) -> None:
    said = refused("count", "D", "--piles", 3, "--range", "0:9", "--scheduler", address)
    assert said.startswith(f"gpunim: --scheduler must be an address such as tcp://127.0.0.1:8786, got '{address}' (")


def test_a_lost_scheduler_is_one_sentence() -> None:
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50) as local,
        cluster(local.scheduler_address) as started,
    ):
        results = started.map(abs, range(100))
        assert next(results) == 0
        local.close()
        with pytest.raises(BackendError, match="the Dask scheduler was lost"):
            list(results)


def test_the_command_line_with_a_scheduler(workers: Cluster, tmp_path: Path) -> None:
    path, stop = tmp_path / "t.npy", 100 + 2**22 + 1000  # in two chunks
    args = ["count", "D", "--piles", "5", "--backend", "numpy", "--scheduler", address(), "--range", f"100:{stop}"]
    printed(*args, "--out", path, "--quiet")
    values = np.load(path)
    assert np.array_equal(values, Range(find_family("D", 5), 100, stop, HostCounting()).values())
    assert to_integers(values[-50:]) == [find_family("D", 5).value(n) for n in range(stop - 50, stop)]
    assert sum(facts(*args, "--reduce", "histogram", "--quiet")["reductions"]["histogram"].values()) == stop - 100
    found = facts(*args[:-1], "0:20", "--method", "enumerate", "--quiet")
    assert found["values"] == [str(find_family("D", 5).value(n)) for n in range(20)]


def test_an_error_in_a_worker_is_the_error(workers: Cluster) -> None:
    with pytest.raises(TypeError, match="bad operand type for abs"):
        list(workers.map(abs, [1, "two"]))  # type: ignore[list-item]


def test_an_unreachable_scheduler_is_one_sentence() -> None:
    said = refused("count", "D", "--piles", 3, "--range", "0:9", "--scheduler", "tcp://127.0.0.1:9")
    assert said == "gpunim: no Dask scheduler answers at tcp://127.0.0.1:9: start one with 'dask scheduler'\n"


def test_gpus_get_a_worker_each_from_dask_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    class LocalCUDACluster(distributed.LocalCluster):
        def __init__(self, **options: object) -> None:
            asked.append(dict(options))
            super().__init__(**{**options, "processes": False, "protocol": "tcp"})

    monkeypatch.setitem(sys.modules, "dask_cuda", SimpleNamespace(LocalCUDACluster=LocalCUDACluster))
    with cluster(workers=2, gpus=True) as started:
        assert started.workers == 2
        (values,) = started.do(D4, [(0, 9)], "numpy")
        assert values.tolist() == [find_family("D", 4).value(n) for n in range(9)]
    assert [(options["n_workers"], options["threads_per_worker"]) for options in asked] == [(2, 1)]


def test_gpus_are_asked_for_where_counts_are_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gpu(NumpyBackend):
        name = "cuda"

    monkeypatch.setitem(sys.modules, "dask_cuda", None)  # not installed
    with pytest.raises(MissingDependency, match=r"^workers on GPUs need dask-cuda: .*, or count with backend numpy$"):
        count("D", range(9), piles=3, workers=2, backend=Gpu())


@pytest.mark.parametrize(
    ("preload", "sentence"),
    [
        ("import gpu_nim.jobs.clusters as c; c.__version__ = '0.0.1'", r"or a worker has gpunim 0\.0\.1: install \S+ there"),
        ("import sys; sys.modules['gpu_nim.jobs.clusters'] = None", r"or a worker lacks gpunim: install \S+ there"),
    ],
)
def test_another_gpunim_over_there_is_refused(preload: str, sentence: str) -> None:
    options = {"n_workers": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        distributed.LocalCluster(**options, preload=[preload]) as local,
        pytest.raises(BackendError, match=sentence),
        cluster(local.scheduler_address),
    ):
        pass


@pytest.mark.parametrize("files", [14, 63, 64])
def test_too_few_descriptors_for_workers_are_one_sentence(files: int) -> None:
    command = gpunim("count", "D", "--piles", "4", "--range", "0:9", "--workers", "2", "--format", "csv")
    words = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    refusal = f"gpunim: the workers need 64 open files, {files} are allowed: raise that by ulimit -n 64\n"
    assert (done.returncode, done.stderr) == ((0, "") if files == 64 else (2, refusal))
