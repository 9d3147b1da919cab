"""A check of a finished growth, cell by cell, against its births and the theorem or the rule of its automaton."""

from collections.abc import Callable, Iterator
from itertools import tee

import numpy as np

from gpu_nim.automata.catalogue import CATALOGUE, Automaton
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import Newborns, ancestry, is_ascending
from gpu_nim.model.errors import InsufficientMemoryError, UsageError
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.papers.entries import CheckResult

_CELLS, _GENERATIONS = 1 << 26, 1 << 16  # the most that are grown again: about a minute's work


def theorem_of(growth: Growth) -> Automaton | None:
    """Return the catalogue's entry with a theorem on births if the growth has its rule, not only its name; else None.

    >>> from gpu_nim import grow
    >>> [getattr(theorem_of(grow(name, 3)), "source", None) for name in ("nim", "edge")]
    ['[B], first rule, and [NF] Theorem 19', None]
    """
    automaton = CATALOGUE.get(growth.automaton)
    proved = automaton is not None and automaton.rule == growth.rule and automaton.births_formula is not None
    return automaton if proved else None


def last_regrown(growth: Growth) -> int:
    """Return the last generation that `check_cells` grows again; -1 if there is a theorem on cells, or no rule is known.

    >>> from gpu_nim import grow
    >>> last_regrown(grow("nim", 7)), last_regrown(grow("edge", 7))
    (-1, 7)
    """
    theorem = theorem_of(growth)
    if growth.rule is None or (theorem is not None and theorem.cell_test is not None):
        return -1
    born = np.cumsum(growth.births[:_GENERATIONS], dtype=np.float64)
    return max(0, int(np.searchsorted(born, _CELLS, side="right")) - 1)


def cells_to_check(growth: Growth) -> int:
    """Return how many cells `check_cells` reads and grows, the total of its progress."""
    again: list[int] = growth.births[: last_regrown(growth) + 1].tolist()
    return growth.population + sum(again)


def check_cells(growth: Growth, progress: OnStep = no_progress) -> CheckResult:
    """Check every cell of a growth: each generation has its number of births, no cell twice, and the right cells.

    The cells are compared with the automaton's theorem on cells if there is one, otherwise with a new growth, for about a minute;
    parents, where a file holds them, with the rule.

    Args:
        growth: the growth, whose cells may still be in its file.
        progress: called with the number of cells checked.

    Returns:
        The scope of the check, and the first difference in words.

    Raises:
        FileError: cells in a file differ from their checksums.

    >>> from gpu_nim import grow
    >>> check_cells(grow("nim", 7))
    CheckResult(scope='64 cells of generations 0 to 7')
    >>> check_cells(grow("edge", 7))
    CheckResult(scope='130 cells of generations 0 to 7, which were grown again by their rule')
    """
    scope = [f"{growth.population:,} cells of generations 0 to {growth.generations}"]
    if growth.parents is not None:
        scope.append("and their parents")
    if growth.rule is None:
        scope.append("whose rule is not recorded")
    done, total = 0, cells_to_check(growth)

    def advance(cells: int) -> None:
        nonlocal done
        done += cells
        progress("cells", done, total)

    known = CATALOGUE.get(growth.automaton)
    if known is not None and known.rule != growth.rule:
        found: str | None = f"its rule is not that of {growth.automaton}"
    else:
        found = _against_theorem(growth, advance)
    last = last_regrown(growth)
    if found is None and last >= 0:
        found, last = _against_rule(growth, last, advance)
        which = "which" if last == growth.generations else f"of which those to generation {last}"
        scope.append(f"{which} were grown again by their rule" if last >= 0 else "too far to grow them again")
    return CheckResult(", ".join(scope), found)


def _against_theorem(growth: Growth, advance: Callable[[int], object]) -> str | None:
    automaton = theorem_of(growth)
    if automaton is not None and automaton.births_formula is not None:
        for generation, births in enumerate(growth.births):
            if births != (stated := automaton.births_formula(generation)):
                return f"generation {generation} has {births} births, not {stated}"
    test = None if automaton is None else automaton.cell_test
    newborns: Iterator[Newborns] = enumerate(growth)
    parents = None
    if growth.parents is not None:
        newborns, again = tee(newborns)
        given = growth.parents(0, growth.generations + 1)
        # Without a rule they are compared with their checksums alone, as they are read.
        parents = zip(*tee(given), strict=True) if growth.rule is None else zip(given, ancestry(growth.rule, again), strict=True)
    for generation, cells in newborns:
        if len(cells) != growth.births[generation]:
            return f"generation {generation} has {len(cells)} cells, not {growth.births[generation]}"
        if not is_ascending(cells):
            return f"the cells of generation {generation} are not in lexicographic order, each once"
        if test is not None:
            for outsider in cells[~test(cells, np.full(len(cells), generation))].tolist():
                return f"{tuple(outsider)} is not born at generation {generation}"
        if parents is not None:
            try:
                (_, given), (_, true) = next(parents)
            except UsageError as error:
                return f"generation {generation}: {error}"
            for index in np.flatnonzero(given != true).tolist():
                return f"the parent of {tuple(cells[index].tolist())} is cell {true[index]}, not {given[index]}"
        advance(len(cells))
    return None


def _against_rule(growth: Growth, last: int, advance: Callable[[int], object]) -> tuple[str | None, int]:
    """Return how a new growth differs, and its last generation that fits into memory, -1 if none does."""
    assert growth.rule is not None
    while last >= 0:
        try:
            for batch in GrowthProcess(growth.rule, last, "auto", verify=False):
                there = slice(batch.first, batch.first + len(batch.births))
                wrong = (batch.births != growth.births[there]) | (batch.checksums != growth.checksums[there])
                for index in np.flatnonzero(wrong).tolist():
                    return f"generation {batch.first + index} is not that of its rule", last
                advance(sum(batch.births.tolist()))
        except InsufficientMemoryError:
            last = last // 2 if last else -1
        except UsageError:  # coordinates that no engine holds
            last = -1
        else:
            break
    return None, last
