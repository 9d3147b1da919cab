"""Processes that share work on this machine, for pictures as for counts.

They are new ones, since neither OpenGL nor CUDA survives a fork, and they do not run the main module again, as those of
multiprocessing do: a script needs no guard, and may come from stdin. What they are sent must not need that module.
"""

import multiprocessing.context
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from logging import getLogger
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock, Thread
from typing import Any

from gpu_nim.model.arguments import argument
from gpu_nim.model.errors import BackendError, UsageError

#: The name of the context in which processes are started, for `multiprocessing.get_context`, by which Dask finds it.
FRESH = "gpunim"

_NOT_AGAIN = ModuleSpec("gpu_nim.__main__", None)  # multiprocessing runs no module of that name again: it would be a program
_starting = Lock()


class _Process(multiprocessing.context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:
        main = sys.modules["__main__"]
        with _starting:
            own, main.__spec__ = main.__spec__, _NOT_AGAIN
            try:
                return multiprocessing.context.SpawnProcess._Popen(process_obj)
            finally:
                main.__spec__ = own


class _Context(multiprocessing.context.SpawnContext):
    Process = _Process


multiprocessing.context._concrete_contexts[FRESH] = _Context()  # type: ignore[attr-defined]


def require_start() -> None:
    """Raise UsageError in a process that may start no others: a daemon of multiprocessing, or one that runs its main module again.

    >>> require_start()
    """
    here = multiprocessing.process.current_process()
    if here.daemon or getattr(here, "_inheriting", False):
        raise UsageError("workers must be left out in a process that multiprocessing started, which may start no others")


@contextmanager
def pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes for the duration of the block; they end at once where it fails, and with this process.

    Raises UsageError where this process may start none, BackendError where one of them is lost.
    """
    require_start()
    context = multiprocessing.get_context(FRESH)
    theirs, ours = context.Pipe(duplex=False)
    with theirs, ours, ProcessPoolExecutor(workers, context, _begin, (theirs, getLogger("matplotlib").level)) as started:
        try:
            yield started
        except BrokenProcessPool as error:
            lost = f"a process that was started for this ended before its work was done: ask again, or for {argument('workers')} 1"
            raise BackendError(lost) from error
        except BaseException:
            ours.close()  # in the middle of its work, too
            raise


def _begin(parent: Connection, level: int) -> None:
    """End this process when the other end of a pipe is closed, which is when the parent process ends for whatever reason.

    Until then it says no more of what matplotlib finds in the environment than the parent process does.
    """
    getLogger("matplotlib").setLevel(level)

    def wait() -> None:
        with suppress(EOFError, OSError):
            parent.recv()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
