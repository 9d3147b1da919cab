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

    @pytest.mark.parametrize("entry", POPULATIONS)
    def test_published_populations(self, launcher, entry):
        terms = population_terms(entry)[:66]
        births = self.engine(launcher, POPULATIONS[entry], len(terms)).advance(len(terms) - 1).births
        assert np.cumsum(births).tolist() == terms

    def test_edge(self, launcher):
        births = self.engine(launcher, EDGE, 63).advance(63).births
        # Counted by an independent frontier in C++ when the project was planned.
        assert births[:14].tolist() == [1, 3, 3, 15, 3, 15, 27, 63, 3, 15, 27, 81, 75, 63]
        population = np.cumsum(births)
        assert [int(population[n]) for n in (7, 15, 63)] == [130, 826, 43102]

    def test_a_section_of_fcc_is_published(self, launcher):
        terms = population_terms("A147552")[:40]
        batch = self.engine(launcher, FCC, len(terms) - 1).advance(len(terms) - 1, section=(2, 0))
        assert np.cumsum(batch.section).tolist() == terms

    @pytest.mark.parametrize("rule", [EDGE, FCC, CUBIC26, NO_SOUTH], ids=["edge", "fcc", "cubic26", "no south"])
    def test_symmetry_only_saves_work(self, launcher, rule):
        folded = self.engine(launcher, rule, 30).advance(30, cells=True)
        plain = self.engine(launcher, replace(rule, symmetry=Symmetry.NONE), 30).advance(30, cells=True)
        assert folded.cells.tolist() == plain.cells.tolist()

    @pytest.mark.parametrize("rule", [EDGE, FCC], ids=["edge", "fcc"])
    def test_equals_numpy_over_many_bricks(self, rule):
        engines = self.engine(HostLauncher("shuffle", 5, "fast"), rule, 140), NumpyExactlyOne(rule, 140)
        same(*(engine.advance(140, section=(0, 64)) for engine in engines))

    @many
    @given(rule=FAST, stop=st.integers(-1, 6), more=st.integers(1, 4), planned=st.integers(0, 6), back=st.booleans())
    def test_resumes_on_either_backend(self, launcher, rule, stop, more, planned, back):
        def cuda(rule, last, state=None):
            return self.engine(launcher, rule, last, state)

        starts, ends = (NumpyExactlyOne, cuda) if back else (cuda, NumpyExactlyOne)
        first = starts(rule, max(stop, 0) + planned)
        if stop >= 0:
            first.advance(stop)
        state = first.state()
        expected = NumpyExactlyOne(rule, stop + more, state).advance(stop + more, cells=True, section=(0, 0))
        same(ends(rule, stop + more, state).advance(stop + more, cells=True, section=(0, 0)), expected)
        same(cuda(rule, stop + more, state).advance(stop + more, cells=True, section=(0, 0)), expected)

    def test_batches_do_not_show(self, launcher):
        whole = self.engine(launcher, FCC, 20).advance(20, cells=True)
        engine = self.engine(launcher, FCC, 20)
        batches = [engine.advance(to, cells=True) for to in (0, 1, 2, 9, 20)]
        assert np.concatenate([batch.checksums for batch in batches]).tolist() == whole.checksums.tolist()
        assert np.concatenate([batch.cells for batch in batches]).tolist() == whole.cells.tolist()

    @many
    @given(rule=FAST, last=st.integers(0, 60))
    def test_bricks_hold_the_growth_and_tell_its_cells_apart(self, rule, last):
        bricks = Bricks(rule, last)
        cells = NumpyExactlyOne(rule, last).advance(min(last, 9), cells=True).cells
        cells = np.unique(rule.symmetry.representative(cells.astype(np.int64)), axis=0)
        brick, row, bit = bricks.split(bricks.locate(cells))
        numbers = bricks.number(brick)
        assert (bricks.place(numbers) == brick).all()
        assert (bricks.cells(bricks.join(brick, row, bit)) == cells).all()
        assert ((0 <= bit) & (bit < 32) & (0 <= row) & (row < 32)).all()
        assert len(np.unique((numbers * 32 + row) * 32 + bit)) == len(cells)

    def test_planned_sizes(self):
        # What the large growths of the catalogue are held to: they fit a card of 139 GiB.
        assert device_bytes(EDGE, 8192) < 12e9
        assert device_bytes(FCC, 16384) < 70e9

    def test_a_growth_past_the_memory_is_refused_before_it_starts(self):
        launcher = HostLauncher()
        launcher.free_memory = lambda: 10**6
        with pytest.raises(MemoryRefusal, match="generation 1024 on .* needs .* bytes, 1,000,000 are free"):
            self.engine(launcher, FCC, 1024)
        with pytest.raises(MemoryRefusal, match="columns of bricks"):
            self.engine(launcher, FCC, 10**7)

    def test_more_active_bricks_than_planned_are_refused(self, launcher, monkeypatch):
        monkeypatch.setattr(Bricks, "capacity", lambda bricks, free: 20)
        engine = self.engine(launcher, FCC, 63)
        births = engine.advance(29).births
        assert births.tolist() == NumpyExactlyOne(FCC, 63).advance(29).births.tolist()
        for to in (50, 63):
            with pytest.raises(MemoryRefusal, match="active bricks, 20 were planned for"):
                engine.advance(to)

    @pytest.mark.parametrize(
        "rule",
        [
            RULE750,
            nim(3),
            Rule(1, ((1,),), ONE, ((0,),)),
            Rule(4, steps(4, 1), ONE, ((0,) * 4,)),
            Rule(3, ((0, 5, 0),), ONE, ((0,) * 3,)),
        ],
        ids=["births", "touches", "one dimension", "four dimensions", "far"],
    )
    def test_other_rules_are_refused(self, launcher, rule):
        assert not supports(rule)
        with pytest.raises(UsageError, match="rule must have births"):
            self.engine(launcher, rule, 5)

    @pytest.mark.parametrize(("to", "section"), [(-1, None), (6, None), (3, (3, 0))])
    def test_generations_and_sections_are_checked(self, launcher, to, section):
        with pytest.raises(UsageError, match="must be"):
            self.engine(launcher, FCC, 5).advance(to, section=section)
