"""`gpunim verify`: exhaustive checks of theorems, and checks of growths and b-files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpu_nim.cli.catalogues import SEQUENCE_NAME, STATEMENT_NAME
from gpu_nim.cli.command import AMOUNT, Command, json_option
from gpu_nim.cli.output import duration, emit_json, passing_line, print_table, say, wants_progress, work_progress
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.storage.growth_formats import readable_suffixes

if TYPE_CHECKING:
    from gpu_nim.papers import StatementResult

_FACTS = ("automaton", "generations", "population", "digest")


_NAME_WIDTH = 20  # columns of a statement's name in the results, at least

_EXAMPLES = {
    "gpunim verify --list": "List the statements.",
    "gpunim verify v-theorem-3.1": "Verify a theorem.",
    "gpunim verify all --upto 32": "Verify all statements, with a smaller reach.",
    "gpunim verify nf-table-1 --thorough": "Verify a statement as far as takes minutes.",
    "gpunim verify nim.zarr": "Check a growth that was saved.",
    "gpunim verify b151776.txt --as A151776": "Compare a b-file with an OEIS entry.",
}


@click.command(cls=Command, examples=_EXAMPLES)
@click.argument("what", type=STATEMENT_NAME, nargs=-1)
@click.option("--list", "show_list", is_flag=True, help="List the statements that can be verified.")
@click.option(
    "--upto",
    type=AMOUNT,
    help="The reach of the checks: the largest pile, index or generation. [default: 64, with --thorough each statement's own]",
)
@click.option(
    "--thorough", is_flag=True, help="Check each statement as far as takes minutes; Ctrl-C ends it, and prints what was checked."
)
@click.option(
    "--as", "name", type=SEQUENCE_NAME, help="Compare the b-file WHAT with this OEIS entry, or with --piles a family of `count`."
)
@click.option("--piles", type=AMOUNT, help="The number of piles of the family.")
@json_option
def verify(
    what: tuple[str, ...],
    show_list: bool,
    upto: int | None,
    thorough: bool,
    name: str | None,
    piles: int | None,
    as_json: bool,
) -> int:
    """Verify statements by name (or the beginning of names, or 'all'), a growth's file that holds cells, or, with --as, a b-file.

    A growth's cells are compared with its births and checksums, and with the theorem of its automaton, or if there is none with a
    new growth by its rule, for about a minute; its parents, if it has them, with the rule. A conjecture without a counterexample is
    listed as open. The exit status is 1 if a statement has a counterexample or a file an error.
    """
    if show_list:
        return _list(as_json)
    if not what:
        expected = " or ".join(readable_suffixes())
        raise UsageError(f"name what to verify: 'all', statements of --list, a growth's {expected}, a b-file and --as A-NUMBER")
    if name is not None:
        if len(what) != 1:
            raise UsageError(f"--as verifies one b-file, got {len(what)} of them")
        return _bfile(Path(what[0]), name, piles, as_json)
    if piles is not None:
        from gpu_nim.counting.families import FAMILIES

        raise UsageError(f"--piles needs --as {one_of(FAMILIES)}, and a b-file to verify")
    growths = [name for name in what if name.endswith(readable_suffixes())]
    if growths and len(what) > 1:
        raise UsageError(f"verify takes one growth and no other names, got {growths[0]} and {len(what) - 1} more")
    if growths:
        return _growth(Path(growths[0]), as_json)
    for name in what:
        if name.endswith(".txt"):
            from gpu_nim.counting.families import FAMILIES

            raise UsageError(
                f"--as must name the OEIS entry, or which of {one_of(FAMILIES, 'and')}, to compare the b-file {name} with"
            )
    return _statements(what, upto, thorough, as_json)


def _list(as_json: bool) -> int:
    from gpu_nim.papers import statements

    if as_json:
        listed = [{"name": s.name, "source": s.source, "summary": s.summary, "conjecture": s.conjecture} for s in statements()]
        emit_json({"statements": listed})
    else:
        rows = [(s.name, s.source, f"conjecture: {s.summary}" if s.conjecture else s.summary) for s in statements()]
        print_table(rows, ("name", "source", "summary"))
    return 0


def _statements(names: tuple[str, ...], upto: int | None, thorough: bool, as_json: bool) -> int:
    from gpu_nim.papers import find_statements, run_checks

    chosen = find_statements(names)
    costs = [each.reach.seconds if thorough and each.reach else 1 for each in chosen]
    if thorough and upto is None and not as_json:
        say(f"{len(chosen)} statement{'s' * (len(chosen) != 1)}, {duration(sum(costs))} on one core", err=True)
    width = max([_NAME_WIDTH, *(len(each.name) for each in chosen)])
    done: list[StatementResult] = []
    complete = False
    began = time.monotonic()
    try:
        for number, each in enumerate(chosen):
            slower = (time.monotonic() - began) / sum(costs[:number]) if number else 1
            left = f"{number} of {len(chosen)} statements, {each.name}, {duration(slower * sum(costs[number:]))} left"
            with passing_line(left, wants_progress(as_json)):
                (checked,) = run_checks([each], upto, thorough)
            done.append(checked)
            if not as_json:
                _print_result(checked, width)
        complete = True
    finally:  # also for Ctrl-C
        failed = sum(not checked.holds for checked in done)
        if as_json and (done or complete):
            facts = {"upto": upto, "thorough": thorough, "complete": complete, "failed": failed}
            emit_json({**facts, "statements": [checked.summary() for checked in done]})
        elif len(done) > 1 or (done and not complete):
            _print_sum(done, failed, len(chosen) - len(done))
    return 1 if failed else 0


def _print_result(checked: StatementResult, width: int) -> None:
    statement, result = checked.statement, checked.result
    mark = "FAILS " if not checked.holds else "open  " if statement.conjecture else "holds "
    say(f"{mark} {statement.name:<{width}} {statement.summary}")
    tried = f"conjecture, tried for {result.scope}" if statement.conjecture else result.scope
    say(f"       {tried}; {statement.source}")
    if not checked.holds:
        say(f"       counterexample: {result.counterexample}")


def _print_sum(done: list[StatementResult], failed: int, unchecked: int) -> None:
    unproved = sum(checked.holds and checked.statement.conjecture for checked in done)
    open_ = f", no counterexample was found to {unproved} conjecture{'s' * (unproved != 1)}" if unproved else ""
    rest = f", {unchecked} {'were' if unchecked != 1 else 'was'} not checked" if unchecked else ""
    say(f"{len(done) - failed - unproved} of {len(done)} statements hold{open_}{rest}")


def _growth(path: Path, as_json: bool) -> int:
    from gpu_nim.automata.growth import Growth
    from gpu_nim.papers.growth_check import cells_to_check, check_cells, theorem_of
    from gpu_nim.storage.save_load import load

    growth = load(path, Growth)
    theorem = theorem_of(growth)
    with work_progress(cells_to_check(growth), "cells", wants_progress(as_json)) as advance:
        result = check_cells(growth, advance)
    if as_json:
        facts = {key: value for key, value in growth.summary().items() if key in _FACTS}
        emit_json({"file": str(path), **facts, "theorem": theorem and theorem.source, "counterexample": result.counterexample})
    elif not result.holds:
        say(f"{path}: {result.counterexample}")
    else:
        known = f"as {theorem.source} has it" if theorem else "no theorem is known"
        say(f"{path}: {growth.automaton}, {result.scope}, agree with births and checksums; {known}")
    return 0 if result.holds else 1


def _bfile(path: Path, name: str, piles: int | None, as_json: bool) -> int:
    from gpu_nim.oeis.b_files import compare
    from gpu_nim.oeis.catalogue import resolve

    comparison = compare(path, resolve(name, piles))
    difference = comparison.difference
    if as_json:
        found = difference and {
            "line": difference.line,
            "n": difference.n,
            "found": str(difference.found),
            "expected": str(difference.expected),
        }
        emit_json({"file": str(path), "sequence": name, "terms": comparison.terms, "difference": found})
    elif difference is None:
        say(f"{path}: {comparison.terms:,} terms, n = {comparison.first} to {comparison.last}, all those of {name}")
    else:
        say(f"{path}, line {difference.line}: {name} has {difference.expected} at n = {difference.n}, not {difference.found}")
    return 0 if difference is None else 1
