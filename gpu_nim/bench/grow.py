"""The growths that `gpunim bench grow` races, and against whom."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import grow
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Contender, Timing, race
from gpu_nim.bench.peers import python_set, scipy_convolve
from gpu_nim.model.rule import Rule, Symmetry
from gpu_nim.model.work import OnStep, cores, unreported

SCIPY, COMPILED = "scipy convolve", "compiled loops"

# Automaton, generation, and the peers that finish it in a time worth waiting for; `bench device` has the large ones.
_WORKS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("nim", 64, ("python set", SCIPY)),
    ("nim", 256, ("python set",)),
    ("nim", 1024, ()),
    ("nim", 8192, ()),
    ("edge", 64, ("python set", SCIPY)),
    ("edge", 256, ("general engine",)),
    ("edge", 512, ()),
    ("edge", 1024, (COMPILED,)),
    ("fcc", 512, ()),
)


def races(numpy: Backend, cuda: Backend | None, runs: int, on_step: OnStep = unreported) -> Iterator[list[Timing]]:
    """Race gpunim's backends against those peers that are `present`, a work at a time; `cuda` is None where there is no GPU."""
    here = present()
    for name, generations, peers in _WORKS:
        rule, racing = find(name).rule, [peer for peer in peers if peer in here]
        backends = {f"gpunim {backend.name}": backend for backend in (numpy, cuda) if backend is not None}
        if COMPILED in racing:
            backends["gpunim numpy"] = NumpyBackend(threads=0)
            backends |= {
                f"gpunim compiled, {count} thread{'s' * (count > 1)}": NumpyBackend(threads=count) for count in sorted({1, cores()})
            }
        contenders = [Contender(ours, _growth(backend, name, generations)) for ours, backend in backends.items()]
        contenders += [Contender(peer, partial(_PEERS[peer], rule, generations)) for peer in racing if peer in _PEERS]
        yield race(f"{name} {generations}", contenders, runs, on_step)


def present() -> set[str]:
    """Return the names of the peers that can race here: scipy's convolution needs scipy, and compiled loops need numba.

    >>> "python set" in present()
    True
    """
    needs = {SCIPY: "scipy", COMPILED: "numba"}
    return {peer for peer in (*_PEERS, COMPILED) if peer not in needs or find_spec(needs[peer]) is not None}


def general_engine(rule: Rule, generations: int) -> int:
    """Return the population after some generations by NumPy's engine for any rule, without symmetry or a fast path.

    >>> general_engine(find("edge").rule, 15)
    826
    """
    engine = NumpyBackend().automaton(replace(rule, symmetry=Symmetry.NONE), generations, general=True)
    return sum(engine.advance(generations).births.tolist())


_PEERS = {"python set": python_set, SCIPY: scipy_convolve, "general engine": general_engine}


def _growth(backend: Backend, name: str, generations: int) -> Callable[[], int]:
    return lambda: grow(name, generations, backend=backend).population
