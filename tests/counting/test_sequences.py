"""Values, ranges and reductions of sequences: two methods for each, and every block, limb and thread."""

import functools
import itertools
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu_nim.backends.host_counting import HostCounting, Lengths, Rows
from gpu_nim.counting.digit_matrices import DigitProduct, by_total, up_to_total
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.counting.reductions import Reduction, ValueScan, length_counts, record_values, reduce_range, residue_counts, scans
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.errors import VerificationError
from gpu_nim.papers.nim_fractals_5_2_to_5_6 import by_recursion

# Single values: two methods for each sequence that must agree


PILES = st.integers(1, 40)
INDEX = st.one_of(st.integers(0, 300), st.integers(0, 10**12), st.integers(0, 2**200))


@example(4, 7**800)
@example(5, 7**800)
@example(5, 2**64 - 1)
@example(3, 2**64)
@example(999, 321)
@given(PILES, INDEX)
@settings(max_examples=60, deadline=None)
def test_digit_matrices_and_printed_recursions_agree(piles: int, n: int) -> None:
    assert by_total(piles).value(n) == by_recursion("D", piles, n)
    assert up_to_total(piles).value(n) == by_recursion("A", piles, n)


def test_a_thousand_piles() -> None:
    assert find_family("D", 1000).value(1) == 499500
    assert find_family("a", 1000).value(2**64 - 1) == 2 ** (64 * 999)


@pytest.mark.parametrize("product", [by_total(3), by_total(5), up_to_total(4)])
def test_long_indices_by_products_of_matrices(product: DigitProduct) -> None:
    n = 3**9000 + 2**16500  # dozens of times the digits that are taken one by one
    assert product.value(n) == product.state(n)[0]


@pytest.mark.parametrize(("name", "piles", "n"), [("D", 40, 10**18), ("A", 8, 10**9), ("d", 20, 10**400), ("a", 30, 10**400)])
def test_a_value_tells_how_far_it_has_come(name: str, piles: int, n: int) -> None:
    told: list[tuple[str, int, int]] = []
    assert find_family(name, piles).value(n, lambda *step: told.append(step)) == find_family(name, piles).value(n)
    assert len(told) > 1
    assert all(0 <= done < total for _, done, total in told)


# Ranges: every block, limb and thread gives what single values give


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


Product = tuple[int, np.ndarray, np.ndarray, int, int]


