"""NumPy's backend with compiled loops on three threads, however little the work."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

import pytest

from gpu_nim.backends.numpy import NumpyBackend, games

_LOCK, _INSIDE = threading.Lock(), ExitStack()  # ranks on threads begin at the same time, and wait for each other
_within = 0

pytest.importorskip("numba", reason="numba is not installed")
setattr(import_module("gpu_nim.backends.numpy.compiled_engine"), "_FEW", 0)  # noqa: B010


@contextmanager
def compiling() -> Iterator[None]:
    """Inside, all that has compiled loops chooses them."""
    global _within
    with _LOCK:
        if not _within:
            patch = _INSIDE.enter_context(pytest.MonkeyPatch.context())
            for place in ("exactly_one.COMPILED_FROM", "nim.COMPILED_FROM"):
                patch.setattr(f"gpu_nim.backends.numpy.{place}", 0)
            for least in ("_OUTCOMES_COMPILED_FROM", "_GRUNDY_COMPILED_FROM"):
                patch.setattr(games, least, 0)
        _within += 1
    try:
        yield
    finally:
        with _LOCK:
            _within -= 1
            if not _within:
                _INSIDE.close()


class CompiledBackend(NumpyBackend):
    def on_rank(self, communicator):
        return CompiledBackend(communicator, self.threads)

    def engine(self, *args, **kwargs):
        with compiling():
            choice = super().engine(*args, **kwargs)

        def make():
            with compiling():
                return choice.make()

        return choice._replace(make=make)

    @staticmethod
    def wedge_outcomes(*args, **kwargs):
        with compiling():
            return games.wedge_outcomes(*args, **kwargs)

    @staticmethod
    def wedge_grundy(*args, **kwargs):
        with compiling():
            return games.wedge_grundy(*args, **kwargs)
