"""NumPy's backend with compiled loops on three threads, however small the growth."""

import threading

import pytest

from gpu_nim.backends.numpy import NumpyBackend, exactly_one

_ONE = threading.Lock()  # ranks on threads begin at the same time

pytest.importorskip("numba", reason="numba is not installed")


class CompiledBackend(NumpyBackend):
    def on_rank(self, communicator):
        return CompiledBackend(communicator, self.disk, self.threads)

    def automaton(self, *args, **kwargs):
        with _ONE, pytest.MonkeyPatch.context() as patch:
            patch.setattr(exactly_one, "_COMPILED_FROM", 0)
            return super().automaton(*args, **kwargs)
