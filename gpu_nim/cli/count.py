"""`gpunim count`: numbers of P-positions, at one index or over a range, printed, saved, reduced, enumerated or plotted."""

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.catalogues import REDUCTION_NAMES, SEQUENCE_NAME, families
from gpu_nim.cli.command import AMOUNT, BIGINT, FILE, RANGE, Choice, Command
from gpu_nim.cli.output import duration, emit_json, print_table, reserve, say, step_progress, wants_progress, work_progress
from gpu_nim.cli.reductions import json_value, table_rows
from gpu_nim.counting.limits import MAX_PILES, MAX_RECORDS
from gpu_nim.model.errors import SchedulerLost, UsageError

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.counting.family import Family
    from gpu_nim.jobs.clusters import Cluster
    from gpu_nim.jobs.count_job import CountJob
    from gpu_nim.model.arrays import U64
    from gpu_nim.oeis.entry import OeisEntry

_FORMATS = ("table", "bfile", "csv", "json")
_ENDINGS = {"bfile": ".txt", "csv": ".csv"}
_MAX_JSON = 10_000_000  # values; the object is one line in memory
_JSON_BYTES = 120  # for each value, in addition to its digits
_WARN_ABOVE = 1 << 32  # values; about ten seconds


def _listings() -> dict[str, list[tuple[str, str]]]:
    """The families and reductions, imported only for help."""
    from gpu_nim.counting.reductions import REDUCTIONS

    return {
        "Sequences": [*families(), ("A-NUMBER", "An OEIS entry of the catalogue, indexed as in the OEIS")],
        "Reductions": [(entry.written, entry.summary) for entry in REDUCTIONS.values()],
    }


