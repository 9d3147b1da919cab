"""Rules to grow in tests, a growth by the definition alone, and published terms."""

import csv
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from gpu_nim.automata import Automaton
from gpu_nim.automata.growth import Growth
from gpu_nim.backends.interface import Batch
from gpu_nim.model.digest import checksum
from gpu_nim.model.rule import Rule, Symmetry
from gpu_nim.oeis.b_files import read_bfile


def convolve(values: np.ndarray, weights: np.ndarray, mode: str) -> np.ndarray:
    """`scipy.ndimage.convolve` by the definition, 0 beyond the array."""
    assert mode == "constant"
    wide = np.pad(values, [(side // 2, side // 2) for side in weights.shape])
    return np.tensordot(sliding_window_view(wide, weights.shape), np.flip(weights), weights.ndim)


def terms_of(entry: str) -> dict[int, int]:
    """The terms of an OEIS entry by their index."""
    lines = (Path(__file__).parent / "oeis" / f"{entry}.txt").read_text().splitlines()
    return {int(n): int(term) for n, term in map(str.split, lines)}


def published(entry: str) -> list[int]:
    """The terms of an OEIS entry, from its own offset on."""
    return list(terms_of(entry).values())


@cache
def tabled(automaton: str) -> list[int]:
    """The population of edge or fcc by generation, as the tables of docs/growth have it."""
    tables = Path(__file__).parents[1] / "docs" / "growth"
    if automaton == "fcc":
        return [term for n, term in read_bfile(tables / "b151776.txt") if n]
    with (tables / "edge.csv").open(newline="") as file:
        return [int(row["population"]) for row in csv.DictReader(file)]


def literal(rule: Rule, generations: int) -> list[list[tuple[int, ...]]]:
    """Newborns by the definition: every generation counts the touches of each cell again."""
    alive = set(rule.seeds)
    grown = [sorted(alive)]
    for _ in range(generations):
        touched = Counter()
        for cell in alive:
            for offset in rule.offsets:
                if rule.touches is None or rule.touches(np.array([cell]), offset)[0]:
                    touched[tuple(x + o for x, o in zip(cell, offset, strict=True))] += 1
        born = sorted({cell for cell, count in touched.items() if count in rule.births} - alive)
        inside = rule.inside(np.array(born)) if born else ()
        born = [cell for cell, kept in zip(born, inside, strict=True) if kept]
        alive.update(born)
        grown.append(born)
    return grown


def growth_of(automaton: Automaton, newborns: Sequence[np.ndarray]) -> Growth:
    """A growth with these cells in its generations, and with births and checksums that are right for them."""
    rule = automaton.rule
    return Growth(
        automaton.name,
        np.array([len(cells) for cells in newborns], np.uint64),
        np.array([checksum(rule.symmetry.representative(cells)) for cells in newborns], np.uint64),
        lambda first, stop: ((n, newborns[n]) for n in range(first, stop)),
        symmetry=rule.symmetry,
        rule=rule,
        verified=None,
        backend="numpy",
        device="a test",
        seconds=0.0,
    )


def generations_of(batch: Batch) -> list[list[tuple[int, ...]]]:
    """A batch's cells as lists of tuples, one list a generation."""
    stops = np.cumsum(batch.births)[:-1].astype(np.int64)
    return [[tuple(cell) for cell in part.tolist()] for part in np.split(batch.cells, stops)]


def steps(dimension: int, *sizes: int) -> tuple[tuple[int, ...], ...]:
    """Offsets in {-1, 0, 1}^d with one of these numbers of coordinates that are not 0."""
    return tuple(o for o in product((-1, 0, 1), repeat=dimension) if sum(map(abs, o)) in sizes)


def nim(piles: int) -> Rule:
    """The children of [NF] Lemma 23: add 1 to two piles with equally many trailing 1 bits."""

    def touches(cells, offset):
        first, second = (axis for axis, step in enumerate(offset) if step)
        ends = cells ^ (cells + 1)
        return ends[:, first] == ends[:, second]

    pairs = combinations(range(piles), 2)
    offsets = tuple(tuple(int(axis in pair) for axis in range(piles)) for pair in pairs)
    births = frozenset(range(1, len(offsets) + 1))
    return Rule(piles, offsets, births, ((0,) * piles,), octant=True, touches=touches)


ONE = frozenset({1})
SEED2, SEED3 = ((0, 0),), ((0, 0, 0),)
HEXAGON = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))

EDGE = Rule(3, steps(3, 2), ONE, SEED3, octant=True, symmetry=Symmetry.PERMUTATIONS)
FCC = Rule(3, steps(3, 2), ONE, SEED3, symmetry=Symmetry.CUBE)
CUBIC26 = Rule(3, steps(3, 1, 2, 3), ONE, SEED3, symmetry=Symmetry.CUBE)
RULE750 = Rule(2, steps(2, 1), frozenset({1, 3}), SEED2, symmetry=Symmetry.CUBE)
NO_SOUTH = Rule(2, steps(2, 1), ONE, SEED2, universe=lambda c: ~((c[:, 1] < 0) & (c[:, 1] <= -abs(c[:, 0]))))
# Triangles are the points of the hexagonal lattice without a third of them: each then has three neighbours left.
TRIANGULAR = Rule(2, HEXAGON, ONE, ((1, 0),), universe=lambda c: (c[:, 0] - c[:, 1]) % 3 != 0)

SQUARE4 = Rule(2, steps(2, 1), ONE, SEED2, symmetry=Symmetry.CUBE)
CUBIC8 = Rule(3, steps(3, 3), ONE, SEED3, symmetry=Symmetry.CUBE)
KNIGHT = Rule(2, (*product((-2, 2), (-1, 1)), *product((-1, 1), (-2, 2))), ONE, SEED2, symmetry=Symmetry.CUBE)


# What a GPU grows in place of random rules whose cells are born of one touch, as each of those is a module to compile: with and
# without symmetry, an octant, a universe, steps of two, several seeds.
COMPILED = (EDGE, FCC, NO_SOUTH, KNIGHT, Rule(2, HEXAGON, ONE, ((0, 0), (3, 1), (-2, 0))))
on_gpu = False  # whether the tests marked gpu were asked for, which conftest.py says


def half_space(normal: tuple[int, ...], least: int):
    """A universe bounded by a plane; symmetric when all of `normal` is equal and the group permutes."""
    return lambda cells: sum(n * cells[:, axis] for axis, n in enumerate(normal)) >= least


@st.composite
def rules(draw: st.DrawFn, least: int = 1, most: int = 4, births: frozenset[int] | None = None) -> Rule:
    """Random rules: offsets up to 2 away, up to 3 seeds, closed under their symmetry, half-spaces and octants."""
    if on_gpu and births == ONE:
        return draw(st.sampled_from(COMPILED))
    dimension = draw(st.integers(least, most))
    symmetry = draw(st.sampled_from(Symmetry))
    group = symmetry.transformations(dimension)

    def closed(cells):
        return tuple(sorted({tuple(image) for cell in cells for image in (group @ np.array(cell)).tolist()}))

    def cells(low, size):
        return st.lists(st.tuples(*[st.integers(low, 2)] * dimension), min_size=1, max_size=size, unique=True)

    octant = symmetry is not Symmetry.CUBE and draw(st.booleans())
    offsets = closed(draw(cells(-2, 4 if symmetry is Symmetry.NONE else 1).filter(lambda o: (0,) * dimension not in o)))
    if draw(st.booleans()):
        offsets = tuple(o for o in offsets if sum(o) % 2 == 0) or offsets
    seeds = closed(draw(cells(0 if octant else -2, 3 if symmetry is Symmetry.NONE else 1)))
    universe = None
    if symmetry is not Symmetry.CUBE and draw(st.booleans()):
        universe = half_space((1,) * dimension, min(map(sum, seeds)))
    counts = births or draw(st.frozensets(st.integers(1, len(offsets)), min_size=1))
    return Rule(dimension, offsets, counts, seeds, universe=universe, octant=octant, symmetry=symmetry)
