"""Ctrl-C, SIGTERM and SIGHUP, held back from work that is not to be cut short and from processes that end with this one anyway."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done, and SIGTERM and SIGHUP where the program handles them.

    Zarr writes in threads of its own, which go on, and make anew the folders that they miss, when the caller is interrupted
    while it waits for them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    with _deferred(signal.SIGHUP), _deferred(signal.SIGTERM), _deferred(signal.SIGINT):
        yield


@contextmanager
def _deferred(number: signal.Signals) -> Iterator[None]:
    if not callable(signal.getsignal(number)):  # ignored, or the end of the process at once
        yield
        return
    pending: list[int] = []
    handler = signal.signal(number, lambda number, _: pending.append(number))
    try:
        yield
    finally:
        signal.signal(number, handler)
    if pending:
        signal.raise_signal(number)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Have the threads and processes that are started in the block take no such signal; Ctrl-C reaches all those of a terminal."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which starts before the first process otherwise, and then lets the signals in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
