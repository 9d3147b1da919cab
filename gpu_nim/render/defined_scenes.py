"""Sets that are given by their definition: Nim and the chocolates with its P-positions, as scenes for the tracer, of any size."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import catalogue as automata
from gpu_nim.counting.families import UpToTotal
from gpu_nim.games import catalogue as games
from gpu_nim.games.entries import GameEntry, Integer, Parameter
from gpu_nim.model.arguments import parse_integer
from gpu_nim.model.errors import UsageError
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS, NimScene, Triple


def is_nim(automaton: str) -> bool:
    """Return whether an automaton of that name grows three-pile Nim, as nim and nim-3 do."""
    return automaton in automata.CATALOGUE and automata.CATALOGUE[automaton].grows_nim


def automaton_and_generation(source: object) -> tuple[str, int] | None:
    """Return what the source AUTOMATON:GENERATION names, or None for any other source.

    >>> automaton_and_generation("edge:2^9"), automaton_and_generation("nim:size=255"), automaton_and_generation("bar:9")
    (('edge', 512), None, None)
    """
    if not isinstance(source, str):
        return None
    name, _, text = source.partition(":")
    if name not in automata.CATALOGUE:
        return None
    try:
        return name, parse_integer(text)
    except ValueError:
        return None  # a game, a file, or what `blocks_of` refuses


def nims_generation(source: object) -> int | None:
    """Return N for the source nim:N or nim-3:N, the P-positions of three-pile Nim to generation N, or None for any other source.

    Raises:
        UsageError: N is not from 0 to 2^60.

    >>> nims_generation("nim-3:2^40"), nims_generation("nim:size=255"), nims_generation("edge:9")
    (1099511627776, None, None)
    """
    found = automaton_and_generation(source)
    if found is None or not is_nim(found[0]):
        return None
    name, generation = found
    if not 0 <= generation <= LARGEST:
        raise UsageError(f"source {name}:GENERATION can be drawn for generations 0 to 2^{LARGEST_BITS}, got {source!r}")
    return generation


def drawn_parameters(game: GameEntry) -> tuple[Parameter, Parameter]:
    """Return what the source GAME:PARAMETER=VALUE takes besides its game's parameters: the size, and the Grundy values drawn."""
    return (
        Parameter("size", Integer(), str(game.drawn_size), "the largest coordinate"),
        Parameter("grundy", Integer(), "0", "the largest Grundy value drawn"),
    )


def defined_scene(source: object) -> NimScene | None:
    """Return the scene of a text that names Nim, or a chocolate with Nim's P-positions, or None.

    >>> defined_scene("nim:2^40").last, defined_scene("edge:9"), defined_scene("chocolate:a=5,size=7")
    (1099511627776, None, None)
    >>> defined_scene("chocolate:a=7,size=100").inequality, defined_scene("bar:size=100").inequality
    ((-1, 7, -1), (0, 2, -1))
    """
    generation = nims_generation(source)
    if generation is not None:
        return NimScene(generation)
    if not isinstance(source, str):
        return None
    name, _, arguments = source.partition(":")
    if name not in DEFINED_GAMES:
        return None
    parameter, inequality_of = DEFINED_GAMES[name]
    game = games.find(name)
    size, _ = drawn_parameters(game)
    try:
        texts = games.written_texts(source, name, arguments, (*game.parameters, size))
        most = size.read(texts.pop(size.name))
        slope = games.read_values(game, texts)[parameter]
    except (UsageError, KeyError):
        return None  # no size is given, or what `blocks_of` solves or refuses
    inequality = inequality_of(slope)
    if inequality is None or slope > _STEEPEST:
        return None
    if most >= LARGEST:
        raise UsageError(f"source {name}:size=SIZE can be drawn to below 2^{LARGEST_BITS}, got {source!r}")
    highest = sum(part < 0 for part in inequality) * most // int(slope)
    # The generation is x | y | z, half of the total.
    return NimScene((1 << most.bit_length()) - 1, box=(most + 1, highest + 1, most + 1), inequality=inequality)


