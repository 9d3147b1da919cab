"""The backend whose compiled loops are loaded, so that it chooses them however little the work, on three threads."""

from importlib import import_module

import pytest

from gpu_nim.backends.numba import NumbaBackend

pytest.importorskip("numba", reason="numba is not installed")
for _loops in ("engine", "games"):
    import_module(f"gpu_nim.backends.numba.{_loops}")
import_module("gpu_nim.backends.numba.engine")._FEW = 0  # bricks that one thread grows sooner than several do

COMPILED = NumbaBackend(threads=3)
