"""User-defined automata: made from offsets, births and seeds, and described as plain values for files."""

from collections.abc import Iterable
from typing import Any

from gpu_nim.automata.catalogue import CATALOGUE, Automaton, find
from gpu_nim.model.arguments import integers, shown, vectors
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell, Rule, Symmetry

NAME = "own"
"""The name of an automaton that is not in the catalogue."""


def define(offsets: Iterable[Cell], births: Iterable[int], seeds: Iterable[Cell], *, octant: bool = False) -> Automaton:
    """Return the automaton with these offsets, births and seeds.

    Its dimension is the number of their coordinates, its symmetry the largest group that maps offsets and seeds to themselves.
    Where the catalogue has this automaton, that entry is returned, with its engine, its theorem and its digest.

    Args:
        offsets: as for `Rule`.
        births: as for `Rule`.
        seeds: as for `Rule`.
        octant: as for `Rule`.

    Raises:
        UsageError: they are no rule.

    >>> define([(1, 1, 0), (1, 0, 1), (0, 1, 1)], [1], [(0, 0, 0)], octant=True).name
    'nim'
    >>> define([(1, 0), (-1, 0), (0, 1), (0, -1)], [1, 2], [(0, 0)]).rule.symmetry
    <Symmetry.CUBE: 'cube'>
    """
    cells = vectors("offsets", offsets)
    fields = (len(cells[0]) if cells else 1, cells, frozenset(integers("births", births)), vectors("seeds", seeds))
    rule = Rule(*fields, octant=octant)
    for automaton in CATALOGUE.values():
        if _same(automaton.rule, rule):
            return automaton
    for symmetry in (Symmetry.CUBE, Symmetry.PERMUTATIONS):
        try:
            rule = Rule(*fields, octant=octant, symmetry=symmetry)
            break
        except UsageError:  # not a symmetry of this rule
            continue
    return _user_defined(rule)


def asked_automaton(
    name: str | None,
    offsets: Iterable[Cell] | None,
    births: Iterable[int] | None,
    seeds: Iterable[Cell] | None,
    *,
    octant: bool = False,
) -> Automaton | str | None:
    """Return what is grown: a name, None for the default, or the automaton with these offsets, born by default on one touch.

    Args:
        name: as a command has it.
        offsets: as for `define`; None for an automaton that has a name.
        births: as for `define`.
        seeds: as for `define`; by default the origin.
        octant: as for `Rule`.

    Raises:
        UsageError: a name is given together with a rule, or a part of a rule without offsets.

    >>> asked_automaton(None, [(1, 0), (0, 1)], None, None).rule.seeds
    ((0, 0),)
    """
    generations = (name or "").rpartition(":")[2]
    if name is not None and generations.isdigit():
        raise UsageError(f"automaton must be a name, got {name!r}: the last generation is given by --gen {generations}")
    if offsets is None:
        if births is not None or seeds is not None or octant:
            raise UsageError("--birth, --seed and --octant describe an automaton of your own, which needs --offsets.")
        return name
    if name is not None:
        raise UsageError(f"--offsets describes an automaton of your own: leave out the name {name!r}.")
    cells = vectors("offsets", offsets)
    return define(cells, births or (1,), seeds or ((0,) * len(cells[0]),), octant=octant)


def as_automaton(automaton: str | Automaton | Rule) -> Automaton:
    """Return the automaton of a name, or of a rule the catalogue's that has it or else a user-defined one.

    Raises:
        UsageError: there is none.
    """
    if isinstance(automaton, Automaton):
        return automaton
    if isinstance(automaton, Rule):
        return next((known for known in CATALOGUE.values() if known.rule is automaton), None) or _user_defined(automaton)
    if not isinstance(automaton, str):
        raise UsageError(f"automaton must be a name of the catalogue, a Rule or an Automaton, got {shown(automaton)}")
    return find(automaton)


def _user_defined(rule: Rule, name: str = NAME) -> Automaton:
    space = "orthant of " * rule.octant + f"Z^{rule.dimension}"
    return Automaton(name, "an automaton of your own", space, "user-defined", rule)


def _same(known: Rule, rule: Rule) -> bool:
    """Whether two rules grow the same cells by the same steps, whatever their symmetry; predicates compare by identity."""
    return (
        known.dimension == rule.dimension
        and set(known.offsets) == set(rule.offsets)
        and known.births == rule.births
        and set(known.seeds) == set(rule.seeds)
        and known.octant == rule.octant
        and known.universe is rule.universe
        and known.touches is rule.touches
    )


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
    rule = Rule(
        int(description["dimension"]),
        tuple(tuple(map(int, offset)) for offset in description["offsets"]),
        frozenset(map(int, description["births"])),
        tuple(tuple(map(int, seed)) for seed in description["seeds"]),
        octant=bool(description["octant"]),
        symmetry=Symmetry(description["symmetry"]),
    )
    return _user_defined(rule, name)
