"""SIGTERM and SIGHUP end a command as Ctrl-C does: through its clean-up, with one sentence."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_WORDS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
_AGAIN = 0.05  # seconds
_IMPORT = "<frozen importlib._bootstrap>"


class Terminated(SystemExit):
    """The system asked for the end; `code` is the exit status that a shell reports, 128 + the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.sentence = _WORDS[signal.Signals(number)]


@contextmanager
def terminations_raised() -> Iterator[None]:
    """Raise `Terminated` where the process would be ended, until the block is done; what is ignored, as by nohup, stays so.

    A signal that comes while a module is imported, Ctrl-C too, waits until it is: extension modules drop what is raised in them.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread handles signals
        yield
        return
    caller = sys._getframe(2)  # beyond this generator and contextlib

    def end(number: int, frame: FrameType | None) -> None:
        if _imports(frame, caller):
            _send_again(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise Terminated(number)

    hook = sys.unraisablehook

    def send_lost_again(lost: Any) -> None:
        # Python drops what is raised while it finalizes an object, in whatever line that happens to be.
        if isinstance(lost.exc_value, Terminated | KeyboardInterrupt):
            _send_again(getattr(lost.exc_value, "number", signal.SIGINT))
        else:
            hook(lost)

    ends = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: signal.signal(number, end) for number in (*_WORDS, signal.SIGINT) if signal.getsignal(number) in ends}
    sys.unraisablehook = send_lost_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _imports(frame: FrameType | None, caller: FrameType) -> bool:
    """Whether a frame runs in an import that began after a caller's."""
    while frame is not None and frame is not caller:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    threading.Timer(_AGAIN, os.kill, (os.getpid(), number)).start()
