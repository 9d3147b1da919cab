"""Ranges: every block, limb and thread gives what single values give."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.backends.host_counting import HostCounting, Rows
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import VerificationError

ENGINE = HostCounting(threads=2)


class SmallBlocks(HostCounting):
    """Blocks of 8 indices, so that short ranges have many of them, few of which are multiplied at a time, by threads."""

    threaded_from, wide_values = 16, 48

    def block_bits(self, source: Rows, limbs: int, size: int) -> int:
        return 3


ENGINES = (ENGINE, SmallBlocks(threads=2), SmallBlocks(threads=1))


@functools.cache
def singles(counts: Family, start: int, stop: int) -> list[int]:
    return [counts.value(n) for n in range(start, stop)]


def test_the_bound_is_exact() -> None:
    assert Range(find_family("a", 3), 0, 2**32 - 1, ENGINE).limbs == 1
    assert Range(find_family("a", 3), 0, 2**32, ENGINE).limbs == 2
    assert Range(find_family("D", 3), 0, 2**40, ENGINE).limbs == 1
    assert Range(find_family("D", 3), 0, 2**41, ENGINE).limbs == 2
    assert find_family("D", 100).bound(0, 100) >= max(singles(find_family("D", 100), 0, 100))


STARTS = st.integers(0, 2000) | st.integers(0, 2**70) | st.sampled_from([2**20 - 40, *(2**bits - 30 for bits in (32, 63, 64, 200))])


@given(st.sampled_from([*FAMILIES]), st.integers(1, 10), STARTS, st.integers(1, 300), st.sampled_from(ENGINES))
@settings(max_examples=120, deadline=None)
def test_ranges_equal_single_values(name: str, piles: int, start: int, size: int, engine: HostCounting) -> None:
    counts = find_family(name, piles)
    assert to_integers(Range(counts, start, start + size, engine).values()) == singles(counts, start, start + size)


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray, int, int]:
    """Any table and any rows: (limbs, columns, rows, skip, size)."""
    limbs, dimension = draw(st.integers(1, 5)), draw(st.sampled_from([1, 2, 3, 5, 800]))
    length, blocks = 1 << draw(st.integers(0, 3 if dimension == 800 else 6)), draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    most = [2 ** draw(st.sampled_from([1, 3, 40, 46, 52, 60, 64, 100, 64 * limbs])) - 1 for _ in range(2)]

    def numbers(top: int, *shape: int) -> np.ndarray:
        picks = np.array([0, top, top, top // 3, top - top // 5, 1], object)[random.integers(0, 6, shape)]
        return (picks & (2 ** (64 * limbs) - 1)).astype(np.uint64 if limbs == 1 else object)

    skip = draw(st.integers(0, length * blocks - 1))
    size = draw(st.integers(1, length * blocks - skip))
    return limbs, numbers(most[0], dimension, length), numbers(most[1], blocks, dimension), skip, size


@given(tables(), st.sampled_from(ENGINES), st.sampled_from([1, 7, 2**26]))
@settings(max_examples=200, deadline=None)
def test_any_table_equals_long_integers(product: tuple, engine: HostCounting, modulus: int) -> None:
    limbs, columns, rows, skip, size = product
    expected = (rows.astype(object) @ columns.astype(object)).ravel()[skip : skip + size] & (2 ** (64 * limbs) - 1)
    out = np.full((size, limbs)[:limbs], 77, np.uint64)
    table = engine.table(columns, limbs)
    engine.fill(table, rows, skip, out)
    total, counts = engine.lengths(table, rows, skip, size)
    residues = engine.residues(table, rows, skip, size, modulus)
    assert to_integers(out) == expected.tolist()
    lengths = [value.bit_length() for value in expected]
    assert counts.tolist() == np.bincount(lengths, minlength=64 * limbs + 1).tolist()
    assert total == sum(expected) % 2 ** (64 * limbs)
    assert np.array_equal(residues, np.bincount((expected % modulus).astype(int), minlength=modulus))


@pytest.mark.parametrize("dimension", [1, 7])
def test_tables_of_every_length_of_entries(dimension: int) -> None:
    for bits in range(1, 130):
        columns = np.array([[2**bits - 1, 2**bits // 3]] * dimension, object)
        rows, out = np.array([[2**64 - 1] * dimension], object), np.empty((2, 4), np.uint64)
        ENGINE.fill(ENGINE.table(columns, 4), rows, 0, out)
        assert to_integers(out) == (rows @ columns)[0].tolist()


def test_chunks_tile_a_range_from_anywhere() -> None:
    for first in (100, 101, 517):
        parts = [part.tolist() for part in Range(find_family("D", 4), first, 1000, ENGINE).chunks(64)]
        assert {*map(len, parts[:-1])} == {64}
        assert functools.reduce(operator.iadd, parts, []) == singles(find_family("D", 4), first, 1000)


def test_a_wrong_value_fails_the_sum() -> None:
    counts = find_family("a", 3)
    for start in (10, 2**40):
        values = Range(counts, start, start + 50, ENGINE)
        assert len(list(values.parts())) == 1
        for change in (1 << 40, -1):
            wrong = values.values()
            highest = wrong.reshape(50, -1)[:, -1]
            highest[7] = int(highest[7]) + change
            with pytest.raises(VerificationError, match=f"a_3 sums to .* over {start}:{start + 50}"):
                list(values.checked([wrong]))


def test_lengths_are_those_of_the_values() -> None:
    for start in (3, 2**33):
        values = Range(find_family("D", 5), start, start + 1000, SmallBlocks(threads=1))
        listed = to_integers(values.values())
        total, counts = values.lengths(start + 10, start + 900)
        part = listed[10:900]
        assert total == sum(part) % 2 ** (64 * values.limbs)
        lengths = [value.bit_length() for value in part]
        assert counts.tolist() == [lengths.count(length) for length in range(64 * values.limbs + 1)]


@pytest.mark.nightly
@pytest.mark.parametrize(("piles", "engine"), [(20, ENGINE), (65, SmallBlocks(threads=2)), (129, ENGINE)])
def test_many_piles_and_many_limbs(piles: int, engine: HostCounting) -> None:
    for name in FAMILIES:
        counts = find_family(name, piles)
        values = Range(counts, 950, 1080, engine)
        assert values.limbs > 2
        assert to_integers(values.values()) == singles(counts, 950, 1080)
