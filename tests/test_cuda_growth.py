"""The CUDA engines against NumPy's, the definition, and published terms."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.cuda import CudaBackend, exactly_one, general
from gpu_nim.backends.cuda.bricks import Bricks
from gpu_nim.backends.cuda.exactly_one import device_bytes, supports
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.nim import NimEngine
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.backends.numpy.general import GeneralEngine as NumpyGeneral
from gpu_nim.backends.numpy.nim import NimEngine as NumpyNim
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule, Symmetry
from tests.cuda_host import HostLauncher
from tests.helpers import same_batches, same_rest
from tests.lattices import (
    CUBIC26,
    EDGE,
    FCC,
    HEXAGON,
    NO_SOUTH,
    ONE,
    RULE750,
    TRIANGULAR,
    generations_of,
    literal,
    nim,
    rules,
    steps,
)

FAST = rules(least=2, most=3, births=ONE)
many = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


# CUDA's engine, NumPy's, the rules that they grow, and how many generations of any of them.
both_engines = pytest.mark.parametrize(
    ("cuda", "numpy", "grown", "most"),
    [(exactly_one.ExactlyOneEngine, NumpyExactlyOne, FAST, 9), (general.GeneralEngine, NumpyGeneral, rules(), 6)],
    ids=["exactly one", "general"],
)


@both_engines
@many
@given(data=st.data(), more=st.integers(0, 40), value=st.integers(-2, 2))
def test_equals_numpy(launcher, cuda, numpy, grown, most, data, more, value):
    # What is planned for moves the bricks under the growth, so that it crosses their faces here and there.
    rule, generations = data.draw(grown), data.draw(st.integers(0, most))
    section = data.draw(st.integers(0, rule.dimension - 1)), value
    engines = cuda(launcher, rule, generations + more), numpy(rule, generations + more)
    same_batches(*(engine.advance(generations, cells=True, section=section) for engine in engines))


@both_engines
@many
@given(data=st.data(), stop=st.integers(-1, 4), more=st.integers(1, 3), planned=st.integers(0, 5), back=st.booleans())
def test_resumes_on_either_backend(launcher, cuda, numpy, grown, most, data, stop, more, planned, back):
    rule, on_device = data.draw(grown), partial(cuda, launcher)
    whole = numpy(rule, stop + more).advance(stop + more, cells=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactly_one, "_SAVED", 3)
        starts, ends = (numpy, on_device) if back else (on_device, numpy)
        first = starts(rule, max(stop, 0) + planned)
        if stop >= 0:
            first.advance(stop)
        for engine in (ends, on_device):
            rest = engine(rule, stop + more, first.state()).advance(stop + more, cells=True)
            assert rest.first == stop + 1
            same_rest(rest, whole)


@pytest.mark.parametrize("engine", [exactly_one.ExactlyOneEngine, general.GeneralEngine])
@pytest.mark.parametrize(("to", "section"), [(-1, None), (6, None), (3, (3, 0))])
def test_generations_and_sections_are_checked(launcher, engine, to, section):
    with pytest.raises(UsageError, match="must be"):
        engine(launcher, FCC, 5).advance(to, section=section)


class TestExactlyOne:
    engine = staticmethod(exactly_one.ExactlyOneEngine)

    @pytest.mark.larger
    @pytest.mark.parametrize("rule", [EDGE, FCC, CUBIC26, NO_SOUTH], ids=["edge", "fcc", "cubic26", "no south"])
    def test_symmetry_only_saves_work(self, launcher, rule):
        folded = self.engine(launcher, rule, 30).advance(30, cells=True)
        plain = self.engine(launcher, replace(rule, symmetry=Symmetry.NONE), 30).advance(30, cells=True)
        assert folded.cells.tolist() == plain.cells.tolist()

    @pytest.mark.parametrize("rule", [EDGE, FCC], ids=["edge", "fcc"])
    @pytest.mark.parametrize("specialise", [False, True], ids=["any rule", "this rule"])
    @pytest.mark.thorough
    def test_equals_numpy_over_many_bricks(self, rule, specialise):
        launcher = HostLauncher("shuffle", 5, "fast", specialise=specialise)
        engines = self.engine(launcher, rule, 140), NumpyExactlyOne(rule, 140)
        same_batches(*(engine.advance(140, section=(0, 64)) for engine in engines))

    @pytest.mark.parametrize(
        "rule",
        [FCC, *(pytest.param(rule, marks=[pytest.mark.slow, pytest.mark.larger]) for rule in (CUBIC26, TRIANGULAR))],
        ids=["fcc", "cubic26", "triangular"],
    )
    @pytest.mark.cuda_host
    def test_kernels_compiled_for_one_rule(self, rule):
        """Those of any rule are what the other tests run."""
        launchers = HostLauncher(specialise=True), HostLauncher()
        engines = [self.engine(launcher, rule, 40) for launcher in launchers]
        same_batches(*(engine.advance(12, cells=True, section=(1, 1)) for engine in engines))
        restored = [self.engine(launcher, rule, 40, engine.state()) for launcher, engine in zip(launchers, engines, strict=True)]
        same_batches(*(engine.advance(15) for engine in restored))

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
        assert ((bit >= 0) & (bit < 32) & (row >= 0) & (row < 32)).all()
        assert len(np.unique((numbers * 32 + row) * 32 + bit)) == len(cells)

    def test_planned_sizes(self):
        # What the large growths of the catalogue are held to: they fit a card of 139 GiB.
        assert device_bytes(EDGE, 8192) < 12e9
        assert device_bytes(FCC, 16384) < 70e9

    def test_a_growth_past_the_memory_is_refused_before_it_starts(self):
        launcher = HostLauncher()
        launcher.free_memory = lambda: 10**6
        with pytest.raises(InsufficientMemoryError, match=r"generation 1024 on .* needs .* bytes, 1,000,000 are free"):
            self.engine(launcher, FCC, 1024)
        far = Rule(2, ((1, 0), (0, 1)), frozenset({1}), ((0, 0), (0, 2**27)))
        with pytest.raises(InsufficientMemoryError, match="spans 4,194,305 bricks along an axis, more than the 2,097,152"):
            self.engine(launcher, far, 5)
        with pytest.raises(InsufficientMemoryError, match="columns of bricks"):
            self.engine(launcher, FCC, 10**7)

    def test_more_active_bricks_than_planned_are_refused(self, launcher, monkeypatch):
        monkeypatch.setattr(Bricks, "capacity", lambda bricks, free: 8)
        engine = self.engine(launcher, FCC, 31)
        births = engine.advance(13).births
        assert births.tolist() == NumpyExactlyOne(FCC, 31).advance(13).births.tolist()
        for to in (20, 31):
            with pytest.raises(InsufficientMemoryError, match="active bricks, 8 were planned for"):
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


class TestGeneral:
    engine = staticmethod(general.GeneralEngine)

    @pytest.mark.parametrize(
        "rule",
        [
            RULE750,
            TRIANGULAR,
            Rule(2, steps(2, 1, 2), frozenset({2}), ((0, 0), (0, 1))),
            Rule(2, HEXAGON, frozenset({1, 3}), ((0, 0), (3, 1), (-2, 0))),
            Rule(3, steps(3, 1), frozenset({1, 4}), ((0, 0, 0), (1, 1, 0)), octant=True),
            Rule(3, steps(3, 2), ONE, ((0, 0, 0), (0, 3, 1))),
            Rule(1, ((1,), (-1,), (3,)), frozenset({1, 2}), ((0,),)),
            nim(4),
        ],
        ids=["rule 750", "triangular", "births 2", "hexagon, births 1 3", "octant", "asymmetric", "line", "nim-4"],
    )
    def test_equals_the_definition(self, launcher, rule):
        batch = self.engine(launcher, rule, 7).advance(7, cells=True)
        assert generations_of(batch) == literal(rule, 7)

    def test_nim_in_eight_dimensions(self, launcher):
        # D_8(1) = C(8, 2) [NF Theorem 19]: the P-positions of total 2 have two piles of 1.
        births = self.engine(launcher, nim(8), 3).advance(3).births
        cells = np.indices((4,) * 8).reshape(8, -1)
        even = cells[:, np.bitwise_xor.reduce(cells, axis=0) == 0].sum(axis=0)
        assert births.tolist() == [1, 28, *np.bincount(even)[[4, 6]].tolist()]

    def test_the_table_grows(self, launcher, monkeypatch):
        monkeypatch.setattr(general, "_FIRST_BITS", 1)
        batch = self.engine(launcher, FCC, 20).advance(20)
        assert batch.checksums.tolist() == NumpyGeneral(FCC, 20).advance(20).checksums.tolist()

    def test_a_table_past_the_memory_is_refused(self, launcher, monkeypatch):
        engine = self.engine(launcher, FCC, 64)
        monkeypatch.setattr(type(launcher), "free_memory", lambda self: 200_000)
        with pytest.raises(InsufficientMemoryError, match=r"touched cells needs .* bytes, 200,000 are free"):
            engine.advance(64)
        assert 0 < engine.generation < 64
        monkeypatch.undo()
        done = engine.generation
        rest = engine.advance(done + 3)
        assert rest.births.tolist() == NumpyGeneral(FCC, done + 3).advance(done + 3).births[done + 1 :].tolist()

    def test_a_state_of_the_fast_path_is_refused(self, launcher):
        state = NumpyExactlyOne(FCC, 5).state()
        with pytest.raises(UsageError, match=r"state must hold touches, .* got generation, newborns, last, layers, sealed"):
            self.engine(launcher, FCC, 5, state)

    def test_keys_past_63_bits_are_refused(self, launcher):
        with pytest.raises(UsageError, match="63-bit keys, got 2097152 in 3 dimensions"):
            self.engine(launcher, FCC, 2**21)


@many
@given(rule=FAST, generations=st.integers(0, 12))
def test_fast_equals_general(launcher, rule, generations):
    engines = (engine(launcher, rule, generations) for engine in (exactly_one.ExactlyOneEngine, general.GeneralEngine))
    same_batches(*(engine.advance(generations, cells=True, section=(1, 1)) for engine in engines))


@pytest.mark.parametrize(
    ("rule", "general", "engine"),
    [
        (FCC, False, exactly_one.ExactlyOneEngine),
        (FCC, True, general.GeneralEngine),
        (RULE750, False, general.GeneralEngine),
    ],
)
def test_the_backend_takes_the_fast_path_where_it_applies(rule, general, engine):
    assert type(CudaBackend(HostLauncher()).automaton(rule, 5, general=general)) is engine


class TestNim:
    def test_tiles_without_a_cell_are_neither_read_nor_written(self, launcher):
        """Where no cell comes or goes words may hold anything: they are never looked at, and stay what they are."""
        done, to, poison = 512, 520, 0xDEAD
        engine, numpy = NimEngine(launcher, to), NumpyNim(to)
        engine.advance(done)
        numpy.advance(done)
        shape, constants = (engine._rows, engine._row_words), read_constants("nim.cu")
        tile = np.arange(shape[0])[:, None] // constants["OWNED"], np.arange(shape[1])[None, :] // constants["WORDS"]
        now, spare = engine._planes
        filled = to_host(now.filled).reshape(-1, int(tile[1].max()) + 1) != 0
        holding = np.zeros_like(filled)
        np.logical_or.at(holding, tile, to_host(now.words).reshape(shape) != 0)
        assert filled.tolist() == holding.tolist()
        # A tile's cells come from it and from the tiles above and to the left; the words of all of these are read with it.
        growing = np.pad(filled, ((1, 1), (1, 1)))
        growing = growing[1:, 1:] | growing[:-1, 1:] | growing[1:, :-1] | growing[:-1, :-1]
        read = growing[1:, 1:] | growing[:-1, 1:] | growing[1:, :-1] | growing[:-1, :-1]
        emptied = to_host(spare.filled).reshape(filled.shape) != 0  # the cells of an earlier generation are wiped out
        far = ~(read | emptied)[tile].reshape(-1)
        assert far.any()
        for plane in (now.words, spare.words):
            plane[launcher.xp.asarray(np.flatnonzero(far))] = poison
        same_batches(engine.advance(to), numpy.advance(to))
        for plane in (now.words, spare.words):
            assert (to_host(plane)[far] == poison).all()