@st.composite
def products(draw: st.DrawFn, dimensions: Sequence[int] = range(1, 10), most_limbs: int = 2) -> Product:
    """Any table and any rows, nothing proven about their values: (limbs, columns, rows, skip, size)."""
    limbs, dimension = draw(st.integers(1, most_limbs)), draw(st.sampled_from(dimensions))
    length, blocks = 1 << draw(st.integers(1, 3 if dimension == 800 else 6)), draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tops = [2 ** draw(st.sampled_from([0, 1, 2, 40, 46, 52, 60, 64, 100, 64 * limbs])) - 1 for _ in range(2)]

    def numbers(top: int, *shape: int) -> np.ndarray:
        # Few different ones, so that there are ties; the ends of the range among them.
        picks = np.array([0, min(1, top), top, top // 3, top - top // 5, (top + 1) // 2], object)[random.integers(0, 6, shape)]
        return (picks & (2 ** (64 * limbs) - 1)).astype(np.uint64 if limbs == 1 else object)

    skip = draw(st.integers(0, length * blocks - 1))
    size = draw(st.integers(1, length * blocks - skip))
    return limbs, numbers(tops[0], dimension, length), numbers(tops[1], blocks, dimension), skip, size


def exact(product: Product) -> list[int]:
    """The values of a product, modulo 2^64 for each limb, in Python integers."""
    limbs, columns, rows, skip, size = product
    values = rows.astype(object) @ columns.astype(object)
    return (values.ravel()[skip : skip + size] & (2 ** (64 * limbs) - 1)).tolist()


def check_product(engine: Any, product: Product, modulus: int) -> None:
    """Compare what an engine makes and counts of a product's values with the values themselves."""
    limbs, columns, rows, skip, size = product
    expected, out = exact(product), np.full((size, limbs)[:limbs], 77, np.uint64)
    table = engine.table(columns, limbs)
    engine.fill(table, rows, skip, out)
    assert to_integers(out) == expected
    total, counts = engine.lengths(table, rows, skip, size)
    assert total == sum(expected) % 2 ** (64 * limbs)
    assert counts.tolist() == np.bincount([value.bit_length() for value in expected], minlength=64 * limbs + 1).tolist()
    residues = engine.residues(table, rows, skip, size, modulus)
    assert np.array_equal(residues, np.bincount([value % modulus for value in expected], minlength=modulus))


@given(products((1, 2, 3, 5, 800), most_limbs=5), st.sampled_from(ENGINES), st.sampled_from([1, 7, 2**26]))
@settings(max_examples=200, deadline=None)
def test_any_table_equals_long_integers(product: Product, engine: HostCounting, modulus: int) -> None:
    check_product(engine, product, modulus)


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


# Reductions against the values themselves, and over ranges that are too long to visit


def reduced(counts: Family, start: int, stop: int, *names: str) -> list[object]:
    return [r.value for r in reduce_range(Range(counts, start, stop, ENGINE), [Reduction.parse(name) for name in names])]


SHORT = st.integers(0, 500) | st.just(2**40)


@given(st.sampled_from([*FAMILIES]), st.integers(1, 8), SHORT, st.integers(1, 200), st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_reductions_are_those_of_the_values(name: str, piles: int, start: int, size: int, modulus: int) -> None:
    counts, stop = find_family(name, piles), start + size
    values = [counts.value(n) for n in range(start, stop)]
    names = ("sum", "max", "argmax", "min", "argmin", "histogram", f"residues:{modulus}")
    found = reduced(counts, start, stop, *names)
    assert found == [
        sum(values),
        max(values),
        start + values.index(max(values)),
        min(values),
        start + values.index(min(values)),
        dict(sorted(Counter(value.bit_length() for value in values).items())),
        dict(sorted(Counter(value % modulus for value in values).items())),
    ]
    for name, by_digits in zip(names[-2:], found[-2:], strict=True):  # and by visiting every value
        scan = ValueScan(counts, start, stop, Reduction.parse(name), ENGINE)
        assert scan.combine(map(scan.do, scan.chunks(64))) == by_digits
    largest = -1
    records = []
    for n, value in enumerate(values, start):
        if value > largest:
            largest = value
            records.append((n, value))
    assert reduced(counts, start, stop, "records") == [records]


def test_a_million_million_indices() -> None:
    stop = 10**12
    counts = find_family("D", 3)
    assert reduced(counts, 0, stop, "sum") == [find_family("A", 3).value(stop - 1)]
    assert reduced(counts, 0, stop, "max", "argmax", "min", "argmin") == [3**39, 2**39 - 1, 1, 0]
    # 3^w has an own number of binary digits for each w, and below 2^39 there are C(39, w) indices of weight w.
    histogram = length_counts(counts, 0, 2**39)
    assert histogram is not None
    assert histogram[(3**20).bit_length()] == 68923264410
    assert sum(histogram.values()) == 2**39
    assert scans(Range(counts, 0, stop, ENGINE), [Reduction("residues", 10)]) == []
    records = record_values(counts, 0, stop, 1000)
    assert records == [(2**m - 1, 3**m) for m in range(40)]


def test_residues_past_every_machine_word() -> None:
    residues = residue_counts(find_family("D", 4), 0, 2**100, 5)
    assert residues is not None
    assert sum(residues.values()) == 2**100


def test_what_must_be_visited_is_said_before() -> None:
    def visiting(name: str, piles: int, *wanted: Reduction) -> list[Reduction]:
        return [scan.reduction for scan in scans(Range(find_family(name, piles), 0, 10**12, ENGINE), wanted)]

    histogram, residues = Reduction("histogram"), Reduction("residues", 10**6)
    assert visiting("D", 4, histogram, Reduction("max")) == [histogram]
    assert visiting("D", 7, residues) == [residues]
    assert visiting("a", 4, histogram) == []


def test_a_slow_histogram_holds_its_sum_against_the_exact_one() -> None:
    class Wrong(HostCounting):
        def lengths(self, *args: object) -> object:
            total, counts = super().lengths(*args)
            return Lengths(total + 1, counts)

    with pytest.raises(VerificationError, match=r"D_4 sums to .* over 0:1000, expected"):
        reduce_range(Range(find_family("D", 4), 0, 1000, Wrong(threads=1)), [Reduction("histogram")])


def test_records_stop_where_asked() -> None:
    (result,) = reduce_range(Range(find_family("a", 3), 5, 10**12, ENGINE), [Reduction("records")], records=3)
    assert not result.complete
    assert result.value == [(5, 28), (6, 43), (7, 64)]
    (result,) = reduce_range(Range(find_family("a", 3), 5, 8, ENGINE), [Reduction("records")], records=3)
    assert result.complete


def test_long_ranges_have_few_pieces() -> None:
    pieces = ValueScan(find_family("D", 4), 7, 10**15, Reduction("histogram"), ENGINE).chunks()
    assert len(pieces) <= 1 << 16
    assert pieces[0][0] == 7
    assert pieces[-1][1] == 10**15
    assert all(before[1] == after[0] for before, after in itertools.pairwise(pieces))
