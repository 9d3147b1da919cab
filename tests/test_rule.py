"""Rules are checked when made; symmetries fold, unfold and count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule, Symmetry

CELLS = st.integers(1, 4).flatmap(lambda d: arrays.arrays(np.int64, (20, d), elements=st.integers(-3, 3)))


@given(cells=CELLS, symmetry=st.sampled_from(Symmetry))
def test_orbits(cells, symmetry):
    dimension = cells.shape[1]
    group = symmetry.transformations(dimension)
    assert len(group) == symmetry.order(dimension)
    folded = symmetry.representative(cells)
    assert (symmetry.representative(folded) == folded).all()
    for image in group:
        assert (symmetry.representative(cells @ image.T) == folded).all()
    for cell, representative in zip(cells, folded, strict=True):
        orbit = {tuple(image) for image in (group @ cell).tolist()}
        one = representative[None]
        assert symmetry.unfold(one).tolist() == sorted(map(list, orbit))
        assert symmetry.orbit_size(one).tolist() == [len(orbit)]
        for axis in range(dimension):
            for value in range(-3, 4):
                inside = sum(image[axis] == value for image in orbit)
                assert symmetry.section_size(one, axis, value).tolist() == [inside]


SQUARE = {"dimension": 2, "offsets": ((1, 0), (0, 1)), "births": frozenset({1}), "seeds": ((0, 0),)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": 0}, "dimension must be an integer from 1 to 8"),
        ({"dimension": 9}, "dimension must be an integer from 1 to 8"),
        ({"dimension": 3}, "offsets must have 3 coordinates"),
        ({"offsets": ()}, "offsets must hold"),
        ({"offsets": ((1, 0), (1, 0))}, "offsets must be distinct"),
        ({"offsets": ((0, 0),)}, "zero offset"),
        ({"offsets": ((2**31, 0),)}, "below 2\\^31"),
        ({"seeds": ()}, "seeds must hold"),
        ({"seeds": ((0, 0), (0, 0))}, "seeds must be distinct"),
        ({"seeds": ((0,),)}, "seeds must have 2 coordinates"),
        ({"seeds": ((-1, 0),), "octant": True}, "seeds must lie in the universe"),
        ({"universe": lambda cells: cells[:, 0] > 0}, "seeds must lie in the universe"),
        ({"births": frozenset()}, "births must be some of 1 to 2"),
        ({"births": frozenset({0})}, "births must be some of 1 to 2"),
        ({"births": frozenset({3})}, "births must be some of 1 to 2"),
        ({"symmetry": Symmetry.CUBE}, "map the offsets to themselves"),
        ({"symmetry": Symmetry.PERMUTATIONS, "seeds": ((1, 0),)}, "map the seeds to themselves"),
        ({"symmetry": Symmetry.PERMUTATIONS, "universe": lambda cells: cells[:, 0] < 1}, "map the universe to itself"),
    ],
)
def test_impossible_rules_are_refused(change, message):
    Rule(**SQUARE)
    with pytest.raises(UsageError, match=message):
        Rule(**{**SQUARE, **change})


def test_boxes():
    rule = Rule(2, ((2, 0), (-1, 1)), frozenset({1}), ((0, 3), (5, 0)))
    assert rule.box(10) == ((-10, 0), (25, 13))
    with pytest.raises(UsageError, match="generation must be an integer of at least 0"):
        rule.box(-1)
