"""The works that `gpunim bench grow`, `count` and `macro-cells` time, beside what somebody without gpunim would write or take.

These are for growths a set of cells and a convolution, for ranges the plain formula in NumPy, and for macro-cells Golly's hashlife:
a process, `bgolly`, whose start of some thousandths of a second is included.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.macro_cells import MacroGrowth
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numba import NumbaBackend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.numpy.macro_cells import MacroCells
from gpu_nim.bench.harness import Contender, Work
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import ByMaximum, ByTotal, UpToMaximum, UpToTotal
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.model.arguments import counted
from gpu_nim.model.arrays import U64
from gpu_nim.model.errors import BackendError, import_optional
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import cores, uncounted

COMPILED = "compiled loops"

# Automaton, generation, and the peers that finish it in a time worth waiting for; `bench device` has the large ones.
_GROWTHS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
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

# The largest size, and the ranges; the plain formulas are slower: they make a shorter range.
_RANGES = 1 << 24, (*(ByTotal(k) for k in range(3, 8)), UpToTotal(3), UpToMaximum(3), ByMaximum(3), ByMaximum(4))
_BY_FORMULA = 1 << 22, (ByTotal(3), ByTotal(4), UpToMaximum(3), ByMaximum(3))

#: Golly's names of rules.
RULES = {"ulam-warburton": "B1/S01234V", "hexagonal": "B1/S0123456H", "square8": "B1/S012345678", "rule750": "B13/S01234V"}

# Automaton and the power of two that the generation is.
_MACRO_GROWTHS = (
    *(("ulam-warburton", 40), ("square8", 20), ("square8", 30), ("hexagonal", 20), ("hexagonal", 30), ("rule750", 20)),
    *(("triangular", 14), ("knight", 14), ("cubic6", 30), ("cubic8", 30)),
)


def growths(cuda: Backend | None) -> Iterator[Work]:
    """Give the growths: gpunim's backends against peers.

    Args:
        cuda: the backend of a GPU; None where there is none.
    """
    for name, generations, peers in _GROWTHS:
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
    room[tuple(slice(a, b) for a, b in zip(lower - low, upper - low + 1, strict=True))] = 1
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


def ranges(cuda: Backend | None) -> Iterator[Work]:
    """Give the ranges: the backends over 64-bit ones, then with the plain formulas.

    A contender's result is how many values it made, or -1 where those at a few indices are wrong. All write to memory that was
    written before.

    Args:
        cuda: the backend of a GPU; None where there is none.
    """
    backends: list[Backend] = [NumpyBackend(), *([] if cuda is None else [cuda])]
    for most, families in (_RANGES, _BY_FORMULA):
        for family in families:
            size = longest(family, most)
            contenders = [_filling(backend, family, size) for backend in backends]
            if families is _BY_FORMULA[1]:
                plain = partial(_checked, family, partial(plain_formula, family, size))
                contenders.append(Contender("numpy, plain formula", plain))
            yield Work(f"{family} 0:{size}", tuple(contenders))


def longest(family: Family, size: int, bits: int = 64) -> int:
    """The largest power of two up to `size` below which all values fit so many bits.

    >>> longest(ByTotal(5), 2**24)
    524288
    """
    while family.maximum(0, size) >= 1 << bits:
        size //= 2
    return size


def plain_formula(family: Family, size: int) -> U64:
    """The values below `size` as the paper's formulas read in NumPy, without blocks.

    >>> plain_formula(ByTotal(4), 8).tolist()
    [1, 6, 7, 36, 13, 42, 43, 216]
    """
    if family == ByTotal(3):
        return np.uint64(3) ** np.bitwise_count(np.arange(size, dtype=np.uint64)).astype(np.uint64)
    if isinstance(family, ByTotal):
        values: U64 = doubling(even_binomials(family.piles), size, np)
        return values
    n = np.arange(size, dtype=np.uint64)
    high = np.uint64(1) << np.log2(np.maximum(n, np.uint64(1))).astype(np.uint64)  # exact this far below 2^53
    c = n + np.uint64(1) - high
    values = high * high + np.uint64(3) * c * c if isinstance(family, UpToMaximum) else np.uint64(6) * c - np.uint64(3)
    values[:1] = 1
    return values


def doubling(weights: tuple[int, ...], size: int, xp: Any) -> Any:
    """Return the values below `size` by [NF, Theorem 29] on arrays of `xp`: even and odd indices from the array of half the length.

    >>> doubling(even_binomials(4), 8, np).tolist()
    [1, 6, 7, 36, 13, 42, 43, 216]
    """
    values = xp.ones(1, np.uint64)
    while len(values) < size:
        longer = xp.zeros(2 * len(values), np.uint64)
        for j, weight in enumerate(weights):
            longer[j::2] += np.uint64(weight) * values[: len(longer[j::2])]
        values = longer
    return values[:size]


def _filling(backend: Backend, family: Family, size: int) -> Contender:
    values = Range(family, 0, size, backend.counting())
    out = np.zeros(size, np.uint64)

    def fill() -> U64:
        values.fill(0, out)
        return out

    return Contender(f"gpunim {backend.name}", partial(_checked, family, fill))


def _checked(family: Family, make: Callable[[], U64]) -> int:
    values = make()
    indices = {0, len(values) // 3, len(values) - 1}
    return len(values) if all(int(values[n]) == family.value(n) for n in indices) else -1


def macro_growths(_: Backend | None = None) -> Iterator[Work]:
    """Give the growths by macro-cells, compiled and with NumPy alone; none is for a GPU. Their result is the population."""
    for name, exponent in _MACRO_GROWTHS:
        kinds = ("compiled", "numpy")
        contenders = [Contender(f"gpunim {kind}", partial(_jumped, name, 2**exponent, kind)) for kind in kinds]
        if name in RULES and (name, exponent) != ("hexagonal", 30):  # which takes Golly many minutes
            contenders.append(Contender("bgolly", partial(golly, RULES[name], 2**exponent)))
        yield Work(f"{name} 2^{exponent}", tuple(contenders))


def _jumped(name: str, generation: int, kind: str) -> int:
    loops = "gpu_nim.backends.numba.macro_cells"  # imported here alone, for numba's start-up time
    growth = MacroGrowth(name, kind=import_module(loops).CompiledMacroCells if kind == "compiled" else MacroCells)
    growth.advance(generation)
    return growth.population()


def golly(rule: str, generation: int) -> int:
    """The population of a rule from one cell, by Golly's hashlife.

    Args:
        rule: its name in Golly.
        generation: the generation.

    Raises:
        ImportError: bgolly is not on PATH.
        BackendError: it failed.
    """
    program = shutil.which("bgolly")
    if program is None:
        raise ImportError("bgolly is not on PATH: install Golly, Debian's package golly")
    with TemporaryDirectory() as folder:
        seed = Path(folder, "seed.rle")
        seed.write_text(f"x = 1, y = 1, rule = {rule}\no!\n", encoding="ascii")
        command = [program, "-h", "-m", str(generation), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.replace(",", "").split("\n")[-2:][0]
    if not last.startswith(f"{generation}: "):
        raise BackendError(f"bgolly failed: {(done.stderr or done.stdout).strip()[:200]}")
    return int(last.split()[1])


WORKS: dict[str, Callable[[Backend | None], Iterator[Work]]] = {"grow": growths, "count": ranges, "macro-cells": macro_growths}
