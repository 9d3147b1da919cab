"""Growth by macro-cells against growth by the definition, the engines' growth, Golly, and published terms."""

import csv
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_nim import grow
from gpu_nim.automata import CATALOGUE, MacroGrowth
from gpu_nim.automata.cell_trees import canonical_hash, domain_of, tree_of
from gpu_nim.automata.macro_cells import tree
from gpu_nim.backends.numpy.macro_cells import MacroCells
from gpu_nim.cli import main
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import limited
from tests.helpers import CHECKOUT
from tests.lattices import literal

TAKEN = [name for name, automaton in CATALOGUE.items() if automaton.rule.dimension in (2, 3) and automaton.rule.touches is None]
REPEATING = [name for name in TAKEN if CATALOGUE.find(name).repeats]


@pytest.fixture(params=["NumPy", "loops"])
def _loops(request, monkeypatch):
    if request.param == "loops":
        pytest.importorskip("numba", reason="numba is not installed")
    else:
        monkeypatch.setitem(sys.modules, "numba", None)


def at(automaton, generation, **options):
    growth = MacroGrowth(automaton, **options)
    growth.advance(generation)
    return growth


@pytest.mark.parametrize("name", TAKEN)
def test_each_generation_has_the_population_that_the_engines_grow(name):
    generations = 66 if CATALOGUE.find(name).rule.dimension == 2 else 18
    whole = grow(name, generations)
    populations = np.cumsum(whole.births).tolist()
    assert [*MacroGrowth(name).populations(0, generations + 1)] == populations
    again = MacroGrowth(name)
    for generation in (generations, 1, 0, generations - 1, 5):
        again.restart()
        again.advance(generation)
        assert again.population() == at(name, generation).population() == populations[generation]
    assert tree(name, generations).population == populations[generations]
    assert at(name, generations).canonical_hash == whole.canonical_hash


@pytest.mark.parametrize(
    ("name", "generation", "population"),  # Golly 3.3, bgolly -h; the last is also A147562(2^40 + 1)
    [
        ("hexagonal", 2**14, 511670917),
        ("ulam-warburton", 2**40, 1611901092819505566274905),
    ],
)
def test_golly_counts_the_same(name, generation, population):
    assert at(name, generation).population() == population


@st.composite
def rules(draw):
    dimension = draw(st.sampled_from([2, 3]))
    reach = draw(st.integers(1, 5 - dimension))
    cells = st.tuples(*[st.integers(-reach, reach)] * dimension)
    offsets = draw(st.sets(cells.filter(any), min_size=1, max_size=8))
    if draw(st.booleans()):
        offsets |= {tuple(-x if axis == i else x for i, x in enumerate(o)) for axis in range(dimension) for o in offsets}
        offsets |= {tuple(-x for x in o) for o in offsets}
    births = draw(st.sets(st.integers(1, len(offsets)), min_size=1))
    octant = draw(st.booleans())
    seeds = draw(st.sets(st.tuples(*[st.integers(0 if octant else -9, 20)] * dimension), min_size=1, max_size=3))
    return Rule(dimension, tuple(sorted(offsets)), frozenset(births), tuple(sorted(seeds)), octant=octant)


@pytest.mark.usefixtures("_loops")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules(), st.integers(0, 9), st.data())
def test_any_rule_has_the_cells_of_its_definition(rule, generation, data):
    every = literal(rule, generation)
    cells = np.concatenate([np.array(born).reshape(-1, rule.dimension) for born in every])
    assert [*MacroGrowth(rule).births(0, generation + 1)] == [*map(len, every)]
    growth = at(rule, generation)
    assert growth.population() == len(cells)
    domain = domain_of(rule)
    assert growth.canonical_hash == canonical_hash(tree_of(cells[domain.inside(cells)], centred=not domain.in_orthant))
    ends = [sorted(data.draw(st.tuples(st.integers(-30, 50), st.integers(-30, 50)))) for _ in range(rule.dimension)]
    if data.draw(st.booleans()):
        ends[0] = ends[0][:1] * 2  # a section
    lower, upper = zip(*ends, strict=True)
    assert growth.population((lower, upper)) == ((cells >= lower) & (cells <= upper)).all(axis=1).sum()


def test_certificates_of_other_cells_differ():
    cells = [[[0, 0]], [[1, 0]], [[0, 1]], [[0, 0], [8, 0]], [[0, 0], [0, 8]], [[8, 8]], [[0, 0], [16, 0]]]
    assert len({canonical_hash(tree_of(np.array(some), centred=centred)) for some in cells for centred in (False, True)}) == 14


@pytest.mark.usefixtures("_loops")
@pytest.mark.parametrize("free", [10**8, 10**9])
def test_a_growth_that_does_not_repeat_itself_is_forecast_or_refused(free):
    with limited(free), pytest.raises(InsufficientMemoryError, match=r"needs|fcc does not repeat itself: 6\.\d times as many"):
        at("fcc", 2**20)


@pytest.mark.usefixtures("_loops")
def test_an_interrupted_growth_can_go_on(monkeypatch):
    growth, calls = MacroGrowth("square8"), []
    kind, name = (
        (MacroCells, "_leaves")
        if "numba.macro_cells" not in type(growth._cells).__module__
        else (type(growth._cells.leaves), "roomy")
    )
    method = getattr(kind, name)

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return method(*arguments)

    monkeypatch.setattr(kind, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        growth.advance(500)
    growth.advance(500)
    assert growth.population() == at("square8", 500).population()


def powers_of_two():
    return csv.DictReader((CHECKOUT / "docs" / "growth" / "powers-of-two.csv").read_text().splitlines())


@pytest.mark.parametrize(
    ("name", "formula"),  # P(m + 1) = k P(m) - c is P(m + 2) = (k + 1) P(m + 1) - k P(m)
    [
        *((name, "f(n+2) = 5 f(n+1) - 4 f(n)") for name in ("nim", "ulam-warburton", "ulam-warburton-3", "rule750")),
        ("cubic6", "f(n+2) = 7 f(n+1) - 6 f(n)"),
        ("cubic8", "f(n+2) = 9 f(n+1) - 8 f(n)"),
        (
            "square8",
            "from n = 1 on\n  recurrence    f(n+3) = 6 f(n+2) - 9 f(n+1) + 4 f(n)",
        ),  # 5 P(m + 1) - 4 P(m) - 8, the differences of it
        ("hexagonal", "no formula found"),
    ],
)
def test_guess_finds_the_formulas_of_the_published_table(name, formula):
    populations = [row["population"] for row in powers_of_two() if row["automaton"] == name]
    assert formula in CliRunner().invoke(main, ["guess", "--kind", "recurrence", *populations]).output


@pytest.mark.parametrize("last", [6, pytest.param(8, marks=pytest.mark.nightly)])
def test_the_published_table_of_powers_of_two_is_what_grows(last):
    rows = [row for row in powers_of_two() if int(row["m"]) <= last]
    assert {row["automaton"] for row in rows} == {*REPEATING}
    for row in rows:
        growth = at(row["automaton"], 2 ** int(row["m"]))
        assert (growth.population(), growth.canonical_hash) == (int(row["population"]), row["canonical_hash"])
