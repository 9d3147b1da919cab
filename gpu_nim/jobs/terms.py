"""Terms to guess from: of a family, an OEIS entry, an automaton or a file, found by the name alone."""

from __future__ import annotations

import re
from pathlib import Path

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth_process import grow
from gpu_nim.counting.families import FAMILIES
from gpu_nim.guessing.limits import COUNTED, GROWN
from gpu_nim.model.arguments import Whole, argument, shown
from gpu_nim.model.errors import UsageError, close
from gpu_nim.oeis.catalogue import entries, resolve
from gpu_nim.storage.save_load import TermList, parse_terms, read_terms, readable
from gpu_nim.storage.tables import MAIN

_NUMBERS = re.compile(r"[\s\d,;\[\](){}-]*")


def find_terms(source: str, *, piles: Whole | None = None, column: str | None = None, most: int | None = None) -> TermList:
    """Return terms of the sequence that a text names.

    Args:
        source: a family, an OEIS entry, an automaton, a file, or the numbers themselves, separated by commas or space.
        piles: the number of piles of a family.
        column: the column of an automaton or of a file, by default births or the only one.
        most: how many terms, by default all of a file, 1000 of a formula and 128 of an automaton.

    Raises:
        UsageError: the text names none of these, or an argument does not belong to it.
        FileError: the file cannot be read, or holds something else than integers.

    >>> find_terms("D", piles=4, most=8).values
    (1, 6, 7, 36, 13, 42, 43, 216)
    >>> find_terms("edge", column="population", most=4).name
    'population of the automaton edge'
    """
    if _NUMBERS.fullmatch(source):
        _check_absent("numbers", piles=piles, column=column)
        return TermList("numbers", 0, parse_terms(source)[:most])
    if source in CATALOGUE:
        _check_absent(source, piles=piles)
        return _grown(source, column or MAIN, GROWN if most is None else most)
    if Path(source).suffix in readable() or (not _is_counted(source) and Path(source).is_file()):
        _check_absent(source, piles=piles)
        return read_terms(Path(source), column, most)
    _check_absent(source, column=column)
    return _counted(source, piles, COUNTED if most is None else most)


def _grown(name: str, column: str, most: int) -> TermList:
    if not is_whole(column):
        raise UsageError(f"{argument('column')} must have integers, got {column}")
    values = grow(name, most - 1, columns=[column]).table[column].tolist()
    return TermList(f"{column} of the automaton {name}", 0, tuple(values))


def _is_counted(name: str) -> bool:
    return name in FAMILIES or bool({name, name.upper()} & entries().keys())


def _counted(name: str, piles: Whole | None, most: int) -> TermList:
    if not _is_counted(name):
        hint = close(name, (*CATALOGUE, *FAMILIES, *entries()))
        raise UsageError(
            f"source must be numbers, a family, an OEIS entry or an automaton of the catalogues, or a file that ends in "
            f"{', '.join(readable())}, got {shown(name)}{hint}"
        )
    entry = resolve(name, piles)
    if entry.family is None:
        most = min(most, GROWN)
    return TermList(f"{entry.name}, {entry.summary}", entry.offset, tuple(entry.terms(entry.offset, entry.offset + most)))


def _check_absent(source: str, **options: object) -> None:
    for name, given in options.items():
        if given is not None:
            raise UsageError(f"{argument(name)} does not belong to {source}, got {given}")
