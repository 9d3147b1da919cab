"""`gpu_nim.verify`: exhaustive checks of statements, or of a growth cell by cell."""

from collections.abc import Iterable
from typing import overload

from gpu_nim.automata.growth import Growth
from gpu_nim.model.arguments import Whole, integer, items, shown
from gpu_nim.model.errors import UsageError
from gpu_nim.theorems.catalogue import StatementResult, find_statements, run_checks
from gpu_nim.theorems.check_result import CheckResult
from gpu_nim.theorems.growth_check import check_cells


@overload
def verify(what: Growth) -> CheckResult: ...
@overload
def verify(what: str | Iterable[str] = "all", upto: Whole | None = None, *, thorough: bool = False) -> list[StatementResult]: ...
def verify(
    what: Growth | str | Iterable[str] = "all", upto: Whole | None = None, *, thorough: bool = False
) -> CheckResult | list[StatementResult]:
    """Verify statements by name, or a growth.

    Args:
        what: the name of a statement, the beginning of names such as "nf-lemma", "all", or several of these; or a growth, whose
            cells are compared with its births and checksums, and with its theorem or else a new growth by its rule, for about a
            minute.
        upto: the reach of the checks of statements: the largest pile, index or generation; by default 64, or as far as takes
            minutes if `thorough`.
        thorough: check each statement to a reach of its own, at least a hundred times as many cases as its source shows where that
            takes minutes: about twelve minutes in all.

    Returns:
        For statements a list with a result for each; `pandas.DataFrame(result.summary() for result in ...)` is a table of them.
        For a growth the scope of the check, and the first difference in words.

    Raises:
        UsageError: a name is unknown, or `upto` is below 1.
        FileError: cells in the file of a growth differ from their checksums.

    >>> [(checked.statement.name, checked.holds) for checked in verify(["nf-lemma-8", "v-theorem-3.1"], 16)]
    [('nf-lemma-8', True), ('v-theorem-3.1', True)]
    >>> from gpu_nim import grow
    >>> verify(grow("nim", 7)).holds
    True
    """
    if isinstance(what, Growth):
        return check_cells(what)
    names = [what] if isinstance(what, str) else items("what", what, "names of statements, or be a growth")
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"what must hold names of statements, got {shown(name)}")
    reach = None if upto is None else integer("upto", upto, 1)
    return list(run_checks(find_statements(map(str, names)), reach, thorough))
