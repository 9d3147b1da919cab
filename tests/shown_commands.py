"""The commands that documents, pages and examples of help show: which of them tests run, and at which sizes."""

import re
import shlex
from functools import cache

from click.testing import Result

from tests.helpers import beside, run

_DATA = beside(__file__)
#: Commands that tests do not run, and why.
NOT_RUN: dict[str, str] = _DATA["not_run"]
TYPED = "1 1\n" * 9 + "q\n"  # what is typed into a game
_FILES = re.compile(r"\.| -o | --(?:checkpoint|resume)\b")


def smaller(command: str) -> str:
    """Return the command with smaller sizes."""
    for pattern, less in _DATA["smaller"]:
        command = re.sub(pattern, less, command)
    return command


def run_shown(command: str) -> Result:
    """Run a command of gpunim within this process; once, unless it reads or writes a file."""
    return _run(command) if _FILES.search(command) else _run_once(command)


def _run(command: str) -> Result:
    return run(*shlex.split(command)[1:], text=TYPED)


_run_once = cache(_run)
