"""How evenly ways of dividing a growth among ranks spread its births, and what ranks send: counted on one process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine, supports
from gpu_nim.backends.numpy.halo import Boundary
from gpu_nim.backends.numpy.nim import BLOCKS, NimEngine
from gpu_nim.backends.shared.bricks import Bricks
from gpu_nim.backends.shared.owners import owners
from gpu_nim.model.arguments import integer
from gpu_nim.model.arrays import Ints
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.work import OnStep, unreported

RANKS = (2, 3, 4, 6, 8, 16, 64)
SENDING = (2, 3, 4, 8)
"""Those for which bytes are counted."""
CHOSEN = "dealt out by digits"
_AXES = "uvw"


@dataclass(frozen=True)
class Division:
    """A way of dividing a growth.

    Attributes:
        axis: the coordinate that a slab of bricks has in common; for nim, of whose plane rows are dealt out, "u".
        way: what is dealt out, and how.
        uneven: for each number of ranks, the sum over generations of the busiest rank's births, over that of the mean.
        sent: for each number of ranks, the bytes that all ranks send in the whole growth; None where it is not counted.
    """

    axis: str
    way: str
    uneven: dict[int, float]
    sent: dict[int, int] | None


def divisions(automaton: str, generations: int, on_step: OnStep = unreported) -> list[Division]:
    """Return the ways of dividing a growth, counted.

    Args:
        automaton: a name of the catalogue, with births on exactly one touch, in 2 or 3 dimensions, or nim.
        generations: the last generation, 1 or more.
        on_step: called with the progress.

    Raises:
        UsageError: the automaton is of another kind.

    >>> best = [each for each in divisions("nim", 255) if each.way == CHOSEN]
    >>> best[0].uneven[2] < 1.05
    True
    """
    rule, last = find(automaton).rule, integer("generations", generations, 1)
    if rule is find("nim").rule:
        work, sent = _nim(last, on_step)
        return [_division("u", way, work, cut, sent if way == CHOSEN else None) for way, cut in _ways(1, BLOCKS).items()]
    if not supports(rule):
        raise UsageError(f"automaton must have births on exactly one touch, in 2 or 3 dimensions, got {automaton}")
    works, sent = _exactly_one(rule, last, on_step)
    bricks = Bricks(rule, last)
    ways = _ways(bricks.slab_reach, None)
    return [
        _division(axis, way, work, cut, sent if way == CHOSEN and axis == _AXES[bricks.axis] else None)
        for axis, work in works.items()
        for way, cut in ways.items()
    ]


def _division(axis: str, way: str, work: Ints, cut: "_Cut", sent: dict[int, int] | None) -> Division:
    uneven = {
        ranks: sum(_busiest(part, owner, ranks) for part, owner in cut(work, ranks)) * ranks / int(work.sum()) for ranks in RANKS
    }
    return Division(axis, way, uneven, sent)


_Cut = Callable[[Ints, int], Iterator[tuple[Ints, Ints]]]
"""From births by generation and slab, and a number of ranks: stretches of generations, with the slabs' owners in each."""


def _ways(narrowest: int, blocks: int | None) -> dict[str, _Cut]:
    counted = {} if blocks is None else {"blocks": blocks}

    def contiguous(work: Ints, ranks: int) -> Iterator[tuple[Ints, Ints]]:
        yield work, _equal(work, ranks)

    def recut(work: Ints, ranks: int) -> Iterator[tuple[Ints, Ints]]:
        stops = [0, *(1 << power for power in range(len(work).bit_length()) if 1 << power < len(work)), len(work)]
        for start, stop in pairwise(stops):
            yield work[start:stop], _equal(work[start:stop], ranks)

    def in_turn(work: Ints, ranks: int) -> Iterator[tuple[Ints, Ints]]:
        width = max(narrowest, work.shape[1] // (32 * ranks))
        yield work, np.arange(work.shape[1]) // width % ranks

    def by_digits(work: Ints, ranks: int) -> Iterator[tuple[Ints, Ints]]:
        yield work, owners(work.shape[1], narrowest, ranks, **counted)

    return {
        "parts of equal births": contiguous,
        "parts of equal births, cut again at each power of two": recut,
        "blocks dealt out in turn": in_turn,
        CHOSEN: by_digits,
    }


def _equal(work: Ints, ranks: int) -> Ints:
    """The owners of contiguous parts with equal shares of these births, which are known beforehand here."""
    before = np.cumsum(work.sum(axis=0))
    return np.searchsorted(np.arange(1, ranks) * before[-1] / ranks, before)


def _busiest(work: Ints, owner: Ints, ranks: int) -> int:
    """The sum over generations of the births of the rank that has most."""
    return int(np.stack([work[:, owner == rank].sum(axis=1) for rank in range(ranks)]).max(axis=0).sum())


def _exactly_one(rule: Rule, last: int, on_step: OnStep) -> tuple[dict[str, Ints], dict[int, int]]:
    """Births by generation and slab along each axis, and the bytes that are sent."""
    engine, bricks = ExactlyOneEngine(rule, last), Bricks(rule, last)
    parts = {(ranks, rank): Bricks(rule, last, rank, ranks) for ranks in SENDING for rank in range(ranks)}
    boundaries = {which: Boundary(part) for which, part in parts.items()}
    sent, births = dict.fromkeys(SENDING, 0), {axis: [np.zeros(0, np.int64)] * (last + 1) for axis in range(bricks.axis, 3)}
    for generation in range(last + 1):
        on_step("counting", generation, last + 1)
        engine.advance(generation)
        slabs = engine.at >> np.array(bricks.logs)[:, None]
        for axis, counts in births.items():
            counts[generation] = np.bincount(slabs[axis])
        for (ranks, rank), part in parts.items():
            own = part.owners[slabs[bricks.axis]] == rank
            sent[ranks] += sum(map(len, boundaries[ranks, rank].parts(engine.at[:, own])))
    return {_AXES[axis]: _rows(rows) for axis, rows in births.items()}, sent


def _nim(last: int, on_step: OnStep) -> tuple[Ints, dict[int, int]]:
    """Words with newborns by generation and row, and the bytes that are sent."""
    engine, rows, sent = NimEngine(last), [], dict.fromkeys(SENDING, 0)
    for generation in range(last + 1):
        on_step("counting", generation, last + 1)
        engine.advance(generation)
        places = np.asarray(engine.state()["places"], dtype=np.int64)
        rows.append(np.bincount(places[:, 0], minlength=1))
        for ranks in SENDING:
            owner = owners(last + 1, 1, ranks, BLOCKS)
            ends = np.append(owner[1:] != owner[:-1], False)
            sent[ranks] += 16 * int(ends[places[:, 0]].sum())
    return _rows(rows), sent


def _rows(births: list[Ints]) -> Ints:
    """As one array, from the first slab with a birth on."""
    table = np.zeros((len(births), max(map(len, births))), np.int64)
    for row, counts in zip(table, births, strict=True):
        row[: len(counts)] = counts
    return table[:, int(table.any(axis=0).argmax()) :]
