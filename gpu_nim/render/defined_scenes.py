"""Sets that are given by their definition: Nim and the chocolate with its P-positions, as scenes for the tracer, of any size."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import catalogue as automata
from gpu_nim.counting.families import UpToTotal
from gpu_nim.games import catalogue as games
from gpu_nim.model.errors import UsageError
from gpu_nim.model.notation import parse_integer
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS, NimScene
from gpu_nim.storage.growth_formats import readable_suffixes

if TYPE_CHECKING:
    from gpu_nim.render.source import Source


def is_nim(automaton: str) -> bool:
    """Return whether an automaton of that name grows three-pile Nim, as nim and nim-3 do."""
    return automaton in automata.CATALOGUE and automata.CATALOGUE[automaton].grows_nim


def nims_generation(source: object) -> int | None:
    """Return N for the source nim:N or nim-3:N, the P-positions of three-pile Nim to generation N, or None for any other source.

    Raises:
        UsageError: N is not from 0 to 2^60.

    >>> nims_generation("nim-3:2^40"), nims_generation("nim:size=255"), nims_generation("edge:9")
    (1099511627776, None, None)
    """
    if not isinstance(source, str):
        return None
    name, _, text = source.partition(":")
    if not is_nim(name):
        return None
    try:
        generation = parse_integer(text)
    except ValueError:
        return None  # a game, a file, or what `blocks_of` refuses
    if not 0 <= generation <= LARGEST:
        raise UsageError(f"source {name}:GENERATION can be drawn for generations 0 to 2^{LARGEST_BITS}, got {source!r}")
    return generation


def defined_scene(source: "Source") -> NimScene | None:
    """Return the scene of a text that names Nim, or a chocolate with Nim's P-positions, or None.

    >>> defined_scene("nim:2^40").last, defined_scene("edge:9")
    (1099511627776, None)
    """
    generation = nims_generation(source)
    if generation is not None:
        return NimScene(generation)
    if not isinstance(source, str) or source.endswith(readable_suffixes()):
        return None
    name, _, arguments = source.partition(":")
    if name == "chocolate":
        texts = dict(part.partition("=")[::2] for part in arguments.split(","))
        if texts.keys() <= {"a", "size"} and "size" in texts and _has_nims_positions(texts.get("a", "3")):
            return _chocolate(source, texts["size"])
    return None


def _chocolate(source: str, size: str) -> NimScene | None:
    try:
        most = parse_integer(size)
    except ValueError:
        return None
    if most >= LARGEST:
        raise UsageError(f"source chocolate:size=SIZE can be drawn to below 2^{LARGEST_BITS}, got {source!r}")
    # x and z are up to the size, y up to two thirds of it, and the generation is x | y | z.
    return (
        NimScene((1 << most.bit_length()) - 1, box=(most + 1, 2 * most // 3 + 1, most + 1), inequality=(-1, 3, -1))
        if most >= 0
        else None
    )


def _has_nims_positions(a: str) -> bool:
    try:
        return bool(games.read_values(games.find("chocolate"), {"a": a})["a"] == Fraction(3))
    except UsageError:
        return False


def coarse_cells(scene: NimScene, bits: int) -> tuple[NDArray[np.int64], int]:
    """Return the cubes of a level that may hold cells of the scene, (N, 3) in units of their side, and that level.

    The level is the least at which coordinates have up to so many bits.
    """
    level = max(0, (max(scene.shape) - 1).bit_length() - bits)
    wide, high, deep = (-(-side >> level) for side in scene.shape)
    a, c = (part.ravel() for part in np.indices((wide, deep)))
    cubes = np.stack([a, a ^ c, c], axis=1)
    born = generations_of(cubes)
    keep = (cubes[:, 1] < high) & (born >= scene.first >> level) & (born <= scene.last >> level)
    # In each cube, the corner with the least sum.
    corners = (cubes << level) + ((np.array(scene.inequality) < 0) << level) - (np.array(scene.inequality) < 0)
    return cubes[keep & (corners @ np.array(scene.inequality) <= 0)], level


def generations_of(cubes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the generations a | b | c of P-positions (N, 3) of Nim."""
    return np.asarray(np.bitwise_or.reduce(cubes, axis=1))


def population(scene: NimScene) -> int:
    """Return the number of cells of a scene, exactly.

    Binary digits are read from the highest, and prefixes in one state are counted together. A state is, for each bound, whether the
    digits equal its own so far, and the sum p a + q b + r c, clipped: the remaining low digits change it by less than |p| + |q|
    + |r| in units of the last digit read, so that larger sums keep their sign.

    >>> population(NimScene(2**10 - 1)), population(NimScene(127, box=(128, 128, 128), inequality=(-1, 3, -1)))
    (1048576, 5462)
    """
    if scene.first > scene.last:
        return 0
    count = UpToTotal(3)
    if not any(scene.inequality) and min(scene.box) > scene.last:
        return count.value(scene.last) - (count.value(scene.first - 1) if scene.first else 0)
    most = [side - 1 for side in scene.shape]
    weight = sum(map(abs, scene.inequality))
    states = {(0, True, True, True, True, True): 1}
    for bit in reversed(range(max(*most, scene.first, scene.last).bit_length())):
        following: dict[tuple[int, bool, bool, bool, bool, bool], int] = {}
        for (total, *tight), number in states.items():
            for digits in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
                union = int(any(digits))
                bounds = (
                    (digits[0], most[0]),
                    (digits[1], most[1]),
                    (digits[2], most[2]),
                    (union, scene.last),
                    (-union, -scene.first),
                )
                kept = []
                for close, (digit, bound) in zip(tight, bounds, strict=True):
                    own = (abs(bound) >> bit & 1) * (-1 if bound < 0 else 1)
                    if close and digit > own:
                        break
                    kept.append(close and digit == own)
                else:
                    summed = 2 * total + sum(n * digit for n, digit in zip(scene.inequality, digits, strict=True))
                    clipped = min(max(summed, -weight), weight + 1)
                    key = (clipped, kept[0], kept[1], kept[2], kept[3], kept[4])
                    following[key] = following.get(key, 0) + number
        states = following
    return sum(number for (total, *_), number in states.items() if total <= 0)
