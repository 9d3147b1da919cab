"""What somebody without gpunim would write: the peers that its growths are measured against."""

from importlib import import_module
from typing import Any

import numpy as np

from gpu_nim.model.errors import missing
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


def convolve(rule: Rule, generations: int, library: str = "scipy.ndimage", xp: Any = np) -> int:
    """Return the population after some generations by the convolution of a library over a dense array of bytes.

    Args:
        rule: the rule.
        generations: the last generation.
        library: the module of SciPy, or of CuPy.
        xp: the module of its arrays.

    Raises:
        MissingDependency: the library is not installed.

    >>> from gpu_nim.automata.catalogue import find
    >>> convolve(find("nim").rule, 7)
    64
    """
    try:
        ndimage: Any = import_module(library)
    except ImportError as error:
        package = library.partition(".")[0]
        raise missing(f"this convolution needs {package}", package) from error
    reach = rule.reach
    lower, upper = (np.array(bound) for bound in rule.box(generations))
    low = lower - reach
    kernel = np.zeros((2 * reach + 1,) * rule.dimension, np.uint8)
    for offset in rule.offsets:
        kernel[tuple(np.array(offset) + reach)] = 1
    seeded = np.zeros(tuple(upper + reach - low + 1), np.uint8)
    for seed in rule.seeds:
        seeded[tuple(np.array(seed) - low)] = 1
    room = np.zeros_like(seeded)  # 0 in a margin and past walls
    first = np.maximum(lower, 0) if rule.octant else lower
    room[tuple(slice(a, b) for a, b in zip(first - low, upper - low + 1, strict=True))] = 1
    alive, inside, weights = xp.asarray(seeded), xp.asarray(room), xp.asarray(kernel)
    for _ in range(generations):
        counts = ndimage.convolve(alive, weights, mode="constant")
        alive |= (counts == 1).astype(np.uint8) & inside
    return int(alive.sum(dtype=np.int64))
