"""Long work: reports of its progress, and signals that are deferred while it must not be interrupted.

The library itself shows no progress bars.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The most processes that work is divided among on this machine: they start one after the other, a second or so each.
MOST_PROCESSES = 256

#: Called with the name of a step, the amount done, and the total.
OnStep = Callable[[str, int, int], None]


def unreported(what: str, done: int, total: int) -> None:
    """Ignore a progress report.

    >>> unreported("generation", 3, 1024)
    """


def duration(seconds: float) -> str:
    """Return seconds in words, in the largest unit of which there are at least two.

    >>> duration(7200)
    'about 2 hours'
    """
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:,.1f} seconds"


@contextmanager
def interrupts_deferred() -> Iterator[list[int]]:
    """Defer Ctrl-C until the end of the block, and SIGTERM and SIGHUP if the program handles them; yield those that came.

    Zarr writes in its own threads, which continue, and recreate missing folders, when the caller is interrupted while it waits for
    them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield []
        return
    came: list[int] = []
    with _deferred(signal.SIGHUP, came), _deferred(signal.SIGTERM, came), _deferred(signal.SIGINT, came):
        yield came


@contextmanager
def _deferred(number: signal.Signals, came: list[int]) -> Iterator[None]:
    if not callable(signal.getsignal(number)):  # ignored, or ends the process at once
        yield
        return
    handler = signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(number, handler)
    if number in came:
        signal.raise_signal(number)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block these signals in threads and processes started in the block, since Ctrl-C is sent to all processes of a terminal."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would otherwise start with the first process, and unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
