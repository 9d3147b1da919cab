"""Little memory: every command finishes within it or is refused in a sentence; none is killed or aborts."""

import random
from pathlib import Path

from tests.campaign import judge, runner
from tests.campaign.case import Case, Fault

_PICTURE = ("--quality=draft", "-o=p.png")
# Command lines with a size, and sizes from harmless to impossible.
_WORKS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("render", "nim:{}", "--resolution=64x48", *_PICTURE), ("63", "1023", "8191", "1073741823")),
    (("render", "nim:7", "--resolution={0}x{0}", *_PICTURE), ("64", "2048", "8192", "16384", "60000")),
    (("render", "nim:7", "--resolution={0}x{0}", "--engine=numpy", *_PICTURE), ("64", "2048", "8192", "16384", "60000")),
    (("render", "fcc:{}", "--resolution=64x48", "--style=volume", *_PICTURE), ("15", "63", "255", "2000")),
    (("render", "edge:{}", "--resolution=64x48", "--engine=numpy", *_PICTURE), ("15", "63", "511", "5000")),
    (("export", "nim:{}", "-o=m.ply"), ("15", "255", "2047", "65535")),
    (("export", "edge:{}", "-o=m.html"), ("15", "127", "1023", "20000")),
    (("export", "nim:{}", "--printable", "-o=m.stl"), ("15", "63", "1023", "65535")),
    (("movie", "nim:7", "--resolution={0}x{0}", "--seconds=0.1", "--quality=draft", "-o=m.gif"), ("64", "8192", "30000")),
    (("grow", "edge", "--gen={}"), ("100", "10000", "1000000", "2^31-1")),
    (("grow", "fcc", "--gen={}"), ("100", "10000", "1000000", "2^31-1")),
    (("grow", "nim", "--gen={}"), ("100", "200000", "2^31-1")),
    (("grow", "--offsets=1000000,0,0;0,1000000,0;0,0,1", "--gen={}"), ("5", "1000", "1000000")),
    (("grow", "fcc", "--gen={}", "--out=g.npz"), ("20", "5000")),
    (("grow", "cubic26", "--gen={}", "--voxels=v.zarr"), ("20", "5000")),
    (("count", "D", "--piles=7", "--range=0:{}", "--json"), ("1000", "10^6")),
    (("count", "D", "--piles=3", "--range=0:{}", "--reduce=histogram", "--plan"), ("1000", "10^10", "10^30")),
    (("count", "a", "--piles={}", "--at=10^100000"), ("3", "1000")),
    (("count", "A048833", "--at={}"), ("100", "2^40", "2^70")),
    (("count", "D", "--piles=6", "--range=0:{}", "--method=enumerate", "--plan"), ("10", "10^6", "10^30")),
    (("solve", "chocolate", "--size={}"), ("63", "2047", "100000", "10^12")),
    (("solve", "chocolate", "--size={}", "--grundy"), ("20", "2047", "100000", "10^12")),
    (("solve", "nim", "--piles=1", "--size={}"), ("63", "10^9", "10^18")),
    (("solve", "nim", "--piles={}", "--size=63"), ("1", "8", "1000")),
    (("solve", "nim-pass", "--size={}"), ("7", "10000", "10^9")),
    (("solve", "wythoff", "--size={}"), ("63", "100000", "10^9")),
    (("solve", "kayles", "--size={}"), ("63", "10^11", "10^18")),
    (("evolution", "--piles={}", "--gen=5"), ("3", "60", "10^6")),
    (("evolution", "--gen={}"), ("5", "10^7", "2^64")),
)
_LIMITS = (1 << 30, 2 << 30, 4 << 30)


class Memory:
    """A command line of some size under a limit of address space."""

    name = "memory"

    def __init__(self, room: Path) -> None:
        self._folder = room / "work"
        self._folder.mkdir(parents=True)

    def case(self, seed: int, index: int) -> Case:
        """Return the case of an index: the works in turn, of a size and under a limit of its own."""
        words, sizes = _WORKS[index % len(_WORKS)]
        choose = random.Random(f"memory/{seed}/{index}")
        # Impossible sizes find more than harmless ones.
        size = choose.choice((*sizes, *sizes[1:], sizes[-1]))
        return Case(f"memory {index}", lambda: self._run(tuple(w.format(size) for w in words), choose.choice(_LIMITS)))

    def _run(self, line: tuple[str, ...], memory: int) -> Fault | None:
        judge.emptied(self._folder)
        # In a process of its own: one that is forked off has much of its address space in use.
        outcome = runner.spawned(line, self._folder, limit=100, memory=memory)
        found = judge.faults(outcome) + judge.litter(outcome, {}, judge.contents(self._folder))
        return Fault(outcome, found, f"{memory >> 20} MB of address space") if found else None
