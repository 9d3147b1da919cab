"""Workers on this machine or others, by Dask.

Work is divided into self-contained chunks of some seconds that can be repeated; Dask distributes them, and repeats those of a lost
worker. Results are returned in the order of the chunks, so they do not depend on the distribution.
"""

import gc
import logging
import resource
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import lru_cache, partial
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeVar

from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.backends.host_counting import HostCounting
from gpu_nim.backends.selection import select
from gpu_nim.counting.ranges import Enumeration, Range
from gpu_nim.counting.reductions import ValueScan
from gpu_nim.model.arguments import IntLike, argument, integer
from gpu_nim.model.errors import BackendError, UsageError, import_optional, message_of
from gpu_nim.model.work import MOST_PROCESSES, host_memory, interrupts_blocked, require_memory

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

#: What is done in chunks (first, stop), on any process: a dataclass whose last field is the engine.
Work: TypeAlias = Range | ValueScan | Enumeration

_LOOPBACK = "127.0.0.1"
_CONNECT_SECONDS = 5
# What this process needs, and how much more of it for each worker: with less Dask may try again and again.
_FILES, _WORKER_FILES = 40, 12  # descriptors: 30 and 11 measured
_BYTES, _WORKER_BYTES = 80 << 20, 25 << 20  # 63 and 24 MiB measured, of which the latter are three stacks
_LOSSES = 20  # workers that may die on one chunk before the chunk is taken to be the cause


class Cluster:
    """Workers that process chunks."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def workers(self) -> int:
        """The current number of workers."""
        return len(self._client.scheduler_info(n_workers=-1).get("workers", ()))

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Yield function(chunk) for each chunk, in order; only a few chunks per worker are submitted at a time.

        The chunks of a worker that dies are repeated by the others. BackendError where a chunk seems to kill its workers, or
        the scheduler is lost.
        """
        distributed: Any = import_module("distributed")
        try:
            yield from self._in_order(function, chunks)
        except distributed.KilledWorker as error:
            raise BackendError("several workers were lost with one chunk, one after the other") from error
        except (distributed.CancelledError, OSError) as error:
            if self._client.status == "running":  # else the connection is what failed
                raise
            raise BackendError("the Dask scheduler was lost: start it again, then run this command again") from error

    def do(self, work: Work, chunks: Iterable[tuple[int, int]], backend: str) -> Iterator[NDArray[Any]]:
        """Yield what the work gives for each chunk, in order, by this backend."""
        whole = tuple(getattr(work, field.name) for field in fields(work) if field.name != "engine")
        return self.map(partial(_do, type(work), whole, backend), chunks)

    def _in_order(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        waiting: deque[Any] = deque()
        remaining = iter(chunks)
        while True:
            while len(waiting) < 2 * max(1, self.workers) + 1:
                chunk = next(remaining, None)
                if chunk is None:
                    break
                # pure=False: equal chunks are still different chunks.
                waiting.append(self._client.submit(function, chunk, pure=False))
            if not waiting:
                return
            yield waiting.popleft().result()


def _do(kind: Callable[..., Work], whole: tuple[Any, ...], backend: str, chunk: tuple[int, int]) -> NDArray[Any]:
    """Do a chunk of work on a worker: of the class `kind` with these fields but for the engine."""
    return _work(kind, whole, backend).do(chunk)


@lru_cache(maxsize=2)
def _work(kind: Callable[..., Work], whole: tuple[Any, ...], backend: str) -> Work:
    chosen = select(backend)
    # A worker has as many chunks as threads, so the engine uses one thread.
    engine: HostCounting = HostCounting(threads=1) if chosen.name == "numpy" else chosen.counting()
    return kind(*whole, engine)


@contextmanager
def cluster(scheduler: str | None = None, workers: IntLike | None = None, *, gpus: bool = False) -> Iterator[Cluster]:
    """Connect to a Dask scheduler by its address, or start `workers` processes on this machine for the duration of the block.

    With `gpus`, dask-cuda starts them, each with its own GPU if there are enough. Raises UsageError for neither or both of
    scheduler and workers, BackendError where no scheduler answers, MissingDependency without Dask or dask-cuda.
    """
    from gpu_nim.model.processes import FRESH, require_start  # here, for its start-up time

    if (scheduler is None) == (workers is None):
        raise UsageError("give either a scheduler's address or a number of workers")
    if workers is not None:
        workers = integer("workers", workers, 1, MOST_PROCESSES)
        require_start()
        needed, files = _FILES + _WORKER_FILES * workers, resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files != resource.RLIM_INFINITY and needed > files:
            raise BackendError(f"the workers need {needed} open files, {files} are allowed: raise that by ulimit -n {needed}")
        require_memory(_BYTES + _WORKER_BYTES * workers, host_memory(), "starting workers")
    distributed, dask = import_optional("more than one worker needs Dask", "distributed"), import_module("dask")
    gc.collect()  # a client whose construction failed would, collected later, take a lock that one under construction holds
    settings = {
        "distributed.scheduler.allowed-failures": _LOSSES,
        "distributed.comm.timeouts.connect": _CONNECT_SECONDS,
        "distributed.worker.multiprocessing-method": FRESH,
    }
    with dask.config.set(settings), _silenced("distributed", "distributed.client"):
        if workers is not None:
            # By default results would go through the scheduler, which doubles the copying.
            with ExitStack() as stack:
                # For what Dask would leave in that of all programs.
                folder = stack.enter_context(TemporaryDirectory())
                stack.enter_context(dask.config.set({"temporary-directory": folder}))
                with interrupts_blocked():
                    try:
                        local = stack.enter_context(_local(workers, gpus))
                    except RuntimeError as error:  # Dask's own, of which the first that it is caused by says why
                        cause: BaseException = error
                        while cause.__cause__ is not None:
                            cause = cause.__cause__
                        raise BackendError(f"the workers cannot be started: {message_of(cause)}") from error
                    client = stack.enter_context(distributed.Client(local, direct_to_workers=True))
                    # Python drops a Ctrl-C that comes within a callback of the garbage collector, as those of Dask's statistics.
                    import_module("distributed.gc").disable_gc_diagnosis(force=True)
                yield Cluster(client)
            return
        try:
            client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS)
        except OSError as error:  # a TimeoutError is one
            raise BackendError(f"no Dask scheduler answers at {scheduler}: start one with 'dask scheduler'") from error
        except Exception as error:  # of any type: Dask has different code for each kind of address
            raise UsageError(f"scheduler must be an address such as tcp://127.0.0.1:8786, got {scheduler!r} ({error})") from error
        with client:
            if not client.scheduler_info(n_workers=-1)["workers"]:
                raise BackendError(f"the Dask scheduler at {scheduler} has no workers: start some with 'dask worker {scheduler}'")
            _require_gpunim(client, scheduler)
            yield Cluster(client)