def _chocolates(a: Fraction) -> Triple | None:
    """The inequality of a y <= x + z where its P-positions are those of nim-sum 0: a = 3 mod 4 (`three_mod_four`)."""
    return (-1, int(a), -1) if a % 4 == 3 else None


def _bars(k: Fraction) -> Triple | None:
    """That of y <= floor(z / k): even k (`even_bars`)."""
    return (0, int(k), -1) if k % 2 == 0 else None


DEFINED_GAMES: dict[str, tuple[str, Callable[[Fraction], Triple | None]]] = {"chocolate": ("a", _chocolates), "bar": ("k", _bars)}
"""The games whose P-positions are Nim's for some of their slopes: the parameter, and the inequality of such a slope or None."""

_DIGITS = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))
"""The binary digits of one value in the piles of a P-position."""

_STEEPEST = 1 << 10  # the work of `population` grows with it
SOLVED = "it is solved to be drawn, since P-positions are known to be Nim's for a = 3 mod 4 of chocolate and even k of bar alone"
"""Why there is no scene of another chocolate or bar."""


def coarse_cells(scene: NimScene, bits: int) -> tuple[NDArray[np.int64], int]:
    """Return the cubes of a level that may hold cells of the scene, (N, 3) in units of their side, and that level.

    The level is the least at which coordinates have up to so many bits.
    """
    level = max(0, (max(scene.shape) - 1).bit_length() - bits)
    cubes = p_positions(scene.last >> level)
    sides = [-(-side >> level) for side in scene.shape]
    keep = (cubes < sides).all(axis=1) & (generations_of(cubes) >= scene.first >> level)
    # In each cube, the corner with the least sum.
    inequality = np.array(scene.inequality)
    corners = (cubes << level) + (inequality < 0) * ((1 << level) - 1)
    return cubes[keep & (corners @ inequality <= 0)], level


def p_positions(last: int) -> NDArray[np.int64]:
    """Return the P-positions of Nim with three piles to a generation, (N, 3), in lexicographic order.

    >>> p_positions(2).tolist()
    [[0, 0, 0], [0, 1, 1], [0, 2, 2], [1, 0, 1], [1, 1, 0], [2, 0, 2], [2, 2, 0]]
    """
    found = np.zeros((1, 3), dtype=np.int64)
    for bit in reversed(range(last.bit_length())):
        found = (2 * found[:, None] + _DIGITS).reshape(-1, 3)
        found = found[generations_of(found) <= last >> bit]
    return found[np.argsort(found[:, 0] << 32 | found[:, 1])]


def generations_of(cubes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the generations a | b | c of P-positions (N, 3) of Nim."""
    return np.asarray(np.bitwise_or.reduce(cubes, axis=1))


def nims_level(last: int, limit: int) -> int:
    """Return the least level at which Nim to a generation has at most so many blocks of side 2^level.

    >>> nims_level(1023, 4**8)
    2
    """
    count, level = UpToTotal(3), 0
    while count.value(last >> level) > limit:
        level += 1
    return level


@lru_cache(maxsize=1 << 12)  # a picture asks whether to trace, and then how many; a movie, for each frame
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
    states: dict[tuple[int, ...], int] = {(0, True, True, True, True, True): 1}
    for bit in reversed(range(max(*most, scene.first, scene.last).bit_length())):
        following: dict[tuple[int, ...], int] = {}
        for (total, *tight), number in states.items():
            for digits in _DIGITS:
                union = int(any(digits))
                bounds = (*zip(digits, most, strict=True), (union, scene.last), (-union, -scene.first))
                kept = []
                for close, (digit, bound) in zip(tight, bounds, strict=True):
                    own = (abs(bound) >> bit & 1) * (-1 if bound < 0 else 1)
                    if close and digit > own:
                        break
                    kept.append(close and digit == own)
                else:
                    summed = 2 * total + sum(n * digit for n, digit in zip(scene.inequality, digits, strict=True))
                    clipped = min(max(summed, -weight), weight + 1)
                    following[clipped, *kept] = following.get((clipped, *kept), 0) + number
        states = following
    return sum(number for (total, *_), number in states.items() if total <= 0)
