"""`gpunim grow`: grow an automaton, verify it, print its table, save it, and resume it after an interruption."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS, Automaton
from gpu_nim.automata.columns import COLUMNS, DEFAULT_COLUMNS, Value
from gpu_nim.automata.user_defined import define
from gpu_nim.backends.selection import NAMES, select
from gpu_nim.cli.catalogues import AUTOMATON_NAME, COLUMN_NAMES
from gpu_nim.cli.command import AMOUNT, CELLS, COUNTS, FILE, SIZE, Choice, Command, json_option
from gpu_nim.cli.output import emit_json, growth_progress, print_table, report, say, wants_progress
from gpu_nim.jobs.checkpoints import Checkpoints, rest_told
from gpu_nim.jobs.devices import select_on_rank
from gpu_nim.jobs.growth_job import EVERY, GrowthJob, Outputs
from gpu_nim.jobs.rank_plan import Planned, bytes_on_disk, rank_plan, require_memory_of_all
from gpu_nim.jobs.ranks import join, place
from gpu_nim.model.errors import BackendError, UsageError
from gpu_nim.model.files import command_words
from gpu_nim.storage.growth_formats import describe_formats, suffixes_with_parents

if TYPE_CHECKING:
    from gpu_nim.automata.growth import Growth
    from gpu_nim.automata.growth_process import GrowthProcess
    from gpu_nim.backends.interface import Backend

_SHOWN = 5  # last generations in the summary

Cells = tuple[tuple[int, ...], ...]


_EXAMPLES = {
    "gpunim grow edge --gen 256": "Grow the automaton edge to generation 256.",
    "gpunim grow nim --gen 256 --out nim.zarr": "Save the growth, for `gpunim verify`, `gpunim render` and Python.",
    "gpunim grow fcc --gen 64 --columns births,population,density": "Print a table.",
    "gpunim grow fcc --gen 64 --bfile b151776.txt": "Write the b-file of an OEIS entry.",
    'gpunim grow --offsets "1,0;-1,0;0,1;0,-1" --gen 16': "Grow an automaton of your own.",
    "gpunim grow edge --gen 1024 --checkpoint ck": "Write checkpoints, from which `gpunim grow --resume ck` continues.",
    "gpunim grow edge --gen 4096 --plan": "Print the memory that a growth takes.",
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
    "--birth", "births", type=COUNTS, help="With --offsets: the numbers of touches that give birth, such as 1 or 1,3.  [default: 1]"
)
@click.option(
    "--seed", "seeds", type=CELLS, help='With --offsets: cells of generation 0, such as "0,0;5,0".  [default: the origin]'
)
@click.option("--octant", is_flag=True, help="With --offsets: only cells without a negative coordinate.")
@click.option("--backend", type=Choice(NAMES), default="auto", help="Where to grow; auto uses a GPU if there is one.")
@click.option("--workers", type=AMOUNT, help="Divide the growth among this many processes of this machine.")
@click.option("--devices", type=Choice(("all",)), help="Divide the growth among all GPUs of this machine.")
@click.option(
    "--disk", type=FILE, help="Keep the table of the growth in a file of this folder, where it does not fit in memory; on NumPy."
)
@click.option("--general", is_flag=True, help="Use the general engine, even where a faster one applies.")
@click.option(
    "--columns",
    type=COLUMN_NAMES,
    metavar="NAMES",
    help=f"Print a table with these columns, separated by commas, listed below.  [default: {','.join(DEFAULT_COLUMNS)}]",
)
@click.option("--section", metavar="AXIS=VALUE", help="Add a column with the population in a plane, such as z=0.")
@click.option("--out", type=FILE, help=f"Save the growth: {describe_formats()}.")
@click.option("--voxels", type=FILE, help="Save the birth generation of each cell as voxels, a .zarr array.")
@click.option("--bfile", type=FILE, help="Save the column as a b-file; b151776.txt selects the column of that OEIS entry.")
@click.option(
    "--parents", is_flag=True, help=f"Save each cell's parent, the evolution tree, in --out, a {suffixes_with_parents()}."
)
@click.option("--checkpoint", type=FILE, help="Write checkpoints to this folder, to resume from after an interruption.")
@click.option("--every", type=AMOUNT, help=f"Generations from one checkpoint to the next.  [default: {EVERY}]")
@click.option("--resume", type=FILE, help="Resume from this folder's latest checkpoint, with the options given then.")
@click.option("--no-verify", is_flag=True, help="Do not check the growth against its theorem.")
@click.option("--plan", is_flag=True, help="Print the memory that the growth would take, without starting it.")
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress and no table.")
def grow(
    automaton: str | None,
    generations: int | None,
    offsets: Cells | None,
    births: tuple[int, ...] | None,
    seeds: Cells | None,
    octant: bool,
    backend: str,
    workers: int | None,
    devices: str | None,
    disk: Path | None,
    general: bool,
    columns: str | None,
    section: str | None,
    out: Path | None,
    voxels: Path | None,
    bfile: Path | None,
    parents: bool,
    checkpoint: Path | None,
    every: int | None,
    resume: Path | None,
    no_verify: bool,
    plan: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Grow AUTOMATON (see `gpunim automata`), by default nim, from its seed, and count the births of each generation."""
    chosen = _automaton(automaton, offsets, births, seeds, octant)
    here = place()
    if devices is not None:
        backend, workers = "cuda", _devices(backend, workers)
    if plan:
        if resume is not None:
            raise click.UsageError("--plan is for a growth from its seed: leave out --resume.")
        grown, last = chosen or AUTOMATON, GENERATIONS if generations is None else generations
        ranks = here.size if here is not None else workers or 1
        if ranks > 1:
            _print_rank_plan(grown, last, backend, ranks, general, as_json, disk)
        else:
            _print_plan(grown, last, select(backend, disk=disk), general, as_json, disk)
        return 0
    if here is None and workers is not None and workers > 1:
        from gpu_nim.jobs.workers import run_on_workers

        folder = checkpoint or resume
        with rest_told(None if folder is None else Checkpoints(folder)):
            outcome = run_on_workers(workers, command_words())
        report(outcome)
        return outcome.status
    if here is not None and workers not in (None, here.size):
        raise UsageError(f"workers must be left out under mpirun, which has started {here.size} ranks, got {workers}")
    communicator = None if here is None else join(here)
    device = select(backend, disk=disk) if communicator is None else select_on_rank(backend, communicator, disk)
    run = GrowthJob(
        chosen,
        generations,
        backend=device,
        columns=_columns(columns, section),
        outputs=Outputs(out, voxels, bfile, parents),
        verify=not no_verify,
        general=general,
        checkpoint=checkpoint,
        resume=resume,
        every=every,
    )
    with run:
        if communicator is not None and device.name == "cuda" and not quiet:
            way = "directly" if communicator.device_buffers else "through page-locked memory, since MPI takes no buffers of GPUs"
            say(f"gpunim: newborns travel between GPUs {way}", err=True)
        if communicator is not None:
            require_memory_of_all(run.growing, device, communicator)
        for sentence in run.passed_over:
            say(f"gpunim: {sentence}: resuming from generation {run.growing.generation}", err=True)
        run.growing.begin()
        if disk is not None and not quiet:
            needed = f"{bytes_on_disk(run.growing, 1 if here is None else here.size):,} bytes"
            say(f"gpunim: while it grows, {needed if here is None else f'at most {needed} of each rank'} are in {disk}", err=True)
        with growth_progress(run.growing.generations, wants_progress(quiet)) as show:
            growth = run.grow(show)
    if communicator is not None and communicator.rank:
        return 0
    if as_json:
        emit_json(growth.summary() | ({} if run.columns is None else {"columns": _plain_columns(growth)}))
    elif not quiet and run.columns is not None and run.outputs.out is None and run.outputs.bfile is None:
        print_table(([_shown(value) for value in row] for row in growth.table.rows()), growth.table.header)
    elif not quiet:
        _print_summary(growth, run.growing, run.outputs)
    if run.growing.mismatch is not None:
        source = run.growing.automaton.source
        say(f"gpunim: generation {run.growing.mismatch} of {growth.automaton} contradicts {source}", err=True)
        return 1
    return 0


