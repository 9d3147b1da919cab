"""The growths that `gpunim bench grow` times, beside what somebody without gpunim would write: a set of cells, a convolution."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numba import NumbaBackend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Contender, Work
from gpu_nim.model.arguments import counted
from gpu_nim.model.errors import import_optional
from gpu_nim.model.process import cores, uncounted
from gpu_nim.model.rule import Rule

COMPILED = "compiled loops"

# Automaton, generation, and the peers that finish it in a time worth waiting for; `bench device` has the large ones.
_WORKS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("nim", 64, ("python set", "scipy convolve")),
    ("nim", 256, ("python set",)),
    ("nim", 1024, ()),
    ("nim", 8192, ()),
    ("edge", 64, ("python set", "scipy convolve")),
    ("edge", 256, ()),
    ("edge", 512, ()),
    ("edge", 1024, (COMPILED,)),
    ("edge", 2048, (COMPILED,)),
    ("fcc", 512, ()),
)


def works(cuda: Backend | None) -> Iterator[Work]:
    """Give every work: gpunim's backends against peers.

    Args:
        cuda: the backend of a GPU; None where there is none.
    """
    for name, generations, peers in _WORKS:
        backends: list[Backend] = [NumpyBackend() if COMPILED in peers else NumbaBackend(), *([] if cuda is None else [cuda])]
        contenders = [Contender(f"gpunim {backend.name}", partial(_grown, name, generations, backend)) for backend in backends]
        contenders += [Contender(peer, partial(_PEERS[peer], find(name).rule, generations)) for peer in peers if peer in _PEERS]
        for threads in sorted({1, cores()}) if COMPILED in peers else ():
            title = f"gpunim compiled, {counted(threads, 'thread')}"
            contenders.append(Contender(title, partial(_compiled, name, generations, threads)))
        yield Work(f"{name} {generations}", tuple(contenders))


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
    package = library.partition(".")[0]
    with uncounted():  # the buffers of SciPy's BLAS, which ends the process where it gets none
        ndimage = import_optional(f"this convolution needs {package}", package, library)
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


_PEERS = {"python set": python_set, "scipy convolve": convolve}


def _grown(name: str, generations: int, backend: Backend) -> int:
    return GrowthProcess(name, generations, backend).growth().population


def _compiled(name: str, generations: int, threads: int) -> int:
    import_module("numba")  # without which NumPy would grow it
    return _grown(name, generations, NumbaBackend(threads=threads))
