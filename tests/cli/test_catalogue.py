"""Every entry of the catalogue against its published terms, and its theorem against its growth."""

import numpy as np
import pytest

from gpu_nim import grow
from gpu_nim.automata.catalogue import CATALOGUE, GrowthEntry, find
from gpu_nim.model.arguments import is_a_number
from tests.lattices import literal, terms_of

_ENTRIES = [(automaton.name, entry) for automaton in CATALOGUE.values() for entry in automaton.oeis if is_a_number(entry.number)]


@pytest.mark.parametrize(("name", "entry"), _ENTRIES, ids=[f"{name}-{entry.number}" for name, entry in _ENTRIES])
def test_published_terms(name: str, entry: GrowthEntry) -> None:
    terms = terms_of(entry.number)
    last = max(terms) - entry.shift
    if find(name).rule.dimension > 4:
        last = min(last, 40)
    found = dict(entry.terms(grow(name, last, backend="numpy", columns=[entry.column]).table[entry.column].tolist()))
    assert found == {n: term for n, term in terms.items() if n <= last + entry.shift}
    assert len(found) > 20
    assert min(terms) == entry.offset
    assert {terms[n] for n in range(entry.offset, entry.shift)} <= {0}


@pytest.mark.parametrize("name", CATALOGUE)
def test_growth_is_the_definition(name: str) -> None:
    generations = 9 if find(name).rule.dimension < 5 else 5
    growth = grow(name, generations, backend="numpy", cells=True)
    assert [[tuple(cell) for cell in cells.tolist()] for _, cells in growth] == literal(find(name).rule, generations)


@pytest.mark.parametrize("name", [a.name for a in CATALOGUE.values() if a.cell_test])
def test_cell_tests_reject_what_is_not_grown(name: str) -> None:
    automaton = find(name)
    dimension = automaton.rule.dimension
    side = {2: 8, 3: 8, 4: 4}.get(dimension, 2)
    # Two piles or more make a total of at most dimension * (side - 1), which is twice the generation.
    generations = 16 if dimension < 4 else dimension * (side - 1) // 2
    grown = {tuple(cell): n for n, cells in grow(name, generations, backend="numpy") for cell in cells.tolist()}
    box = np.stack(np.meshgrid(*[np.arange(0 if automaton.rule.octant else -side, side)] * dimension), -1)
    cells = box.reshape(-1, dimension)
    for generation in (0, 1, 2, 5, generations - 1, generations):
        born = automaton.cell_test(cells, np.full(len(cells), generation))
        assert born.tolist() == [grown.get(tuple(cell)) == generation for cell in cells.tolist()]
    for far in (np.iinfo(np.int64).max, np.iinfo(np.int64).min):  # sums of which overflow
        assert not automaton.cell_test(np.full((1, dimension), far), np.array([3])).any()
