"""Theorems that say of any position of a game, however large, whether it is a P-position."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import count
from math import ceil, isqrt

import numpy as np

from gpu_nim.games.game_graph import Vector, mex
from gpu_nim.games.heaps import HeapRule, first_values
from gpu_nim.games.nim.positions import is_p_position, nim_sum
from gpu_nim.model.arrays import Ints

_TRIED = 1 << 20  # options


@dataclass(frozen=True)
class Theorem:
    """A theorem on the positions of a game.

    Args:
        source: the theorem and its paper.
        statement: its name in `gpunim verify`; None for a solution.
        is_p: whether a position is a P-position.
        grundy: the Grundy value of a position; None where the theorem says nothing of it.
        misere: the theorem where whoever makes the last move loses; None where none is known.
        candidates: vectors among which is every P-position that a move from a position leaves, however many moves there are; None
            where none are known.
    """

    source: str
    statement: str | None
    is_p: Callable[[Vector], bool]
    grundy: Callable[[Vector], int] | None = None
    misere: "Theorem | None" = None
    candidates: Callable[[Vector], Iterable[Vector]] | None = None

    def exchanged(self, source: str, statement: str, where: Callable[[Vector], bool]) -> "Theorem":
        """Return this theorem with its form for misere play, where some positions are P-positions if they are none in normal play.

        Args:
            source: that of the theorem on misere play.
            statement: that of the theorem on misere play.
            where: whether a position is one of them.
        """
        return replace(self, misere=replace(self, source=source, statement=statement, is_p=_Differ(self.is_p, where), grundy=None))


@dataclass(frozen=True)
class _Differ:
    """Whether two functions differ at a position; equal where these are."""

    one: Callable[[Vector], bool]
    other: Callable[[Vector], bool]

    def __call__(self, position: Vector) -> bool:
        return self.one(position) != self.other(position)


@dataclass(frozen=True)
class BesideNim:
    """A theorem that compares the P-positions of a game with the positions of nim-sum 0.

    Args:
        statement: its name in `gpunim verify`.
        first_difference: where they first differ, by total and then lexicographically; None where they are the same.
    """

    statement: str
    first_difference: Vector | None


def _times_phi(number: int) -> int:
    """floor(n phi), phi the golden ratio, in integers: (n + floor(sqrt(5 n^2))) // 2."""
    return (number + isqrt(5 * number * number)) // 2


def is_wythoff_pair(position: Vector) -> bool:
    """Whether the piles are floor(d phi) and floor(d phi) + d for their difference d, phi the golden ratio.

    >>> [(x, y) for x in range(8) for y in range(x, 12) if is_wythoff_pair((x, y))]
    [(0, 0), (1, 2), (3, 5), (4, 7), (6, 10)]
    """
    low, high = sorted(position)
    return low == _times_phi(high - low)


def _wythoff_candidates(position: Vector) -> Iterator[Vector]:
    """On each line the pair of normal play, and those of misere play."""
    (x, y), difference = position, abs(position[0] - position[1])
    first, second = ({0, 1, 2, more - pile, more, more + 1} for pile, more in ((y, _times_phi(y)), (x, _times_phi(x))))
    yield from ((pile, y) for pile in first)
    yield from ((x, pile) for pile in second)
    yield from ((x - min(position) + low, y - min(position) + low) for low in {0, 2, _times_phi(difference)})


def _nim_candidates(position: Vector) -> Iterator[Vector]:
    """Each pile such that the nim-sum is 0, or 1, which wins in misere play where no pile is above 1."""
    for at, pile in enumerate(position):
        for other in (0, 1):
            yield (*position[:at], pile ^ nim_sum(position) ^ other, *position[at + 1 :])


def _shifted_nim(position: Vector) -> bool:
    x, y, z = position
    return x == z if y == 0 else x > 0 and z > 0 and (x - 1) ^ y ^ (z - 1) == 0


def _is_single(position: Vector) -> bool:
    return max(position) <= 1


def _is_small_pair(position: Vector) -> bool:
    return tuple(sorted(position)) in {(0, 0), (0, 1), (1, 2), (2, 2)}


