"""Symmetries fold, unfold and count; boxes and parities of rules."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

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


def test_boxes():
    rule = Rule(2, ((2, 0), (-1, 1)), frozenset({1}), ((0, 3), (5, 0)))
    assert rule.box(10) == ((-10, 0), (25, 13))
    assert replace(rule, octant=True).box(10) == ((0, 0), (25, 13))
    assert Rule(1, ((2,), (3,)), frozenset({1}), ((1,),)).box(10) == ((1,), (31,))


def test_parities():
    even = Rule(2, ((1, 1), (2, 0)), frozenset({1}), ((0, 0), (1, 3)))
    assert even.even_sum
    assert not replace(even, seeds=((0, 1),)).even_sum
    assert not replace(even, offsets=((1, 0),)).even_sum
