"""gpunim's own statements: what it computes by a formula, a theorem or a fast path equals the result by definition or enumeration.

The other modules compare what the papers print with exhaustive enumeration; faults in the program's own formulas would escape them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE as AUTOMATA
from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import split
from gpu_nim.backends.selection import select
from gpu_nim.counting import closed_forms
from gpu_nim.counting.families import FAMILIES, ByMaximum, ByTotal, UpToMaximum, UpToTotal, find_family
from gpu_nim.counting.family import Family
from gpu_nim.counting.ranges import Range
from gpu_nim.counting.reductions import Reduction, reduce_range
from gpu_nim.games import heaps
from gpu_nim.games.heaps import OctalCode, SubtractionRule, TakeAndBreak
from gpu_nim.games.inequality_game import InequalityGame
from gpu_nim.games.named_games import CATALOGUE as GAMES
from gpu_nim.games.rulesets import Heaps, Ruleset, Vectors
from gpu_nim.games.solution import Solution
from gpu_nim.games.solve import solve
from gpu_nim.model.arrays import to_integers
from gpu_nim.model.rule import Cell
from gpu_nim.papers import by_definition
from gpu_nim.papers.by_definition import a_by_digits, counts, d_by_digits, max_index
from gpu_nim.papers.entries import SOURCES, Case, Cases, Entry, Reach
from gpu_nim.papers.nim_fractals_2_to_5_1 import formulas
from gpu_nim.papers.nim_fractals_5_2_to_5_6 import by_recursion

GPUNIM = SOURCES["gpunim"]
_ENUMERATED = [name for name, family in FAMILIES.items() if family.enumerated_by]
_OTHER_WAYS: dict[type[Family], Callable[[int, int], int]] = {
    ByTotal: partial(by_recursion, "D"),
    UpToTotal: partial(by_recursion, "A"),
    ByMaximum: d_by_digits,
    UpToMaximum: a_by_digits,
}

_PILES = (1, 2, 3, 4, 5, 6, 7)
_POWERS = (2, 3, 4, 5)  # D_6(3) = 226 = 15^2 + 1: from six piles on, four pairs of 1s in the units also make a total of 6
_INDICES = 64  # of each sequence that are usually compared with enumeration
_LONG = (10**18 + 12345, 2**70 - 1, 2**200 + 2**131 + 77)  # beyond any enumeration: two independent methods must agree


@Entry(GPUNIM, "gpunim-counts", reach=Reach(_INDICES, 1024, 66))
def formulas_of_counts(upto: int) -> Cases:
    """D_k, A_k, d_k and a_k by formula, and their sums, equal the enumeration"""
    yield f"n up to {upto}, fewer for many piles"
    for k in _PILES:
        last = max_index(k, upto)
        for name in _ENUMERATED:
            known, family = counts(name, k, last), find_family(name, k)
            yield f"{name}_{k} by formula up to {last}", [family.value(n) for n in range(last + 1)], [*known]
            sums = [family.sum(0, n + 1) for n in range(last + 1)]
            yield f"the sums of {name}_{k} up to {last}", sums, np.cumsum(known).tolist()
            extremes = family.maximum(0, last + 1), family.minimum(last // 2, last + 1)
            yield f"the extremes of {name}_{k} up to {last}", extremes, (max(known), min(known[last // 2 :]))


@Entry(GPUNIM, "gpunim-long-indices", reach=Reach())
def long_indices(upto: int) -> Cases:
    """Counts at long indices equal the recursions, and the count digit by digit"""
    yield "n up to 1,400 binary digits"
    for n in (10**40, 2**1400 // 3 + 5**90):  # the second is summed by blocks of its digits
        for k in (2, 4, 12):
            yield f"a_{k}({n})", closed_forms.a(k, n), a_by_digits(k, n)
            yield f"d_{k}({n})", closed_forms.d(k, n), d_by_digits(k, n)
    for k in (2, 3, 4, 5, 7, 8, 40):  # a_40 takes another way than a_8
        for n in _LONG if k < 40 else _LONG[:1]:
            for family, other in _OTHER_WAYS.items():
                yield f"{family(k)}({n})", family(k).value(n), other(k, n)
            for summed in FAMILIES.values():
                values = [summed(k).value(n + i) for i in range(3)]
                yield f"the sum of {summed(k)} from {n} on", summed(k).sum(n, n + 3), sum(values)


@Entry(GPUNIM, "gpunim-tables", reach=Reach(_INDICES, 1024, 4))
def tables(upto: int) -> Cases:
    """Tables of counts, filled block by block, equal the enumeration"""
    yield f"n up to {upto}, and from {len(_LONG)} long indices on"
    engine = select("auto").counting()
    for name, k, start, last, stated in _enumerated_ranges(upto):
        found = to_integers(Range(find_family(name, k), start, last + 1, engine).values())
        yield f"the table of {name}_{k} from {start} to {last}", found, stated
    for n in _LONG:
        found = to_integers(Range(find_family("D", 4), n, n + 40, engine).values())
        yield f"the table of D_4 from {n}", found, [by_recursion("D", 4, n + i) for i in range(40)]


@Entry(GPUNIM, "gpunim-reductions", reach=Reach(_INDICES, 1024, 4))
def reductions(upto: int) -> Cases:
    """Sums, extremes, records, lengths and residues of ranges equal those of the enumerated counts"""
    yield f"ranges up to {upto}, fewer for many piles"
    engine = select("auto").counting()
    for name, k, start, last, known in _enumerated_ranges(upto):
        stated = {
            "sum": sum(known),
            "max": max(known),
            "argmax": start + known.index(max(known)),
            "min": min(known),
            "argmin": start + known.index(min(known)),
            "records": [(start + i, n) for i, n in enumerate(known) if all(n > before for before in known[:i])],
            "histogram": dict(sorted(Counter(n.bit_length() for n in known).items())),
            "residues:10": dict(sorted(Counter(n % 10 for n in known).items())),
        }
        wanted = [*map(Reduction.parse, stated)]
        found = reduce_range(Range(find_family(name, k), start, last + 1, engine), wanted, records=len(known))
        for (what, value), result in zip(stated.items(), found, strict=True):
            yield f"{what} of {name}_{k} from {start} to {last}", result.value, value


def _enumerated_ranges(upto: int) -> Iterator[tuple[str, int, int, int, list[int]]]:
    """Ranges of each family: its name, the piles, the first and the last index, and the enumerated counts."""
    for k in _PILES:
        last = max_index(k, upto)
        for name in _ENUMERATED:
            for start in (0, last // 3):
                yield name, k, start, last, [*counts(name, k, last)[start:]]


formulas("powers-of-binomials", "D_k(2^m - 1) = C(k,2)^m for k = 2, ..., 5", _POWERS, paper=GPUNIM)


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
    listed = (entry.game(texts) for entry in GAMES.values() for texts in entry.literal_parameters)
    rules = dict.fromkeys(
        [*map(OctalCode, _CODES), *map(SubtractionRule, _SUBTRACTED), *(each.rule for each in listed if isinstance(each, Heaps))]
    )
    yield f"{len(rules)} rules, with those of the catalogue, heaps up to {upto}"
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
    return [value for _, value in by_definition.grundy(positions, Heaps(rule).options)]


@Entry(GPUNIM, "gpunim-game-theorems", reach=Reach())
def game_theorems(upto: int) -> Cases:
    """Theorems that explain large positions agree with the literal game"""
    yield f"positions up to {min(upto, _EXPLAINED)} of each game that has a theorem"
    for entry in GAMES.values():
        for texts in entry.literal_parameters:
            rules = entry.game(texts)
            for misere in (False, True) if rules.theorem else ():
                literal = rules.evolve(min(upto, _EXPLAINED), misere=misere)
                for number, position in enumerate(literal.positions):
                    known, about = rules.theorem, f"{position} of {entry.name}"
                    if misere:
                        known, about = rules.misere_theorem(position), f"{about} in misere play"
                    if known is None:
                        continue
                    yield f"whether {about} is P", known.is_p(position), bool(literal.is_p[number])
                    if known.grundy is not None:
                        yield f"the Grundy value of {about}", known.grundy(position), int(literal.grundy[number])
                    if known.candidates is not None:
                        lost = {literal.positions[option] for option in literal.moves[number] if literal.is_p[option]}
                        yield f"P-positions after {about} that are left out", lost - {*known.candidates(position)}, set()


@Entry(GPUNIM, "gpunim-solutions", reach=Reach())
def solutions(upto: int) -> Cases:
    """Solved games have the P-positions and Grundy values of the literal game."""
    tried = [(entry.literal_size, entry.game(texts)) for entry in GAMES.values() for texts in entry.literal_parameters]
    yield f"{len(tried)} games, each to its own size of at most {upto}"
    for most, game in tried:
        size = min(upto, most)
        values = dict(_literally(game, size))
        for grundy in {True, not game.on_backends}:
            yield from _solved(game.name, solve(game, size, grundy=grundy), values)


def _literally(rules: Ruleset, size: int) -> Iterator[tuple[Cell, int]]:
    """The positions that a solution holds, with their Grundy values by definition."""
    if isinstance(rules, InequalityGame):
        return iter(by_definition.inequality_values(rules, rules.limits(size)).items())
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


_LITERAL_CELLS = 800  # the most of a literal growth: a fraction of a second


@Entry(GPUNIM, "gpunim-growths", reach=Reach())
def growths(upto: int) -> Cases:
    """Every automaton of the catalogue grows as its rule says, literally, on every engine"""
    yield f"{len(AUTOMATA)} automata, to about {_LITERAL_CELLS:,} cells each"
    for automaton in AUTOMATA.values():
        stated = _grown_literally(automaton, upto)
        generations = len(stated) - 1
        for general in (False, True):
            growing = GrowthProcess(automaton, generations, "numpy", cells=True, verify=False, general=general)
            found = [[*map(tuple, cells.tolist())] for batch in growing for _, cells in split(batch)]
            yield f"{automaton.name} to generation {generations}", found, stated


@Entry(GPUNIM, "gpunim-theorems", reach=Reach())
def theorems(upto: int) -> Cases:
    """Births and cells by theorem are those of the automaton grown literally"""
    yield "each automaton with a theorem, all cells around"
    for automaton in AUTOMATA.values():
        stated = _grown_literally(automaton, upto)
        generations = len(stated) - 1
        if automaton.births_formula is not None:
            found = [automaton.births_formula(n) for n in range(generations + 1)]
            yield f"the births of {automaton.name} to {generations}", found, [len(cells) for cells in stated]
        if automaton.cell_test is not None:
            dimension, reach = automaton.rule.dimension, max(1, *(abs(x) for cells in stated for cell in cells for x in cell))
            low = 0 if automaton.rule.octant else -reach
            most = reach if dimension <= 3 else min(reach, 4)
            box = np.indices((most - low + 1,) * dimension).reshape(dimension, -1).T + low
            for n in range(generations + 1):
                born = {*stated[n]}
                here = automaton.cell_test(box, np.full(len(box), n)).tolist()
                yield f"which cells of {automaton.name} are born at {n}", here, [(*cell,) in born for cell in box.tolist()]


@cache
def _grown_literally(automaton: Automaton, upto: int) -> list[list[Cell]]:
    """The newborns of the generations, up to `upto`, by which no more than a few cells are born."""
    population = last = 0
    for batch in GrowthProcess(automaton, min(upto, 24), "numpy", verify=False, every=1):
        population += sum(batch.births.tolist())
        if population > _LITERAL_CELLS and batch.first > 1:
            break
        last = batch.first + len(batch.births) - 1
    return by_definition.grown(automaton.rule, last)
