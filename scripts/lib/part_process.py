"""A part of gpu-check in a process of its own, which is cut at a moment that is set beforehand.

What the process prints comes line by line: a line that begins with `MARK` is an event, one JSON object; any other is text.  The
process leads a session of its own, so that it is ended with all that it started, and it ends itself where its parent is no more.
"""

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

MARK = "\x1e"
_GRACE = 2.0  # seconds for a killed process to be gone; one that hangs in the driver is left behind


def tell(**event: Any) -> None:
    """Print an event, from within a part's process."""
    print(f"{MARK}{json.dumps(event)}", flush=True)


def end_with_parent() -> None:
    """Kill this process's session as soon as its standard input is closed, which whoever started it keeps open."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


class PartProcess:
    """A command that runs until `deadline`, a moment of time.monotonic, at the latest.

    `cut` tells whether it was ended there; `ending` says in words how it died, and is None where it ended by itself and well.
    """

    def __init__(self, command: Sequence[str], deadline: float) -> None:
        self._deadline = deadline
        self.cut = False
        self.ending: str | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},  # what is under way at a cut has been said by then
        )

    def __enter__(self) -> "PartProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave no process behind."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            status = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.ending = "it hangs in the driver and could not be killed"
        else:
            if not self.cut and status:
                self.ending = f"its process ended by {_name(-status)}" if status < 0 else f"its process ended with status {status}"
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def events(self) -> Iterator[dict[str, Any]]:
        """Give what the process says, as it says it; a line of text is the event {"text": line}."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        rest = b""
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                self.cut = True
                break
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                self._end()
                break
            *lines, rest = (rest + chunk).split(b"\n")
            yield from map(_event, lines)
        if rest:
            yield _event(rest)

    def _end(self) -> None:
        """Wait for a process that has closed its output: no further than the deadline."""
        try:
            self._process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.cut = True


def _event(line: bytes) -> dict[str, Any]:
    text = line.decode("utf-8", "replace").rstrip("\r")
    if text.startswith(MARK):
        try:
            event = json.loads(text[1:])
        except ValueError:  # cut off in the middle
            event = None
        if isinstance(event, dict):
            return event
    return {"text": text.replace(MARK, "")}


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
