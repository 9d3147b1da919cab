"""What decides on a cell: against the literal growth, in which every living cell is counted again at each step."""

from itertools import product

import numpy as np
import pytest

from gpu_nim import Rule, why
from gpu_nim.automata.catalogue import find
from gpu_nim.papers.by_definition import grown


def literal(rule, last):
    """Return the step of each cell that is alive after step `last`."""
    return {cell: step for step, cells in enumerate(grown(rule, last)) for cell in cells}


@pytest.mark.parametrize(
    ("automaton", "last", "side"),
    [("edge", 15, 5), ("fcc", 15, 4), ("hexagonal", 23, 9), ("nim-4", 9, 4), ("ulam-warburton", 31, 12)],
)
def test_each_cell_nearby_has_the_step_and_the_touches_of_the_literal_growth(automaton, last, side):
    rule = find(automaton).rule
    steps = literal(rule, last)
    for cell in list(product(range(-1, side), repeat=rule.dimension))[:: 7 if rule.dimension > 2 else 3]:
        found = why(automaton, cell, generations=last, backend="numpy")
        assert found.generation == steps.get(cell)
        below = [(tuple(x - d for x, d in zip(cell, offset, strict=True)), offset) for offset in rule.offsets]
        below = [(each, offset) for each, offset in below if each in steps]
        if rule.touches is not None:
            below = [(each, offset) for each, offset in below if rule.touches(np.array([each]), offset).all()]
        touching = sorted((steps[each], each) for each, _ in below)
        if found.decided == 0:
            assert cell in rule.seeds or not all(x >= 0 for x in cell)
        elif found.decided is None:
            assert list(found.touches) == [pair for pair in touching if pair[0] <= last]
        else:
            assert list(found.touches) == [pair for pair in touching if pair[0] < found.decided]
            assert (len(found.touches) in rule.births) == (found.generation is not None)


def test_several_numbers_of_touches():
    """Born by 1 or 3: a cell with 2 may still be born, and one with 4 not."""
    rule = Rule(2, ((1, 0), (-1, 0), (0, 1), (0, -1)), frozenset({1, 3}), ((0, 0),))
    steps = literal(rule, 12)
    for cell in product(range(8), repeat=2):
        found = why(rule, cell, generations=12)
        assert found.generation == steps.get(cell)
        if found.generation is None and found.decided is not None:
            assert len(found.touches) > 3