def _devices(backend: str, workers: int | None) -> int:
    """The number of GPUs of this machine."""
    from gpu_nim.backends.availability import cuda_obstacle, device_count

    if workers is not None:
        raise click.UsageError("give either --workers or --devices.")
    if backend == "numpy":
        raise click.UsageError("--devices is for GPUs: leave out --backend numpy, or give --workers.")
    if (obstacle := cuda_obstacle()) is not None:
        raise BackendError(obstacle)
    return device_count() or 1


def _print_plan(
    automaton: Automaton | str, generations: int, backend: "Backend", general: bool, as_json: bool, disk: Path | None
) -> None:
    from gpu_nim.automata.growth_process import GrowthProcess

    growing = GrowthProcess(automaton, generations, backend, general=general)
    needed, free, name = growing.planned_memory(), backend.free_memory(), growing.automaton.name
    if as_json:
        plan = {"memory": needed, "free_memory": free} | ({} if disk is None else {"disk": bytes_on_disk(growing)})
        emit_json({"automaton": name, "generations": generations, "backend": backend.name, "device": backend.device, "plan": plan})
        return
    planned = "takes memory as it grows, while there is any" if needed is None else f"is planned to take {needed:,} bytes"
    verdict = ", which does not fit" if needed is not None and needed > free else ""
    beside = "" if disk is None else f", and {bytes_on_disk(growing):,} bytes of {disk}"
    say(f"{name} to generation {generations} {planned}{beside}{verdict}: {free:,} bytes are free on {backend.device}")


