"""The fast path against the general engine and published terms."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.backends.numpy import exactly_one
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine, required_bytes, supports
from gpu_nim.backends.numpy.general import GeneralEngine
from gpu_nim.backends.shared.domain import Box, domain_box
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule, Symmetry
from tests.helpers import same_batches, same_rest
from tests.lattices import CUBIC26, EDGE, FCC, ONE, POPULATIONS, RULE750, nim, population_terms, rules, steps

FAST = rules(least=2, most=3, births=ONE)


@settings(deadline=None, max_examples=100)
@given(rule=FAST, generations=st.integers(0, 9), more=st.integers(0, 5), axis=st.integers(0, 1), value=st.integers(-2, 2))
def test_equals_the_general_engine(rule, generations, more, axis, value):
    fast, general = (
        engine(rule, generations + more).advance(generations, cells=True, section=(axis, value))
        for engine in (ExactlyOneEngine, GeneralEngine)
    )
    same_batches(fast, general)


@pytest.mark.parametrize("rule", [EDGE, FCC, CUBIC26, *POPULATIONS.values()])
def test_equals_the_general_engine_on_the_lattices_of_the_literature(rule):
    engines = ExactlyOneEngine(rule, 40), GeneralEngine(rule, 40)
    same_batches(*(engine.advance(40, cells=True, section=(0, 2)) for engine in engines))


@settings(deadline=None, max_examples=60)
@given(rule=FAST, block=st.integers(1, 5))
def test_blocks_do_not_show(rule, block):
    whole = ExactlyOneEngine(rule, 7).advance(7, cells=True, section=(0, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactly_one, "_BLOCK", block)
        same_batches(ExactlyOneEngine(rule, 7).advance(7, cells=True, section=(0, 0)), whole)


@settings(deadline=None, max_examples=60)
@given(rule=FAST)
def test_symmetry_only_saves_work(rule):
    plain = replace(rule, symmetry=Symmetry.NONE)
    folded, unfolded = (ExactlyOneEngine(r, 8).advance(8, cells=True, section=(1, -1)) for r in (rule, plain))
    assert folded.births.tolist() == unfolded.births.tolist()
    assert folded.cells.tolist() == unfolded.cells.tolist()
    assert folded.section.tolist() == unfolded.section.tolist()


@settings(deadline=None, max_examples=60)
@given(rule=FAST, last=st.integers(0, 8))
def test_the_box_holds_the_growth(rule, last):
    cells = GeneralEngine(rule, last).advance(last, cells=True).cells
    lower, upper = domain_box(rule, last)
    folded = rule.symmetry.representative(cells)
    assert (folded >= lower).all()
    assert (folded <= upper).all()


@pytest.mark.parametrize("entry", POPULATIONS)
def test_published_populations(backend, entry):
    terms = population_terms(entry)[: None if backend.name == "numpy" else 66]
    births = backend.automaton(POPULATIONS[entry], len(terms)).advance(len(terms) - 1).births
    assert np.cumsum(births).tolist() == terms


def test_plane_section_of_fcc(backend):
    terms = population_terms("A147552")[: None if backend.name == "numpy" else 40]
    batch = backend.automaton(FCC, len(terms) - 1).advance(len(terms) - 1, section=(2, 0))
    assert np.cumsum(batch.section).tolist() == terms


# The figures that the project was planned with, counted by an independent program in C++.
@pytest.mark.larger
def test_edge_to_63(backend):
    births = backend.automaton(EDGE, 63).advance(63).births
    assert births[:14].tolist() == [1, 3, 3, 15, 3, 15, 27, 63, 3, 15, 27, 81, 75, 63]
    assert np.cumsum(births)[[7, 15, 63]].tolist() == [130, 826, 43102]


@pytest.mark.thorough
def test_edge_to_512():
    population = np.cumsum(ExactlyOneEngine(EDGE, 512).advance(512).births)
    assert [int(population[n]) for n in (7, 15, 63, 127, 512)] == [130, 826, 43102, 344062, 22447861]


@pytest.mark.thorough
def test_fcc_to_512():
    population = np.cumsum(ExactlyOneEngine(FCC, 512).advance(512).births)
    assert [int(population[n]) for n in (64, 128, 512)] == [340777, 2742193, 178638361]


@settings(deadline=None, max_examples=80)
@given(
    rule=FAST,
    stop=st.integers(-1, 5),
    more=st.integers(1, 4),
    planned=st.integers(0, 6),
    block=st.sampled_from([1, 7, 99]),
)
def test_resumes(rule, stop, more, planned, block):
    whole = ExactlyOneEngine(rule, stop + more).advance(stop + more, cells=True, section=(0, 0))
    first = ExactlyOneEngine(rule, max(stop, 0) + planned)
    if stop >= 0:
        first.advance(stop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactly_one, "_BLOCK", block)
        rest = ExactlyOneEngine(rule, stop + more, first.state()).advance(stop + more, cells=True, section=(0, 0))
    assert rest.first == stop + 1
    same_rest(rest, whole)


def test_a_state_does_not_change_as_its_engine_goes_on():
    engine = ExactlyOneEngine(EDGE, 20)
    engine.advance(9)
    state = engine.state()
    expected = engine.advance(20, cells=True, section=(0, 0))
    same_batches(ExactlyOneEngine(EDGE, 20, state).advance(20, cells=True, section=(0, 0)), expected)


@pytest.mark.parametrize(
    "rule",
    [RULE750, nim(3), Rule(1, ((1,),), ONE, ((0,),)), Rule(4, steps(4, 1), ONE, ((0,) * 4,))],
    ids=["births", "touches", "one dimension", "four dimensions"],
)
def test_other_rules_are_refused(rule):
    assert not supports(rule)
    with pytest.raises(UsageError, match="rule must have births"):
        ExactlyOneEngine(rule, 5)


def test_a_growth_past_the_memory_is_refused_before_it_starts(monkeypatch):
    needed = required_bytes(FCC, 1024)
    assert 2**27 < needed < 2**28
    monkeypatch.setattr(exactly_one, "host_memory", lambda: needed - 1)
    with pytest.raises(InsufficientMemoryError, match=f"generation 1024 needs {needed:,} bytes"):
        ExactlyOneEngine(FCC, 1024)
    with pytest.raises(InsufficientMemoryError):
        ExactlyOneEngine(FCC, 10**9)


def test_a_step_past_the_plan_asks_for_its_memory(monkeypatch):
    monkeypatch.setattr(exactly_one, "planned_newborns", lambda rule, last, ranks: 50)
    engine, expected = ExactlyOneEngine(EDGE, 40), ExactlyOneEngine(EDGE, 40).advance(40).births
    monkeypatch.setattr(exactly_one, "host_memory", lambda: 10**4)
    with pytest.raises(InsufficientMemoryError, match="free"):
        engine.advance(40)
    done = engine.generation
    assert 0 < done < 31
    monkeypatch.undo()
    assert engine.advance(40).births.tolist() == expected[done + 1 :].tolist()


@pytest.mark.thorough
@pytest.mark.parametrize("rule", [EDGE, FCC, CUBIC26, replace(FCC, symmetry=Symmetry.NONE), POPULATIONS["A130665"]])
def test_memory_is_what_is_planned_for(rule):
    last = 100 if rule.dimension == 3 else 800
    ExactlyOneEngine(rule, 9).advance(9)  # what is imported and cached on the first call is not the growth's
    newborns = GeneralEngine(rule, last).advance(last).births.max() // rule.symmetry.order(rule.dimension)
    tracemalloc.start()
    try:
        ExactlyOneEngine(rule, last).advance(last)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= Box(rule, last).size + exactly_one._NEWBORN_BYTES * max(newborns, 5000)
