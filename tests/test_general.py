"""The general engine against the definition, published terms, and its own saved states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.backends.numpy import general
from gpu_nim.backends.numpy.general import DenseTable, GeneralEngine, HashTable
from gpu_nim.backends.shared.cells import coordinate_dtype
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule, Symmetry
from tests.helpers import same_rest
from tests.lattices import (
    CUBIC26,
    EDGE,
    FCC,
    POPULATIONS,
    RULE750,
    generations_of,
    literal,
    nim,
    population_terms,
    published,
    rules,
    steps,
)


@pytest.fixture(params=["dense", "hash"])
def table(request, monkeypatch):
    """Both tables of touches."""
    if request.param == "hash":
        monkeypatch.setattr(general, "_DENSE_BYTES", 0)
    return request.param


@settings(deadline=None, max_examples=80)
@given(rule=rules(), generations=st.integers(0, 4), dense=st.sampled_from([0, 1 << 30]))
def test_equals_the_definition(rule, generations, dense):
    generations = min(generations, 6 - rule.dimension)  # the literal growth of a rule with 384 offsets takes long
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(general, "_DENSE_BYTES", dense)
        batch = GeneralEngine(rule, generations).advance(generations, cells=True, section=(0, 1))
    expected = literal(rule, generations)
    assert generations_of(batch) == expected
    assert batch.births.tolist() == [len(cells) for cells in expected]
    assert batch.section.tolist() == [sum(cell[0] == 1 for cell in cells) for cells in expected]
    folded = [rule.symmetry.representative(np.array(cells, np.int64).reshape(-1, rule.dimension)) for cells in expected]
    assert batch.checksums.tolist() == [checksum(cells) for cells in folded]


@pytest.mark.parametrize("entry", POPULATIONS)
def test_published_populations(entry, table):
    terms = population_terms(entry)
    births = GeneralEngine(POPULATIONS[entry], len(terms)).advance(len(terms) - 1).births
    assert np.cumsum(births).tolist() == terms


def test_births_on_one_or_three():
    terms = published("A169707")
    assert np.cumsum(GeneralEngine(RULE750, 100).advance(len(terms) - 1).births).tolist() == terms


def test_known_births(table):
    edge = GeneralEngine(EDGE, 63).advance(63).births
    assert edge[:14].tolist() == [1, 3, 3, 15, 3, 15, 27, 63, 3, 15, 27, 81, 75, 63]
    assert edge[:16].sum() == 826
    assert edge.sum() == 43102
    assert np.cumsum(GeneralEngine(CUBIC26, 7).advance(7).births).tolist() == [1, 27, 35, 187, 195, 347, 427, 1251]


def test_plane_section_of_fcc():
    terms = population_terms("A147552")
    batch = GeneralEngine(FCC, len(terms) - 1).advance(len(terms) - 1, section=(2, 0))
    assert np.cumsum(batch.section).tolist() == terms


# D_3(n) = 3^wt(n) [NF Theorem 19]; D_6 as in the digit matrices' own table.
@pytest.mark.parametrize(
    ("piles", "births"),
    [
        (2, [1, 1, 1, 1, 1, 1, 1, 1]),
        (3, [1, 3, 3, 9, 3, 9, 9, 27]),
        (4, [1, 6, 7, 36, 13, 42, 43, 216]),
        (6, [1, 15, 30, 226, 255, 465, 676, 3420]),
    ],
)
def test_children_of_nim_positions(piles, births, table):
    batch = GeneralEngine(nim(piles), 7).advance(7, cells=True)
    assert batch.births.tolist() == births
    assert not np.bitwise_xor.reduce(batch.cells, axis=1).any()
    assert (batch.cells.sum(axis=1) == np.repeat(2 * np.arange(8), births)).all()


def test_touched_cells_may_be_born_later():
    # (1) is touched by (0) at once, and by (3) only when that is born: births on exactly two touches.
    rule = Rule(1, ((1,), (-2,), (2,)), frozenset({2}), ((0,), (1,)))
    batch = GeneralEngine(rule, 6).advance(6, cells=True)
    assert generations_of(batch) == literal(rule, 6)
    assert batch.births.sum() > 3


@settings(deadline=None, max_examples=40)
@given(rule=rules(), stop=st.integers(-1, 4), more=st.integers(1, 3), dense=st.sampled_from([0, 1 << 30]))
def test_resumes(rule, stop, more, dense):
    whole = GeneralEngine(rule, 9).advance(stop + more, cells=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(general, "_DENSE_BYTES", dense)
        first = GeneralEngine(rule, 7)
        if stop >= 0:
            first.advance(stop)
        engine = GeneralEngine(rule, stop + more, first.state())
    rest = engine.advance(stop + more, cells=True)
    assert rest.first == stop + 1
    same_rest(rest, whole)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 5000), st.integers(1, 9), min_size=1, max_size=300), max_size=8))
def test_tables_add_up(batches):
    dense, hashed, expected = DenseTable(5001), HashTable(bits=3), {}
    for batch in batches:
        keys, counts = np.array(list(batch)), np.array(list(batch.values()), np.uint16)
        for table in (dense, hashed):
            slots, new = table.locate(keys)
            assert new.tolist() == [key not in expected for key in batch]
            table.touches[slots] += counts
        for key, count in batch.items():
            expected[key] = expected.get(key, 0) + count
    for table in (dense, hashed):
        keys, touches = table.entries()
        assert dict(zip(keys.tolist(), touches.tolist(), strict=True)) == expected


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

    GeneralEngine(Rule(2, steps(2, 1), frozenset({1}), ((0, 0),), universe=universe), 4).advance(4)
    assert seen == {np.dtype(np.int64)}


def test_a_box_past_63_bits_is_refused():
    rule = Rule(8, steps(8, 1), frozenset({1}), ((0,) * 8,))
    GeneralEngine(rule, 116)
    with pytest.raises(UsageError, match="63-bit"):
        GeneralEngine(rule, 120)


def test_a_table_past_the_memory_is_refused(monkeypatch):
    engine = GeneralEngine(FCC, 400)
    monkeypatch.setattr(general, "_DENSE_BYTES", 0)
    engine = GeneralEngine(FCC, 400)
    monkeypatch.setattr(general, "host_memory", lambda: 10**6)
    with pytest.raises(InsufficientMemoryError, match="touched cells needs"):
        engine.advance(40)


@pytest.mark.parametrize("to", [-1, 2, 6])
def test_only_later_generations_within_the_plan(to):
    engine = GeneralEngine(EDGE, 5)
    engine.advance(2)
    with pytest.raises(UsageError, match="to must be from 3 to 5"):
        engine.advance(to)


def test_a_section_needs_an_axis():
    with pytest.raises(UsageError, match="axis from 0 to 2"):
        GeneralEngine(EDGE, 5).advance(2, section=(3, 0))


def test_too_many_offsets_are_refused():
    line = Rule(1, tuple((o,) for o in range(1, 2**15 + 1)), frozenset({1}), ((0,),))
    with pytest.raises(UsageError, match="fewer than 32768"):
        GeneralEngine(line, 1)


def test_the_digest_folds_cells_by_the_rules_symmetry():
    plain = Rule(3, EDGE.offsets, EDGE.births, EDGE.seeds, octant=True)
    folded, unfolded = (GeneralEngine(rule, 5).advance(5, cells=True) for rule in (EDGE, plain))
    assert folded.cells.tolist() == unfolded.cells.tolist()
    assert folded.checksums[1:].tolist() != unfolded.checksums[1:].tolist()
    assert Symmetry.PERMUTATIONS.representative(folded.cells[1:4]).tolist() == [[1, 1, 0]] * 3


def test_a_step_past_the_memory_is_refused(monkeypatch):
    engine = GeneralEngine(CUBIC26, 20)
    engine.advance(4)
    monkeypatch.setattr(general, "_FEW_PAIRS", 10)
    monkeypatch.setattr(general, "host_memory", lambda: 1000)
    with pytest.raises(InsufficientMemoryError, match=r"generation 5 needs .* bytes, 1,000 are free"):
        engine.advance(5)
    monkeypatch.undo()
    assert engine.advance(9).checksums.tolist() == GeneralEngine(CUBIC26, 9).advance(9).checksums[5:].tolist()