def _require_gpunim(client: Any, scheduler: str | None) -> None:
    try:
        versions = {client.run_on_scheduler(_version), *client.run(_version).values()}
    except Exception as error:  # of many types, depending on where the function could not be loaded and on Dask's version
        raise BackendError(f"the Dask scheduler at {scheduler} or a worker lacks gpunim: install {__version__} there") from error
    if versions != {__version__}:
        found = ", ".join(sorted(versions - {__version__}))
        raise BackendError(f"the Dask scheduler at {scheduler} or a worker has gpunim {found}: install {__version__} there")


def _version() -> str:
    return __version__


@contextmanager
def _silenced(*names: str) -> Iterator[None]:
    """Silence loggers in the block: errors are reported in one sentence, without tracebacks."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _local(workers: int, gpus: bool) -> Any:
    """Processes on this machine, as a context manager."""
    options = {
        "n_workers": workers,
        "threads_per_worker": 1,
        # These processes run any code that is sent to them: only this machine may connect.
        "host": _LOOPBACK,
        # Any free port: the default one would cause a warning in a second run on the same machine.
        "dashboard_address": f"{_LOOPBACK}:0",
        "silence_logs": logging.CRITICAL,
    }
    if not gpus:
        return import_module("distributed").LocalCluster(processes=True, **options)
    otherwise = f", or count with {argument('backend')} numpy"
    dask_cuda = import_optional("workers on GPUs need dask-cuda", "dask-cuda", otherwise=otherwise)
    return dask_cuda.LocalCUDACluster(**options)
