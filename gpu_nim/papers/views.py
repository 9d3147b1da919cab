"""The two views of the entries: `run_checks` runs their checks; `reproduce` also compares what is printed with
what gpunim computes, and a verdict follows.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gpu_nim.model.arguments import IntLike, integer
from gpu_nim.model.errors import is_shortage
from gpu_nim.model.files import made_by
from gpu_nim.model.shown import Checked, html_table
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.papers.entries import ALL, PAPERS, CheckResult, Entry, Paper, Printed, Reach, Verdict, find_statements


@dataclass(frozen=True, repr=False)
class StatementResult(Checked):
    """A statement, the result of its check, and the seconds that took.

    Attributes:
        statement: the statement.
        result: the scope of its check, and the first counterexample.
        seconds: the time of the check.
    """

    statement: Entry
    result: CheckResult
    seconds: float

    @property
    def mark(self) -> str:
        """The result in a word: proved for every number, holds as far as it was tried, open for a conjecture, or FAILS."""
        if not self.holds:
            return "FAILS"
        return "proved" if self.result.proved else "open" if self.statement.conjecture else "holds"

    def lines(self, width: int = 0) -> Iterator[str]:
        """Yield the result in words, as `gpunim verify` prints it.

        Args:
            width: the columns of its name.
        """
        yield f"{self.mark:<6} {self.statement.name:<{width}} {self.statement.summary}"
        tried = f"conjecture, tried for {self.result.scope}" if self.statement.conjecture else self.result.scope
        yield f"       {tried}; {self.statement.source}"
        if not self.holds:
            yield f"       counterexample: {self.result.counterexample}"

    def summary(self) -> dict[str, object]:
        """Return the result as plain values, as `gpunim verify --json` prints it."""
        return {**self.statement.facts, **self.result.summary(), "seconds": self.seconds}


class StatementResults(Checked, list[StatementResult]):
    """The results of statements, which a notebook shows as a table; it is true if all of them hold."""

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found to any."""
        return all(self)

    def _line(self) -> str:
        return f"<StatementResults: {sum(map(bool, self))} of {len(self)} hold: {', '.join(each.statement.name for each in self)}>"

    def _repr_html_(self) -> str:
        header = ("statement", "result", "what it says", "tried for")
        return html_table([header, *((each.statement.name, each.mark, each.statement.summary, each.result.scope) for each in self)])


def run_checks(checked: Iterable[Entry], upto: IntLike | None = None, thorough: bool = False) -> Iterator[StatementResult]:
    """Yield the results of the checks of statements, one after the other; a check that raises has failed.

    Args:
        checked: the statements.
        upto: the reach of the checks: the largest pile, index or generation; None for 64, or for the statement's own if thorough.
        thorough: go as far as takes minutes, or to `upto`.

    Raises:
        UsageError: `upto` is below 1.
        MemoryError: a check needs more memory than is free, which says nothing about its statement.
    """
    reach = None if upto is None else integer("upto", upto, 1)
    for each in checked:
        began = time.perf_counter()
        try:
            result = each.check((each.reach or Reach()).to(reach, thorough))
        except Exception as error:  # the other checks still run
            if is_shortage(error):
                raise
            result = CheckResult("not tried to its end", f"the check ended with {type(error).__name__}: {error}")
        yield StatementResult(each, result, time.perf_counter() - began)


