"""The works that are timed on a GPU: one for each target and for each kernel, with floors.

Some have peers, straightforward implementations without gpunim: CuPy's convolution of a dense box, a CuPy expression. What runs on
the host has no work here: the colours of traced stills, and the messages of a cluster. Targets are
texts, for an H200: no figure in this module was measured on a GPU.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.macro_cells import tree
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.bench.harness import Contender, Floor, Work
from gpu_nim.bench.host_works import convolve, doubling, longest
from gpu_nim.counting.digit_matrices import even_binomials
from gpu_nim.counting.families import ByTotal
from gpu_nim.counting.ranges import Range
from gpu_nim.games.inequality import chocolate, six_coordinate_chocolate
from gpu_nim.games.solve import solve
from gpu_nim.model.arrays import U64
from gpu_nim.model.rule import Symmetry
from gpu_nim.model.tracing import BrickScene, Cones, NimScene, Rays, Scene, TreeScene, surface

_DEEP = 40  # the bits of piles of Nim as it is defined
_CONES = 1.5 * np.array([(0, 0, 1), (0.7, 0.2, 0.7), (-0.2, 0.7, 0.7), (-0.7, -0.2, 0.7), (0.2, -0.7, 0.7)])

_OURS = partial(Contender, "gpunim")


@dataclass(frozen=True)
class Sizes:
    """The sizes of the works."""

    # Automaton and generation; then the target.
    compared: tuple[tuple[str, int], ...] = (("nim", 256), ("edge", 256), ("fcc", 128))
    grown: tuple[tuple[str, int, str], ...] = (
        ("nim", 1024, "2 ms"),
        ("nim", 8192, "0.03 s"),
        ("edge", 512, "5 ms"),
        ("edge", 1024, "10 ms"),
        ("fcc", 1024, "10 ms"),
        ("fcc", 4096, "0.3 s"),
        ("nim", 65536, "0.1 s"),
        ("edge", 8192, "2.5 s"),
        ("fcc", 16384, "15 s"),
    )
    by_general_engine: tuple[str, int] = ("edge", 192)
    # Powers of two of indices: filled at most; of D_k counted by length; of D_3 modulo 1000.
    filled: int = 27
    counted: tuple[tuple[int, int], ...] = ((3, 36), (4, 32))
    reduced: int = 32
    tried: int = 4095  # the largest pile of the triples
    # Outcomes of 3y <= x + z, its Grundy values, and both of the chocolate of six coordinates.
    chocolate: tuple[int, int, int, int] = (1023, 255, 12, 8)
    rays: tuple[int, int] = (1920, 1080)
    packed: int = 9  # the bits of piles


def nim_floor(generations: int, births: int) -> Floor:
    """Three-pile Nim: each birth is mixed for the digest, by 18 operations, and 32 generations are a launch.

    The plane bounds nothing: where a launch has cells at all, 32 cells of a row have one birth a generation on average, so that
    stepping them takes two operations a birth, and moving them 256 bytes for 1024 births.
    """
    return Floor(copied=256 * births / 1024, operations=(18 + 2) * births, launches=generations / 32)


def exactly_one_floor(generations: int, births: int, symmetry: Symmetry) -> Floor:
    """Exactly-one growth: 28 bytes a birth in the fundamental domain, as counted for bricks of 256 cells."""
    return Floor(copied=28 * births / symmetry.order(3), launches=generations)


def range_floor(values: int, dimension: int, limbs: int, *, stored: bool) -> Floor:
    """Values of a range: four multiply-adds of 32 bits for each row entry and pair of limbs, and a write if they are stored."""
    products = limbs * (limbs + 1) // 2
    return Floor(filled=8 * limbs * values if stored else 0, operations=4 * products * dimension * values)


def works(cuda: Backend, xp: Any, sizes: Sizes = Sizes()) -> Iterator[Work]:
    """Give every work, the growths of many seconds last.

    Args:
        cuda: the backend that does it.
        xp: CuPy, by which a user without gpunim would do some.
        sizes: how large they are.
    """
    for name, generations in sizes.compared:
        convolution = partial(convolve, find(name).rule, generations, "cupyx.scipy.ndimage", xp)
        yield _growth(cuda, name, generations, peers=(Contender("CuPy's convolution", convolution),))
    yield _growth(cuda, *sizes.by_general_engine, general=True)
    yield from _counts(cuda, xp, sizes)
    yield from _games(cuda, sizes)
    packed: list[Scene] = [_bricks_of_nim(sizes.packed), tree("nim", (1 << sizes.packed) - 1)]
    for bits, scene in ((_DEEP, NimScene((1 << _DEEP) - 1)), *((sizes.packed, scene) for scene in packed)):
        yield from _traced(cuda, bits, scene, sizes.rays)
    yield from (_growth(cuda, *facts) for facts in sizes.grown)


def _growth(
    cuda: Backend, name: str, generations: int, aimed: str = "", peers: tuple[Contender, ...] = (), *, general: bool = False
) -> Work:
    def floor(births: int) -> Floor:
        rule = find(name).rule
        if general:  # for each touch a sector of 32 bytes is read and written; a generation takes three launches
            return Floor(copied=64 * births * len(rule.offsets), launches=3 * generations)
        return nim_floor(generations, births) if name == "nim" else exactly_one_floor(generations, births, rule.symmetry)

    ours = _OURS(lambda: GrowthProcess(name, generations, cuda, verify=False, general=general).growth().population)
    kernel = "general" if general else "nim" if name == "nim" else "exactly_one"
    return Work(f"{name} {generations}{', general engine' * general}", (ours, *peers), None, kernel, floor, aimed)


def _counts(cuda: Backend, xp: Any, sizes: Sizes) -> Iterator[Work]:
    engine = cuda.counting()
    for piles in range(3, 8):
        size = longest(ByTotal(piles), 1 << sizes.filled, bits=64 if piles < 5 else 128)
        values = Range(ByTotal(piles), 0, size, engine)
        expression = Contender("CuPy expression", partial(_expression, piles, size, xp))
        peers = (expression,) if values.limbs == 1 else ()
        yield _range(
            values, "count_fill", f"D_{piles}", lambda v: int(v.device_values().reshape(-1)[-v.limbs]), "80% of the fill", peers
        )
    values = Range(ByTotal(3), 0, 1 << sizes.filled, engine)
    yield _range(values, "count_fill", "D_3 brought to the host", partial(_fill_host, np.zeros(values.size, np.uint64)))
    for piles, power in sizes.counted:
        values = Range(ByTotal(piles), 0, 1 << power, engine)
        yield _range(values, "count_lengths", f"sum, lengths of D_{piles}", lambda v: v.lengths(v.start, v.stop).total, "5e11/s")
    values = Range(ByTotal(3), 0, 1 << sizes.reduced, engine)
    yield _range(values, "count_residues", "D_3 modulo 1000", lambda v: int(v.residues(v.start, v.stop, 1000)[1]))
    for kernel, tried in (("count_totals", engine.try_totals), ("count_maxima", engine.try_maxima)):
        name = f"triples to {sizes.tried} by {kernel.removeprefix('count_')}"
        tuples = (sizes.tried + 1) ** 3
        floor = Floor(operations=3 * tuples)  # an XOR, an addition and an update of a histogram each
        yield Work(name, (_OURS(partial(_try, tried, sizes.tried)),), tuples, kernel, floor, "5e11/s")


def _range(
    values: Range,
    kernel: str,
    name: str,
    ours: Callable[[Range], int],
    aimed: str = "",
    peers: tuple[Contender, ...] = (),
) -> Work:
    dimension = values.family.blocks().dimension
    floor = range_floor(values.size, dimension, values.limbs, stored=kernel == "count_fill")
    title = f"{name}, 2^{values.size.bit_length() - 1} indices"
    return Work(title, (_OURS(partial(ours, values)), *peers), values.size, kernel, floor, aimed)


def _games(cuda: Backend, sizes: Sizes) -> Iterator[Work]:
    # Outcomes move three flags a cell, read and written, of a bit in the kernel for wedges and in a byte in that for all games;
    # Grundy values are written as two bytes.
    for size, (name, kernel, game, grundy, piles, bytes_a_cell, aimed) in zip(
        sizes.chocolate,
        (
            ("outcomes of 3y <= x+z", "wedge_outcomes", chocolate(3), False, 3, 6 / 8, "0.2 s"),
            ("Grundy values of 3y <= x+z", "wedge_grundy", chocolate(3), True, 3, 2.0, ""),
            ("outcomes, six coordinates", "inequality_outcomes", six_coordinate_chocolate(), False, 6, 2.0, ""),
            ("Grundy values, six coordinates", "inequality_grundy", six_coordinate_chocolate(), True, 6, 2.0, ""),
        ),
        strict=True,
    ):
        cells = (size + 1) ** piles * (2 * size // 3 + 1) // (size + 1) if piles == 3 else (size + 1) ** piles
        floor = Floor(copied=bytes_a_cell * cells, launches=piles * size)  # a launch a total
        ours = partial(_solve, cuda, game, size, grundy)
        yield Work(f"{name}, to {size}", (_OURS(ours),), cells, kernel, floor, aimed)


def _bricks_of_nim(bits: int) -> BrickScene:
    """The P-positions with piles below 2^bits, packed as those of any other set are."""
    side = 1 << bits
    a, b = (part.ravel() for part in np.indices((side, side)))
    packer = BrickPacker((0, 0, 0), (side, side, side))
    packer.add(np.stack([a, b, a ^ b], axis=1))
    return packer.scene()


def _traced(cuda: Backend, bits: int, scene: Scene, across: tuple[int, int]) -> Iterator[Work]:
    """Rays from within the scene, of 2^bits cells a side, and the light of the points that they hit."""
    width, height = across
    x, y = (part.ravel() for part in np.meshgrid(np.linspace(-0.5, 0.5, width), np.linspace(-0.3, 0.3, height)))
    directions = np.stack([-0.6 - 0.55 * x, -0.4 + 0.8 * x, y - 0.2])
    directions /= np.linalg.norm(directions, axis=0)
    eye = np.repeat([[9 << bits - 4], [8 << bits - 4], [7 << bits - 4]], width * height, axis=1)
    rays = Rays(eye, np.full(eye.shape, 0.5), directions, np.zeros(width * height, np.int8), 1 / width)
    tracer = cuda.tracer(scene)
    kind = {NimScene: "nim", BrickScene: "bricks", TreeScene: "tree"}[type(scene)]
    where = f"{kind}, nim 2^{bits}" if kind != "nim" else f"nim 2^{bits}"

    def trace() -> int:
        return int(np.isfinite(tracer.trace(rays).distances).sum())

    name = f"{width}x{height} rays within {where}"
    ray, hit, point = 73, 34, 49  # bytes
    yield Work(name, (_OURS(trace),), len(rays), f"trace_{kind}", Floor(copied=(ray + hit) * len(rays), launches=1))
    hits = tracer.trace(rays)
    points = surface(rays, hits, hits.met)
    cones = Cones(*points, hits.levels[hits.met], _CONES)

    def look() -> int:
        return int(tracer.blocked(cones).sum())

    floor = Floor(copied=(point + len(_CONES)) * len(cones), launches=1)  # a byte a cone
    yield Work(f"light of the points that these hit, {where}", (_OURS(look),), len(cones), f"look_{kind}", floor)


def _solve(cuda: Backend, game: Any, size: int, grundy: bool) -> int:
    solution = solve(game, size, grundy=grundy, backend=cuda)
    return int(solution.largest_grundy or 0) if grundy else len(solution.p_positions)


def _fill_host(out: U64, values: Range) -> int:
    values.fill(values.start, out)
    return int(out[-1])


def _expression(piles: int, size: int, xp: Any) -> int:
    return int(doubling(even_binomials(piles), size, xp)[-1])


def _try(tried: Callable[[int, int, int, int], Any], largest: int) -> int:
    return int(tried(4, largest, 0, largest + 1).sum())
