"""`gpunim count`: numbers of P-positions, one or a range of them, written, reduced, tried or drawn."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.output import emit_json, print_table, reserve, say, wants_progress
from gpu_nim.cli.params import AMOUNT, BIGINT, FILE, RANGE
from gpu_nim.cli.progress import step_progress, work_progress
from gpu_nim.model.errors import SchedulerLost, UsageError

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.counting.families import Counts
    from gpu_nim.counting.reductions import Result, ValueScan
    from gpu_nim.jobs.clusters import Cluster
    from gpu_nim.model.limbs import U64
    from gpu_nim.oeis.entry import Entry

_FORMATS = ("table", "bfile", "csv", "json")
_ENDINGS = {"bfile": ".txt", "csv": ".csv"}
_MAX_JSON = 10_000_000  # one object is one line in memory
_JSON_BYTES = 120  # for a value, beside its digits: Python's number and text, and the line
_WARN_ABOVE = 1 << 32  # values; about ten seconds
_REDUCTIONS = """Print only what is left of the range, one or more of: sum; max, min; argmax, argmin (the first index of the largest
and smallest value); histogram (how many values have how many binary digits); residues:M (how many leave which remainder modulo
M); records (values larger than all before them in the range)."""
_PIECE = 1 << 22  # values that a worker sends back at a time, 32 MiB for each limb: what is under way must fit in memory


@click.command()
@click.argument("sequence")
@click.option("--piles", type=AMOUNT, help="Piles that D, A, d and a are played with, 1 to 1000.")
@click.option("--at", "n", type=BIGINT, help="Print the value at this index.")
@click.option("--range", "span", type=RANGE, help="Print the values at START, ..., STOP - 1.")
@click.option("--reduce", "reduce_to", metavar="NAME,...", help=_REDUCTIONS)
@click.option("--records", type=click.IntRange(1), default=1000, help="List at most so many records, the first ones.")
@click.option("--method", type=click.Choice(("formula", "enumerate")), default="formula", help="enumerate tries every tuple.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="table", help="How to print.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; the same as --format json.")
@click.option("--out", type=FILE, help="Write to .npy, .zarr, .csv or .txt (a b-file) and print nothing.")
@click.option("--resume", is_flag=True, help="Go on with the file that an earlier run left half-written.")
@click.option("--plot", type=FILE, help="Draw the range as .pdf, .png or .svg; d_3 by rows.")
@click.option("--plan", is_flag=True, help="Say what the work would cost, and do not start it.")
@click.option("--backend", type=click.Choice(NAMES), default="auto", help="Where to count; auto takes a GPU where there is one.")
@click.option("--scheduler", help="Spread the work over the workers of the Dask scheduler at this address.")
@click.option("--workers", type=AMOUNT, help="Spread the work over so many processes, one a GPU where there are GPUs.")
@click.option("--quiet", is_flag=True, help="Show no progress and no remarks.")
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

    SEQUENCE is D (positions of K piles with total 2n), A (total at most 2n), d (largest pile n) or a (no pile over n), or
    the A-number of an OEIS entry, which is indexed as the OEIS does.

    sum, max, min, argmax, argmin and records take moments whatever the range. A histogram or residues may have to visit every
    value; how many, and about how long that takes, is said before it starts, or by --plan alone.
    """
    from gpu_nim.oeis.catalogue import resolve

    form = "json" if as_json else form
    entry = resolve(sequence, piles)
    name = entry.name if entry.counts is None or sequence != entry.counts.letter else sequence
    if (n is None) == (span is None):
        raise UsageError("give either --at N or --range START:STOP")
    if n is not None:
        for option, given in (("--reduce", reduce_to), ("--out", out), ("--plot", plot), ("--plan", plan or None)):
            if given is not None:
                raise UsageError(f"{option} needs --range START:STOP, not --at")
        _print_value(name, entry, n, form, quiet)
        return
    assert span is not None
    if span[0] < entry.offset:
        raise UsageError(f"{entry.name} begins at n = {entry.offset}, got --range {span[0]}:{span[1]}")
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
            again = "go on with --resume" if out is not None and method == "formula" else "give this command anew"
            raise SchedulerLost(f"{error}, then {again}") from error


