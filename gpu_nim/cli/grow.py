"""`gpunim grow`: grow an automaton, verify it, print its table, save it, and resume it after an interruption."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS
from gpu_nim.automata.columns import COLUMNS, DEFAULT_COLUMNS, Value
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import with_generation
from gpu_nim.backends.selection import NAMES
from gpu_nim.cli.command import AMOUNT, AUTOMATON_NAME, CELLS, COLUMN_NAMES, COUNTS, SEEDS, SIZE, Choice, Command, File, json_option
from gpu_nim.cli.output import emit_json, print_table, restart, say, step_progress
from gpu_nim.jobs.checkpoints import EVERY
from gpu_nim.jobs.grow_job import ENGINES, Run, automaton_of, plan_growth
from gpu_nim.jobs.grow_job import grow as grow_automaton
from gpu_nim.model.arguments import argument, given_options
from gpu_nim.model.errors import UsageError
from gpu_nim.model.rule import Cell
from gpu_nim.model.work import OnStep, mpi_rank
from gpu_nim.storage.growth_formats import describe_formats, suffixes_with_parents

_SHOWN = 5  # last generations in the summary

_EXAMPLES = {
    "gpunim grow edge --gen 256": "Grow the automaton edge to generation 256.",
    "gpunim grow nim --gen 256 --out nim.zarr": "Save the growth, for `gpunim verify`, `gpunim render` and Python.",
    "gpunim grow fcc --gen 64 --columns births,population,density": "Print a table.",
    'gpunim grow --offsets "1,0;-1,0;0,1;0,-1" --gen 16': "Grow an automaton of your own.",
    "gpunim grow edge --gen 1024 --checkpoint ck": "Write checkpoints, from which `gpunim grow --resume ck` continues.",
    "gpunim grow edge --gen 4096 --plan": "Print the memory that a growth takes.",
    "gpunim grow hexagonal --gen 2^20 --engine macro-cells": "Count the cells of a generation that would not fit.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Columns": COLUMNS.summaries()})
@click.argument("automaton", type=AUTOMATON_NAME, required=False)
@click.option(
    "--gen", "generations", type=SIZE, help=f"The last generation; generation 0 holds the seed.  [default: {GENERATIONS}]"
)
@click.option(
    "--offsets",
    type=CELLS,
    help='Grow an automaton of your own: the offsets of the cells that each cell touches, such as "1,1,0;1,0,1;0,1,1".',
)
@click.option(
    "--birth",
    "births",
    type=COUNTS,
    help="With --offsets: numbers of touches that give birth, such as 1,3 or 1-3.  [default: 1]",
)
@click.option(
    "--seed",
    "seeds",
    type=SEEDS,
    help='Cells of generation 0, such as "0,0;5,0", with --offsets or AUTOMATON; or a pattern of Golly, .rle, .rle3 or -, '
    "whose rule is grown where neither is given.  [default: the origin]",
)
@click.option("--octant", is_flag=True, help="With --offsets: only cells without a negative coordinate.")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to grow; auto uses a GPU if there is one.")
@click.option(
    "--threads",
    type=SIZE,
    help="numba threads, for large growths on NumPy; 0 turns numba off.  [default: one per core]",
)
@click.option(
    "--engine",
    type=Choice((*ENGINES, "macro-cells")),
    default="auto",
    help="How to grow: general is the engine for any rule, even where a faster one applies; macro-cells jumps to --gen, and prints "
    "its population; with --columns births, those of the last generations.",
)
@click.option("--within", type=CELLS, help='With macro-cells: count the cells between two corners, such as "0,0;99,0".')
@click.option(
    "--columns",
    type=COLUMN_NAMES,
    metavar="NAMES",
    help="Print a table with these columns, separated by commas, listed below; a table that is saved has them, too, and "
    f"a file of cells has not.  [default: {','.join(DEFAULT_COLUMNS)}]",
)
@click.option("--section", metavar="AXIS=VALUE", help="Add a column with the population in a plane, such as z=0.")
@click.option("-o", "--out", type=File(".csv"), help=f"Save the growth: {describe_formats()}. Its cells are beside it meanwhile.")
@click.option(
    "--parents", is_flag=True, help=f"Save each cell's parent, the evolution tree, in --out, a {suffixes_with_parents()}."
)
@click.option("--checkpoint", type=File(), help="Write checkpoints to this folder, to resume from after an interruption.")
@click.option("--every", type=AMOUNT, help=f"Generations from one checkpoint to the next.  [default: {EVERY}]")
@click.option("--resume", type=File(), help="Resume from this folder's latest checkpoint, with the options given then.")
@click.option("--no-verify", is_flag=True, help="Do not check the growth against its theorem.")
@click.option("--plan", is_flag=True, help="Print the memory that the growth would take, without starting it.")
@click.option("--ranks", type=AMOUNT, help="With --plan: the memory of each of this many ranks of `mpirun -n RANKS`.")
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress and no table.")
def grow(
    columns: tuple[str, ...] | None,
    section: str | None,
    no_verify: bool,
    plan: bool,
    ranks: int | None,
    within: tuple[Cell, ...] | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Grow AUTOMATON, from its seed, and count the births of each generation.

    AUTOMATON is a name (see `gpunim automata`), by default nim, an A-number that it has, or a rule in Golly's notation, such as
    B1/S01234V or 3D0..26/1; with the last generation as in nim:63.

    With `mpirun -n RANKS` before it, ranks divide the growth among themselves.
    """
    columns = columns if section is None else (*(columns or DEFAULT_COLUMNS), f"section {section.strip()}")
    options["automaton"], options["generations"] = with_generation(options["automaton"], options["generations"])
    options["automaton"] = automaton_of(
        **{name: options.pop(name) for name in ("automaton", "offsets", "births", "seeds", "octant")}
    )
    jumps = options["engine"] == "macro-cells" and not plan
    if within is not None and not jumps:
        raise UsageError(f"within needs {argument('engine')} macro-cells; others have {argument('section')}")
    if jumps:
        facts = _jump(options | {"no_verify": no_verify, "ranks": ranks}, columns, within, quiet)
        emit_json(facts) if as_json else _print_facts(facts)
        return 0
    if plan:
        if options["resume"] is not None:
            raise UsageError(f"plan is for a growth from its seed: leave out {argument('resume')}")
        some = ("automaton", "generations", "backend", "threads", "engine", "out", "parents")
        planned = plan_growth(ranks=ranks, **{name: options[name] for name in some})
        emit_json(planned.summary()) if as_json else say(str(planned))
        return 0
    here = mpi_rank()
    started = 1 if here is None else here.size
    if ranks not in (None, started):
        raise UsageError(f"ranks is for a plan: mpirun starts ranks, and has started {started}, got {ranks}")
    with ExitStack() as stack:
        begun: list[tuple[Run, OnStep]] = []

        def begin(run: Run) -> None:
            _say_notes(run, quiet)
            begun.append((run, stack.enter_context(step_progress(quiet))))

        growth = grow_automaton(
            columns=columns, verify=not no_verify, on_begin=begin, progress=lambda *step: begun[0][1](*step), **options
        )
    run = begun[0][0]
    return 0 if run.growing.ranks.rank else _print(growth, run, as_json, quiet)


