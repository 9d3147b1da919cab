"""Octal games whose P-positions are found at the step of their generation: recomputes what steps-and-generations.md says.

In 106 octal games of up to four digits heaps have weights such that each P-position of weight 2n is found at step n and is of
generation n. Of each of the other 3,989 a P-position of up to 42 counters has a step that is not its generation.

    python docs/open-problems/steps-and-generations.py [COUNTERS]

plays games with weights to so many counters, by default 22. It prints a line for each statement, and ends with status 1 if
anything is wrong.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _comparisons import Case, compare

from gpu_nim.games import Heaps, OctalCode, evolve
from gpu_nim.games.game_graph import Vector, reachable
from gpu_nim.games.heaps import grundy_values
from gpu_nim.model.arrays import Ints

_LONGER = ("0.75155", "0.75404", "0.752020", "0.35551", "0.1157", "0.11157")
_VALUES = 500  # heaps
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_SINGLE: dict[str, list[str]] = {f"0.{digits}": values.split(" ") for digits, values in _DATA["values"].items()}
_APART: dict[str, Vector] = {
    f"0.{digits}": tuple(map(int, heaps.split())) for heaps, codes in _DATA["apart"].items() for digits in codes.split()
}


def weights(code: str) -> Callable[[int], int] | None:
    """Return the weight of a heap in a game that the theorem treats; None in another one."""
    digits = [*map(int, code.partition(".")[2])]
    if code in _SINGLE or _has_values_1_and_2(*digits):
        return lambda heap: heap
    if code == "0.1355":
        return lambda heap: -(-heap // 2)
    taken = len(digits)
    if taken > 1 and digits == [1] * (taken - 2) + [5, 7]:
        return lambda heap: 2 * -(-heap // taken) - 1
    return _length(digits)


def _has_values_1_and_2(first: int, second: int = 0, *others: int) -> bool:
    odd, even = {*others[::2]}, {*others[1::2]}
    ones = odd <= {0, 1, 4, 5} and (first == 7 or (first == 3 and others[:1] == (5,)))
    return (second == 5 or (second, *others[1:2]) == (1, 5)) and even <= {0, 1, 4, 5} and (ones or (first == 7 and odd <= {0, 2}))


def _length(digits: list[int]) -> Callable[[int], int] | None:
    """The number of moves of every play of a heap, where none is divided and at most one number may be taken from larger ones."""
    leaving = [take for take, digit in enumerate(digits, 1) if digit & 2]
    if max(digits) > 3 or len(leaving) > 1:
        return None
    whole = {take for take, digit in enumerate(digits, 1) if digit & 1}
    if not leaving:
        return lambda heap: int(heap in whole)
    (take,) = leaving
    if any(heap > 2 * take or heap - take in whole for heap in whole if heap > take):
        return None
    return lambda heap: (heap - 1) // take + int((heap - 1) % take + 1 in whole)


def _codes(digits: int) -> Iterator[str]:
    """The codes of up to so many digits, with one digit after the point at least, whose last digit is not 0."""
    for number in range(1, 8**digits):
        yield "0." + f"{number:0{digits}o}".rstrip("0")


def steps(counters: int) -> Iterator[Case]:
    """The steps and the generations of P-positions of games with weights, and those of one position of each other game."""
    known = {code: weight for code in _codes(4) if (weight := weights(code))}
    yield "the numbers of games with weights", (len(known), sum(len(code) < 6 for code in known)), (106, 38)
    yield (
        "the games without weights, and those with a position whose step is not its generation",
        {*_codes(4)} - {*known},
        {*_APART},
    )
    for code in (*known, *_LONGER):
        weight = weights(code)
        assert weight is not None
        evolution = Heaps(OctalCode(code)).evolve(counters)
        lost = np.flatnonzero(evolution.is_p).tolist()
        half = [sum(map(weight, evolution.positions[place])) / 2 for place in lost]
        yield f"the steps of P-positions of {code}, and half of their weights", evolution.step[lost].tolist(), half
        yield f"the generations of P-positions of {code}", evolution.generation[lost].tolist(), half
    for code, position in _APART.items():
        play = reachable(Heaps(OctalCode(code)).options, position)
        assert play is not None
        evolution = evolve(play)
        place = evolution.index(position)
        yield f"whether {position} of {code} is P", bool(evolution.is_p[place]), True
        yield "whether its step is its generation", bool(evolution.step[place] == evolution.generation[place]), False


def values() -> Iterator[Case]:
    """The Grundy values by which these games are proved: 1 and 2 by turns, of runs of heaps, or of a period of 2 to 8."""
    heaps = np.arange(1, _VALUES + 1)
    for code, stated in (
        *((code, 2 - heaps % 2) for code in [*_codes(4), *_LONGER] if _has_values_1_and_2(*map(int, code[2:]))),
        *(("0." + "1" * (taken - 2) + "57", 2 - -(-heaps // taken) % 2) for taken in range(2, 6)),
        *((code, _periodic(first, period)) for code, (first, period) in _SINGLE.items()),
    ):
        yield f"the Grundy values of {code}", grundy_values(OctalCode(code), _VALUES + 1)[1:].tolist(), stated.tolist()


def _periodic(first: str, period: str) -> Ints:
    return np.array([*map(int, first + period * _VALUES)][:_VALUES])


if __name__ == "__main__":
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 22
    sys.exit(
        compare(
            {
                f"steps and generations: games with weights to {most} counters, a position of each other game": steps(most),
                f"Grundy values of heaps to {_VALUES}": values(),
            }
        )
    )
