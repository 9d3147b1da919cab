"""Indices past 2^31 and 2^32, in kernels and in what the host reckons for them: small work at the far end of vast arrays.

The arrays are mapped memory of which only the pages written exist (`tests.strict_cupy.vast`), so bases and capacities are those of
a device with hundreds of gigabytes.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import find
from gpu_nim.backends.cuda.bricks import DeviceBricks
from gpu_nim.backends.cuda.counting import CudaCounting
from gpu_nim.backends.cuda.exactly_one import ExactlyOneEngine
from gpu_nim.backends.cuda.games import inequality_arguments
from gpu_nim.backends.cuda.launcher import to_host
from gpu_nim.backends.interface import State
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.shared.bricks import numbered, within_reach
from gpu_nim.backends.shared.games import Box
from gpu_nim.games.inequality import nim
from gpu_nim.model.digest import nim_plane_mix
from gpu_nim.model.errors import InsufficientMemoryError
from gpu_nim.model.rule import NIM, Rule, Symmetry
from tests import strict_cupy as xp
from tests.cuda_host import compiler
from tests.helpers import same_batches
from tests.strict_cupy.vast import VastLauncher, vast

pytestmark = pytest.mark.skipif(compiler() is None, reason="kernels cannot run on the CPU: no g++ (or $CXX)")


#: Either would be born again, were it not known to be touched.
TWO_SEEDS = replace(find("ulam-warburton").rule, seeds=((0, 0), (1, 0)), symmetry=Symmetry.NONE)


def based(base: int) -> type[DeviceBricks]:
    """Bricks that are numbered from `base` on."""

    class Based(DeviceBricks):
        @property
        def columns(self) -> NDArray[np.int64]:
            return super().columns + np.array([base, 0, 0])

        @property
        def count(self) -> int:
            return base + super().count

        @property
        def held(self) -> int:
            return base + super().held

        @property
        def numbers(self) -> range:
            return range(base, self.count)

    return Based


# Word 4 b of `touched` is past 2^32 from brick 2^30 on, and so are the words of the newborns' ring.
@pytest.mark.parametrize("rule", [find("fcc").rule, TWO_SEEDS], ids=["fcc", "two seeds"])
@pytest.mark.parametrize("base", [2**30 - 3, 2**31 - 3, 2**32 - 2**9])
def test_bricks_of_large_numbers(rule: Rule, base: int) -> None:
    last = 18
    host = NumpyBackend().engine(rule, last).make()
    expected = [host.advance(last // 2, cells=True), host.advance(last, cells=True)]
    bricks = based(base)(rule, last)
    assert base < bricks.capacity(1 << 60) < 2**32
    engine = ExactlyOneEngine(VastLauncher(), bricks, free=1 << 60)
    first = engine.advance(last // 2, cells=True)
    resumed = ExactlyOneEngine(VastLauncher(), bricks, engine.state(), free=1 << 60)
    for batch, wanted in zip((first, resumed.advance(last, cells=True)), expected, strict=True):
        same_batches(batch, wanted)


def test_more_bricks_than_numbers_are_refused() -> None:
    with pytest.raises(InsufficientMemoryError, match="more than the 4,294,967,294 that can be numbered"):
        _ = based(2**32 - 2)(find("fcc").rule, 18).device_bytes


#: The place in a list at which it begins in the next test: the words of newborns there are past 2^32.
FIRST, BLOCKS = 2**30, 64


class FarOn:
    """A growth on one of some ranks, resumed from a state, whose later lists begin at `FIRST`; of launches the last blocks run."""

    def __init__(self, rule: Rule, last: int, state: State, rank: int, ranks: int) -> None:
        self.bricks, self.launcher = DeviceBricks(rule, last, rank, ranks), VastLauncher()
        self.growth = {name: xp.asarray(table.reshape(-1)) for name, table in self.bricks.tables.items()}
        self.growth |= {name: vast(size, dtype) for name, (size, dtype) in self.bricks.arrays(2 * FIRST).items()}
        self.growth |= self.bricks.scalars(2 * FIRST)
        generation = int(state["generation"])
        for numbers, words in self.bricks.touched(state):
            for number, row in zip((numbers * self.bricks.words).tolist(), words, strict=True):
                self.growth["touched"][number : number + len(row)].set(row)
        newborns = state["newborns"].astype(np.int64)
        found, words = self.bricks.words_of(newborns[self.bricks.owns(self.bricks.split(newborns)[0])])
        ring = (generation & 1) * 2 * FIRST
        self.growth["newborn"][ring * self.bricks.words : ring * self.bricks.words + words.size].set(words.reshape(-1))
        self.growth["lists"][ring : ring + len(found)].set(numbered(found))
        counts = np.zeros(2 * (last + 2), np.uint32)
        counts[2 * generation + 2 :: 2] = FIRST
        counts[2 * generation] = len(found)
        self.growth["counts"].set(counts)
        self.growth["clock"].set(np.array([generation], np.uint32))
        self.launch("exactly_one_lay", slice(BLOCKS), generation=generation)

    def launch(self, kernel: str, part: slice, **arguments: Any) -> None:
        """Run a part of the blocks that go through a list from `FIRST` on, four lanes a place."""
        self.launcher.parts[kernel] = part
        self.launcher.bind(kernel, self.growth | arguments)(FIRST // 32 + BLOCKS)

    def sent(self, generation: int, part: slice) -> list[NDArray[np.uint64]]:
        """What the rank sends to each."""
        bricks, counted = self.bricks, xp.zeros(self.bricks.ranks + 1, np.uint32)
        starts, parts = np.arange(bricks.ranks, dtype=np.uint64) << np.uint64(14), xp.zeros(1 << 16, np.uint64)
        sending = {
            "generation": generation,
            "faces": xp.asarray(within_reach(bricks).reshape(-1)),
            "owners": xp.asarray(np.pad(bricks.owners, 1, constant_values=bricks.rank).astype(np.int32)),
            "rank": bricks.rank,
            "ranks": bricks.ranks,
            "starts": xp.asarray(starts),
            "counted": counted,
            "parts": parts,
        }
        self.launch("exactly_one_send", part, **sending, writes=0)
        sizes = 5 * to_host(counted)[:-1].astype(np.int64)  # a place and four words
        self.launch("exactly_one_send", part, **sending, writes=1)
        return [to_host(parts)[start : start + size] for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)]

    def receive(self, generation: int, parts: list[NDArray[np.uint64]]) -> None:
        whole = np.concatenate(parts)
        if len(whole):
            received = xp.asarray(whole)
            self.launch("exactly_one_receive", slice(BLOCKS), generation=generation, arrived=len(whole) // 5, parts=received)


@pytest.mark.parametrize("ranks", [1, 2])
def test_places_far_on_in_a_list_of_bricks(ranks: int) -> None:
    rule, first, last = find("fcc").rule, 33, 36
    host = NumpyBackend().engine(rule, last).make()
    host.advance(first)
    state, wanted = host.state(), host.advance(last)
    growing = [FarOn(rule, last, state, rank, ranks) for rank in range(ranks)]
    reports = np.zeros((last - first, 3), np.uint64)
    for generation in range(first, last):
        far = slice(BLOCKS) if generation == first else slice(-BLOCKS, None)
        sent = [each.sent(generation, far) for each in growing] if ranks > 1 else []
        for rank, each in enumerate(growing):
            each.receive(generation, [parts[rank] for parts in sent] or [np.zeros(0, np.uint64)])
            each.launch("exactly_one_grow", slice(-BLOCKS, None), step=generation - first, section_axes=0, section_level=0)
            reports[generation - first] += to_host(each.growth["reports"][3 * generation + 3 : 3 * generation + 6])
    assert reports[:, 0].tolist() == wanted.births.tolist()
    assert reports[:, 1].tolist() == wanted.checksums.tolist()


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
def test_a_table_of_many_slots(bits: int) -> None:
    """Keys are entered where probing finds them, and touched and decided there."""
    entered, jump, near = list(range(1, 60)), 1000, 32
    launcher, table = VastLauncher(), {"keys": vast(1 << bits, np.uint64), "touches": vast(1 << bits, np.uint32)}

    def home(key: int) -> int:
        """Fibonacci hashing, as in cuda/general.cu."""
        return (key * 0x9E3779B97F4A7C15) % 2**64 >> 64 - bits

    def held(key: int) -> int:
        slots = table["keys"][home(key) : home(key) + near].tolist()
        return int(table["touches"][home(key) + slots.index(key)].item())

    touched = [key + jump for key in entered]
    for key in (*entered, *touched):
        table["keys"][home(key) : home(key) + near].set(np.full(min(near, (1 << bits) - home(key)), 2**64 - 1, np.uint64))
    assert max(map(home, touched)) > 2**bits * 0.95
    keys = xp.asarray(np.array(entered, np.uint64))
    closed = {"from_keys": keys, "from_touches": xp.full(len(entered), 1 << 15, np.uint32), "count": len(entered)}
    launcher.bind("general_enter", {**closed, **table, "bits": bits})(1)
    assert [held(key) for key in entered] == [1 << 15] * len(entered)
    counters, changed = xp.zeros(3, np.uint64), xp.zeros(len(entered), np.uint64)
    listed = {"changed": changed, "counters": counters}
    jumps = {"jumps": xp.full(1, jump, np.int64), "jump_count": 1, "allowed": xp.zeros(1, np.uint8), "all": 1}
    launcher.bind("general_touch", {"newborns": keys, "count": len(entered), **jumps, **table, "bits": bits, **listed})(1)
    assert [held(key) for key in touched] == [1 << 16] * len(entered)
    one = xp.asarray(np.eye(1, 2**15, 1, dtype=np.uint8)[0])  # born of one touch
    newborns = xp.zeros(len(entered), np.uint64)
    launcher.bind("general_decide", {"born": one, "newborns": newborns, **table, **listed})(1)
    assert [held(key) for key in touched] == [1 << 15] * len(entered)
    assert sorted(newborns.tolist()) == touched


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
