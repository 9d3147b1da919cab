"""`gpunim guess`: formulas that terms of a sequence obey, with what was tested, what confirms them and what is proved."""

from typing import Any

import click

from gpu_nim.cli.command import AMOUNT, AUTOMATON_OR_SEQUENCE, COLUMN_NAME, KIND_NAMES, Command, integer, json_option
from gpu_nim.cli.output import emit_json, print_table, say
from gpu_nim.guessing.formula import COUNTED, GROWN, MAX_TERMS, Formula
from gpu_nim.guessing.search import Guess
from gpu_nim.jobs.terms import guess as search
from gpu_nim.model.arguments import counted

_EXAMPLES = {
    "gpunim guess 0,1,1,2,3,5,8,13,21,34,55,89": "Guess from numbers.",
    "gpunim guess D --piles 4": "Guess from values of a family: the matrices of four-pile Nim.",
    "gpunim guess A147582": "Guess from the terms of an OEIS entry.",
    "gpunim guess cubic6 --column births": "Guess from a column of an automaton.",
    "gpunim guess 1,15,30,226,255,465,676,3420 --kind known": "Look terms up among the sequences that gpunim computes.",
    "gpunim guess b151776.txt": "Guess from a file: a b-file, CSV, JSON, a table or a growth.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Kinds": KIND_NAMES.described()})
@click.argument("source", nargs=-1, required=True, type=AUTOMATON_OR_SEQUENCE)
@click.option("--piles", type=AMOUNT, help="The number of piles of a family.")
@click.option(
    "--column",
    type=COLUMN_NAME,
    metavar="NAME",
    help="The column of an automaton or of a file.  [default: births, or the only one]",
)
@click.option(
    "--terms",
    "most",
    type=integer(1, MAX_TERMS),
    help=f"How many terms to use.  [default: all of a file, {COUNTED} of a formula, {GROWN} of an automaton]",
)
@click.option("--base", type=integer(2, 36), help="Base of k-regular sequences.  [default: 2 to 16, the first with a formula]")
@click.option("--confirm", type=integer(2), help="How many terms must confirm a formula.  [default: as many as fit it, 8 or more]")
@click.option("--kind", "kinds", type=KIND_NAMES, metavar="NAME,...", help="Test only these kinds of formulas, listed below.")
@json_option
def guess(source: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Guess formulas of a sequence: recurrences, digit matrices, generating functions, known sequences.

    SOURCE is a family with --piles, an OEIS entry, an automaton, a file, numbers separated by commas or space, also in lines of
    the OEIS, or - to read these from stdin. Numbers that begin with a negative one come after --. Fractions p/q are multiplied by
    their least common denominator.

    A formula that is printed holds for all terms, exactly. With it are printed how many equations hold beyond the numbers that were
    chosen to fit, and what is proved: no number of terms proves the rest. Formulas of too few such equations are marked WEAK. In
    formulas, f(0) is the first term.
    """
    found = search(" ".join(source), **options)
    emit_json(found.facts()) if as_json else _print(found)


def _print(found: Guess) -> None:
    last = found.first + len(found.terms) - 1
    say(f"{found.source}: {counted(len(found.terms), 'term')}, n = {found.first:,} to {last:,}")
    if found.first:
        say(f"in formulas f(0) is the term at n = {found.first:,}")
    for formula in found.formulas:
        _print_formula(formula, formula.title)
    for formula in found.weak:
        _print_formula(formula, f"WEAK: {formula.title}", f", of {found.needed_for(formula):,} that are needed")
    if not (found.formulas or found.weak):
        click.echo("\nno formula found")
    click.echo("\ntested")
    print_table((f"  {kind}", answer.tested) for kind, answer in found.answers.items())


def _print_formula(formula: Formula, title: str, lacking: str = "") -> None:
    click.echo()
    say(title)
    held = f"{formula.confirmed:,} equations beyond the {formula.fitted:,} numbers chosen to fit{lacking}"
    print_table((f"  {name}", text) for name, text in (*formula.rows, ("holds for", held), ("proved", formula.certainty)))