@dataclass(frozen=True, repr=False)
class ItemResult(Checked):
    """An item of a paper, with its comparisons and the results of its checks."""

    paper: str
    item: Entry
    compared: tuple[Printed, ...]
    checked: tuple[StatementResult, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing disagrees."""
        return self.verdict is not Verdict.DISAGREEMENT

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its comparisons and checks; what is proved may have examples that agree.

        >>> [str(each.verdict) for each in reproduce("inequality-conditions", 1) if each.item.number in ("Graph 2.4", "Graph 4.3")]
        ['erratum', 'agreement']
        """
        found = [compared.verdict for compared in self.compared]
        if not all(self.checked):
            return Verdict.DISAGREEMENT
        proved = bool(self.checked) and all(checked.result.proved for checked in self.checked)
        worst = max(found, key=list(Verdict).index, default=Verdict.AGREEMENT if self.checked else Verdict.OMITTED)
        return Verdict.PROVED if proved and worst is Verdict.AGREEMENT else worst

    def summary(self) -> dict[str, Any]:
        """Return the result as plain values, as `gpunim reproduce --json` prints it."""
        item = self.item
        return {
            "paper": self.paper,
            "number": item.number,
            "arxiv": item.arxiv_number or None,
            "kind": item.kind,
            "statement": item.summary,
            "verdict": str(self.verdict),
            "erratum": item.erratum or None,
            "comparisons": [{**vars(each), "verdict": str(each.verdict)} for each in self.compared],
            "checks": [{key: value for key, value in each.summary().items() if key in _OF_CHECKS} for each in self.checked],
            "command": item.shown_by,
            "figure": item.figure or None,
        }


_OF_CHECKS = ("name", "summary", "scope", "holds", "proved", "counterexample")


def find_papers(names: Iterable[str] = ()) -> dict[str, Paper]:
    """Return the papers of these names, each once, in the order of the catalogue; all of them where none is named.

    Args:
        names: names of `PAPERS`, or "all".

    Raises:
        UsageError: a name is unknown; the message suggests similar ones.

    >>> list(find_papers(["nim-in-3d"])), len(find_papers()) >= 4
    (['nim-in-3d'], True)
    """
    wanted = set(names) or {ALL}
    for name in wanted - {ALL}:
        PAPERS.find(name)
    return {name: paper for name, paper in PAPERS.items() if ALL in wanted or name in wanted}


def reproduce(papers: Iterable[str] = (), upto: int = 20, progress: OnStep = no_progress) -> Iterator[ItemResult]:
    """Yield the results of all items of papers, one after the other; each check is run once.

    Args:
        papers: names of papers, such as ["nim-fractals"]; all of the catalogue if none is named.
        upto: the reach of the checks, as for `run_checks`.
        progress: called with the number of items done.

    Raises:
        UsageError: a name is unknown, or `upto` is below 1.

    >>> results = reproduce(["nim-in-3d"], upto=4)
    >>> [(result.item.number, str(result.verdict)) for result in results][:2]
    [('Parents', 'erratum'), ('Neighbours', 'agreement')]
    """
    known: dict[str, StatementResult] = {}
    named = find_papers([papers] if isinstance(papers, str) else papers)
    every = [(name, item) for name, paper in named.items() for item in paper.items]
    for done, (name, item) in enumerate(every):
        progress(item.source, done, len(every))
        compared = tuple(item.printed())
        for check in item.checks:
            if check not in known:
                (known[check],) = run_checks(find_statements([check]), upto)
        yield ItemResult(name, item, compared, tuple(known[check] for check in item.checks))
    progress("items", len(every), len(every))


def in_words(value: Any) -> str:
    """Return a plain value as people read it.

    >>> in_words([1, 3, 3, 9]), in_words([[0, [8, 0]], [1, [1, 1]]]), in_words(True), in_words([]), in_words(None)
    ('1, 3, 3, 9', '(0,(8,0)), (1,(1,1))', 'yes', 'none', 'left to the reader')
    """
    if isinstance(value, list):
        return ", ".join(map(_within, value)) or "none"
    return _within(value)


def _within(value: Any) -> str:
    if isinstance(value, list):
        return f"({','.join(map(_within, value))})"
    return {True: "yes", False: "no", None: "left to the reader"}[value] if value is None or isinstance(value, bool) else str(value)


def summary(results: list[ItemResult]) -> dict[Verdict, int]:
    """Return the number of results of each verdict."""
    return {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}


def report(results: list[ItemResult], upto: int) -> dict[str, Any]:
    """Return the results of a run as JSON has them.

    Args:
        results: the results.
        upto: the reach of the checks.
    """
    return {
        "gpunim": str(made_by("gpu_nim.render.report.save_report(...)")),
        "upto": upto,
        "verdicts": {str(verdict): count for verdict, count in summary(results).items()},
        "papers": {
            name: {"label": PAPERS[name].label, "title": PAPERS[name].title, "note": PAPERS[name].note or None}
            for name in dict.fromkeys(result.paper for result in results)
        },
        "items": [result.summary() for result in results],
    }
