"""What somebody without gpunim would write: the peers that its growths are measured against."""

from importlib import import_module, resources
from importlib.resources.abc import Traversable
from itertools import cycle, islice
from typing import Any

import numpy as np

from gpu_nim.backends.cuda.launcher import Launcher
from gpu_nim.backends.cuda.table import read_kernels
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
    return convolve(rule, generations, ndimage, np)


def convolve(rule: Rule, generations: int, ndimage: Any, xp: Any) -> int:
    """Return the population after some generations by the convolution of `ndimage`, SciPy's or CuPy's, on arrays of `xp`."""
    box = DenseBox(rule, generations)
    kernel = np.zeros((2 * box.reach + 1,) * rule.dimension, np.uint8)
    for offset in rule.offsets:
        kernel[tuple(np.array(offset) + box.reach)] = 1
    alive, inside, weights = xp.asarray(box.alive), xp.asarray(box.inside), xp.asarray(kernel)
    for _ in range(generations):
        counts = ndimage.convolve(alive, weights, mode="constant")
        alive |= (counts == 1).astype(np.uint8) & inside
    return int(alive.sum(dtype=np.int64))


def dense_cube(launcher: Launcher, rule: Rule, generations: int) -> int:
    """Return the population after some generations by `dense_cube.cu`: one thread a cell of a dense box.

    Args:
        launcher: made with `DENSE_CUBE` for its table and `dense_cube_sources()` for its sources.
        rule: whom a cell touches.
        generations: the last generation.
    """
    xp, box = launcher.xp, DenseBox(rule, generations)
    alive, inside = xp.asarray(box.alive.reshape(-1)), xp.asarray(box.inside.reshape(-1))
    strides = np.array(box.alive.strides, np.int64)
    jumps = xp.asarray(np.array([int(np.dot(offset, strides)) for offset in rule.offsets], np.int64))
    arguments = {"inside": inside, "cells": box.alive.size, "jumps": jumps, "offsets": len(rule.offsets)}
    following = xp.zeros_like(alive)
    steps = [
        launcher.bind("dense_grow", arguments | {"alive": before, "next": after})
        for before, after in ((alive, following), (following, alive))
    ]
    for step in islice(cycle(steps), generations):
        step(-(-box.alive.size // step.threads))
    return int((alive, following)[generations % 2].sum(dtype=np.int64))


def dense_cube_sources() -> Traversable:
    """The folder that holds `dense_cube.cu`."""
    return resources.files("gpu_nim.bench")


DENSE_CUBE = read_kernels(dense_cube_sources())


class DenseBox:
    """The box that a growth reaches as dense arrays of bytes: `alive` at its seeds, and `inside`, 0 in a margin and past walls."""

    def __init__(self, rule: Rule, generations: int) -> None:
        self.reach = rule.reach
        lower, upper = (np.array(bound) for bound in rule.box(generations))
        low = lower - self.reach
        self.alive = np.zeros(tuple(upper + self.reach - low + 1), np.uint8)
        for seed in rule.seeds:
            self.alive[tuple(np.array(seed) - low)] = 1
        self.inside = np.zeros_like(self.alive)
        first = np.maximum(lower, 0) if rule.octant else lower
        self.inside[tuple(slice(a, b) for a, b in zip(first - low, upper - low + 1, strict=True))] = 1
