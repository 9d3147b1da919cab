"""User-defined automata: made from offsets, births and seeds, or of Golly's notation, and described as plain values for files.

Golly writes a rule as B1/S01234V, also as S01234V/B1 or 01234/1V, and in space 3D0..26/1 as of its script 3D.lua. Of other
programs, b1s01234v (lifelib), 01234/1/2V (Generations), and in space 0-6/1/2/VN, 0-6/1/2/N and 0-26/1/2/M (Visions of Chaos) are
read: the number of states, which cells that die go through, does not matter where none does.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from gpu_nim.automata.catalogue import CATALOGUE, Automaton, find, user_defined
from gpu_nim.automata.formulas import HEXAGON, steps
from gpu_nim.model.arguments import IntLike, integers, parse_integer, short_repr, vectors
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.model.rule import Cell, Rule, Symmetry

# Neighbourhoods by the letter that ends a rule.
_PLANE = {frozenset(steps(2, 1)): "V", frozenset(steps(2, 1, 2)): "", frozenset(HEXAGON): "H"}
_SPACE = {
    frozenset(steps(3, 1)): "F",
    frozenset(steps(3, 2)): "E",
    frozenset(steps(3, 3)): "C",
    frozenset(o for o in steps(3, 1, 2) if abs(sum(o)) < 2): "H",
    frozenset(steps(3, 1, 2, 3)): "",
}
_SAME = {"V": "F", "VN": "F", "N": "F", "M": ""}
_COUNT = r"\d{1,2}(?:(?:\.\.|-)\d{1,2})?"
_COUNTS = rf"(?:{_COUNT}(?:,{_COUNT})*)?"
_RULE = re.compile(
    r"(?:B(?P<births>\d*)/?S(?P<stays>\d*)|S?(?P<first>\d*)/B?(?P<second>\d*))(?:/C?\d+)?(?P<letter>[VH]?)"
    rf"|(?P<golly>3D)?(?P<space_stays>{_COUNTS})/(?P<space_births>{_COUNTS})"
    r"(?(golly)(?P<space_letter>[FVECH]?)|/\d+/(?P<around>M|V?N))",
    re.ASCII | re.IGNORECASE,
)
_KNOWN = "B1/S012345678", "B1/S01234V", "B1/S0123456H", "3D0..26/1", "3D0..12/1E", "3D0..12/1H", "3D0..6/1F", "0-26/1/2/M"


def golly_rule(rule: Rule | None, dimension: int) -> str:
    """Return the rule in Golly's notation, or one under which nothing is born and nothing dies.

    >>> from gpu_nim.automata.catalogue import find
    >>> [golly_rule(find(name).rule, 2) for name in ("rule750", "hexagonal", "knight")]
    ['B13/S01234V', 'B1/S0123456H', 'B/S012345678']
    >>> [golly_rule(find(name).rule, 3) for name in ("fcc", "cubic26", "edge")]
    ['3D0..12/1E', '3D0..26/1', '3D0..26/']
    """
    neighbourhoods = _PLANE if dimension == 2 else _SPACE
    if rule is not None and rule.universe is None and rule.touches is None and not rule.octant:
        letter = neighbourhoods.get(frozenset(rule.offsets))
        if letter is not None:
            return _written(dimension, len(rule.offsets), sorted(rule.births), letter)
    return _written(dimension, 3**dimension - 1, [], "")


def _written(dimension: int, neighbours: int, births: list[int], letter: str) -> str:
    if dimension == 2:
        return f"B{''.join(map(str, births))}/S{''.join(map(str, range(neighbours + 1)))}{letter}"
    return f"3D0..{neighbours}/{','.join(map(str, births))}{letter}"


def is_golly(text: str) -> bool:
    """Return whether a text is a rule in Golly's notation, also one that gpunim does not grow by."""
    return _RULE.fullmatch(text) is not None


def rule_of_golly(text: str) -> tuple[tuple[Cell, ...], frozenset[int]]:
    """Return the offsets and the numbers of births of a rule in Golly's notation.

    Args:
        text: the rule.

    Raises:
        UsageError: gpunim does not grow by it.

    >>> rule_of_golly("B13/S01234V") == rule_of_golly("01234/13V") == rule_of_golly("s01234/b13v")
    True
    >>> len(rule_of_golly("3D0..12/1E")[0]), rule_of_golly("3D0..26/1..3,5")[1]
    (12, frozenset({1, 2, 3, 5}))
    >>> rule_of_golly("b13s01234v") == rule_of_golly("B13/S01234V"), rule_of_golly("0-6/1,3/2/VN") == rule_of_golly("3D0..6/1,3F")
    (True, True)
    >>> rule_of_golly("B3/S23")
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: rule must let no cell die, as B3/S012345678 does, got 'B3/S23'
    """
    rule = _RULE.fullmatch(text)
    if rule is None:
        raise UsageError(f"rule must be one such as {one_of(_KNOWN)}, got {short_repr(text)}")
    if rule["space_stays"] is None:
        dimension, neighbourhoods, letter = 2, _PLANE, rule["letter"]
        stays, births = ({*map(int, rule[one] or rule[other] or "")} for one, other in (("stays", "first"), ("births", "second")))
    else:
        dimension, neighbourhoods = 3, _SPACE
        letter = _SAME.get(written := (rule["space_letter"] or rule["around"] or "").upper(), written)
        stays, births = map(_counts, rule.group("space_stays", "space_births"))
    offsets = next(each for each, name in neighbourhoods.items() if name == letter.upper())
    neighbours = len(offsets)
    if beyond := (stays | births) - {*range(neighbours + 1)}:
        raise UsageError(f"rule must have at most the {neighbours} neighbours of a cell, got {max(beyond)} in {short_repr(text)}")
    if len(stays) <= neighbours:
        kept = _written(dimension, neighbours, sorted(births), letter.upper())
        raise UsageError(f"rule must let no cell die, as {kept} does, got {short_repr(text)}")
    if 0 in births:
        raise UsageError(f"rule must give birth beside living cells alone, got {short_repr(text)}")
    return tuple(sorted(offsets)), frozenset(births)


