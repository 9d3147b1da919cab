"""What a turn of a warp in `exactly_one_grow` meets: rounds, by which its budget counts, and more births than it has room for."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import find
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.cuda.table import read_constants
from gpu_nim.backends.numpy.exactly_one import ExactlyOneEngine as NumpyExactlyOne
from gpu_nim.backends.shared.bricks import Bricks, positions
from gpu_nim.model.rule import Rule
from scripts.lib.budgets import FREQUENCIES
from tests.cuda_host import HostLauncher, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")
LAST = 256


def in_turns(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Values of listed bricks in turns of eight, shape (turns, 8), filled up with 0."""
    return np.pad(values.astype(np.int64), (0, -len(values) % 8)).reshape(-1, 8)


def rounds(values: NDArray[np.integer], lanes: int) -> int:
    """How many rounds all turns have in which each brick's lanes take one of its values each, until none are left."""
    return int((-(-in_turns(values) // lanes)).max(axis=1).sum())


def test_the_frequencies_are_those_of_real_lists() -> None:
    bricks = DeviceBricks(find("edge").rule, LAST)
    engine = ExactlyOneEngine(HostLauncher(), bricks)
    engine.advance(0)
    found = Counter[str]()
    for generation in range(1, LAST + 1):
        # Bricks beside a wall are at the list's end.
        listed = slice(start := generation % 2 * engine._capacity, start + int(to_host(engine._counts)[2 * generation]))
        numbers = bricks.number(positions(to_host(engine._lists[listed])))
        known = to_host(engine._growth["incoming"])[generation % 2 * bricks.count + numbers]
        engine.advance(generation)
        words = to_host(engine._newborn[4 * listed.start : 4 * listed.stop]).reshape(-1, 4)
        cells = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        reached = np.bitwise_or.reduce(cells * bricks.reach, axis=1)
        births, halves = cells.sum(axis=1, dtype=np.int64), np.bitwise_count(words.view(np.uint32))
        found += Counter(
            {
                "turn": len(in_turns(births)),
                "birth": int(births.sum()),
                "for (u32 left = g.dealt(known": rounds(np.bitwise_count(known), 4),
                "for (u32 left = static_cast<u32>(born & ~near)": rounds(halves[:, 0::2].max(axis=1), 1),
                "for (u32 left = static_cast<u32>((born & ~near) >> 32)": rounds(halves[:, 1::2].max(axis=1), 1),
                "for (u32 k = lane; k < queued": int((-(-in_turns(births).sum(axis=1) // 32)).sum()),
                "for (u32 left = dealt(reached": rounds(np.bitwise_count(reached), 4),
            }
        )
    average = {part: round(times / found["turn"], 2) for part, times in found.items()}
    assert average["birth"] == 53.49  # of docs/performance.md
    budgeted = FREQUENCIES["exactly_one_grow"]
    assert {part: often for part, often in budgeted.items() if part in average} == {
        part: often for part, often in average.items() if part not in ("turn", "birth")
    }


@pytest.mark.cuda_host
def test_more_births_in_a_turn_than_its_queue_holds() -> None:
    """Every second layer of 16 bricks bears the others: 256 cells of each brick, and 1024 of a turn of four."""
    rule = Rule(3, ((0, 1, 0),), frozenset({1}), tuple(product(range(32), range(0, 32, 2), range(8))))
    device, host = ExactlyOneEngine(HostLauncher(), DeviceBricks(rule, 4)), NumpyExactlyOne(Bricks(rule, 4))
    found, expected = device.advance(4), host.advance(4)
    assert expected.births[1] == 16 * 256 > 4 * read_constants("exactly_one.cu")["QUEUE"]
    assert found.births.tolist() == expected.births.tolist()
    assert found.checksums.tolist() == expected.checksums.tolist()