def _print_rank_plan(
    automaton: Automaton | str, generations: int, chosen: str, ranks: int, general: bool, as_json: bool, disk: Path | None
) -> None:
    """Print what is planned for each of several ranks."""
    backend, name = select(chosen, Planned(ranks), disk), automaton if isinstance(automaton, str) else automaton.name
    plan, free = rank_plan(automaton, generations, ranks, backend=backend, general=general), backend.free_memory()
    if as_json:
        planned = {"ranks": ranks, "memory": plan.memory, "sent": plan.sent, "free_memory": free}
        planned |= {} if disk is None else {"disk": plan.disk}
        device = backend.device
        emit_json({"automaton": name, "generations": generations, "backend": backend.name, "device": device, "plan": planned})
        return
    beside = "" if disk is None else f", {plan.disk:,} bytes of {disk}"
    sent = "" if plan.sent is None else f", and to send {plan.sent:,} bytes in a generation as large as the last"
    say(
        f"{name} to generation {generations} is planned to take {plan.memory:,} bytes{beside} on each of {ranks} ranks{sent}: "
        f"{free:,} bytes are free on {backend.device}"
    )


def _automaton(
    name: str | None, offsets: Cells | None, births: tuple[int, ...] | None, seeds: Cells | None, octant: bool
) -> Automaton | str | None:
    generations = (name or "").rpartition(":")[2]
    if name is not None and generations.isdigit():
        raise UsageError(f"automaton must be a name, got {name!r}: the last generation is given by --gen {generations}")
    if offsets is None:
        if births is not None or seeds is not None or octant:
            raise click.UsageError("--birth, --seed and --octant describe an automaton of your own, which needs --offsets.")
        return name
    if name is not None:
        raise click.UsageError(f"--offsets describes an automaton of your own: leave out the name {name!r}.")
    return define(offsets, births or (1,), seeds or ((0,) * len(offsets[0]),), octant=octant)


def _columns(columns: str | None, section: str | None) -> tuple[str, ...] | None:
    names = None if columns is None else tuple(" ".join(name.split()) for name in columns.split(","))
    if section is None:
        return names
    return (*(names or DEFAULT_COLUMNS), f"section {section.strip()}")


def _plain_columns(growth: "Growth") -> dict[str, list[int | float | None]]:
    from gpu_nim.storage.table_interface import entries

    return {name: entries(values) for name, values in growth.table.lists().items()}


def _shown(value: Value) -> int | str | None:
    return value if value is None or isinstance(value, int) else f"{float(value):.6f}"


def _print_summary(growth: "Growth", growing: "GrowthProcess", outputs: Outputs) -> None:
    births = growth.births.tolist()
    first = max(0, len(births) - _SHOWN)
    saved = [path for path in (outputs.out, outputs.voxels, outputs.bfile) if path is not None]
    print_table(
        [
            ("automaton", growth.automaton),
            ("generations", str(growth.generations)),
            ("population", f"{growth.population:,}"),
            *((f"births at {n}", f"{births[n]:,}") for n in range(first, len(births))),
            ("verified", _verdict(growing)),
            ("digest", growth.digest),
            ("device", f"{growth.device} ({growth.backend})"),
            ("seconds", f"{growth.seconds:.3f}"),
            *(("saved", str(path)) for path in saved),
        ]
    )


def _verdict(growing: "GrowthProcess") -> str:
    if not growing.verifies:
        return "not checked" if growing.automaton.births_formula else "no theorem is known"
    if growing.mismatch is not None:
        return f"NO, generation {growing.mismatch} differs"
    some = "" if growing.tested == growing.generations else f" to generation {growing.tested}"
    cells = f" and each cell{some}" if growing.tested >= 0 else ""
    return f"yes, births{cells}, by {growing.automaton.source}"
