"""Indices past 2^31 and 2^32, in kernels and in what the host reckons for them: small work at the far end of vast arrays.

The arrays are mapped memory of which only the pages written exist (`tests.strict_cupy.vast`), so bases and capacities are those of
a device with hundreds of gigabytes.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gpu_nim.automata.catalogue import find
from gpu_nim.backends.communicator import ALONE, Communicator
from gpu_nim.backends.cuda import CudaBackend, general
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.counting import CudaCounting
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.games import inequality_arguments
from gpu_nim.backends.cuda.general import GeneralEngine
from gpu_nim.backends.interface import Batch
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.shared.engines import Keys
from gpu_nim.backends.shared.games import Box
from gpu_nim.games.inequality import nim
from gpu_nim.model.digest import nim_plane_mix
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import NIM, Rule, Symmetry
from tests import strict_cupy as xp
from tests.cuda_host import compiler
from tests.strict_cupy.vast import VastLauncher, vast
from tests.threads import on_ranks

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


#: Either would be born again, were it not known to be touched.
TWO_SEEDS = replace(find("ulam-warburton").rule, seeds=((0, 0), (1, 0)), symmetry=Symmetry.NONE)


def based(monkeypatch: pytest.MonkeyPatch, base: int) -> None:
    """Number the bricks of every growth from `base` on."""
    columns, numbers = DeviceBricks.columns.func, {name: getattr(DeviceBricks, name).func for name in ("count", "held")}
    monkeypatch.setattr(DeviceBricks, "columns", property(lambda bricks: columns(bricks) + np.array([base, 0, 0])))
    monkeypatch.setattr(DeviceBricks, "numbers", property(lambda bricks: range(base, bricks.count)))
    for name, plain in numbers.items():
        monkeypatch.setattr(DeviceBricks, name, property(partial(_from, base, plain)))


def _from(base: int, plain: Callable[[DeviceBricks], int], bricks: DeviceBricks) -> int:
    return base + plain(bricks)


# Word 4 b of `touched` is past 2^32 from brick 2^30 on, and so are the words of the newborns' ring.
@pytest.mark.parametrize("rule", [find("fcc").rule, TWO_SEEDS], ids=["fcc", "two seeds"])
@pytest.mark.parametrize("base", [2**30 - 3, 2**31 - 3, 2**32 - 2**9])
def test_bricks_of_large_numbers(monkeypatch: pytest.MonkeyPatch, rule: Rule, base: int) -> None:
    last = 18
    host = NumpyBackend().engine(rule, last).make()
    expected = [host.advance(last // 2, cells=True), host.advance(last, cells=True)]
    based(monkeypatch, base)
    engine = CudaBackend(VastLauncher()).engine(rule, last).make()
    assert base < engine._capacity < 2**32
    first = engine.advance(last // 2, cells=True)
    resumed = CudaBackend(VastLauncher()).engine(rule, last, engine.state()).make()
    for batch, wanted in zip((first, resumed.advance(last, cells=True)), expected, strict=True):
        assert batch.births.tolist() == wanted.births.tolist()
        assert batch.checksums.tolist() == wanted.checksums.tolist()
        assert np.array_equal(batch.cells, wanted.cells)


def test_more_bricks_than_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    based(monkeypatch, 2**32 - 2)
    with pytest.raises(InsufficientMemoryError, match="more than the 4,294,967,294 that can be numbered"):
        CudaBackend(VastLauncher()).engine(find("fcc").rule, 18)


#: The place in each list at which it begins in `lists_begin_far_on`: the words of newborns there are past 2^32.
FIRST = 2**30


def lists_begin_far_on(engine: ExactlyOneEngine, launcher: VastLauncher) -> None:
    """Let the lists of later generations begin at `FIRST`, in launches whose last blocks alone run."""
    engine._counts[2 * engine.generation + 2 :: 2] = FIRST
    blocks = 64
    engine._grid = FIRST // 32 + blocks  # four lanes a place in the list
    launcher.parts["exactly_one_grow"] = slice(-blocks, None)
    # These go through the list of the generation before, which begins at 0 as yet, and through what is received.
    launcher.parts |= dict.fromkeys(("exactly_one_send", "exactly_one_receive"), slice(blocks))


@pytest.mark.parametrize("ranks", [1, 2])
def test_places_far_on_in_a_list_of_bricks(monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    rule, first, last = find("fcc").rule, 33, 36
    host = NumpyBackend().engine(rule, last).make()
    host.advance(first)
    state, wanted = host.state(), host.advance(last)
    based(monkeypatch, 2 * FIRST)  # room in the lists for twice as many

    def grown(communicator: Communicator) -> list[Batch]:
        launcher = VastLauncher()
        engine = CudaBackend(launcher, communicator).engine(rule, last).make()
        lay = engine._lay
        engine._lay = lambda grid, generation: (lists_begin_far_on(engine, launcher), lay(grid, generation=generation))
        engine._restore(state)
        batches = [engine.advance(first + 1)]
        if ranks > 1:
            launcher.parts["exactly_one_send"] = launcher.parts["exactly_one_grow"]
            send, counted = engine._exchange._send, engine._exchange._counted

            def sent(grid: int, generation: int, writes: int) -> None:
                send(grid, generation=generation, writes=writes)
                counted[-1:] = engine._counts[2 * generation : 2 * generation + 1]  # as the first block does, which does not run

            engine._exchange._send = sent
        return [*batches, engine.advance(last)]

    for batches in [grown(ALONE)] if ranks == 1 else on_ranks(ranks, grown):
        for name in ("births", "checksums"):
            assert np.concatenate([getattr(batch, name) for batch in batches]).tolist() == getattr(wanted, name).tolist()


def test_the_last_of_many_pairs() -> None:
    """The last newborns of 2^30 + 3 touch along the last of 8 offsets, where they may: pairs past 2^33, listed past 2^32."""
    newborns, jumps, near, bits = 2**30 + 3, 8, 5, 8
    launcher, listed = VastLauncher(), 2**32 + 9
    born, allowed, changed = (vast(size, dtype) for size, dtype in ((newborns, "u8"), (jumps * newborns, "u1"), (2**33, "u8")))
    born[-near:].set(np.arange(1, near + 1, dtype=np.uint64))
    allowed[-near:].set(np.array([1, 0, 1, 1, 0], np.uint8))
    keys, touches = xp.full(1 << bits, 2**64 - 1, np.uint64), xp.zeros(1 << bits, np.uint32)
    counters = xp.asarray(np.array([listed, 0, 0], np.uint64))
    table, pairs = {"keys": keys, "touches": touches}, {"changed": changed, "counters": counters}
    touch = launcher.bind(
        "general_touch",
        {"newborns": born, "count": newborns, "jumps": xp.full(jumps, 100, np.int64), "jump_count": jumps, "all": 0}
        | {"allowed": allowed, "bits": bits}
        | table
        | pairs,
    )
    launcher.parts = dict.fromkeys(("general_touch", "general_decide"), slice(-1, None))
    touch(-(-jumps * newborns // touch.threads))
    assert counters.tolist() == [listed + 3, 3, 0]
    assert sorted(keys[changed[listed : listed + 3]].tolist()) == [101, 103, 104]
    one = xp.asarray(np.eye(1, 2**15, 1, dtype=np.uint8)[0])  # born of one touch
    newborn = xp.zeros(near, np.uint64)
    decide = launcher.bind("general_decide", {"born": one, "newborns": newborn} | table | pairs)
    decide(listed // decide.threads + 1)
    assert sorted(newborn.tolist()) == [0, 0, 101, 103, 104]


@pytest.mark.parametrize("limbs", [1, 2])
def test_the_last_of_many_values(limbs: int) -> None:
    """Of 2^20 blocks of 2^13 stores, 16 bytes each, the last."""
    bits, blocks, run = 13, 2**20, 8
    launcher, values = VastLauncher(), blocks << bits + 1
    table, rows = xp.full((1, 2 << bits), 3, np.uint64), vast((blocks, limbs), np.uint64)
    if limbs == 2:
        table[0, 1::2] = 0
    rows[-1:, :1].set(np.array([[5]], np.uint64))
    out = vast(values, np.uint64)
    numbers = {"dimension": 1, "bits": bits, "first": 0, "count": blocks << bits, "run": run}
    launch = launcher.bind("count_fill" if limbs == 1 else "count_fill_wide", {"table": table, "rows": rows, "out": out} | numbers)
    launcher.parts = dict.fromkeys(("count_fill", "count_fill_wide"), slice(-2, None))
    launch((blocks << bits) // run // launch.threads)
    assert out[-4:].tolist() == ([15] * 4 if limbs == 1 else [15, 0] * 2)


@pytest.mark.parametrize("bits", [31, 33])
def test_a_table_of_many_slots(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    rule, last = find("rule750").rule, 16
    grid, near = Keys(rule, last), 32

    def home(key: int) -> int:
        """Fibonacci hashing, as in cuda/general.cu."""
        return (key * 0x9E3779B97F4A7C15) % 2**64 >> 64 - bits

    def clear(keys: xp.ndarray) -> None:
        for key in range(grid.size):
            keys[home(key) : home(key) + near].set(np.full(min(near, len(keys) - home(key)), 2**64 - 1, np.uint64))

    monkeypatch.setattr(general, "_FIRST_BITS", bits)
    engine = GeneralEngine(VastLauncher(clear), rule, last)
    batch, wanted = engine.advance(last, cells=True), NumpyBackend().engine(rule, last).make().advance(last, cells=True)
    assert batch.births.tolist() == wanted.births.tolist()
    assert np.array_equal(batch.cells, wanted.cells)
    # Wherever else they had gone, probing would have found them.
    keys = grid.encode(wanted.cells).tolist()
    assert max(map(home, keys)) > 2**bits * 0.99
    assert all(key in engine._keys[home(key) : home(key) + near].tolist() for key in keys)


def test_rows_of_nims_plane_far_apart() -> None:
    """32 generations on the first tiles of a plane whose rows have 2^26 words: row 95 begins at word 6.4e9."""
    last, generation = 95, 60
    host = NumpyBackend().engine(NIM, last).make()
    host.advance(generation)
    state, wanted = host.state(), host.advance(generation + 32)
    launcher, rows, row_words = VastLauncher(), last + 1, 1 << 26
    plane, spare = (vast(rows * row_words, np.uint64) for _ in range(2))
    for (row, word), bits in zip(state["places"].tolist(), state["words"].tolist(), strict=True):
        plane[row * row_words + word : row * row_words + word + 1].set(np.array([bits], np.uint64))
    births, checksums = xp.zeros(rows, np.uint64), xp.zeros(rows, np.uint64)
    numbers = {"rows": rows, "row_words": row_words, "generation": generation, "steps": 32}
    filled = {"filled_from": xp.ones(64, np.uint8), "filled_to": xp.zeros(64, np.uint8)}
    mixing = dict(zip(("down", "along", "up"), nim_plane_mix(), strict=True))
    lengths = xp.zeros(rows, np.uint32)
    lengths[generation : generation + 1].set(np.ones(1, np.uint32))  # of a list of the first tile
    lists = {name: xp.zeros(64, np.uint32) for name in ("tiles", "takes_tiles", "entered")}
    planes = {"from": plane, "to": spare, **filled, "lengths": lengths, **lists}
    launch = launcher.bind("nim_advance", {**planes, **numbers, **mixing, "births": births, "checksums": checksums})
    launch(1)
    assert births[wanted.first : wanted.first + 32].get().tolist() == wanted.births.tolist()
    assert checksums[wanted.first : wanted.first + 32].get().tolist() == wanted.checksums.tolist()
    for (row, word), bits in zip(host.state()["places"].tolist(), host.state()["words"].tolist(), strict=True):
        assert spare[row * row_words + word].item() == bits


def test_the_far_corner_of_a_wedge() -> None:
    """The last total of x, z <= 599,999 and y <= 1 has one position, whose place, column and key are past 2^32."""
    side, corner = 600_000, 599_999
    words, launcher, total = -(-side // 64), VastLauncher(), 2 * corner + 1
    size, bit = (2 * side - 1) * words, 1 << corner % 64
    place = 2 * corner * words + words - 1
    top, columns = vast((side, side), np.uint32), vast(size, np.uint64)
    top[2 * corner % side, corner : corner + 1].set(np.array([1], np.uint32))
    columns[place : place + 1].set(np.array([bit], np.uint64))
    keys, found = xp.zeros(1, np.uint64), xp.zeros(1, np.uint64)
    y_lines = vast(size, np.uint64)
    launch = launcher.bind(
        "wedge_outcomes",
        {
            "top": top,
            "nx": side,
            "ny": 2,
            "nz": side,
            "words": words,
            "total": total,
            "first_row": 1,
            "rows": 1,
            "columns": columns,
            "changes": vast(size, np.uint32),
            "y_lines": y_lines,
            **{name: xp.zeros(2 * words, np.uint64) for name in ("x_lines", "z_lines", "z_lines_next")},
            **{name: xp.full(side, 2**32 - 1, np.uint32) for name in ("roof_x", "roof_z")},
            "keys": keys,
            "found": found,
        },
    )
    launch.each(words)
    assert (found.item(), keys.item()) == (1, (2 * corner + 1) * side + corner)
    assert y_lines[place].item() == bit


def test_the_far_corner_of_a_wedges_values() -> None:
    """The position (7999, 7999, 7999), whose line along x has seen the values below 68 * 64."""
    side, seen = 8000, 68
    launcher, corner, total = VastLauncher(), side - 1, 3 * (side - 1)
    row, words = 2 * corner % side, total // 64 + 1
    top = vast((side, side), np.uint32)
    top[row, corner : corner + 1].set(np.array([corner], np.uint32))
    x_seen, y_seen, z_seen = (vast((words, side, side), np.uint64) for _ in range(3))
    for word in range(seen):
        x_seen[word, corner, corner : corner + 1].set(np.array([2**64 - 1], np.uint64))
    wedge, stored = {"top": top, "nx": side, "ny": side, "nz": side}, vast((side, side, side), np.uint16)
    lines = {"x_seen": x_seen, "y_seen": y_seen, "z_seen": z_seen}
    totals = {"total": total, "first_row": corner, "rows": 1}
    step = launcher.bind("wedge_grundy", {**wedge, **lines, **totals, "values": stored})
    step.each(side)
    assert stored[row, corner, corner].item() == 64 * seen
    assert x_seen[seen, corner, corner].item() == 1

    values = xp.empty((1, side), np.uint16)
    home = {"stored": stored, "first": corner * side + corner, "lines": 1, "values": values}
    out = launcher.bind("wedge_values", {**wedge, **home})
    out.each(side)
    assert values[0, corner].item() == 64 * seen


def test_outcomes_in_a_long_box() -> None:
    """Two piles, the second as long as a total may be: pile x of the first begins at cell x (2^31 - 7)."""
    limits = (3, 2**31 - 8)
    launcher, arguments = VastLauncher(), inequality_arguments(nim(2).bounds(limits), Box(limits), xp)
    keys, found = xp.zeros(8, np.uint64), xp.zeros(1, np.uint64)
    flags = vast(4 * (2**31 - 7), np.uint8)
    launch = launcher.bind(
        "inequality_outcomes", {**arguments, "flags": flags, "keys": keys, "found": found}, shared_bytes=4 * 2 * 2 * 128
    )
    for total in range(9):
        launch(1, total=total)
    assert keys[: found.item()].get().tolist() == [pile * (2**31 - 7) + pile for pile in range(4)]


def test_the_far_corner_of_a_large_box() -> None:
    """The last total has one position, all of whose options have value 0."""
    limits = (258, 258, 64_900)
    launcher, box = VastLauncher(), Box(limits)
    values = vast(259 * 259 * 64_901, np.uint16)
    assert len(values) > 2**32
    seen_words = box.last // 32 + 1
    launch = launcher.bind(
        "inequality_grundy",
        {**inequality_arguments(nim(3).bounds(limits), box, xp), "seen_words": seen_words, "values": values},
        shared_bytes=4 * (2 * 3 * 64 + 2 * seen_words),
    )
    launch.each(box.choices, total=box.last)
    assert values[len(values) - 1].item() == 1


@pytest.mark.parametrize("limbs", [1, 2])
def test_rows_of_counts_far_apart(limbs: int) -> None:
    """Values of blocks 2^32 + 5 and on, of 16 values each."""
    random, block, skip = np.random.default_rng(3), 2**32 + 5, 7
    columns = random.integers(1, 2**20, (2, 16)).astype(np.uint64 if limbs == 1 else object)
    numbers = random.integers(1, 2**20, (3, 2)).astype(columns.dtype)
    launcher = VastLauncher()
    engine = CudaCounting(launcher)
    rows = vast((block + 3, 2, 2)[: limbs + 1], np.uint64)
    words = numbers if limbs == 1 else np.stack([numbers, 0 * numbers], axis=-1).astype(np.uint64)
    rows[block:].set(words)
    table, out = engine.table(columns, limbs), np.empty((30, 2)[:limbs], np.uint64)
    engine.fill(table, rows, 16 * block + skip, out)
    wanted = (numbers @ columns).reshape(-1)[skip : skip + 30]
    assert (out if limbs == 1 else out[:, 0]).tolist() == wanted.tolist()
    assert engine.lengths(table, rows, 16 * block + skip, 30).total == sum(wanted.tolist())
