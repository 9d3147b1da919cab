"""User-defined automata: made from offsets, births and seeds, and described as plain values for files."""

from collections.abc import Iterable
from typing import Any

from gpu_nim.automata.catalogue import CATALOGUE, Automaton, find, user_defined
from gpu_nim.automata.golly_rules import is_golly, rule_of_golly
from gpu_nim.model.arguments import IntLike, integers, parse_integer, short_repr, vectors
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell, Rule, Symmetry


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
        try:
            rule = Rule(*fields, octant=octant, symmetry=symmetry)
            break
        except UsageError:  # not a symmetry of this rule
            continue
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
    rule = Rule(
        int(description["dimension"]),
        tuple(tuple(map(int, offset)) for offset in description["offsets"]),
        frozenset(map(int, description["births"])),
        tuple(tuple(map(int, seed)) for seed in description["seeds"]),
        octant=bool(description["octant"]),
        symmetry=Symmetry(description["symmetry"]),
    )
    return user_defined(rule, name)
