"""SIGTERM and SIGHUP end a command as Ctrl-C does: with its clean-up, and one sentence. A closed pipe ends it without a word."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_WORDS = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up", signal.SIGPIPE: None}
_AGAIN = 0.05  # seconds
_IMPORT = "<frozen importlib._bootstrap>"


class Terminated(SystemExit):
    """A signal ends the process; `code` is the exit status that a shell reports, 128 + the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.sentence = _WORDS[signal.Signals(number)]


@contextmanager
def closed_pipes_raised() -> Iterator[None]:
    """Raise `Terminated` where the reader of what the block prints has ended, such as `head`: SIGPIPE, which Python ignores."""
    try:
        yield
    except BrokenPipeError as error:
        raise Terminated(signal.SIGPIPE) from error


@contextmanager
def terminations_raised() -> Iterator[None]:
    """Raise `Terminated` in the block for a signal that would end the process; signals that are ignored, as by nohup, stay ignored.

    A signal during an import, Ctrl-C too, is raised after it: extension modules drop exceptions that are raised in them.
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
        # Python drops exceptions that are raised while it finalizes an object.
        if isinstance(lost.exc_value, Terminated | KeyboardInterrupt):
            _send_again(getattr(lost.exc_value, "number", signal.SIGINT))
        else:
            hook(lost)

    ends = (signal.SIG_DFL, signal.default_int_handler)
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) in ends}
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