def _counts(text: str) -> set[int]:
    """Numbers such as 1,3 or 0..26 or 0-26."""
    spans = (re.split(r"\.\.|-", part) for part in text.split(",") if part)
    return {each for span in spans for each in range(int(span[0]), int(span[-1]) + 1)}


def define(
    offsets: Iterable[Cell], births: Iterable[int] | None = None, seeds: Iterable[Cell] | None = None, *, octant: bool = False
) -> Automaton:
    """Return the automaton with these offsets, births and seeds.

    Its dimension is the number of their coordinates, its symmetry the largest group that maps offsets and seeds to themselves.
    Where the catalogue has this automaton, that entry is returned, with its engine, its theorem and its digest.

    Args:
        offsets: as for `Rule`.
        births: as for `Rule`; by default on one touch.
        seeds: as for `Rule`; by default the origin.
        octant: as for `Rule`.

    Raises:
        UsageError: they are no rule.

    >>> define([(1, 1, 0), (1, 0, 1), (0, 1, 1)], [1], [(0, 0, 0)], octant=True).name
    'nim'
    >>> define([(1, 0), (-1, 0), (0, 1), (0, -1)], [1, 2], [(0, 0)]).rule.symmetry
    <Symmetry.CUBE: 'cube'>
    """
    cells = vectors("offsets", offsets)
    dimension = len(cells[0]) if cells else 1
    born = frozenset((1,) if births is None else integers("births", births))
    fields = (dimension, cells, born, ((0,) * dimension,) if seeds is None else vectors("seeds", seeds))
    rule = Rule(*fields, octant=octant)
    stated = _stated(rule)
    for automaton in CATALOGUE.values():
        if _stated(automaton.rule) == stated:
            return automaton
    for symmetry in (Symmetry.CUBE, Symmetry.PERMUTATIONS):
        with suppress(UsageError):  # not a symmetry of this rule
            return user_defined(Rule(*fields, octant=octant, symmetry=symmetry))
    return user_defined(rule)


def _stated(rule: Rule) -> tuple[object, ...]:
    """What makes two rules the same, however they list it and grow it."""
    return rule.dimension, {*rule.offsets}, rule.births, {*rule.seeds}, rule.octant, rule.universe, rule.touches


def as_automaton(automaton: str | Automaton | Rule) -> Automaton:
    """Return the automaton of a name, of Golly's notation or of a rule; for one without predicates and symmetry as `define` does.

    Raises:
        UsageError: there is none.
    """
    if isinstance(automaton, Automaton):
        return automaton
    if isinstance(automaton, Rule):
        if (automaton.universe, automaton.touches, automaton.symmetry) == (None, None, Symmetry.NONE):
            return define(automaton.offsets, automaton.births, automaton.seeds, octant=automaton.octant)
        return next((known for known in CATALOGUE.values() if known.rule == automaton), None) or user_defined(automaton)
    if not isinstance(automaton, str):
        raise UsageError(f"automaton must be a name, a rule of Golly, a Rule or an Automaton, got {short_repr(automaton)}")
    return define(*rule_of_golly(automaton)) if "/" in automaton or is_golly(automaton) else find(automaton)


def with_generation(automaton: Any, generations: IntLike | None) -> tuple[Any, IntLike | None]:
    """Return an automaton and a generation: a text NAME:GENERATION has both, where no generation is given beside it.

    Raises:
        UsageError: what is behind the colon is no number, or a generation is given, too.

    >>> with_generation("nim:2^6", None), with_generation("nim", 7)
    (('nim', 64), ('nim', 7))
    """
    name, colon, last = automaton.partition(":") if isinstance(automaton, str) else (automaton, "", "")
    if not colon:
        return automaton, generations
    if generations is not None:
        raise UsageError(f"generations must be given once, got {short_repr(automaton)} and {short_repr(generations)}")
    try:
        return name, parse_integer(last)
    except ValueError:
        raise UsageError(f"automaton {name}:GENERATION needs a whole number after the colon, got {automaton!r}") from None


def describe(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values for JSON; of its predicates, only whether it has any.

    >>> describe(CATALOGUE["cubic26"].rule)["births"]
    [1]
    """
    return {
        "dimension": rule.dimension,
        "offsets": [list(offset) for offset in rule.offsets],
        "births": sorted(rule.births),
        "seeds": [list(seed) for seed in rule.seeds],
        "octant": rule.octant,
        "symmetry": rule.symmetry.value,
        "predicates": rule.universe is not None or rule.touches is not None,
    }


def from_description(name: str, description: dict[str, Any] | None) -> Automaton | None:
    """Return the automaton of that name and description: the catalogue's, or the one described where it has no predicates.

    Raises:
        KeyError: the description is damaged.
        TypeError: the description is damaged.
        ValueError: the description is damaged.

    >>> from_description("own", describe(define([(2, 1)], [1], [(0, 0)]).rule)).rule.offsets
    ((2, 1),)
    """
    if name in CATALOGUE and (description is None or describe(CATALOGUE[name].rule) == description):
        return CATALOGUE[name]
    if description is None or description["predicates"]:
        return None
    dimension, offsets, births, seeds = (description[each] for each in ("dimension", "offsets", "births", "seeds"))
    octant, symmetry = bool(description["octant"]), Symmetry(description["symmetry"])
    return user_defined(Rule(dimension, offsets, births, seeds, octant=octant, symmetry=symmetry), name)
