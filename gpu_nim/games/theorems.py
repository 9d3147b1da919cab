"""Theorems that say of any position of a game, however large, whether it is a P-position."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import ceil, isqrt

from gpu_nim.games.game_graph import Vector
from gpu_nim.games.heaps import HeapRule, extended_values
from gpu_nim.games.nim.positions import is_p_position, nim_sum
from gpu_nim.model.arrays import Ints


@dataclass(frozen=True)
class Theorem:
    """A theorem on the positions of a game.

    Args:
        source: the theorem and its paper.
        statement: its name in `gpunim verify`; None for a solution.
        is_p: whether a position is a P-position.
        grundy: the Grundy value of a position; None where the theorem says nothing of it.
        misere: the theorem where whoever makes the last move loses; None where none is known.
    """

    source: str
    statement: str | None
    is_p: Callable[[Vector], bool]
    grundy: Callable[[Vector], int] | None = None
    misere: "Theorem | None" = None


@dataclass(frozen=True)
class BesideNim:
    """A theorem that compares the P-positions of a game with the positions of nim-sum 0.

    Args:
        statement: its name in `gpunim verify`.
        first_difference: where they first differ, by total and then lexicographically; None where they are the same.
    """

    statement: str
    first_difference: Vector | None


def is_wythoff_pair(position: Vector) -> bool:
    """Whether the piles are floor(d phi) and floor(d phi) + d for their difference d, phi the golden ratio.

    floor(d phi) is (d + floor(sqrt(5 d^2))) // 2, in integers.

    >>> [(x, y) for x in range(8) for y in range(x, 12) if is_wythoff_pair((x, y))]
    [(0, 0), (1, 2), (3, 5), (4, 7), (6, 10)]
    """
    low, high = sorted(position)
    difference = high - low
    return low == (difference + isqrt(5 * difference * difference)) // 2


def is_misere_p_position(heaps: Iterable[int]) -> bool:
    """Whether a position of Nim is a P-position where whoever takes the last counter loses (Bouton 1901).

    It is one of nim-sum 0, as in normal play, but with single counters alone an odd number of them.

    >>> is_misere_p_position((1, 1, 1)), is_misere_p_position((1, 1)), is_misere_p_position((1, 2, 3))
    (True, False, True)
    """
    heaps = [*heaps]
    return nim_sum(heaps) == (max(heaps, default=0) <= 1)


def _is_misere_wythoff_pair(position: Vector) -> bool:
    low, high = sorted(position)
    return (low, high) in {(0, 1), (2, 2)} or (high > 2 and is_wythoff_pair(position))


def _shifted_nim(position: Vector) -> bool:
    x, y, z = position
    return x == z if y == 0 else x > 0 and z > 0 and (x - 1) ^ y ^ (z - 1) == 0


_MISERE_NIM = Theorem("Bouton's theorem on misere play", "misere-nim", is_misere_p_position)
BOUTON = Theorem("Bouton's theorem [F Theorem 1]", "nf-theorem-4", is_p_position, nim_sum, _MISERE_NIM)
CHOCOLATE = Theorem("[V] Theorem 3.5 for a = 3, by the same argument for a = 3 mod 4", "v-remark-4.1", is_p_position)
FIRST_CHOCOLATE = Theorem("[V] Theorem 3.1", "v-theorem-3.1", _shifted_nim)
SHIFTED_CHOCOLATE = Theorem("gpunim's theorem for a = 1 mod 4, for a = 1 [V] Theorem 3.1", "chocolate-shifted-nim", _shifted_nim)
EVEN_BARS = Theorem("Nakamura and Miyadera's theorem for even k", "even-bars", is_p_position, nim_sum)
_MISERE_WYTHOFF = Theorem("Wythoff's theorem but for small piles", "misere-wythoff", _is_misere_wythoff_pair)
WYTHOFF = Theorem("Wythoff's theorem", "wythoff", is_wythoff_pair, misere=_MISERE_WYTHOFF)


class SumOfHeaps:
    """The Grundy value of several heaps, the nim-sum of those of each.

    >>> from gpu_nim.games.heaps import OctalCode
    >>> kayles = SumOfHeaps(OctalCode("0.77"))
    >>> kayles((4, 4)), kayles((3, 5, 1000))
    (0, 6)
    """

    def __init__(self, rule: HeapRule) -> None:
        self._rule = rule
        self._values: Ints = extended_values(rule, 0)[0]

    def __call__(self, heaps: Vector) -> int:
        """The Grundy value of these heaps."""
        return nim_sum(self.values(heaps))

    def values(self, heaps: Vector) -> list[int]:
        """The Grundy value of each of these heaps."""
        largest = max(heaps, default=0)
        if largest >= len(self._values):
            self._values = extended_values(self._rule, largest + 1)[0]
        return [int(self._values[heap]) for heap in heaps]


def chocolate_equals_nim(a: Fraction) -> bool:
    """Whether the P-positions of a y <= x + z are its positions of nim-sum 0: for the integers that are 3 mod 4 alone.

    >>> [a for a in range(1, 16) if chocolate_equals_nim(Fraction(a))], chocolate_equals_nim(Fraction(7, 2))
    ([3, 7, 11, 15], False)
    """
    return a.denominator == 1 and a % 4 == 3


def chocolate_first_difference(a: Fraction) -> Vector | None:
    """The first position, by total and then lexicographically, that is P in just one of a y <= x + z and Nim; None for a = 3 mod 4.

    Let r be the integer nearest to (a - 1) y / 2, the smaller of two, and y >= 1 the least with r AND y = 0. It is (r, y, r + y),
    an N-position of nim-sum 0, where r is not below (a - 1) y / 2, else (r + 1, y, r + y + 1), a P-position of another nim-sum.

    >>> [chocolate_first_difference(Fraction(a)) for a in (1, 2, 4, 5, 7, 8)]
    [(0, 1, 1), (1, 1, 2), (5, 3, 8), (2, 1, 3), None, (25, 7, 32)]
    >>> chocolate_first_difference(Fraction(5, 2)), chocolate_first_difference(Fraction(7, 2))
    ((2, 2, 4), (4, 3, 7))
    """
    if chocolate_equals_nim(a):
        return None
    for y in count(1):
        middle = (a - 1) * y / 2
        r = ceil(middle - Fraction(1, 2))
        if r & y == 0:
            return (r, y, r + y) if r >= middle else (r + 1, y, r + y + 1)
    raise AssertionError


def chocolate_beside_nim(a: Fraction) -> BesideNim:
    """The theorem that says whether the P-positions of a y <= x + z are Nim's, and where they first differ.

    >>> chocolate_beside_nim(Fraction(8))
    BesideNim(statement='chocolate-first-difference', first_difference=(25, 7, 32))
    """
    first = chocolate_first_difference(a)
    return BesideNim("v-remark-4.1" if first is None else "chocolate-first-difference", first)
