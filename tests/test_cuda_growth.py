"""The CUDA engines against NumPy's, the definition, and published terms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim.automata.lattice import Rule, Symmetry
from gpu_nim.backends.cuda import exactly_one
from gpu_nim.backends.cuda.exactly_one import Bricks, device_bytes, supports
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.errors import MemoryRefusal, UsageError
from tests.cuda_host import HostLauncher
from tests.lattices import CUBIC26, EDGE, FCC, NO_SOUTH, ONE, POPULATIONS, RULE750, nim, population_terms, published, rules, steps

FAST = rules(least=2, most=3, births=ONE)
many = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(left, right):
    """Two batches, to the last bit."""
    assert left.first == right.first
    for name in ("births", "checksums", "cells", "section"):
        mine, theirs = getattr(left, name), getattr(right, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            assert mine.dtype == theirs.dtype, name
            assert mine.tolist() == theirs.tolist(), name


class TestExactlyOne:
    engine = staticmethod(exactly_one.ExactlyOneEngine)

    @many
    @given(rule=FAST, generations=st.integers(0, 9), more=st.integers(0, 5), axis=st.integers(0, 1), value=st.integers(-2, 2))
    def test_equals_numpy(self, launcher, rule, generations, more, axis, value):
        engines = self.engine(launcher, rule, generations + more), NumpyExactlyOne(rule, generations + more)
        same(*(engine.advance(generations, cells=True, section=(axis, value)) for engine in engines))
