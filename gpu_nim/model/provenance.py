"""Provenance: the version of gpunim and the command that made a file, which pictures, movies and meshes hold.

There are no dates: the same command writes the same bytes.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from gpu_nim._version import __version__

_LONGEST = 8192  # characters of a command: JPEG holds 65,533 bytes
_command: ContextVar[str] = ContextVar("command", default="")


@dataclass(frozen=True)
class Provenance:
    """What made a file.

    Attributes:
        command: the command line, or the call of the library.
        software: gpunim and its version.
    """

    command: str
    software: str = f"gpunim {__version__}"

    def __str__(self) -> str:
        return f"{self.software}: {self.command}"


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """For the duration of the block, files are made by the command line `gpunim` with these words.

    >>> with command_line(["render", "nim:7", "--title", "Nim, grown"]):
    ...     str(made_by("render('nim:7')")).partition(": ")[2]
    "gpunim render nim:7 --title 'Nim, grown'"
    """
    token = _command.set(shlex.join(("gpunim", *words)))
    try:
        yield
    finally:
        _command.reset(token)


def command_words() -> list[str]:
    """Return the words of the command line that runs, without the program; none where the library is called.

    >>> with command_line(["grow", "--gen", "8"]):
    ...     command_words()
    ['grow', '--gen', '8']
    """
    return shlex.split(_command.get())[1:]


def made_by(call: str) -> Provenance:
    """Return the provenance of a file that is made now: by the command line that runs, or else by that call of the library."""
    return Provenance(one_line(_command.get() or call))


def call(function: str, *arguments: object, **named: object) -> str:
    """Return a call of a function of `gpu_nim.render` as text.

    >>> call("render", "nim:7", (64, 48))
    "gpu_nim.render.render('nim:7', (64, 48))"
    """
    words = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in named.items())]
    return f"gpu_nim.render.{function}({', '.join(words)})"


def one_line(text: str) -> str:
    r"""Return a text in a line of bounded length that every format holds: what is not printable is written as its escapes.

    >>> print(one_line("render nim:7 -o a\x07.png"))
    render nim:7 -o a\x07.png
    """
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: _LONGEST + 1])
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