def _jump(options: dict[str, Any], columns: tuple[str, ...] | None, within: tuple[Cell, ...] | None, quiet: bool) -> dict[str, Any]:
    """Grow by macro-cells, and return what is printed."""
    if not set(columns or ()) <= {"births", "population"}:
        raise UsageError(f"engine macro-cells has the columns births and population alone; {argument('within')} counts a section")
    for name in given_options(options):
        if options[name] != "auto" and name not in ("automaton", "generations", "engine"):
            raise UsageError(f"engine macro-cells has populations alone: leave out {argument(name)}")
    from gpu_nim.automata.macro_cells import MacroGrowth  # here, for its start-up time

    last = GENERATIONS if options["generations"] is None else options["generations"]
    with step_progress(quiet) as step:
        growth = MacroGrowth(options["automaton"] or AUTOMATON, whole=within is not None, progress=step)
        return growth.results(last, _SHOWN if "births" in (columns or ()) else 0, within)


def _say_notes(run: Run, quiet: bool) -> None:
    """Say how the growth begins; start again with what it would be faster with, where a script can install that."""
    if run.lack is not None:
        restart(run.lack)
    for sentence in () if run.checkpoints is None else run.checkpoints.skipped:
        say(f"gpunim: {sentence}: resuming from generation {run.growing.generation}", err=True)
    for sentence in () if quiet else run.notes:
        say(f"gpunim: {sentence}", err=True)


def _print(growth: Growth, run: Run, as_json: bool, quiet: bool) -> int:
    """Print the growth, and return the exit status: 1 where it contradicts its theorem."""
    growing, described = run.growing, run.outputs.columns is not None
    if as_json:
        from gpu_nim.storage.tables import entries

        columns = {name: entries(values) for name, values in growth.table.lists().items()}
        emit_json(growth.summary() | ({"columns": columns} if described else {}))
    elif not quiet and described and (run.form is None or run.form.cells):
        print_table(([_shown(value) for value in row] for row in growth.table.rows()), growth.table.header)
    elif not quiet:
        _print_facts(_summary(growth, growing.verdict, run.outputs.out))
    if growing.mismatch is not None:
        say(f"gpunim: generation {growing.mismatch} of {growth.automaton} contradicts {growing.automaton.source}", err=True)
        return 1
    return 0


def _shown(value: Value) -> int | str | None:
    return value if value is None or isinstance(value, int) else f"{float(value):.6f}"


def _print_facts(facts: dict[str, Any]) -> None:
    births = [(f"births at {generation}", born) for generation, born in facts["births"].items()]
    rows = [(name.replace("_", " "), value) for name, value in facts.items() if name not in ("births", "scales")]
    print_table(rows[:3] + births + rows[3:])


def _summary(growth: Growth, verdict: str, out: Path | None) -> dict[str, Any]:
    facts = {
        "automaton": growth.automaton,
        "generations": str(growth.generations),
        "population": growth.population,
        "births": dict([*enumerate(growth.births.tolist())][-_SHOWN:]),
        "verified": verdict,
        "digest": growth.digest,
        "device": f"{growth.device} ({growth.backend})",
        "seconds": f"{growth.seconds:.3f}",
    }
    return facts | ({} if out is None else {"saved": out})
