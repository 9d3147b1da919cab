"""The growth engines of every backend: against the definition, each other, published terms, and what they saved."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends import numba
from gpu_nim.backends.cuda import CudaBackend
from gpu_nim.backends.cuda import exactly_one as cuda_exactly_one
from gpu_nim.backends.cuda import general as cuda_general
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.nim import NimEngine as CudaNim
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.numpy import NumpyBackend, exactly_one, general
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine
from gpu_nim.backends.numpy.general import GeneralEngine, HashTable
from gpu_nim.backends.numpy.nim import NimEngine as NumpyNim
from gpu_nim.backends.shared.brick_grid import supports
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.model.arrays import coordinate_dtype
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import NIM, Rule
from tests.cuda_host import HostLauncher
from tests.helpers import same_batches, same_rest
from tests.lattices import (
    CUBIC8,
    CUBIC26,
    EDGE,
    FCC,
    ONE,
    RULE750,
    SEED3,
    SQUARE4,
    TRIANGULAR,
    generations_of,
    literal,
    nim,
    rules,
    steps,
)

MASKS = 1 << 17  # bytes of tables of a rule, however large the growth
FAST = rules(least=2, most=3, births=ONE)
NUMPY = NumpyBackend()
both_engines = pytest.mark.parametrize("slow", [False, True], ids=["exactly one", "general"])
#: What each kind of engine grows, and how far it is compared.
KINDS = {"exactly one": (FAST, 9), "general": (rules(), 6), "nim": (st.just(NIM), 130)}
every_kind = pytest.mark.parametrize("kind", KINDS)
parts = st.sampled_from([None, 3, 40])
many = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@contextmanager
def cut(part: int | None) -> Iterator[None]:
    """Inside, engines cut their work and what they save into such small parts, and tables begin small."""
    with pytest.MonkeyPatch.context() as patch:
        if part is not None:
            patch.setattr(exactly_one, "_BLOCK", part)
            patch.setattr(general, "_DENSE_BYTES", 0)
            patch.setattr(general, "HashTable", partial(HashTable, bits=3))
            patch.setattr(cuda_exactly_one.ExactlyOneEngine, "saved", part)
            patch.setattr(cuda_general, "_FIRST_BITS", 1)
        yield


# The general engine is held against the definition, and all engines against it.


@settings(deadline=None, max_examples=50)
@given(rule=rules(), generations=st.integers(0, 4), part=parts)
def test_the_general_engine_equals_the_definition(rule, generations, part):
    generations = min(generations, 6 - rule.dimension)  # the literal growth of a rule with 384 offsets takes long
    with cut(part):
        batch = GeneralEngine(rule, generations).advance(generations, cells=True, section=(0, 1))
    expected = literal(rule, generations)
    assert generations_of(batch) == expected
    assert batch.births.tolist() == [len(cells) for cells in expected]
    assert batch.section.tolist() == [sum(cell[0] == 1 for cell in cells) for cells in expected]
    folded = [rule.symmetry.representative(np.array(cells, np.int64).reshape(-1, rule.dimension)) for cells in expected]
    assert batch.checksums.tolist() == [checksum(cells) for cells in folded]


@every_kind
@many
@given(data=st.data(), more=st.integers(0, 40), value=st.integers(-2, 2), part=parts)
def test_every_engine_equals_the_general_one(every_backend, kind, data, more, value, part):
    # What is planned for moves the bricks under the growth, so that it crosses their faces here and there.
    rules_of_kind, furthest = KINDS[kind]
    rule, last = data.draw(rules_of_kind), data.draw(st.integers(0, furthest))
    middle = data.draw(st.integers(0, last))
    wanted = {"cells": True, "section": (data.draw(st.integers(0, rule.dimension - 1)), value)}
    whole = GeneralEngine(rule, last + more)
    with cut(part):
        engine = every_backend.engine(rule, last + more, general=kind == "general").make()
        for to in sorted({middle, last}):
            same_batches(engine.advance(to, **wanted), whole.advance(to, **wanted))


@every_kind
@many
@given(data=st.data(), stop=st.integers(-1, 5), more=st.integers(1, 4), planned=st.integers(0, 6), part=parts, back=st.booleans())
def test_every_engine_resumes_on_either_backend(every_backend, kind, data, stop, more, planned, part, back):
    rule = data.draw(KINDS[kind][0])
    if kind == "nim":  # across the first two words of a row
        stop, more, planned = max(-1, 16 * stop), 16 * more, 16 * planned
    last, slow = stop + more, kind == "general"
    whole = GeneralEngine(rule, last).advance(last, cells=True, section=(0, 0))
    with cut(part):
        starts, ends = (NUMPY, every_backend) if back else (every_backend, NUMPY)
        first = starts.engine(rule, max(stop, 0) + planned, general=slow).make()
        if stop >= 0:
            first.advance(stop)
        state = first.state()
        if stop + 1 < max(stop, 0) + planned:
            first.advance(stop + 1)  # which does not change the state
        for each in (ends, every_backend):
            rest = each.engine(rule, last, state, general=slow).make().advance(last, cells=True, section=(0, 0))
            assert rest.first == stop + 1
            same_rest(rest, whole)


@pytest.mark.parametrize("offset", [(-1, -1, -1), (1, 1, 1), (-1, 1, 0), (0, -1, 1), (1, -1, -1)])
def test_a_line_of_cells_crosses_bricks_at_their_corners(every_backend, offset):
    last = 20 if every_backend.name == "numpy" else 10
    engine = every_backend.engine(Rule(3, (offset,), ONE, SEED3), last).make()
    assert engine.advance(last).births.tolist() == [1] * (last + 1)


@both_engines
@pytest.mark.parametrize(("to", "section"), [(2, None), (6, None), (4, (3, 0))])
def test_generations_and_sections_are_checked(every_backend, slow, to, section):
    engine = every_backend.engine(FCC, 5, general=slow).make()
    engine.advance(2)
    with pytest.raises(UsageError, match=r"to must be from 3 to 5|axis from 0 to 2"):
        engine.advance(to, section=section)


@pytest.mark.parametrize(
    ("rule", "fast"),
    [
        (FCC, True),
        *((rule, False) for rule in (RULE750, nim(3), Rule(1, ((1,),), ONE, ((0,),)), Rule(4, steps(4, 1), ONE, ((0,) * 4,)))),
        (Rule(3, ((0, 5, 0),), ONE, ((0,) * 3,)), False),
    ],
    ids=["fcc", "births", "touches", "one dimension", "four dimensions", "far"],
)
def test_the_fast_path_is_taken_where_it_applies(every_backend, rule, fast):
    kinds = [type(every_backend.engine(rule, 5, general=slow).make()).__name__ for slow in (False, True)]
    fastest = "CompiledEngine" if type(every_backend) is not NumpyBackend and every_backend.name == "numpy" else "ExactlyOneEngine"
    assert kinds == [fastest if fast else "GeneralEngine", "GeneralEngine"]


def test_states_in_bricks_that_no_engine_takes_are_refused(every_backend):
    far = Rule(3, ((0, 5, 0),), ONE, SEED3)
    with pytest.raises(UsageError, match="in which this rule is not grown"):
        every_backend.engine(far, 5, ExactlyOneEngine(Bricks(far, 5)).state())


# Bricks


@many
@given(rule=FAST.filter(supports), last=st.integers(0, 60), ranks=st.integers(1, 3))
def test_bricks_hold_the_growth_and_tell_its_cells_apart(rule, last, ranks):
    to = min(last, 9)
    cells = rule.symmetry.representatives(GeneralEngine(rule, to).advance(to, cells=True).cells.astype(np.int64))
    owners = np.zeros(len(cells), np.int64)
    for rank in range(ranks):
        bricks = Bricks(rule, last, rank, ranks)
        at, place = bricks.split(cells)
        assert (bricks.cells(at, place) == cells).all()
        found, words = bricks.words_of(cells)
        assert sorted(bricks.cells_of(found, words).tolist()) == sorted(cells.tolist())
        own = bricks.owns(at)
        number = bricks.number(at[own])
        assert (bricks.position(number) == at[own]).all()
        assert ((number >= 0) & (number < bricks.count)).all()
        assert len(np.unique(number * len(bricks.site) + place[own])) == own.sum()
        owners += own
    assert (owners == 1).all()


def test_bricks_fit_the_domain():
    # That of edge has 5/72 n^3 cells: a sixth of the cells of even sum with coordinates up to n and a sum up to 2 n.
    assert 256 * Bricks(EDGE, 1024).count < 1.1 * 5 / 72 * 1024**3


@pytest.mark.parametrize("rule", [EDGE, FCC, CUBIC26, TRIANGULAR, SQUARE4, CUBIC8])
def test_compiled_engines_take_no_more_memory_than_planned(rule):
    pytest.importorskip("numba", reason="numba is not installed")
    from gpu_nim.backends.numba.engine import CompiledEngine

    bricks = Bricks(rule, 255)
    CompiledEngine(bricks).advance(1)  # which loads the loops
    bricks = Bricks(rule, 255)
    tracemalloc.start()
    try:
        engine = CompiledEngine(bricks)
        engine.advance(255)
        # Of arrays alone: the headers that numba makes of them in threads are freed when it pleases.
        arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)])
    finally:
        tracemalloc.stop()
    taken = sum(trace.size for trace in arrays.traces)
    assert taken <= numba.required_bytes(bricks) + MASKS


# NumPy's engines


def test_states_have_the_smallest_dtype():
    engine = GeneralEngine(EDGE, 5)
    engine.advance(2)
    assert engine.state()["newborns"].dtype == engine.state()["touched"].dtype == np.int8
    names = [coordinate_dtype((0,), (high,)).name for high in (127, 128, 2**15, 2**31)]
    assert names == ["int8", "int16", "int32", "int64"]


def test_predicates_are_asked_in_64_bits():
    seen = set()

    def universe(cells):
        seen.add(cells.dtype)
        return 2**40 * cells[:, 0] >= 0

    GeneralEngine(Rule(2, steps(2, 1), ONE, ((0, 0),), universe=universe), 4).advance(4)
    assert seen == {np.dtype(np.int64)}


# CUDA's engines


@pytest.mark.parametrize(
    "rule",
    [FCC, *(pytest.param(rule, marks=[pytest.mark.nightly, pytest.mark.larger]) for rule in (CUBIC26, TRIANGULAR))],
    ids=["fcc", "cubic26", "triangular"],
)
@pytest.mark.cuda_host
def test_kernels_compiled_for_one_rule(rule):
    """Those of any rule are what the other tests run."""
    launcher = HostLauncher(specialise=True)
    engine, numpy = cuda_exactly_one.ExactlyOneEngine(launcher, DeviceBricks(rule, 40)), ExactlyOneEngine(Bricks(rule, 40))
    same_batches(*(each.advance(12, cells=True, section=(1, 1)) for each in (engine, numpy)))
    restored = cuda_exactly_one.ExactlyOneEngine(launcher, DeviceBricks(rule, 40), engine.state())
    same_batches(*(each.advance(15) for each in (restored, numpy)))


def test_planned_sizes():
    # What the large growths of the catalogue are held to: they fit a card of 139 GiB.
    assert DeviceBricks(EDGE, 8192).device_bytes < 12e9
    assert DeviceBricks(FCC, 16384).device_bytes < 70e9


@pytest.mark.parametrize(
    ("rule", "last", "words"),
    [
        (FCC, 1024, r"generation 1024 on .* needs .*MiB, 976.5KiB are free"),
        (Rule(2, ((1, 0), (0, 1)), ONE, ((0, 0), (2**27, 0))), 5, "spans 8,388,609 bricks along an axis, more than the 2,097,152"),
        (FCC, 10**6, "generation 1,000,000 is beyond [0-9,]*, the largest that this engine can index"),
    ],
)
def test_a_growth_past_the_device_is_refused_before_it_starts(rule, last, words):
    launcher = HostLauncher()
    launcher.free_memory = lambda: 10**6
    backend = CudaBackend(launcher)

    def begin():
        backend.engine(rule, last)  # what cannot be planned; a growth may take the general engine then
        GrowthProcess(rule, last, backend).begin()

    with pytest.raises(InsufficientMemoryError, match=words):
        begin()


def test_more_active_bricks_than_planned_are_refused(launcher):
    class Few(DeviceBricks):
        def capacity(self, free):
            return 9

    engine = cuda_exactly_one.ExactlyOneEngine(launcher, Few(FCC, 31))
    assert engine.advance(13).births.tolist() == ExactlyOneEngine(Bricks(FCC, 31)).advance(13).births.tolist()
    for to in (20, 31):
        with pytest.raises(InsufficientMemoryError, match="active bricks, 9 were planned for"):
            engine.advance(to)


def test_what_the_general_kernels_do_not_take_is_refused(launcher):
    with pytest.raises(UsageError, match="63-bit keys, got 2097152 in 3 dimensions"):
        cuda_general.GeneralEngine(launcher, FCC, 2**21)


def test_tiles_without_a_cell_are_neither_read_nor_written(launcher):
    """Where no cell comes or goes words may hold anything: they are never looked at, and stay what they are."""
    done, to, poison, poisoned, bind = 512, 520, 0xDEAD, {}, launcher.bind
    numpy, constants = NumpyNim(to), read_constants("nim.cu")
    numpy.advance(done)
    state = numpy.state()
    places = state["places"].astype(np.int64)
    tile = np.array([constants["OWNED"], constants["WORDS"]])
    # A tile's cells come from it and from the tiles above and to the left; the words of all of these are read with it.
    near = {tuple(each) for filled in places // tile for each in (filled + np.argwhere(np.ones((3, 3))) - [1, 1]).tolist()}
    shape = (to + 1, to // 64 + 1)
    far = np.array([tuple(place) not in near for place in (np.argwhere(np.ones(shape)) // tile).tolist()])
    assert far.any()

    def binding(kernel, args, **more):
        poisoned.update({name: args[name] for name in ("from", "to")})
        return bind(kernel, args, **more)

    launcher.bind = binding
    engine = CudaNim(launcher, to, state)
    for words in poisoned.values():
        values = to_host(words)
        values[far] = poison
        words.set(values)
    same_batches(engine.advance(to), numpy.advance(to))
    for words in poisoned.values():
        assert (to_host(words)[far] == poison).all()