@dataclass
class _Work:
    """What was asked for, once for all the ways to do it."""

    name: str
    entry: "Entry"
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
    def counts(self) -> "Counts":
        """The sequence in its own indices, for work that `check_options` allows for an entry that has one."""
        assert self.entry.counts is not None
        return self.entry.counts

    @property
    def inner(self) -> tuple[int, int]:
        """The range in the indices of `counts`."""
        return self.span[0] + self.entry.shift, self.span[1] + self.entry.shift

    @property
    def size(self) -> int:
        return self.span[1] - self.span[0]

    def check_options(self, reduce_to: str | None, method: str, scheduler: str | None, workers: int | None) -> None:
        """Raise UsageError for options that contradict each other, before any work."""
        if reduce_to is not None and (self.out is not None or self.plot is not None or method == "enumerate"):
            raise UsageError("--reduce prints what is left of a range: it takes no --out, --plot or --method enumerate")
        if self.resume and self.out is None:
            raise UsageError("--resume needs --out, the file to go on with")
        if self.out is not None and self.out.suffix != _ENDINGS.get(self.form, self.out.suffix):
            raise UsageError(f"--format {self.form} is written to a file ending in {_ENDINGS[self.form]}, got --out {self.out}")
        if self.entry.counts is None:
            for option, given in (
                ("--reduce", reduce_to is not None),
                ("--method enumerate", method == "enumerate"),
                ("--plan", self.plan),
                ("--resume", self.resume),
                ("--workers", workers is not None),
                ("--scheduler", scheduler is not None),
            ):
                if given:
                    raise UsageError(f"{option} is for D, A, d, a and entries that are one of them, which {self.entry.name} is not")
        if self.out is not None:
            from gpu_nim.storage.sequence_files import check_table

            if self.entry.counts is None and self.out.suffix not in _ENDINGS.values():
                raise UsageError(f"{self.entry.name} has terms of any size: write them to .txt or .csv, got --out {self.out}")
            check_table(self.out)
        if self.plot is not None:
            from gpu_nim.render.chart import check

            check(self.plot, self.size)
            reserve(self.plot)
        if self.form == "json" and self.out is None and reduce_to is None and self.size > _MAX_JSON:
            raise UsageError(f"--format json prints at most {_MAX_JSON} values, got {self.size}: use --out FILE")

    def remark(self, text: str) -> None:
        """Tell people on stderr."""
        if not self.quiet:
            say(text, err=True)

    def facts(self) -> dict[str, Any]:
        """What every JSON object begins with."""
        return {"sequence": self.name, "piles": self.entry.counts and self.entry.counts.piles}


def _print_value(name: str, entry: "Entry", n: int, form: str, quiet: bool) -> None:
    if n < entry.offset:
        raise UsageError(f"--at must be at least {entry.offset}, where {entry.name} begins, got {n}")
    from gpu_nim.counting.long_integers import text

    with step_progress(wants_progress(quiet)) as step:
        value = text(entry.term(n) if entry.counts is None else entry.counts.value(n + entry.shift, step))
    if form == "json":
        emit_json({"sequence": name, "piles": entry.counts and entry.counts.piles, "n": n, "value": value})
    elif form == "table":
        click.echo(value)
    else:
        _print_lines([(n, value)], form)


def _range(work: _Work) -> None:
    if work.entry.counts is None:
        _print_terms(work)
        return
    from gpu_nim.counting.ranges import Range, checked, seconds_for

    start, stop = work.inner
    values = Range(work.counts, start, stop, work.backend.counting())
    if work.plan or (work.size >= _WARN_ABOVE and not work.quiet):
        text = (
            f"{work.size:,} values of {8 * values.limbs} bytes, {8 * values.limbs * work.size:,} bytes in all, "
            f"{_duration(seconds_for(values, work.size))} of one process with {values.engine.name}, writing not counted"
        )
        click.echo(text, err=not work.plan)
        if work.plan:
            return
    shown = wants_progress(work.quiet) and work.out is not None
    with work_progress(work.size, "values", shown) as advance:

        def chunks(first: int) -> "Iterator[U64]":
            advance(first - start)
            if work.cluster is None:
                parts: Iterable[U64] = (part for _, part in values.chunks(first))
            else:
                parts = _from_workers(work, first)
            for part in checked(work.counts, first, parts):
                advance(len(part))
                yield part

        if work.out is not None:
            _write(work, values.limbs, chunks)
        else:
            _print_range(work, chunks(start))
    if work.plot is not None:
        _plot(work, list(work.entry.terms(*work.span)))


