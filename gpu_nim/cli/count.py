"""`gpunim count`: numbers of P-positions, at one index or over a range, printed, saved, reduced or enumerated."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.command import AMOUNT, BIGINT, RANGE, REDUCTION_NAMES, SEQUENCE_NAME, Choice, Command, File, families, json_option
from gpu_nim.cli.output import digits, emit_json, print_table, say, step_progress
from gpu_nim.counting.family import MAX_PILES
from gpu_nim.counting.reductions import MAX_RECORDS, REDUCTIONS, Result
from gpu_nim.model.arguments import arguments_written
from gpu_nim.model.errors import UsageError
from gpu_nim.model.registry import one_of
from gpu_nim.model.work import OnStep
from gpu_nim.storage.tables import FORMS, endings, printed

if TYPE_CHECKING:
    from gpu_nim.jobs.count_job import ValueCount
    from gpu_nim.jobs.count_range import RangeCount


def _listings() -> dict[str, list[tuple[str, str]]]:
    """The families and reductions."""
    return {
        "Sequences": [*families(), ("A-NUMBER", "An OEIS entry of the catalogue, indexed as in the OEIS")],
        "Reductions": [(entry.written, entry.summary) for entry in REDUCTIONS.values()],
    }


_ROWS = 1 << 12  # of the table that are printed at a time

_EXAMPLES = {
    "gpunim count D --piles 4 --at 10^18": "Count the P-positions of four piles of total 2 * 10^18.",
    "gpunim count a --piles 3 --range 0:16": "Print the values at 0 to 15.",
    "gpunim count A151776 --range 0:65 --out b151776.txt": "Write the b-file of an OEIS entry.",
    "gpunim count D --piles 5 --range 2^40:+1e9 --reduce max,argmax": "Find the largest of a billion values.",
    "gpunim count D --piles 4 --range 0:1e6 --out D4.npy": "Write a million values to a file.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=_listings)
@click.argument("sequence", type=SEQUENCE_NAME)
@click.option("--piles", type=AMOUNT, help=f"K, the number of piles of a family, 1 to {MAX_PILES}.")
@click.option("--at", type=BIGINT, help="Print the value at this index.")
@click.option("--range", "span", type=RANGE, help="Print the values at START, ..., STOP - 1.")
@click.option("--reduce", type=REDUCTION_NAMES, metavar="NAME,...", help="Print reductions of the range, listed below.")
@click.option("--records", type=AMOUNT, help=f"How many records to list, the first ones.  [default: {MAX_RECORDS}]")
@click.option("--method", type=Choice(("formula", "enumerate")), default="formula", help="enumerate checks every tuple.")
@click.option(
    "--format", "form", type=Choice(("table", *(form for form in FORMS if form != "json"))), default="table", help="How to print."
)
@json_option
@click.option("-o", "--out", type=File(".txt"), help=f"Write to {one_of(endings())} and print nothing; .txt is a b-file.")
@click.option("--plan", is_flag=True, help="Print the cost of the work without doing it.")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to count; auto uses a GPU if there is one.")
@click.option("--scheduler", help="Distribute the work to the workers of the Dask scheduler at this address.")
@click.option("--workers", type=AMOUNT, help="Distribute the work to this many processes, one per GPU if there are GPUs.")
@click.option("--quiet", is_flag=True, help="Print no progress and no notes.")
def count(at: int | None, span: tuple[int, int] | None, form: str, as_json: bool, plan: bool, quiet: bool, **options: Any) -> None:
    """Count P-positions of Nim, exactly.

    SEQUENCE is the name of a family, with --piles, or an A-number; both are listed below.

    Most reductions are fast over any range. For one that has to visit every value, as a histogram may, the number of visits and an
    estimate of their time are printed first, or by --plan without doing the work.
    """
    from gpu_nim.jobs.count_job import CountJob, ValueCount

    form = "json" if as_json else form
    if (at is None) == (span is None):
        piles = "--piles K, and " if options["piles"] is None and options["sequence"] in dict(families()) else ""
        raise UsageError(f"give {piles}either --at N or --range START:STOP")
    with arguments_written({"n": "--at" if span is None else "--range START"}):
        job: Any = CountJob(n=range(*span) if span is not None else at, **options)  # type: ignore[arg-type]  # one of them is given
        if options["out"] is not None and form not in ("table", "json"):
            raise UsageError(f"--format is for values that are printed: leave it out with --out {options['out']}")
        if plan:
            planned = job.plan()
            emit_json(planned.summary()) if form == "json" else say(str(planned))
        elif isinstance(job, ValueCount):
            if job.is_long and not quiet:
                say(str(job.plan()), err=True)
            with step_progress(quiet) as step:
                value = job.result(step)
            _print_value(job, digits(value), form)
        else:
            _count_range(job, form, quiet)


def _print_value(job: "ValueCount", value: str, form: str) -> None:
    if form == "json":
        emit_json({**job.facts, "value": value})
    else:
        click.echo(f"{value}\n" if form == "table" else "".join(printed(form, job.facts, [(job.n, [value])])), nl=False)


def _count_range(job: "RangeCount", form: str, quiet: bool) -> None:
    is_printed = job.reduce is None and job.out is None
    with job.open(), step_progress(quiet or (is_printed and job.method == "formula")) as step:
        if job.is_long and not quiet:
            say(str(job.plan()), err=True)
        if job.reduce is not None:
            results = job.reductions(step)
        elif job.out is not None:
            job.write(step)
        else:
            for text in _aligned(job, step) if form == "table" else printed(form, job.facts, job.parts(step)):
                sys.stdout.write(text)
                sys.stdout.flush()
    if job.method == "enumerate" and not quiet:
        last = job.n.stop - job.entry.shift - 1
        say(f"every value of {job.entry.family} up to n = {last} agrees with the formula", err=True)
    if job.reduce is not None:
        _print_reductions(job, results, form)
    elif job.out is not None and form == "json":
        emit_json({**job.facts, "out": str(job.out)})


def _aligned(job: "RangeCount", step: OnStep) -> Iterator[str]:
    from gpu_nim.model.arrays import to_integers

    widths = len(str(job.n.stop - 1)), job.source.digits
    for first, part in job.parts(step):
        for start in range(0, len(part), _ROWS):
            some = enumerate(to_integers(part[start : start + _ROWS]), first + start)
            yield "".join(f"{n:>{widths[0]}}  {value:>{widths[1]}}\n" for n, value in some)


def _print_reductions(job: "RangeCount", results: list[Result], form: str) -> None:
    if form == "json":
        emit_json({**job.facts, "reductions": {str(result.reduction): _json_value(result) for result in results}})
    else:
        print_table(row for result in results for row in _table_rows(result))


def _json_value(result: Result) -> Any:
    """A result as a value for JSON."""
    value: Any = result.value
    match result.reduction.entry.gives:
        case "index":
            return value
        case "records":
            return {"records": [{"n": n, "value": str(each)} for n, each in value], "complete": result.complete}
        case "counts":
            return {str(key): number for key, number in value.items()}
    return str(value)


def _table_rows(result: Result) -> Iterator[tuple[str, str, str]]:
    """The rows of a table for a result: name, index or class, value."""
    name, entry = str(result.reduction), result.reduction.entry
    value: Any = result.value
    match entry.gives:
        case "counts":
            for key, number in value.items():
                yield name, entry.describe(key), f"{number:,}"
        case "records":
            for n, each in value:
                yield name, str(n), f"{each:,}"
            if not result.complete:
                yield name, "and more", ""
        case "index":
            yield name, "", str(value)
        case _:
            yield name, "", f"{value:,}"
