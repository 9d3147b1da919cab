"""Helpers of several test files: the command line within this process and as a new one, faults, comparisons, and P-positions."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from io import StringIO
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np
from click import Context
from click.testing import CliRunner, Result

from gpu_nim.backends.interface import Batch
from gpu_nim.cli import main

_T = TypeVar("_T")

CHECKOUT = Path(__file__).parents[1]
#: Seconds after which what a test waits for is taken to have failed: a busy machine needs a minute for what is a second's work.
TIMEOUT = 300
ON_NUMPY = ("--backend", "numpy")


def beside(file: str | Path) -> dict[str, Any]:
    """Return the data of a test file, from the file beside it that ends in .toml."""
    return tomllib.loads(Path(file).with_suffix(".toml").read_text(encoding="utf-8"))


class Terminal(StringIO):
    """A stream as stdout and stderr are where somebody looks."""

    def isatty(self) -> bool:
        return True


def run(*words: object, text: str | bytes | None = None) -> Result:
    """Run gpunim within this process; `text` is its input."""
    return CliRunner().invoke(main, [*map(str, words)], input=text)


def printed(*words: object) -> str:
    """Return the stdout of a command that succeeds."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def calls(work: Callable[[], object]) -> Counter[str]:
    """How often each function of Python is called during some work."""
    profile = Profile(builtins=False)
    profile.runcall(work)
    found = Counter[str]()
    for entry in profile.getstats():
        found[entry.code.co_qualname] += entry.callcount
    return found


def facts(*words: object, status: int = 0) -> dict[str, Any]:
    """Return the one line of JSON of a command that ends with this exit status."""
    result = run(*words, "--json")
    assert result.exit_code == status, result.output
    assert result.stdout.count("\n") == 1
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def refused(*words: object, status: int | tuple[int, ...] = 2) -> str:
    """Return the one line on stderr of a command that fails with this exit status, or one of these; 2 is wrong use."""
    result = run(*words)
    assert result.exit_code in (status if isinstance(status, tuple) else (status,)), result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def option_names(command: str) -> set[str]:
    """Return the names of a command's arguments and long options, on the command line and as parameters, with underscores."""
    context = Context(main)
    found = main.get_command(context, command)
    assert found is not None
    names = {name for each in found.get_params(context) for name in (f"--{each.name}", *each.opts)}
    return {name[2:].replace("-", "_") for name in names if name.startswith("--")} - {"_click_default_help"}


#: A program that runs the command lines of a list in JSON, and prints of each its exit status, stdout and stderr.
ANSWERS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from gpu_nim.cli import main
for words in json.load(sys.stdin):
    with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
        try:
            main(words, prog_name="gpunim")
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, output.getvalue(), errors.getvalue()]))
"""


def gpunim(*words: object) -> list[str]:
    """Return the command line that runs gpunim as a process."""
    return [sys.executable, "-m", "gpu_nim", *map(str, words)]


def ended(command: list[str], env: dict[str, str] | None = None, **more: Any) -> tuple[int, str, str]:
    """Run a process: its exit status, stdout and stderr. Python finds this checkout; `env` is added to the environment."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run(command, text=True, check=False, env=environment, **streams)
    return done.returncode, done.stdout, done.stderr


def executable(path: Path, script: str) -> Path:
    """Write a program of the shell, and return its path."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def wait_for(happened: Callable[[], _T], what: object, timeout: float = TIMEOUT) -> _T:
    """Return the value of `happened` once it is true; fail if it stays false for this many seconds."""
    end = time.monotonic() + timeout
    while not (result := happened()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
    return result


def interrupt(now: bool = True) -> None:
    """Do what Ctrl-C does, if it is time."""
    if now:
        raise KeyboardInterrupt


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Interrupt the block as Ctrl-C does: some lines ask for more work than anybody has time for."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """As on a disk that is full: longer files cannot be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def damage(choose: Random, path: Path) -> str:
    """Truncate a file, or one in a folder, or change one bit in it, and say what was done."""
    victim = choose.choice(sorted(each for each in (path, *path.rglob("*")) if each.is_file() and each.stat().st_size))
    content = bytearray(victim.read_bytes())
    at, cut = choose.choice((choose.randrange(len(content)), choose.randrange(min(len(content), 128)))), choose.random() < 0.4
    if cut:
        del content[at:]
    else:
        content[at] ^= 1 << choose.randrange(8)
    victim.unlink()  # which may have two names
    victim.write_bytes(content)
    return f"{victim.name} in {victim.parent} {'cut' if cut else 'flipped'} at {at}"


def same_batches(left: Batch, right: Batch) -> None:
    """Assert that two batches are equal to the last bit, dtypes included."""
    assert left.first == right.first
    for name in ("births", "checksums", "cells", "section"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name, strict=True)


def same_rest(rest: Batch, whole: Batch) -> None:
    """Assert that a batch is another one's from its first generation on."""
    done = rest.first - whole.first
    parts = {name: None if (array := getattr(whole, name)) is None else array[done:] for name in ("births", "checksums", "section")}
    cells = None if whole.cells is None else whole.cells[int(whole.births[:done].sum()) :]
    same_batches(rest, Batch(rest.first, **parts, cells=cells))


def p_positions(below: int) -> list[tuple[int, int, int]]:
    """Return the P-positions (a, b, c) of Nim with a and b below a limit, by Bouton's theorem, in lexicographic order."""
    return [(a, b, a ^ b) for a, b in product(range(below), repeat=2)]


def mix64(h: int) -> int:
    """Return the finalizer of splitmix64, as its definition reads."""
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
    h = (h ^ h >> 27) * 0x94D049BB133111EB & 2**64 - 1
    return h ^ h >> 31