def _from_workers(work: _Work, first: int) -> "Iterator[U64]":
    from gpu_nim.jobs.clusters import fill_piece

    assert work.cluster is not None
    start, stop = work.inner
    pieces = ((at, min(at + _PIECE, stop)) for at in range(first, stop, _PIECE))
    return work.cluster.map(fill_piece, ((work.counts, start, stop, work.backend.name, piece) for piece in pieces))


def _write(work: _Work, limbs: int, chunks: Any) -> None:
    from gpu_nim.storage.sequence_files import open_table

    assert work.out is not None
    attributes = {"sequence": work.name, "piles": work.counts.piles, "start": work.span[0], "stop": work.span[1]}
    with open_table(work.out, attributes, limbs, resume=work.resume) as table:
        if table.next > work.span[0]:
            work.remark(f"going on with {work.out} at n = {table.next}")
        for part in chunks(table.next + work.entry.shift):
            table.append(part)


def _print_range(work: _Work, chunks: "Iterable[U64]") -> None:
    from gpu_nim.model.limbs import to_integers
    from gpu_nim.model.memory import host_memory, require_memory
    from gpu_nim.storage.sequence_files import write_text

    if work.form == "json":
        needed = work.size * (_JSON_BYTES + 4 * len(str(work.counts.maximum(*work.inner))))
        require_memory(needed, host_memory(), f"--format json of {work.size:,} values", "--format csv or --out FILE takes less")
        values = [str(value) for part in chunks for value in to_integers(part)]
        emit_json({**work.facts(), "start": work.span[0], "stop": work.span[1], "values": values})
        return
    at = work.span[0]
    if work.form == "csv":
        sys.stdout.write("n,value\n")
    widths = len(str(work.span[1] - 1)), len(str(work.counts.maximum(*work.inner))) if work.form == "table" else 0
    for part in chunks:
        if work.form == "table":
            lines = (f"{n:>{widths[0]}}  {value:>{widths[1]}}\n" for n, value in enumerate(to_integers(part), at))
            sys.stdout.write("".join(lines))
        else:
            write_text(sys.stdout, at, part, "," if work.form == "csv" else " ")
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
        emit_json({**work.facts(), "start": work.span[0], "stop": work.span[1], "values": values})
    else:
        _print_lines(enumerate(terms, work.span[0]), work.form)


def _print_lines(pairs: Iterable[tuple[int, object]], form: str) -> None:
    if form == "csv":
        click.echo("n,value")
    separator = {"csv": ",", "bfile": " ", "table": "  "}[form]
    for n, value in pairs:
        click.echo(f"{n}{separator}{value}")


def _plot(work: _Work, values: list[int]) -> None:
    from gpu_nim.render.chart import draw

    assert work.plot is not None
    counts = work.entry.counts
    rows = counts is not None and (counts.letter, counts.piles) == ("d", 3)
    draw(work.plot, f"{work.entry.name}: {work.entry.title}", work.span[0], values, rows=rows)


