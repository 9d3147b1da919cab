"""Games of the catalogue, solved and explained by theorem, compared with the literal game."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_nim.games import heaps
from gpu_nim.games.catalogue import CATALOGUE
from gpu_nim.games.heaps import GrundysGame, HeapGame, OctalCode, SubtractionRule, TakeAndBreak
from gpu_nim.games.rulesets import Heaps, Inequalities, Ruleset, Vectors
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import solve
from gpu_nim.model.rule import Cell
from gpu_nim.papers import by_definition
from gpu_nim.papers.catalogue import Case, Cases, Entry, Reach
from gpu_nim.papers.gpunim.counts import GPUNIM

_EXPLAINED = 6
_CODES = ("0.77", "0.07", "0.137", "4.0", "0.33", "0.156", "0.3F", "8.28", "0.9")
_SUBTRACTED = ((1, 2, 3), (1, 3, 4), (2, 5, 7))
_PERIODS: dict[heaps.HeapRule, heaps.Period | None] = {
    OctalCode("0.77"): heaps.Period(71, 12),
    SubtractionRule((1, 3, 4)): heaps.Period(0, 7),
    OctalCode("0.106"): None,  # far longer than 200 values prove
    OctalCode("0.4C"): heaps.Period(1, 2, 1),
}


@Entry(GPUNIM, "gpunim-heaps", after="Guy and Smith", reach=Reach(40, 200, 1))
def heap_values(upto: int) -> Cases:
    """Grundy values of heaps are the least that no option has, and periods hold"""
    yield f"{len(_CODES)} codes, Grundy's game and {len(_SUBTRACTED)} sets to subtract, heaps up to {upto}"
    rules: list[heaps.HeapRule] = [*map(OctalCode, _CODES), GrundysGame(), *map(SubtractionRule, _SUBTRACTED)]
    for rule in rules:
        values = heaps.grundy_values(rule, upto + 1).tolist()
        small = upto if isinstance(rule, SubtractionRule) else min(upto, 12)
        yield f"the Grundy values of {rule} up to {small}", values[: small + 1], _of_heaps(rule, small)
        yield f"the Grundy values of {rule} by the faster way", heaps.extended_values(rule, upto + 1)[0].tolist(), values
        # Heaps that one move leaves count by the sum of their values.
        for heap in range(upto + 1):
            seen = {int(np.bitwise_xor.reduce([values[part] for part in left] or [0])) for left in rule.options(heap)}
            yield f"the Grundy value of a heap of {heap} in {rule}", values[heap], by_definition.mex(seen)
    for rule, known in _PERIODS.items():
        plain = heaps.grundy_values(rule, 300)
        period = heaps.find_period(rule, plain[:200])
        yield f"the period of {rule}", period, known
        if period is not None:
            later = plain[period.preperiod + period.length :] - period.saltus
            yield f"that the period of {rule} holds", plain[period.preperiod : -period.length].tolist(), later.tolist()
        if isinstance(rule, TakeAndBreak):
            yield f"the Grundy values of {rule} without every option", rule.extended(plain[:20], 300).tolist(), plain.tolist()


def _of_heaps(rule: heaps.HeapRule, largest: int) -> list[int]:
    """The Grundy values of single heaps, by definition."""
    positions = [(n,) if n else () for n in range(largest + 1)]
    return [value for _, value in by_definition.grundy(positions, HeapGame(rule, largest).options)]


@Entry(GPUNIM, "gpunim-laws", reach=Reach())
def laws(upto: int) -> Cases:
    """Theorems that explain large positions agree with the literal game"""
    yield f"positions up to {min(upto, _EXPLAINED)} of each game that has a theorem"
    for entry in CATALOGUE.values():
        for texts in entry.literal_parameters:
            rules = entry.rules(**entry.read(texts))
            law = rules.law
            if law is None:
                continue
            size = min(upto, _EXPLAINED, entry.greatest_size)
            for position, value in _positions_by_definition(rules, size):
                yield f"whether {position} of {entry.name} is P", law.is_p(position), value == 0
                if law.grundy is not None:
                    yield f"the Grundy value of {position} of {entry.name}", law.grundy(position), value


def _positions_by_definition(rules: Ruleset, size: int) -> Iterator[tuple[Cell, int]]:
    if isinstance(rules, Heaps):
        several = HeapGame(rules.rule, size)
        return by_definition.grundy(several.positions(), several.options)
    return _literally(rules, size)


@Entry(GPUNIM, "gpunim-solutions", reach=Reach())
def solutions(upto: int) -> Cases:
    """Solved games have the P-positions and Grundy values of the literal game."""
    tried = [(entry, entry.read(texts)) for entry in CATALOGUE.values() for texts in entry.literal_parameters]
    yield f"{len(tried)} games, each to its own size of at most {upto}"
    for entry, parameters in tried:
        size = min(upto, entry.literal_size)
        values = dict(_literally(entry.rules(**parameters), size))
        for grundy in {True, not entry.on_backends}:
            yield from _solved(entry.name, solve(entry.name, size, grundy=grundy, **parameters), values)


def _literally(rules: Ruleset, size: int) -> Iterator[tuple[Cell, int]]:
    """The positions that a solution holds, with their Grundy values by definition."""
    if isinstance(rules, Inequalities):
        return iter(by_definition.inequality_values(rules.game, rules.game.limits(size)).items())
    if isinstance(rules, Heaps):
        return (((n,), value) for n, value in enumerate(_of_heaps(rules.rule, size)))
    assert isinstance(rules, Vectors)
    game, piles = rules.rules(size), len(rules.coordinates)
    values = by_definition.grundy(game.positions(), game.options)
    # What a position has beside its coordinates is still there in the solution, such as a pass that was not yet taken.
    return ((position[:piles], value) for position, value in values if all(position[piles:]))


def _solved(name: str, solution: Solution, values: dict[Cell, int]) -> Iterator[Case]:
    lost = sorted(position for position, value in values.items() if value == 0)
    yield f"the P-positions of {name} to {solution.size}", sorted(map(tuple, solution.p_positions.tolist())), lost
    if solution.grundy is not None:
        found, numbers = solution.points(max(values.values()))
        pairs = sorted(zip(map(tuple, found.tolist()), numbers.tolist(), strict=True))
        yield f"the Grundy values of {name} to {solution.size}", pairs, sorted(values.items())
