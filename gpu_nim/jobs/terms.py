"""Terms to guess from: of a family, an OEIS entry, an automaton or a file, found by the name alone."""

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.automata.columns import is_whole
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.user_defined import as_automaton, is_golly
from gpu_nim.guessing.formula import COUNTED, GROWN
from gpu_nim.guessing.search import Guess, search
from gpu_nim.model.arguments import IntLike, integer, items
from gpu_nim.model.errors import UsageError, close
from gpu_nim.model.files import STDIN
from gpu_nim.oeis.catalogue import resolve
from gpu_nim.storage.save_load import TermList, parse_terms, read_terms, readable
from gpu_nim.storage.tables import MAIN

_LIST = re.compile(r".*[\s,;\[{(]|-?[0-9]*$", re.DOTALL)  # what only a text of numbers has


def guess(
    terms: str | Path | Growth | Iterable[IntLike | Fraction],
    *,
    piles: IntLike | None = None,
    column: str | None = None,
    most: int | None = None,
    base: IntLike | None = None,
    confirm: IntLike | None = None,
    kinds: Iterable[str] | None = None,
) -> Guess:
    """Guess formulas of a sequence from its first terms.

    Each formula holds for all terms, exactly. `Formula.confirmed` says how many equations hold beyond those that fit its
    coefficients, and `Formula.certainty` what is proved: a guess that further terms could refute is not a theorem.

    Args:
        terms: f(0), f(1), ..., 4 to 10 million integers, or fractions, whose least common denominator they are multiplied with; or
            a growth; or the name of what has them, as for `gpu_nim.jobs.find_terms`: an OEIS entry, a family, an automaton or a
            file.
        piles: the number of piles of a family.
        column: the column of a growth, an automaton or a file, by default births or the only one.
        most: how many terms, by default all of a growth or a file, 1000 of a formula and 128 of an automaton.
        base: of k-regular sequences, 2 to 36; by default 2 to 16, the first with a formula.
        confirm: how many terms must confirm a formula, at least 2; by default as many as numbers were chosen to fit
            it, and at least 8, or up to 32 where one value is frequent.
        kinds: the kinds of formulas, of `gpu_nim.guessing.KINDS`; by default all.

    Returns:
        The formulas, with those that too few terms confirm, and what was tested.

    Raises:
        UsageError: an argument is wrong.
        FileError: the file cannot be read, or holds something else than integers.

    >>> found = guess([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89], kinds=["recurrence"])
    >>> found
    <Guess from 12 terms: linear recurrence of order 2>
    >>> found.formulas[0].rows[0], found.formulas[0].confirmed
    (('recurrence', 'f(n+2) = f(n+1) + f(n)'), 8)
    >>> from gpu_nim import grow
    >>> guess(grow("ulam-warburton", 31), kinds=["known"]).formulas[0].title
    'known: A147582'
    >>> guess("A147582", kinds=["regular"])
    <Guess from 128 terms: 2-regular of rank 2>
    >>> guess([1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
    <Guess from 11 terms: weak: linear recurrence of order 2>
    """
    if isinstance(terms, str | Path):
        given = find_terms(str(terms), piles=piles, column=column, most=most)
    elif isinstance(terms, Growth):
        _check_absent("a growth", piles=piles)
        name = column or MAIN
        given = TermList.of(f"{name} of {terms.automaton}", _numbers(terms.table.exact(name)[:most]))
    else:
        _check_absent("integers", piles=piles, column=column, most=most)
        listed = items("terms", terms, "integers or fractions")
        numbers = _numbers(listed)
        given = TermList.of("fractions" if any(isinstance(each, Fraction) for each in numbers) else "integers", numbers)
    return replace(search(given.values, base=base, confirm=confirm, kinds=kinds), source=given.name, first=given.first)


def _numbers(terms: Iterable[Any]) -> list[int | Fraction]:
    return [each if isinstance(each, Fraction) else integer("terms", each) for each in terms]


def find_terms(source: str, *, piles: IntLike | None = None, column: str | None = None, most: int | None = None) -> TermList:
    """Return terms of the sequence that a text names.

    Args:
        source: a family, an OEIS entry, an automaton, a file, - for stdin, or the numbers themselves, separated by commas or space.
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
    if CATALOGUE.named(source) or is_golly(source):
        _check_absent(source, piles=piles)
        return _grown(source, column or MAIN, GROWN if most is None else most)
    if Path(source).suffix in readable() or source in STDIN:
        _check_absent(source, piles=piles)
        return read_terms(Path(source), column, most)
    if _LIST.match(source):
        _check_absent("numbers", piles=piles, column=column)
        return parse_terms(source, most=most)
    _check_absent(source, column=column)
    try:
        entry = resolve(source, piles)
    except UsageError as error:
        raise UsageError(f"{error}{close(source, CATALOGUE)}") from None
    count = COUNTED if most is None else most
    if entry.family is None:
        count = min(count, GROWN)
    return TermList(f"{entry.name}, {entry.summary}", entry.offset, tuple(entry.terms(entry.offset, entry.offset + count)))


def _grown(name: str, column: str, most: int) -> TermList:
    if not is_whole(column):
        raise UsageError(f"column must have integers, got {column}")
    values = GrowthProcess(name, most - 1, "auto", columns=[column]).growth().table[column].tolist()
    return TermList(f"{column} of the automaton {as_automaton(name).name}", 0, tuple(values))


def _check_absent(source: str, **options: object) -> None:
    for name, given in options.items():
        if given is not None:
            raise UsageError(f"{name} does not belong to {source}, got {given}")