_EXAMPLES = {
    "gpunim count D --piles 4 --at 10^18": "Count the P-positions of four piles of total 2 * 10^18.",
    "gpunim count a --piles 3 --range 0:16": "Print the values at 0 to 15.",
    "gpunim count A237711 --range 0:1000 --format bfile": "Print an OEIS entry as a b-file.",
    "gpunim count D --piles 5 --range 2^40:+1e9 --reduce max,argmax": "Find the largest of a billion values.",
    "gpunim count D --piles 4 --range 0:1e6 --out D4.npy": "Write a million values to a file.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=_listings)
@click.argument("sequence", type=SEQUENCE_NAME)
@click.option("--piles", type=AMOUNT, help=f"K, the number of piles of a family, 1 to {MAX_PILES}.")
@click.option("--at", "n", type=BIGINT, help="Print the value at this index.")
@click.option("--range", "span", type=RANGE, help="Print the values at START, ..., STOP - 1.")
@click.option(
    "--reduce", "reduce_to", type=REDUCTION_NAMES, metavar="NAME,...", help="Print reductions of the range, listed below."
)
@click.option("--records", type=AMOUNT, default=MAX_RECORDS, help="How many records to list, the first ones.")
@click.option("--method", type=Choice(("formula", "enumerate")), default="formula", help="enumerate checks every tuple.")
@click.option("--format", "form", type=Choice(_FORMATS), default="table", help="How to print.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; the same as --format json.")
@click.option("--out", type=FILE, help="Write to .npy, .zarr, .csv or .txt (a b-file) and print nothing.")
@click.option("--resume", is_flag=True, help="Resume a file that an interrupted run left.")
@click.option("--plot", type=FILE, help="Draw the range as .pdf, .png or .svg.")
@click.option("--plan", is_flag=True, help="Print the cost of the work without doing it.")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to count; auto uses a GPU if there is one.")
@click.option("--scheduler", help="Distribute the work to the workers of the Dask scheduler at this address.")
@click.option("--workers", type=AMOUNT, help="Distribute the work to this many processes, one per GPU if there are GPUs.")
@click.option("--quiet", is_flag=True, help="Print no progress and no notes.")
def count(
    sequence: str,
    piles: int | None,
    n: int | None,
    span: tuple[int, int] | None,
    reduce_to: str | None,
    records: int,
    method: str,
    form: str,
    as_json: bool,
    out: Path | None,
    resume: bool,
    plot: Path | None,
    plan: bool,
    backend: str,
    scheduler: str | None,
    workers: int | None,
    quiet: bool,
) -> None:
    """Count P-positions of Nim, exactly.

    SEQUENCE is the name of a family, with --piles, or an A-number; both are listed below.

    Most reductions are fast over any range. For one that has to visit every value, as a histogram may, the number of visits and an
    estimate of their time are printed first, or by --plan without doing the work.
    """
    from gpu_nim.counting.families import FAMILIES
    from gpu_nim.oeis.catalogue import resolve

    form = "json" if as_json else form
    entry = resolve(sequence, piles)
    name = sequence if sequence in FAMILIES else entry.name
    if (n is None) == (span is None):
        raise UsageError("give either --at N or --range START:STOP")
    if n is not None:
        for option, given in (("--reduce", reduce_to), ("--out", out), ("--plot", plot), ("--plan", plan or None)):
            if given is not None:
                raise UsageError(f"{option} needs --range START:STOP, not --at")
        _print_value(name, entry, n, form, quiet)
        return
    assert span is not None
    entry.check_index(span[0], "--range START")
    from gpu_nim.backends.selection import select

    with ExitStack() as stack:
        work = _Work(name, entry, span, select(backend), quiet, form, out, resume, plot, plan)
        work.check_options(reduce_to, method, scheduler, workers)
        if not plan and (scheduler is not None or workers is not None):
            from gpu_nim.jobs.clusters import cluster

            work.cluster = stack.enter_context(cluster(scheduler, workers, gpus=work.backend.name == "cuda"))
        try:
            if method == "enumerate":
                _enumerate(work)
            elif reduce_to is not None:
                _reduce(work, reduce_to, records)
            else:
                _range(work)
        except SchedulerLost as error:
            again = "resume with --resume" if out is not None and method == "formula" else "run this command again"
            raise SchedulerLost(f"{error}, then {again}") from error
        if work.form == "json" and work.out is not None and not work.plan:
            emit_json({**work.facts(), "out": str(work.out)})


@dataclass
class _Work:
    """The options of a count over a range, common to all its modes."""

    name: str
    entry: "OeisEntry"
    span: tuple[int, int]
    backend: "Backend"
    quiet: bool
    form: str
    out: Path | None
    resume: bool
    plot: Path | None
    plan: bool
    cluster: "Cluster | None" = None

    @property
    def family(self) -> "Family":
        """The family of the entry, for the modes that `check_options` allows only for an entry that has one."""
        assert self.entry.family is not None
        return self.entry.family

    @cached_property
    def job(self) -> "CountJob":
        """The job, in the indices of `family`."""
        from gpu_nim.jobs.count_job import CountJob

        start, stop = self.span
        return CountJob(self.family, start - self.entry.shift, stop - self.entry.shift, self.backend, self.cluster)

    @property
    def size(self) -> int:
        return self.span[1] - self.span[0]

    def check_options(self, reduce_to: str | None, method: str, scheduler: str | None, workers: int | None) -> None:
        """Raise UsageError for contradictory options, before any work."""
        if reduce_to is not None and (self.out is not None or self.plot is not None or method == "enumerate"):
            raise UsageError("--reduce prints reductions of a range: it takes no --out, --plot or --method enumerate")
        if self.resume and self.out is None:
            raise UsageError("--resume needs --out, the file to resume")
        if self.out is not None and self.out.suffix != _ENDINGS.get(self.form, self.out.suffix):
            raise UsageError(f"--format {self.form} is written to a file ending in {_ENDINGS[self.form]}, got --out {self.out}")
        if self.entry.family is None:
            from gpu_nim.counting.families import FAMILIES

            for option, given in (
                ("--reduce", reduce_to is not None),
                ("--method enumerate", method == "enumerate"),
                ("--plan", self.plan),
                ("--resume", self.resume),
                ("--workers", workers is not None),
                ("--scheduler", scheduler is not None),
            ):
                if given:
                    raise UsageError(
                        f"{option} is for {', '.join(FAMILIES)} and entries that are one of them, which {self.entry.name} is not"
                    )
        if self.out is not None:
            from gpu_nim.storage.sequence_files import check_table

            if self.entry.family is None and self.out.suffix not in _ENDINGS.values():
                raise UsageError(f"{self.entry.name} has terms of any size: write them to .txt or .csv, got --out {self.out}")
            check_table(self.out)
        if self.plot is not None:
            from gpu_nim.render.chart import check

            check(self.plot, self.size)
            reserve(self.plot)
        if self.form == "json" and self.out is None and not self.plan and reduce_to is None and self.size > _MAX_JSON:
            raise UsageError(f"--format json prints at most {_MAX_JSON} values, got {self.size}: use --out FILE")

    def remark(self, text: str) -> None:
        """Print a note on stderr."""
        if not self.quiet:
            say(text, err=True)

    def print_plan(self, text: str, **costs: float) -> None:
        """Print the cost of the work."""
        if self.form == "json":
            emit_json({**self.facts(), "plan": costs})
        else:
            click.echo(text)

    def facts(self) -> dict[str, Any]:
        """The first keys of every JSON object, and the attributes of a table."""
        piles = self.entry.family and self.entry.family.piles
        return {"sequence": self.name, "piles": piles, "start": self.span[0], "stop": self.span[1]}


def _print_value(name: str, entry: "OeisEntry", n: int, form: str, quiet: bool) -> None:
    entry.check_index(n, "--at")
    from gpu_nim.counting.long_integers import text

    with step_progress(wants_progress(quiet)) as step:
        value = text(entry.term(n) if entry.family is None else entry.family.value(n - entry.shift, step))
    if form == "json":
        emit_json({"sequence": name, "piles": entry.family and entry.family.piles, "n": n, "value": value})
    elif form == "table":
        click.echo(value)
    else:
        _print_lines([(n, value)], form)


def _range(work: _Work) -> None:
    if work.entry.family is None:
        _print_terms(work)
        return
    from gpu_nim.counting.ranges import seconds_for

    job, values = work.job, work.job.values
    if work.plan or work.size >= _WARN_ABOVE:
        size, seconds = 8 * values.limbs * work.size, seconds_for(values, work.size)
        text = (
            f"{work.size:,} values of {8 * values.limbs} bytes, {size:,} bytes in all, "
            f"{duration(seconds)} of one process with {values.engine.name}, writing not counted"
        )
        if work.plan:
            memory = values.planned_memory()
            text += f", {memory:,} bytes of memory at a time"
            work.print_plan(text, values=work.size, bytes=size, seconds=seconds, memory=memory)
            return
        work.remark(text)
    shown = wants_progress(work.quiet) and work.out is not None
    with work_progress(work.size, "values", shown) as advance:
        if work.out is not None:
            _write(work, values.limbs, lambda first: job.chunks(first, advance))
        else:
            _print_range(work, job.chunks(job.start, advance))
    if work.plot is not None:
        _plot(work, list(work.entry.terms(*work.span)))


def _write(work: _Work, limbs: int, chunks: Any) -> None:
    from gpu_nim.storage.sequence_files import open_table

    assert work.out is not None
    with open_table(work.out, work.facts(), limbs, resume=work.resume) as table:
        if table.next > work.span[0]:
            work.remark(f"resuming {work.out} at n = {table.next}")
        for part in chunks(table.next - work.entry.shift):
            table.append(part)


def _print_range(work: _Work, chunks: "Iterable[U64]") -> None:
    from gpu_nim.model.arrays import to_integers
    from gpu_nim.model.memory import host_memory, require_memory
    from gpu_nim.storage.sequence_files import TEXTS, lines

    if work.form == "json":
        needed = work.size * (_JSON_BYTES + 4 * len(str(work.family.maximum(work.job.start, work.job.stop))))
        require_memory(needed, host_memory(), f"--format json of {work.size:,} values", "--format csv or --out FILE takes less")
        values = [str(value) for part in chunks for value in to_integers(part)]
        emit_json({**work.facts(), "values": values})
        return
    at = work.span[0]
    separator, header = TEXTS[_ENDINGS[work.form]] if work.form in _ENDINGS else ("", "")
    sys.stdout.write(header)
    widths = len(str(work.span[1] - 1)), len(str(work.family.maximum(work.job.start, work.job.stop))) if work.form == "table" else 0
    for part in chunks:
        if work.form == "table":
            rows = (f"{n:>{widths[0]}}  {value:>{widths[1]}}\n" for n, value in enumerate(to_integers(part), at))
            sys.stdout.write("".join(rows))
        else:
            sys.stdout.write(lines(at, part, separator))
        at += len(part)
    sys.stdout.flush()


def _print_terms(work: _Work) -> None:
    terms: Iterable[int] = work.entry.terms(*work.span)
    if work.plot is not None:
        terms = list(terms)
        _plot(work, terms)
    if work.out is not None:
        from gpu_nim.storage.sequence_files import write_terms

        write_terms(work.out, work.span[0], terms)
    elif work.form == "json":
        values = [str(value) for value in terms]
        emit_json({**work.facts(), "values": values})
    else:
        _print_lines(enumerate(terms, work.span[0]), work.form)


def _print_lines(pairs: Iterable[tuple[int, object]], form: str) -> None:
    from gpu_nim.oeis.b_files import format_lines
    from gpu_nim.storage.sequence_files import TEXTS

    separator, header = TEXTS[_ENDINGS[form]] if form in _ENDINGS else ("  ", "")
    click.echo(header, nl=False)
    for line in format_lines(pairs, separator):
        click.echo(line, nl=False)


def _plot(work: _Work, values: list[int]) -> None:
    from gpu_nim.render.chart import draw

    assert work.plot is not None
    rows = work.entry.family is not None and work.entry.family.drawn_by_rows
    draw(work.plot, f"{work.entry.name}: {work.entry.summary}", work.span[0], values, rows=rows)


def _reduce(work: _Work, names: str, records: int) -> None:
    from gpu_nim.counting.ranges import seconds_for
    from gpu_nim.counting.reductions import Reduction

    reductions = [Reduction.parse(name) for name in names.split(",")]
    cost = work.job.scanned(reductions)
    if work.plan or cost:
        seconds = seconds_for(work.job.values, cost) if cost else 0.0
        engine = work.backend.counting().name
        text = f"{cost:,} values to visit, at least {duration(seconds)} of one process with {engine}"
        if work.plan:
            work.print_plan(text, values=cost, seconds=seconds)
            return
        work.remark(text)
    shown = wants_progress(work.quiet)
    # One bar at a time: visiting values takes longest.
    with work_progress(cost, "values", shown and cost > 0) as advance, step_progress(shown and cost == 0) as step:
        results = [result.shifted(work.entry.shift) for result in work.job.reduce(reductions, records, advance, step)]
    if work.form == "json":
        facts = {str(result.reduction): json_value(result) for result in results}
        emit_json({**work.facts(), "reductions": facts})
        return
    rows: list[tuple[str, str, str]] = []
    for result in results:
        rows.extend(table_rows(result))
    print_table(rows)


def _enumerate(work: _Work) -> None:
    job, tuples = work.job, work.job.enumeration.tuples
    if work.plan:
        work.print_plan(f"{tuples:,} tuples to check", tuples=tuples)
        return
    work.remark(f"checking {tuples:,} tuples")
    with work_progress(tuples, "tuples", wants_progress(work.quiet)) as advance:
        counted = job.enumerate(advance)
    work.remark(f"every value of {work.family} up to n = {job.stop - 1} agrees with the formula")
    values = counted[job.start :].astype("uint64")
    if work.out is not None:
        _write(work, 1, lambda first: iter([values[first - job.start :]]))
    else:
        _print_range(work, [values])
    if work.plot is not None:
        _plot(work, values.tolist())
