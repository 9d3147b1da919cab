"""What the text of a source names; and sets given by their definition, as scenes for the tracer, of any size: Nim and the
chocolates with its P-positions.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata import catalogue as automata
from gpu_nim.automata.catalogue import GENERATIONS, Automaton
from gpu_nim.counting.families import UpToTotal
from gpu_nim.games import catalogue as games
from gpu_nim.games.entries import GameEntry, Parameter, integer_type
from gpu_nim.games.laws import CHOCOLATE, EVEN_BARS
from gpu_nim.games.rulesets import Inequalities
from gpu_nim.model.arguments import arguments_written, parse_integer
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.registry import one_of
from gpu_nim.model.tracing import LARGEST, LARGEST_BITS, NimScene
from gpu_nim.render.geometry import SPACE
from gpu_nim.storage.growth_formats import readable_suffixes


def is_nim(automaton: str) -> bool:
    """Return whether an automaton of that name grows three-pile Nim, as nim and nim-3 do."""
    return automaton in automata.CATALOGUE and automata.CATALOGUE[automaton].grows_nim


@dataclass(frozen=True)
class NamedGrowth:
    """What a source AUTOMATON:GENERATION names."""

    automaton: Automaton
    generation: int


@dataclass(frozen=True)
class NamedGame:
    """What a source GAME:PARAMETER=VALUE,size=SIZE,grundy=VALUE names: a game, and the values of its parameters."""

    game: GameEntry
    values: dict[str, Any]
    size: int
    grundy: int


def named(source: str) -> NamedGrowth | NamedGame | Path:
    """Return what a text of `gpu_nim.render.source` names, a path for a file; an automaton alone is grown as far as by `grow`.

    Raises:
        UsageError: it names nothing.

    >>> named("edge:2^9").generation, named("edge").generation, named("nim:size=255").size, named("edge.npz").name
    (512, 1024, 255, 'edge.npz')
    """
    if source.endswith(readable_suffixes()):
        return Path(source)
    name, colon, arguments = source.partition(":")
    if not colon and name not in automata.CATALOGUE:
        raise UsageError(
            f"source must be a {one_of(readable_suffixes())} file, AUTOMATON:GENERATION such as nim:256, or "
            f"GAME:PARAMETER=VALUE,size=NUMBER such as chocolate:a=3,size=127, got {source!r}"
        )
    # nim is an automaton and a game: nim:255 is a growth, nim:size=255 a solved game.
    if "=" in arguments or (name in games.CATALOGUE and name not in automata.CATALOGUE):
        return _game(source, games.find(name), arguments)
    if name not in automata.CATALOGUE:
        if name == "figure":
            raise UsageError(f"source must be a body, got {source!r}: a figure is drawn by gpunim render alone")
        known = tuple(dict.fromkeys((*automata.CATALOGUE, *games.CATALOGUE)))
        raise UsageError(
            f"source must begin with an automaton or a game, one of {', '.join(known)}, got {source!r}{close(name, known)}"
        )
    try:
        return NamedGrowth(automata.CATALOGUE[name], parse_integer(arguments) if colon else GENERATIONS)
    except ValueError:
        raise UsageError(f"source {name}:GENERATION needs a whole number after the colon, got {source!r}") from None


def _game(source: str, game: GameEntry, arguments: str) -> NamedGame:
    drawn = (
        Parameter("size", integer_type(), str(game.drawn_size), "the largest coordinate"),
        Parameter("grundy", integer_type(), "0", "the largest Grundy value drawn"),
    )
    texts = games.written_texts(source, game.name, arguments, [*game.parameters, *drawn])
    with arguments_written({each: f"source {source!r}: {each}" for each in ("size", "grundy", *games.parameter_owners())}):
        size, grundy = (each.read(texts.pop(each.name, str(each.default))) for each in drawn)
        return NamedGame(game, game.read(texts), size, grundy)


def defined_scene(source: object) -> NimScene | None:
    """Return the scene of a text that names Nim, or a game of one inequality with Nim's P-positions, or None for any other source.

    A theorem says so of the game (`gpu_nim.games.laws.law_of_inequalities`).

    Raises:
        UsageError: the text names nothing, or goes beyond 2^60.

    >>> defined_scene("nim:2^40").last, defined_scene("edge:9"), defined_scene("chocolate:a=5,size=7")
    (1099511627776, None, None)
    >>> defined_scene("chocolate:a=7,size=100").inequality, defined_scene("bar:size=100").inequality
    ((-1, 7, -1), (0, 2, -1))
    """
    found = named(source) if isinstance(source, str) else None
    if isinstance(found, NamedGrowth) and found.automaton.grows_nim:
        if not 0 <= found.generation <= LARGEST:
            raise UsageError(
                f"source {found.automaton.name}:GENERATION can be drawn for generations 0 to 2^{LARGEST_BITS}, got {source!r}"
            )
        return NimScene(found.generation)
    if not isinstance(found, NamedGame) or found.grundy:
        return None
    rules = found.game.rules(**found.values)
    if not isinstance(rules, Inequalities) or rules.coordinates != SPACE or rules.law not in (CHOCOLATE, EVEN_BARS):
        return None
    (only,) = rules.game.inequalities
    numerators, _, denominator = only.integers
    if denominator > _STEEPEST:
        return None
    if found.size >= LARGEST:
        raise UsageError(f"source {found.game.name}:size=SIZE can be drawn to below 2^{LARGEST_BITS}, got {source!r}")
    a, b, c = (limit + 1 for limit in rules.game.limits(found.size))
    p, q, r = (denominator if k == only.target else -number for k, number in enumerate(numerators))
    # The generation is x | y | z, half of the total.
    return NimScene((1 << found.size.bit_length()) - 1, box=(a, b, c), inequality=(p, q, r))


def nims_generation(source: object) -> int | None:
    """Return N for the source nim:N or nim-3:N, the P-positions of three-pile Nim to generation N, or None for any other source.

    Raises:
        UsageError: as `defined_scene`.

    >>> nims_generation("nim-3:2^40"), nims_generation("nim:size=255"), nims_generation("edge:9")
    (1099511627776, None, None)
    """
    scene = defined_scene(source)
    return None if scene is None or any(scene.inequality) else scene.last


#: The binary digits of one value in the piles of a P-position.
_DIGITS = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))

_STEEPEST = 1 << 10  # the work of `population` grows with it


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
    if scene.first:
        return population(replace(scene, first=0)) - population(replace(scene, first=0, last=scene.first - 1))
    if not any(scene.inequality) and min(scene.box) > scene.last:
        return UpToTotal(3).value(scene.last)
    bounds = (*(side - 1 for side in scene.shape), scene.last)
    weight = sum(map(abs, scene.inequality))
    states = Counter({(0, (True,) * len(bounds)): 1})
    for bit in reversed(range(max(bounds).bit_length())):
        following: Counter[tuple[int, tuple[bool, ...]]] = Counter()
        for (total, tight), number in states.items():
            for digits in _DIGITS:
                pairs = [(digit, bound >> bit & 1) for digit, bound in zip((*digits, any(digits)), bounds, strict=True)]
                if any(equal and digit > own for equal, (digit, own) in zip(tight, pairs, strict=True)):
                    continue
                kept = tuple(equal and digit == own for equal, (digit, own) in zip(tight, pairs, strict=True))
                summed = 2 * total + sum(n * digit for n, digit in zip(scene.inequality, digits, strict=True))
                following[min(max(summed, -weight), weight + 1), kept] += number
        states = following
    return sum(number for (total, _), number in states.items() if total <= 0)
