"""The growth of `edge` and `fcc`, on exactly one of twelve edge neighbours; docs/open-problems/edge-growth.md has the proofs.

The distance of a cell is the number of steps to it from the seed, max(|x|, |y|, |z|, (|x| + |y| + |z|) / 2): no cell is born in an
earlier generation.  The delay of a birth is its generation less the distance.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.formulas import steps
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import split
from gpu_nim.model.rule import Cell
from gpu_nim.papers.entries import SOURCES, Cases, Entry, Reach

EDGE = SOURCES["edge-growth"]
_MIRRORED = {"edge": 1, "fcc": 8}  # the octants that a cell without a 0 is born in
_SURFACE = 256  # the last generation whose surface is compared cell by cell
_LITERAL = 24  # the last generation whose neighbourhoods are counted
_VOIDS = (0, 0, 1, 2, 3, 5)  # the steps from the farthest cell below 2^m to a living one, for m = 0, 1 and so on
_DELAYED = Reach(None, 1024, 19)  # one growth for the three conjectures on delays


def distances(cells: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the distance of each cell (N, 3) from the origin, in steps to an edge neighbour.

    >>> distances(np.array([[0, 1, 3], [2, 2, 2], [-2, 1, 1]])).tolist()
    [3, 3, 2]
    """
    sides = np.abs(cells)
    return np.asarray(np.maximum(sides.max(axis=1), sides.sum(axis=1) >> 1))


@cache
def births_by_distance(automaton: str, generations: int) -> NDArray[np.int64]:
    """Return the births of each generation at each distance from the seed, of shape (generations + 1, generations + 1).

    >>> births_by_distance("edge", 6)[6].tolist()
    [0, 0, 0, 0, 0, 12, 15]
    """
    found = np.zeros((generations + 1, generations + 1), np.int64)
    for batch in GrowthProcess(automaton, generations, "numpy", cells=True, verify=False):
        for generation, cells in split(batch):
            found[generation] = np.bincount(distances(cells), minlength=generations + 1)
    return found


def _generations(upto: int) -> Iterator[tuple[str, int, NDArray[np.integer]]]:
    """Each generation of both automata, with its cells."""
    for automaton in _MIRRORED:
        for n, cells in enumerate(GrowthProcess(automaton, upto, "numpy", verify=False).growth()):
            yield automaton, n, cells


def _in_octant(cells: NDArray[np.integer]) -> set[Cell]:
    return {*map(tuple, cells[(cells >= 0).all(axis=1)].tolist())}


def signed_sums(n: int) -> set[int]:
    """Return all sums of 2^i or -2^i over the bits i of n: the k with an odd binomial coefficient (n, (n + k) / 2).

    >>> sorted(signed_sums(5)), sorted(signed_sums(6))
    ([-5, -3, 3, 5], [-6, -2, 2, 6])
    """
    powers = (1 << bit for bit in range(n.bit_length()) if n >> bit & 1)
    return {*map(sum, product(*((power, -power) for power in powers)))}


def _square(side: int, pairs: Iterator[tuple[int, int]]) -> set[Cell]:
    """The cells of the octant with a coordinate `side` and others y, z with (y + z, y - z) among the pairs."""
    found: set[Cell] = set()
    for u, v in pairs:
        if abs(v) <= u:
            y, z = (u + v) // 2, (u - v) // 2
            found |= {(side, y, z), (y, side, z), (y, z, side)}
    return found


def _triangle(n: int) -> set[Cell]:
    """The P-positions of total 2n."""
    return {(x, y, x ^ y) for x in range(n + 1) for y in range(n + 1) if x + y + (x ^ y) == 2 * n}


def surface(n: int) -> set[Cell]:
    """Return the cells of the octant at distance n that are born at generation n, in `edge` and in `fcc`.

    >>> sorted(surface(2)), len(surface(3))
    ([(0, 2, 2), (2, 0, 2), (2, 2, 0)], 15)
    """
    sums = signed_sums(n)
    return _triangle(n) | _square(n, ((u, v) for u in sums for v in sums))


def surface_births(automaton: str, n: int) -> int:
    """Return the number of births at distance n in generation n, from the number w of 1s in the binary digits of n.

    >>> [surface_births("edge", n) for n in range(8)], [surface_births("fcc", n) for n in range(8)]
    ([1, 3, 3, 15, 3, 15, 15, 63], [1, 12, 12, 84, 12, 84, 84, 420])
    """
    w: int = n.bit_count()
    if not w:
        return 1
    two, three, four = 1 << w, 3**w, 1 << 2 * w
    births: int = 3 * four // 4 + three - 3 * two // 2 if automaton == "edge" else 6 * four + 8 * three - 24 * two + 12
    return births


