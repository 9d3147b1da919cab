"""`gpunim verify`: exhaustive checks of theorems, and checks of growths and b-files."""

from functools import partial
from typing import Any

import click

from gpu_nim.cli.command import AMOUNT, SEQUENCE_NAME, STATEMENT_NAME, Command, json_option
from gpu_nim.cli.output import emit_json, print_table, say, step_progress

_NAME_WIDTH = 20  # columns of a statement's name in the results, at least

#: Of the first words of a result.
_COLOURS = {"proved": "green", "holds": "green", "open": "yellow", "FAILS": "red"}

_EXAMPLES = {
    "gpunim verify --list": "List the statements.",
    "gpunim verify v-theorem-3.1": "Verify a theorem.",
    "gpunim verify all --prove": "Prove the statements that are decided for all numbers.",
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
@click.option("--prove", is_flag=True, help="Only decide statements for all numbers, with more piles or parameters.")
@click.option(
    "--as",
    "sequence",
    type=SEQUENCE_NAME,
    help="Compare the terms of the files WHAT with this OEIS entry, or a family of `count`.",
)
@click.option("--piles", type=AMOUNT, help="The number of piles of the family.")
@json_option
def verify(what: tuple[str, ...], show_list: bool, as_json: bool, **options: Any) -> int:
    """Verify statements by name (or the beginning of names, or 'all'), files of growths that hold cells, or, with --as, of terms.

    Those are b-files, entries of the OEIS and lists as programs print them; WHAT may be '-', for stdin.

    A statement is proved where it is decided for all numbers: finite automata, which read binary digits, decide what is said of
    sums, comparisons and nim-sums, and matrices what is said of counts. It holds where its cases do, as far as they were tried.

    A growth's cells are compared with its births and checksums, and with the theorem of its automaton, or if there is none with a
    new growth by its rule, for about a minute; its parents, if it has them, with the rule. A conjecture without a counterexample is
    listed as open. Where --upto is below all cases of a statement, its first are checked. The exit status is 1 if a statement has
    a counterexample or a file an error.
    """
    if show_list:
        return _list(as_json)
    from gpu_nim.jobs.verification import Verification

    verification = Verification(what, **options)
    if not as_json and (estimate := verification.estimate()):
        say(estimate, err=True)
    width = max([_NAME_WIDTH, *(len(check.name) for check in verification.checks)])
    try:
        for result in verification.run(partial(step_progress, as_json)):
            for line in () if as_json else result.lines(width):
                say(line, colours=_COLOURS)
    finally:  # also for Ctrl-C
        found = verification.summary() if as_json else None
        if found is not None:
            emit_json(found)
        elif total := verification.total():
            say(total)
    return 1 if verification.failed else 0


def _list(as_json: bool) -> int:
    from gpu_nim.papers import statements

    if as_json:
        emit_json({"statements": [statement.facts for statement in statements()]})
    else:
        rows = [
            (s.name, "proof" if s.decided else "cases", s.source, f"conjecture: {s.summary}" if s.conjecture else s.summary)
            for s in statements()
        ]
        print_table(rows, ("name", "by", "source", "summary"))
    return 0
