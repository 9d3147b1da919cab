"""The catalogue against the published terms, and b-files read, written and found wrong."""

import pytest

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.model.arguments import is_a_number
from gpu_nim.model.errors import UsageError
from gpu_nim.oeis.b_files import compare
from gpu_nim.oeis.catalogue import OeisEntry, entries, find
from gpu_nim.storage.save_load import read_terms
from tests.helpers import CHECKOUT
from tests.lattices import published

OEIS = CHECKOUT / "tests" / "oeis"


PUBLISHED = [entry for name, entry in entries().items() if is_a_number(name)]


@pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.name)
def test_published_terms(entry: OeisEntry) -> None:
    terms = read_terms(OEIS / f"{entry.name}.txt")
    comparison = compare(terms.values, terms.first, entry)
    assert comparison.difference is None
    assert comparison.first == entry.offset
    assert comparison.terms > 15


def test_the_entries_of_the_paper_are_there() -> None:
    names = {*entries()}
    paper = "A000007 A000012 A000027 A016945 A048883 A130665 A236305 A237686 A237711 A238147 A238759 A241522 A241523"
    assert names >= set(paper.split()) | {"A241717", "A241718", "A241731", "A372967", "A147562", "A147582", "A048833", "A363166"}
    assert {entry.name for entry in PUBLISHED} == {path.stem for path in OEIS.glob("A*.txt")}


def test_both_catalogues_agree_on_offset_and_shift() -> None:
    grown = [entry for automaton in AUTOMATA.values() for entry in automaton.oeis]
    families = [(entry, find(entry.number)) for entry in grown if find(entry.number).family is not None]
    assert {entry.number for entry, _ in families} >= {"A000027", "A000012", "A130665", "A048883", "A237686", "A238759"}
    for entry, known in families:
        assert (entry.offset, entry.shift) == (known.offset, known.shift), entry.number


def test_unordered_positions_past_the_machine_word() -> None:
    terms = list(find("A048833").terms(0, 10))
    assert terms == [1, 1, 2, 4, 6, 10, 16, 31, 43, 68]
    lazily = find("A048833").terms(60, None)
    assert [next(lazily) for _ in range(8)] == list(find("A048833").terms(60, 68))


@pytest.mark.parametrize("name", ["A151776", "A151836", "A151778", "A147562", "A151724"])
def test_terms_from_anywhere_and_without_end(name: str) -> None:
    entry = find(name)
    terms = published(name)
    assert list(entry.terms(entry.offset + 7, entry.offset + 20)) == terms[7:20]
    endless = entry.terms(entry.offset + 3)
    assert [next(endless) for _ in range(20)] == terms[3:23]
    assert list(entry.terms(entry.offset, entry.offset + 1)) == terms[:1]


def test_terms_without_end_go_on_where_a_size_ends() -> None:
    endless = find("chocolate-4").terms(60)
    assert [next(endless) for _ in range(8)] == list(find("chocolate-4").terms(60, 68))


def test_far_terms_are_those_that_are_grown() -> None:
    """By macro-cells, which begin beyond the terms whose generations are grown one by one."""
    entry = find("A151724")
    assert list(entry.terms(1030, 1034)) == list(entry.terms(1020, 1034))[10:]


@pytest.mark.parametrize(("name", "n", "unit"), [("A151723", 2**14, "doublings"), ("chocolate-2", 40, "position")])
def test_a_term_that_takes_long_tells_how_much_is_done(name: str, n: int, unit: str) -> None:
    steps: list[tuple[str, float, int]] = []
    find(name).term(n, lambda *step: steps.append(step))
    assert steps == sorted(steps)
    assert len({*steps}) > 1
    assert {step[0] for step in steps} == {unit}


def test_terms_beyond_a_finite_entry() -> None:
    short = OeisEntry("A999999", "three terms", 0, lambda start, stop, _: iter([1, 6, 7][start:stop]))
    with pytest.raises(UsageError, match="terms must be below n = 3, where A999999 ends, got 3"):
        compare([1, 6, 7, 36], 0, short)
