"""What somebody without gpunim would write: the peers that its growths are measured against."""

from importlib import import_module
from typing import Any

import numpy as np

from gpu_nim.model.extras import missing
from gpu_nim.model.rule import Rule


def python_set(rule: Rule, generations: int) -> int:
    """Return the population after some generations, grown with a set of tuples and a dict of touch counts.

    Each generation touches from its newborns alone, as a careful script would, for rules that are born on exactly one touch.

    >>> from gpu_nim.automata.catalogue import find
    >>> python_set(find("nim").rule, 7)
    64
    """
    touched = set(rule.seeds)
    newborns = set(rule.seeds)
    population = len(newborns)
    for _ in range(generations):
        counts: dict[tuple[int, ...], int] = {}
        for cell in newborns:
            for offset in rule.offsets:
                target = tuple(x + o for x, o in zip(cell, offset, strict=True))
                if target not in touched and (not rule.octant or min(target) >= 0):
                    counts[target] = counts.get(target, 0) + 1
        newborns = {cell for cell, count in counts.items() if count == 1}
        touched |= counts.keys()
        population += len(newborns)
    return population


def scipy_convolve(rule: Rule, generations: int) -> int:
    """Return the population after some generations, grown by scipy.ndimage.convolve over a dense array.

    >>> from gpu_nim.automata.catalogue import find
    >>> scipy_convolve(find("nim").rule, 7)
    64
    """
    try:
        ndimage: Any = import_module("scipy.ndimage")
    except ImportError as error:
        raise missing("the convolution peer needs scipy", "scipy") from error
    lower, upper = rule.box(generations)
    # One cell of margin, so that what the convolution does at the edge does not matter.
    low = np.array(lower) - 1
    alive = np.zeros(tuple(np.array(upper) - low + 2), np.uint8)
    for seed in rule.seeds:
        alive[tuple(np.array(seed) - low)] = 1
    reach = max(abs(coordinate) for offset in rule.offsets for coordinate in offset)
    kernel = np.zeros((2 * reach + 1,) * rule.dimension, np.uint8)
    for offset in rule.offsets:
        kernel[tuple(np.array(offset) + reach)] = 1
    inside = np.ones_like(alive, bool)
    if rule.octant:
        for axis in range(rule.dimension):
            np.moveaxis(inside, axis, 0)[: -low[axis]] = False
    for _ in range(generations):
        counts = ndimage.convolve(alive, kernel, mode="constant")
        alive |= ((counts == 1) & inside).view(np.uint8)
    return int(np.count_nonzero(alive))