def _reduce(work: _Work, names: str, records: int) -> None:
    from gpu_nim.counting.ranges import Range, seconds_for
    from gpu_nim.counting.reductions import Reduction, reduce_range, scanned_values

    start, stop = work.inner
    reductions = [Reduction.parse(name) for name in names.split(",")]
    engine = work.backend.counting()
    cost = sum(scanned_values(work.counts, start, stop, reduction) for reduction in reductions)
    if work.plan or cost:
        seconds = seconds_for(Range(work.counts, start, stop, engine), cost) if cost else 0.0
        text = f"{cost:,} values to visit, at least {_duration(seconds)} of one process with {engine.name}"
        click.echo(text) if work.plan else work.remark(text)
        if work.plan:
            return
    shown = wants_progress(work.quiet)
    # A terminal has room for one bar, and values are what takes long.
    with work_progress(cost, "values", shown and cost > 0) as advance, step_progress(shown and cost == 0) as step:

        def run(job: "ValueScan") -> Iterator[Any]:
            pieces = job.pieces()
            if work.cluster is None:
                parts: Iterator[Any] = map(job.do, pieces)
            else:
                from gpu_nim.jobs.clusters import reduce_piece

                whole = (job.counts, job.start, job.stop, job.reduction, work.backend.name)
                parts = work.cluster.map(reduce_piece, [(*whole, piece) for piece in pieces])
            for piece, part in zip(pieces, parts, strict=True):
                advance(piece[1] - piece[0])
                yield part

        results = reduce_range(work.counts, start, stop, reductions, engine, records=records, run=run, on_step=step)
    shift = work.entry.shift
    if work.form == "json":
        facts = {str(result.reduction): _json_value(result, shift) for result in results}
        emit_json({**work.facts(), "start": work.span[0], "stop": work.span[1], "reductions": facts})
        return
    rows: list[tuple[str, str, str]] = []
    for result in results:
        rows.extend(_rows(result, shift))
    print_table(rows)


def _json_value(result: "Result", shift: int) -> Any:
    match result.reduction.name:
        case "argmax" | "argmin":
            return result.value - shift
        case "records":
            pairs = [{"n": n - shift, "value": str(value)} for n, value in result.value]
            return {"records": pairs, "complete": result.complete}
        case "histogram" | "residues":
            return {str(key): number for key, number in result.value.items()}
    return str(result.value)


def _rows(result: "Result", shift: int) -> Iterator[tuple[str, str, str]]:
    name = result.reduction.name
    match name:
        case "histogram":
            for digits, number in result.value.items():
                yield name, "0" if digits == 0 else f"2^{digits - 1} to 2^{digits} - 1", f"{number:,}"
        case "residues":
            for residue, number in result.value.items():
                yield str(result.reduction), str(residue), f"{number:,}"
        case "records":
            for n, value in result.value:
                yield name, str(n - shift), f"{value:,}"
            if not result.complete:
                yield name, "and more", ""
        case "argmax" | "argmin":
            yield name, "", str(result.value - shift)
        case _:
            yield name, "", f"{result.value:,}"


def _enumerate(work: _Work) -> None:
    from gpu_nim.counting.enumeration import Enumeration

    start, stop = work.inner
    trial = Enumeration(work.counts, stop - 1, work.backend.counting())
    if work.plan:
        click.echo(f"{trial.tuples:,} tuples to try")
        return
    work.remark(f"trying {trial.tuples:,} tuples")
    pieces = trial.pieces()
    share = trial.tuples // (pieces[-1][1] - pieces[0][0])
    with work_progress(trial.tuples, "tuples", wants_progress(work.quiet)) as advance:

        def parts() -> Iterator[Any]:
            if work.cluster is None:
                done: Iterator[Any] = map(trial.do, pieces)
            else:
                from gpu_nim.jobs.clusters import try_piece

                jobs = [(work.counts, stop - 1, work.backend.name, piece) for piece in pieces]
                done = work.cluster.map(try_piece, jobs)
            for piece, part in zip(pieces, done, strict=True):
                advance((piece[1] - piece[0]) * share)
                yield part

        counted = trial.combine(parts())
    work.remark(f"every value of {work.counts} up to n = {stop - 1} agrees with the formula")
    values = counted[start:].astype("uint64")
    if work.out is not None:
        _write(work, 1, lambda first: iter([values[first - start :]]))
    else:
        _print_range(work, [values])
    if work.plot is not None:
        _plot(work, values.tolist())


def _duration(seconds: float) -> str:
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:,.1f} seconds"