def chamber_births(automaton: str, generations: int) -> list[int]:
    """Return the births of `edge` with z < y < x, or of `fcc` with |z| < y < x, by their own rule, if each (n, n, 0) is born at n.

    >>> chamber_births("edge", 7), chamber_births("fcc", 7)
    ([0, 0, 0, 2, 0, 2, 4, 10], [0, 0, 0, 3, 0, 3, 7, 17])
    """
    lowest = {"edge": 0, "fcc": -generations}[automaton]
    births = [0]
    newborns = [(0, 0, 0)]
    touched = set(newborns)
    for n in range(1, generations + 1):
        near = Counter((x + a, y + b, z + c) for x, y, z in newborns for a, b, c in steps(3, 2))
        born = [cell for cell, times in near.items() if times == 1 and cell not in touched]
        newborns = [(x, y, z) for x, y, z in born if x > y > abs(z) and z >= lowest]
        births.append(len(newborns))
        newborns.append((n, n, 0))
        touched |= near.keys()
    return births


def behind_squares(n: int) -> set[Cell]:
    """Return the cells of the octant with largest coordinate n - 1 and total at most 2n - 2 that are born at generation n.

    >>> sorted(cell for cell in behind_squares(6) if cell[0] == 5)
    [(5, 1, 2), (5, 2, 1), (5, 2, 3), (5, 3, 2)]
    """
    if n % 2 or not n:
        return set()
    sums = signed_sums(n - 1)
    beside = {k for k in range(1 - n, n, 2) if k not in sums and ({k - 2, k + 2} & sums)}
    pairs = [(u, v) for u in sums for v in beside]
    return _square(n - 1, (pair for u, v in pairs for pair in ((u, v), (v, u))))


