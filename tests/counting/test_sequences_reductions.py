"""Reductions against the values themselves, and over ranges that are too long to visit."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.backends.host_counting import HostCounting, Lengths
from gpu_nim.counting.families import FAMILIES, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.counting.reductions import (
    Reduction,
    ValueScan,
    length_counts,
    record_values,
    reduce_range,
    residue_counts,
    scans,
)
from gpu_nim.model.errors import VerificationError

ENGINE = HostCounting(threads=2)


def reduced(counts: Family, start: int, stop: int, *names: str) -> list[object]:
    return [r.value for r in reduce_range(Range(counts, start, stop, ENGINE), [Reduction.parse(name) for name in names])]


@given(st.sampled_from([*FAMILIES]), st.integers(1, 8), st.integers(0, 500), st.integers(1, 200), st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_reductions_are_those_of_the_values(name: str, piles: int, start: int, size: int, modulus: int) -> None:
    counts, stop = find_family(name, piles), start + size
    values = [counts.value(n) for n in range(start, stop)]
    names = ("sum", "max", "argmax", "min", "argmin", "histogram", f"residues:{modulus}")
    assert reduced(counts, start, stop, *names) == [
        sum(values),
        max(values),
        start + values.index(max(values)),
        min(values),
        start + values.index(min(values)),
        dict(sorted(Counter(value.bit_length() for value in values).items())),
        dict(sorted(Counter(value % modulus for value in values).items())),
    ]
    largest = -1
    records = []
    for n, value in enumerate(values, start):
        if value > largest:
            largest = value
            records.append((n, value))
    assert reduced(counts, start, stop, "records") == [records]


@given(
    st.sampled_from([*FAMILIES]), st.integers(1, 8), st.integers(0, 500) | st.just(2**40), st.integers(1, 200), st.integers(1, 50)
)
@settings(max_examples=30, deadline=None)
def test_visiting_every_value_gives_the_same(name: str, piles: int, start: int, size: int, modulus: int) -> None:
    counts, stop = find_family(name, piles), start + size
    lengths, residues = (
        ValueScan(counts, start, stop, r, ENGINE) for r in (Reduction("histogram"), Reduction("residues", modulus))
    )
    assert residues.combine(map(residues.do, residues.chunks(64))) == residue_counts(counts, start, stop, modulus)
    by_digits = length_counts(counts, start, stop)
    if by_digits is not None:
        assert lengths.combine(map(lengths.do, lengths.chunks(64))) == by_digits


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
