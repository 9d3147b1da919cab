"""Long work: reports of its progress, how it ended, and the processes that it is divided among.

The library itself shows no progress bars.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: The most processes that work is divided among on this machine: they start one after the other, a second or so each.
MOST_PROCESSES = 256

#: Called with the name of a step, the amount done, and the total; called `progress` wherever it is an argument.
OnStep = Callable[[str, float, int], None]


def no_progress(what: str, done: float, total: int) -> None:
    """Ignore a progress report.

    >>> no_progress("generation", 3, 1024)
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


@dataclass
class Outcome:
    """How a command ended: its exit status, and the sentence that says why it failed."""

    status: int = 0
    sentence: str | None = None


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, SIGTERM and SIGHUP in threads and processes that are started in the block.

    A terminal sends Ctrl-C to all of its processes.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would otherwise start with the first process, and unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
