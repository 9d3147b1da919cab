"""Sets given by their definition, as scenes for the tracer, of any size: Nim and the chocolates with its P-positions."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache, reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.cell_trees import tree_of_rows
from gpu_nim.deciding.relations import numbers
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.proofs import prove
from gpu_nim.games.rulesets import Ruleset
from gpu_nim.games.theorems import CHOCOLATE, EVEN_BARS
from gpu_nim.model.errors import InsufficientMemoryError, Undecided
from gpu_nim.model.tracing import LARGEST, NimScene, TreeScene
from gpu_nim.render.geometry import SPACE

#: The binary digits of one value in the piles of a P-position.
_DIGITS = ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))

_LARGE = 1 << 12  # a game to a smaller size is solved to be drawn
_STEEPEST = 1 << 10  # the work of `population` grows with it


def scene_of_game(rules: Ruleset, size: int) -> NimScene | None:
    """Return the P-positions of a game up to a size where it is one of an inequality with Nim's P-positions, or None.

    A theorem says so of the game (`InequalityGame.theorem`).
    """
    if not isinstance(rules, InequalityGame) or rules.coordinates != SPACE or rules.theorem not in (CHOCOLATE, EVEN_BARS):
        return None
    (only,) = rules.inequalities
    numerators, _, denominator = only.integers
    if denominator > _STEEPEST:
        return None
    a, b, c = (limit + 1 for limit in rules.limits(size))
    p, q, r = (denominator if k == only.target else -number for k, number in enumerate(numerators))
    # The generation is x | y | z, half of the total.
    return NimScene((1 << size.bit_length()) - 1, box=(a, b, c), inequality=(p, q, r))


@lru_cache(maxsize=1)
def tree_of_game(rules: Ruleset, size: int) -> TreeScene | None:
    """Return the P-positions of a game of three coordinates up to a large size as a tree, where they are proved, or None.

    A block holds the low digits that lead the automaton to one of some states, those from which the high digits are accepted: so
    there is one block for each set of states and level.

    >>> from gpu_nim.games.inequality import parse_game
    >>> tree_of_game(parse_game("7y <= x + z + 3"), 2**40).population == prove("7y <= x + z + 3").count(2**40)
    True
    """
    if not isinstance(rules, InequalityGame) or len(rules.coordinates) != len(SPACE) or size < _LARGE:
        return None
    if scene_of_game(rules, size) is not None or (largest := max(rules.limits(size))) >= LARGEST:
        return None
    try:
        proof = prove(rules)
        if not proof:
            return None
        relation = reduce(and_, (numbers(rules.coordinates[at])[0] <= size for at in rules.sized), proof.p_positions)
    except (InsufficientMemoryError, Undecided):
        return None
    steps = relation.steps.transpose(0, *(1 + relation.names.index(name) for name in rules.coordinates)).reshape(-1, 8).T
    waiting, numbers_of, rows = [relation.accepts], {relation.accepts.tobytes(): 0}, list[list[int]]()
    for states in waiting:
        rows.append([])
        for after in steps:
            half = states[after]
            rows[-1].append(numbers_of.setdefault(half.tobytes(), len(waiting)))
            if rows[-1][-1] == len(waiting):
                waiting.append(half)
    halves = np.array(rows)
    cells = np.array([states[0] for states in waiting])[halves[halves]].reshape(-1, *(2,) * 6).transpose(0, 1, 4, 2, 5, 3, 6)
    words = np.packbits(cells.reshape(-1, 64), axis=1, bitorder="little").view("<u8")[:, 0]
    return tree_of_rows(words, [*[halves] * (largest.bit_length() - 3), halves[:1]], (0, 0, 0))


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
    level = 0
    while ((last >> level) + 1) ** 2 > 4 * limit:  # which are at least a quarter as many
        level += 1
    while population(NimScene(last >> level)) > limit:
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
    bounds = (*(min(side - 1, scene.last) for side in scene.box), scene.last)
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