def behind_triangles(n: int) -> set[Cell]:
    """Return the cells of the octant of total 2n - 2 with all coordinates below n - 1 that are born at generation n.

    >>> [len(behind_triangles(n)) for n in (12, 13, 14, 15, 30)], min(behind_triangles(14))
    ([0, 0, 12, 0, 72], (5, 10, 11))
    """
    if n % 2 or not n:
        return set()
    found: set[Cell] = set()
    old = _triangle(n // 2 - 1)
    for position in old:
        for a, b, m in permutations(range(3)):

            def moved(to: int, cell: Cell = position, source: int = b) -> Cell:
                return tuple(x + (axis == to) - (axis == source) for axis, x in enumerate(cell))

            born = tuple(2 * x + (axis != a) for axis, x in enumerate(moved(a)))
            if position[b] and max(born) < n - 1 and not {moved(a), moved(m)} & old:
                found.add(born)
    return found


def children_bound(chosen: frozenset[Cell]) -> int:
    """Return seven times 4k - 2e + the sum of min(0, degree - 2), plus 14, less 10 k: never negative, for the children of one cell.

    Args:
        chosen: the offsets of the k children, among which e pairs are neighbours.

    >>> children_bound(frozenset({(1, 1, 0)}))
    18
    """
    neighbours = set(steps(3, 2))
    degrees = [sum(tuple(x - y for x, y in zip(a, b, strict=True)) in neighbours for b in chosen) for a in chosen]
    return 7 * (4 * len(chosen) - sum(degrees) + sum(min(0, degree - 2) for degree in degrees) + 2) - 10 * len(chosen)


@Entry(EDGE, "edge-surface", reach=Reach(_SURFACE, _SURFACE, 8))
def surface_is_known(upto: int) -> Cases:
    """Births of `edge` and `fcc` at distance n in generation n: Nim's P-positions, and on the squares the (y + z, y - z) with
    two odd binomial coefficients; counted by the binary digits of n
    """
    yield f"generations up to {upto}"
    for automaton, n, cells in _generations(upto):
        first = cells[distances(cells) == n]
        yield f"the number at distance {n} in generation {n} of {automaton}", len(first), surface_births(automaton, n)
        yield f"the cells at distance {n} in generation {n} of {automaton}", _in_octant(first), surface(n)


@Entry(EDGE, "edge-behind-squares", reach=Reach(_SURFACE, _SURFACE, 6))
def behind_squares_is_known(upto: int) -> Cases:
    """Births of `edge` and `fcc` at generation n with largest coordinate n - 1 and total at most 2n - 2: none for odd n; for
    even n one of y + z and y - z is a signed sum of the powers in n - 1, the other 2 away from one
    """
    yield f"generations up to {upto}"
    for automaton, n, cells in _generations(upto):
        sides = np.abs(cells)
        found = cells[(sides.max(axis=1) == n - 1) & (sides.sum(axis=1) <= 2 * n - 2)]
        yield f"the cells behind the squares in generation {n} of {automaton}", _in_octant(found), behind_squares(n)
        ones, zeros = n.bit_count() - 1, (n & -n).bit_length() - 1
        stated = 0 if n % 2 or not n else 3 * _MIRRORED[automaton] * 2 ** (ones + zeros) * (2**ones - 1)
        yield f"their number in generation {n} of {automaton}", len(found), stated


@Entry(EDGE, "edge-behind-triangles", reach=Reach(_SURFACE, _SURFACE, 7))
def behind_triangles_is_known(upto: int) -> Cases:
    """Births of `edge` and `fcc` at generation n with total 2n - 2 and coordinates below n - 1: none for odd n; for even n, made
    of the P-positions of total n - 2, 2 (3^w - 3 2^w + 3) of `edge` and 8 times as many of `fcc`, w the number of 1s of n
    """
    yield f"generations up to {upto}"
    for automaton, n, cells in _generations(upto):
        sides = np.abs(cells)
        found = cells[(sides.sum(axis=1) == 2 * n - 2) & (sides.max(axis=1) < n - 1)]
        what = f"behind the triangles in generation {n} of {automaton}"
        yield f"the cells {what}", _in_octant(found), behind_triangles(n)
        w = n.bit_count()
        yield f"their number {what}", len(found), 0 if n % 2 or not n else 2 * _MIRRORED[automaton] * (3**w - 3 * 2**w + 3)


@Entry(EDGE, "edge-chambers", reach=Reach(96, 96, 4))
def chambers(upto: int) -> Cases:
    """Of the cells with two equal coordinates in absolute value only the seed and the (n, n, 0) in all orders and signs are born in
    `edge` and `fcc`, at n; the others grow by themselves in each of 6 and of 24 chambers
    """
    yield f"generations up to {upto}, in chambers up to {min(upto, _LITERAL)}"
    for automaton, (tips, copies) in {"edge": (3, 6), "fcc": (12, 24)}.items():
        of_chamber = chamber_births(automaton, min(upto, _LITERAL))
        growth = GrowthProcess(automaton, upto, "numpy", verify=False).growth()
        for n, cells in enumerate(growth):
            sides = np.sort(np.abs(cells), axis=1)
            mirrored = sides[(sides[:, 0] == sides[:, 1]) | (sides[:, 1] == sides[:, 2])]
            stated = [[0, n, n]] * (tips if n else 1)
            yield f"births of {automaton} with equal coordinates in generation {n}", mirrored.tolist(), stated
            yield f"the others in generation {n}, modulo {copies}", (len(cells) - len(mirrored)) % copies, 0
        for n, births in enumerate(of_chamber):
            found = (int(growth.births[n]) - (tips if n else 1)) // copies
            yield f"births of {automaton} in a chamber in generation {n}", found, births


@Entry(EDGE, "edge-sheets", reach=Reach(128, 128, 7))
def sheets(upto: int) -> Cases:
    """`edge` and `fcc` fill the squares |y| + |z| < 2^m of the planes x = +-(2^m - 1) at once; in those of x = +-2^m with |y| +
    |z| <= 2^m only the corners are ever born, and nothing more in those of x = +-(2^m - 2) with |y| + |z| <= 2^m - 2
    """
    yield f"planes up to {upto}, generations up to {upto}"
    for automaton in _MIRRORED:
        growth = GrowthProcess(automaton, upto, "numpy", verify=False).growth()
        for m in range((upto + 1).bit_length()):
            below, sheet, above = 2**m - 2, 2**m - 1, 2**m
            filled = {(sheet, y, sheet - y - gap) for gap in range(0, sheet + 1, 2) for y in range(sheet - gap + 1)}
            born = _over(growth.newborns(sheet), sheet, sheet)
            yield f"births of {automaton} with x = {sheet} in generation {sheet}", born, filled
            corners = {(above, above, 0), (above, 0, above)} if above <= upto else set()
            yield f"births of {automaton} over that square", _over(growth.cells(), above, above), corners
            late = _over(growth.cells(above), below, below) if above <= upto else set()
            yield f"births of {automaton} under that square after it", late, set()


def _over(cells: NDArray[np.integer], x: int, size: int) -> set[Cell]:
    """Those of the cells in the octant that have this x and y + z <= size."""
    return _in_octant(cells[(cells[:, 0] == x) & (cells[:, 1:].sum(axis=1) <= size)])


@Entry(EDGE, "edge-children", reach=Reach(_LITERAL))
def children(upto: int) -> Cases:
    """A cell of `fcc` but the seed has at most 7 children; with one, at least 4 neighbours are never born; the population is at
    most 42/47 of the cells that far, and 4 more
    """
    yield f"generations up to {upto}, and all sets of children"
    growth = GrowthProcess("fcc", upto, "numpy", verify=False).growth()
    side = 2 * upto + 3
    born = np.full((side,) * 3, -1)
    for n, cells in enumerate(growth):
        born[tuple((cells + upto + 1).T)] = n
    alive = growth.cells()[1:] + upto + 1
    own = born[tuple(alive.T)]
    near = np.stack([born[tuple((alive + offset).T)] for offset in steps(3, 2)])
    younger = (near == own + 1) & (own < upto)
    yield f"the most children up to generation {upto}", int(younger.sum(axis=0).max()) <= 7, True
    parents = younger.any(axis=0)
    fewest = int((near < 0).sum(axis=0)[parents].min(initial=12))
    yield f"the fewest dead neighbours of a cell with a child, to generation {upto}", fewest >= 4, True
    population = np.cumsum(growth.births)
    for n in range(upto + 1):
        ball = (10 * n**3 + 15 * n**2 + 11 * n + 3) // 3
        yield f"whether generation {n} is within the bound", 47 * int(population[n]) <= 42 * (ball + 4), True
    first = (-1, -1, 0)  # the parent's own parent: children are no neighbours of it
    apart = [o for o in steps(3, 2) if o != first and tuple(x - y for x, y in zip(o, first, strict=True)) not in steps(3, 2)]
    yield "the positions of children", len(apart), 7
    for k in range(len(apart) + 1):
        for chosen in combinations(apart, k):
            yield f"whether the bound fails for the children {chosen}", children_bound(frozenset(chosen)) < 0, False


@Entry(EDGE, "edge-fcc-octant", reach=Reach(35))
def alike(upto: int) -> Cases:
    """`edge` and `fcc` have the same cells in the octant up to generation 34; in the next, only `edge` grows (0, 1, 17) and its
    permutations
    """
    yield f"generations up to {upto}"
    growths = [GrowthProcess(automaton, upto, "numpy", verify=False).growth() for automaton in _MIRRORED]
    for n in range(upto + 1):
        edge, fcc = (_in_octant(growth.newborns(n)) for growth in growths)
        stated = {*permutations((0, 1, 17))} if n > 34 else set()
        yield f"what is born in generation {n} of edge alone", edge - fcc, stated
        yield f"what is born in generation {n} of fcc alone", fcc - edge, set()


def reach_of(automaton: str, upto: int) -> int:
    """Return the last generation of an automaton that a check up to `upto` grows.

    >>> reach_of("edge", 64), reach_of("fcc", 64)
    (64, 16)
    """
    return upto if automaton == "edge" else -(-upto // 4)  # fcc has eight times the cells of edge


def of_both(upto: int) -> str:
    """Return in words how far both automata are grown."""
    return f"generations of edge up to {upto}, of fcc up to {reach_of('fcc', upto)}"


def _three_classes(things: int) -> int:
    """The partitions of this many different things into 3 classes, a Stirling number."""
    return (3**things - 3 * 2**things + 3) // 6 if things else 0


@Entry(EDGE, "edge-powers-of-two", reach=_DELAYED, conjecture=True)
def powers_of_two(upto: int) -> Cases:
    """At generation 2^m, m > 2, `edge` has no births with a delay of 2 to 4 or 7, 6 (3^(m-3) - 1) with 5, and with 6 six times
    the partitions of m - 3 things into 3 classes; `fcc` eight times as many
    """
    yield of_both(upto)
    for automaton, mirrored in _MIRRORED.items():
        last = reach_of(automaton, upto)
        births = births_by_distance(automaton, last)
        for m in range(3, last.bit_length()):
            stated = [0, 0, 0, 6 * mirrored * (3 ** (m - 3) - 1), 6 * mirrored * _three_classes(m - 3), 0]
            yield f"the births of {automaton} at {2**m} with delays 2 to 7", births[2**m, 2**m - np.arange(2, 8)].tolist(), stated


@Entry(EDGE, "edge-beside-powers", reach=_DELAYED, conjecture=True)
def beside_powers_of_two(upto: int) -> Cases:
    """With S the partitions of m - 1 things into 3 classes, m > 3, `edge` has 12 S, 6 S and 12 (2^(m-4) - 1) births with delays
    of 2, 3 and 5 at generation 2^m - 1, and none with 1 to 7 at 2^m + 1; `fcc` eight times as many
    """
    yield of_both(upto)
    for automaton, mirrored in _MIRRORED.items():
        births = births_by_distance(automaton, reach_of(automaton, upto))
        for m in range(4, len(births).bit_length()):
            before, after, classes = 2**m - 1, 2**m + 1, mirrored * _three_classes(m - 1)
            stated = [12 * classes, 6 * classes, 12 * mirrored * (2 ** (m - 4) - 1)]
            found = births[before, before - np.array([2, 3, 5])].tolist()
            yield f"the births of {automaton} at {before} with delays 2, 3, 5", found, stated
            if after < len(births):
                late = births[after, after - np.arange(1, 8)].any()
                yield f"whether {automaton} has births at {after} with delays 1 to 7", bool(late), False


@Entry(EDGE, "edge-settles", reach=_DELAYED, conjecture=True)
def settles(upto: int) -> Cases:
    """`edge` and `fcc` have no births at a distance below 2^m after generation 2^(m+1) + 11"""
    yield of_both(upto)
    for automaton in _MIRRORED:
        births = births_by_distance(automaton, reach_of(automaton, upto))
        for m in range(len(births).bit_length() - 1):
            settled = 2 ** (m + 1) + 11
            late = [n for n in range(settled + 1, len(births)) if births[n, : 2**m].any()]
            yield f"the generations of {automaton} after {settled} with births at a distance below {2**m}", late, []


def steps_to(living: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> int:
    """Return the most steps from a wanted cell of a box to the nearest living one of it; one must live.

    >>> box = np.zeros((4, 4, 4), bool)
    >>> box[0, 0, 0] = True
    >>> steps_to(box, np.roll(box, (2, 2, 2), (0, 1, 2)))
    3
    """
    inner = (slice(1, -1),) * 3
    reached = np.pad(living, 1)
    taken = 0
    while not reached[inner][wanted].all():
        further = reached.copy()
        for offset in steps(3, 2):
            further[inner] |= reached[tuple(slice(1 + x, 1 + x + size) for x, size in zip(offset, living.shape, strict=True))]
        reached = further
        taken += 1
    return taken


@Entry(EDGE, "edge-voids", reach=Reach(80, 267, 4), conjecture=True)
def voids(upto: int) -> Cases:
    """For m = 1 to 4 the farthest cell of `edge` or `fcc` at a distance below 2^m is 0, 1, 2 and 3 steps from one alive at
    generation 2^(m+1) + 11, and 5 for all m > 4
    """
    yield of_both(upto)
    for automaton in _MIRRORED:
        for m in range(1, upto.bit_length()):
            size = 2**m
            settled, stated = 2 * size + 11, _VOIDS[min(m, len(_VOIDS) - 1)]
            if settled <= reach_of(automaton, upto):
                living = np.zeros((size + stated,) * 3, bool)
                cells = GrowthProcess(automaton, settled, "numpy", verify=False).growth().cells()
                living[tuple(cells[((cells >= 0) & (cells < len(living))).all(axis=1)].T)] = True
                points = np.argwhere(np.ones_like(living))
                wanted = ((distances(points) < size) & (points.sum(axis=1) % 2 == 0)).reshape(living.shape)
                yield f"the steps to the farthest cell nearer than {size} of {automaton}", steps_to(living, wanted), stated


@Entry(EDGE, "edge-doubling", reach=Reach(256, 256, 23), conjecture=True)
def doubling(upto: int) -> Cases:
    """For n >= 32 the populations have |P(2n) - 8 P(n)| <= n^(5/2) for `edge` and 8 n^(5/2) for `fcc`, so that P(c 2^m) / (c 2^m)^3
    converges
    """
    yield f"n from 32 to {2 * upto}"
    for automaton, mirrored in _MIRRORED.items():
        batches = GrowthProcess(automaton, 4 * upto, "numpy", cells=False, verify=False)
        population = np.cumsum(np.concatenate([batch.births for batch in batches])).tolist()
        for n in range(32, 2 * upto + 1):
            excess = population[2 * n] - 8 * population[n]
            yield f"whether {automaton} exceeds the bound at n = {n}", excess**2 > mirrored**2 * n**5, False
