"""SIGTERM and SIGHUP end a command as Ctrl-C does: through its clean-up, with one sentence."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

_WORDS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
_AGAIN = 0.05  # seconds


class Terminated(SystemExit):
    """The system asked for the end; `code` is the exit status that a shell reports, 128 + the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.sentence = _WORDS[signal.Signals(number)]


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(number)


@contextmanager
def terminations_raised() -> Iterator[None]:
    """Raise `Terminated` where the process would be ended, until the block is done; what is ignored, as by nohup, stays so."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread handles signals
        yield
        return
    hook = sys.unraisablehook

    def send_again(lost: Any) -> None:
        # Python drops what is raised while it finalizes an object, in whatever line that happens to be.
        if isinstance(lost.exc_value, Terminated | KeyboardInterrupt):
            number = getattr(lost.exc_value, "number", signal.SIGINT)
            threading.Timer(_AGAIN, os.kill, (os.getpid(), number)).start()
        else:
            hook(lost)

    before = {number: signal.signal(number, _end) for number in _WORDS if signal.getsignal(number) is signal.SIG_DFL}
    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
