"""The growths that `gpunim bench grow` races, and against whom."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.bench.harness import Contender, Work
from gpu_nim.bench.peers import convolve, python_set
from gpu_nim.model.memory import cores
from gpu_nim.model.rule import Rule, Symmetry

COMPILED = "compiled loops"

# Automaton, generation, and the peers that finish it in a time worth waiting for; `bench device` has the large ones.
_WORKS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("nim", 64, ("python set", "scipy convolve")),
    ("nim", 256, ("python set",)),
    ("nim", 1024, ()),
    ("nim", 8192, ()),
    ("edge", 64, ("python set", "scipy convolve")),
    ("edge", 256, ("general engine",)),
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
        backends: list[Backend] = [NumpyBackend(threads=0 if COMPILED in peers else None), *([] if cuda is None else [cuda])]
        contenders = [Contender(f"gpunim {backend.name}", partial(_grown, name, generations, backend)) for backend in backends]
        contenders += [Contender(peer, partial(_PEERS[peer], find(name).rule, generations)) for peer in peers if peer in _PEERS]
        for threads in sorted({1, cores()}) if COMPILED in peers else ():
            title = f"gpunim compiled, {threads} thread{'s' * (threads > 1)}"
            contenders.append(Contender(title, partial(_compiled, name, generations, threads)))
        yield Work(f"{name} {generations}", tuple(contenders))


def general_engine(rule: Rule, generations: int) -> int:
    """Return the population after some generations by NumPy's engine for any rule, without symmetry or a fast path.

    >>> general_engine(find("edge").rule, 15)
    826
    """
    engine = NumpyBackend().engine(replace(rule, symmetry=Symmetry.NONE), generations, general=True).make()
    return sum(engine.advance(generations).births.tolist())


_PEERS = {"python set": python_set, "scipy convolve": convolve, "general engine": general_engine}


def _grown(name: str, generations: int, backend: Backend) -> int:
    return GrowthProcess(name, generations, backend).growth().population


def _compiled(name: str, generations: int, threads: int) -> int:
    import_module("numba")  # without which NumPy would grow it
    return _grown(name, generations, NumpyBackend(threads=threads))