_MISERE = "gpunim's theorem on misere play", "misere-inequalities", _is_single
_NIM = Theorem("Bouton's theorem [F Theorem 1]", "nf-theorem-4", is_p_position, nim_sum, candidates=_nim_candidates)
BOUTON = _NIM.exchanged("Bouton's theorem on misere play", "misere-nim", _is_single)
_THREE = "[V] Theorem 3.5 for a = 3, by the same argument for a = 3 mod 4"
CHOCOLATE = Theorem(_THREE, "v-remark-4.1", is_p_position).exchanged(*_MISERE)
FIRST_CHOCOLATE = Theorem("[V] Theorem 3.1", "v-theorem-3.1", _shifted_nim)
_ONE = "gpunim's theorem for a = 1 mod 4, for a = 1 [V] Theorem 3.1"
SHIFTED_CHOCOLATE = Theorem(_ONE, "chocolate-shifted-nim", _shifted_nim).exchanged(*_MISERE)
_EVEN = "Nakamura and Miyadera's theorem for even k"
EVEN_BARS = Theorem(_EVEN, "even-bars", is_p_position, nim_sum).exchanged(*_MISERE)
WYTHOFF = Theorem("Wythoff's theorem", "wythoff", is_wythoff_pair, candidates=_wythoff_candidates).exchanged(
    "Wythoff's theorem but for small piles", "misere-wythoff", _is_small_pair
)


class SumOfHeaps:
    """The Grundy value of several heaps, the nim-sum of those of each.

    >>> from gpu_nim.games.heaps import OctalCode
    >>> kayles = SumOfHeaps(OctalCode("0.77"))
    >>> kayles((4, 4)), kayles((3, 5, 1000))
    (0, 6)
    """

    def __init__(self, rule: HeapRule) -> None:
        self._rule = rule
        self._values, self._period = first_values(rule, 0)

    def __call__(self, heaps: Vector) -> int:
        """The Grundy value of these heaps."""
        return nim_sum(self.values(heaps))

    def values(self, heaps: Vector) -> list[int]:
        """The Grundy value of each of these heaps."""
        largest = max(heaps, default=0)
        if largest >= len(self._values) and self._period is None:
            self._values, self._period = first_values(self._rule, largest + 1)
        sizes = np.array(heaps, np.int64)
        return [*map(int, self._values[sizes] if self._period is None else self._period.of(self._values, sizes))]


def is_misere_kayles_position(heaps: Vector, normal: bool) -> bool:
    """Whether heaps of Kayles are a P-position in misere play (Sibert and Conway 1992).

    Args:
        heaps: the heaps.
        normal: whether they are one in normal play.

    >>> [heap for heap in range(80) if is_misere_kayles_position((heap,), False)]
    [1, 4, 9, 12, 20]
    """
    sizes, ones = {*heaps}, sum(heap in (1, 4, 20) for heap in heaps) % 2
    if sizes <= {1, 4, 5}:
        return ones == 1
    if not sizes <= {1, 4, 9, 12, 17, 20, 25} or heaps.count(25) > 1:
        return normal
    if sum(heap in (9, 12, 17) for heap in heaps) % 2 == 0:
        return ones == 1 and 25 not in sizes
    return (sizes <= {1, 4, 9, 25} and ones == heaps.count(25)) or (sizes <= {1, 4, 12} and heaps.count(12) == 1 and not ones)


class MisereTypes(HeapRule):
    """The types of single heaps in misere play, as the values of a rule.

    A tame heap is in sums as a heap of Nim, of its Grundy value g. Its type is 2g + 1 if it is firm, as heaps of Nim above 1 are,
    and else, where g is 0 or 1, 2g; a sum is firm if some heap is (Conway, On Numbers and Games, chapter 12). From the first heap
    on that is not tame, or whose options are too many to be tried, it is -1.

    >>> from gpu_nim.games.heaps import OctalCode, extended_values
    >>> extended_values(MisereTypes(OctalCode("0.77")), 8)[0].tolist()
    [0, 2, 5, 7, 2, -1, -1, -1]
    """

    def __init__(self, rule: HeapRule) -> None:
        self._rule = rule

    def options(self, heap: int) -> Iterable[Vector]:
        """The options of the rule."""
        return self._rule.options(heap)

    def proof_length(self, preperiod: int, period: int) -> int:
        """As of the rule: equal types of the options of two heaps make equal types of these."""
        return self._rule.proof_length(preperiod, period)

    def extended(self, known: Ints, count: int) -> Ints:
        """The types of the heaps of 0 to count - 1 counters, int64 (count,), from the first of them."""
        types, tried = known[:count].tolist(), 0
        while len(types) < count:
            left = [*self.options(len(types))] if types[-1:] != [-1] and tried < _TRIED else None
            tried += len(left or ())
            types.append(-1 if left is None else self._type({self.of_sum([types[heap] for heap in heaps]) for heaps in left}))
        return np.array(types, dtype=np.int64)

    @staticmethod
    def of_sum(types: Iterable[int]) -> int:
        """The type of heaps of these types: the nim-sum of the values, and firm if one is."""
        return reduce(lambda one, other: one ^ other | one & other & 1, types, 0)

    @staticmethod
    def _type(options: set[int]) -> int:
        value = mex({each >> 1 for each in options})
        misere = mex({each >> 1 ^ ~each & 1 for each in options}) if options else 1
        return 2 * value + (misere == value) if misere == value or {value, misere} == {0, 1} else -1


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
