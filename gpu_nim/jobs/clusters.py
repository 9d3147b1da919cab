"""Workers on this machine or others, by Dask.

Work is cut into chunks that know all they need, take seconds and can be done twice; Dask hands them to its workers, and again
where a worker is lost. Results come back in the order of the chunks, so the answer does not depend on who did what.
"""

from __future__ import annotations

import gc
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, TypeVar

from gpu_nim._version import __version__
from gpu_nim.model.errors import BackendError, SchedulerLost, UsageError
from gpu_nim.model.extras import missing
from gpu_nim.model.interrupts import interrupts_blocked, interrupts_deferred

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_LOOPBACK = "127.0.0.1"
_CONNECT_SECONDS = 5
_LOSSES = 20  # workers that may die on one chunk before it is taken to be the chunk's fault


class Cluster:
    """Workers to hand chunks to."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def workers(self) -> int:
        """How many workers there are now."""
        return len(self._client.scheduler_info(n_workers=-1).get("workers", ()))

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Yield function(chunk) for each chunk, in order; only a few chunks a worker are under way at a time.

        Pieces of a worker that dies are done again by the others. BackendError where a chunk seems to kill whoever does it, or
        the scheduler is lost, which is a `SchedulerLost`.
        """
        distributed: Any = import_module("distributed")
        try:
            yield from self._in_order(function, chunks)
        except distributed.KilledWorker as error:
            raise BackendError("one chunk was lost with its worker again and again: do the workers lack memory?") from error
        except (distributed.CancelledError, OSError) as error:
            if self._client.status == "running":  # else the connection is what failed
                raise
            raise SchedulerLost("the Dask scheduler was lost: start it again") from error

    def _in_order(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        waiting: deque[Any] = deque()
        remaining = iter(chunks)
        while True:
            while len(waiting) < 2 * max(1, self.workers) + 1:
                chunk = next(remaining, None)
                if chunk is None:
                    break
                # pure=False: two chunks are two chunks, even where they look alike.
                waiting.append(self._client.submit(function, chunk, pure=False))
            if not waiting:
                return
            yield waiting.popleft().result()


@contextmanager
def cluster(scheduler: str | None = None, workers: int | None = None, *, gpus: bool = False) -> Iterator[Cluster]:
    """Connect to a Dask scheduler by its address, or start `workers` processes on this machine for as long as the block lasts.

    With `gpus`, dask-cuda starts them, each with a GPU of its own as long as there are enough. Raises UsageError for neither
    or both of scheduler and workers, BackendError where no scheduler answers, MissingDependency without Dask or dask-cuda.
    """
    if (scheduler is None) == (workers is None):
        raise UsageError("give either a scheduler's address or a number of workers")
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, got {workers}")
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError as error:
        raise missing("more than one worker needs Dask", "distributed") from error
    settings = {"distributed.scheduler.allowed-failures": _LOSSES, "distributed.comm.timeouts.connect": _CONNECT_SECONDS}
    with dask.config.set(settings), _silenced("distributed", "distributed.client"):
        if workers is not None:
            # By default results would go through the scheduler, twice the copying.
            with ExitStack() as stack:
                with interrupts_deferred(), interrupts_blocked(), _uncollected():
                    local = stack.enter_context(_local(workers, gpus))
                    client = stack.enter_context(distributed.Client(local, direct_to_workers=True))
                try:
                    yield Cluster(client)
                finally:
                    with interrupts_deferred():
                        stack.close()
            return
        try:
            with _uncollected():
                client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS)
        except OSError as error:  # a TimeoutError is one
            raise BackendError(f"no Dask scheduler answers at {scheduler}: start one with 'dask scheduler'") from error
        except Exception as error:  # of any type: Dask hands the address to code of its own for each kind
            raise UsageError(f"scheduler must be an address such as tcp://127.0.0.1:8786, got {scheduler!r} ({error})") from error
        with client:
            if not client.scheduler_info(n_workers=-1)["workers"]:
                raise BackendError(f"the Dask scheduler at {scheduler} has no workers: start some with 'dask worker {scheduler}'")
            _require_gpunim(client, scheduler)
            yield Cluster(client)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away while a client is made.

    A client that could not be made takes a lock of Dask's when it is collected; the one that is being made holds it, for ever.
    """
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _require_gpunim(client: Any, scheduler: str | None) -> None:
    try:
        versions = {client.run_on_scheduler(_version), *client.run(_version).values()}
    except Exception as error:  # of many types, by where the function could not be loaded and by Dask's release
        raise BackendError(f"the Dask scheduler at {scheduler} or a worker lacks gpunim: install {__version__} there") from error
    if versions != {__version__}:
        found = ", ".join(sorted(versions - {__version__}))
        raise BackendError(f"the Dask scheduler at {scheduler} or a worker has gpunim {found}: install {__version__} there")


def _version() -> str:
    return __version__


@contextmanager
def _silenced(*names: str) -> Iterator[None]:
    """Silence loggers for as long as the block lasts: what goes wrong is told in one sentence, without tracebacks beside it."""
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
        # Whoever reaches these processes can make them run anything: nobody outside this machine shall.
        "host": _LOOPBACK,
        # Any free port: at its usual one a second run on the same machine would warn of the first.
        "dashboard_address": f"{_LOOPBACK}:0",
        "silence_logs": logging.CRITICAL,
    }
    if not gpus:
        return import_module("distributed").LocalCluster(processes=True, **options)
    try:
        dask_cuda = import_module("dask_cuda")
    except ImportError as error:
        raise missing("workers on GPUs need dask-cuda", "dask-cuda", ", or count with --backend numpy") from error
    return dask_cuda.LocalCUDACluster(**options)
