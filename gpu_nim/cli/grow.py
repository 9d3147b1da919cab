"""`gpunim grow`: grow an automaton, check it, show it, save it."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpu_nim.backends import NAMES
from gpu_nim.cli.output import emit_json, print_table, wants_progress
from gpu_nim.cli.params import NATURAL
from gpu_nim.cli.progress import growth_progress

if TYPE_CHECKING:
    from gpu_nim.automata.growth import Growing

_SHOWN = 5  # last generations in the table


@click.command()
@click.argument("automaton", default="nim")
@click.option("--gen", "generations", type=NATURAL, default=1024, help="The last generation; generation 0 holds the seed.")
@click.option("--backend", type=click.Choice(NAMES), default="auto", help="Where to grow; auto takes a GPU where there is one.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the growth: .zarr or .npz with its cells, .csv its births.")
@click.option("--no-verify", is_flag=True, help="Do not check the growth against its theorem.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Show no progress and no table.")
def grow(
    automaton: str, generations: int, backend: str, out: Path | None, no_verify: bool, as_json: bool, quiet: bool
) -> int:
    """Grow AUTOMATON (see `gpunim automata`) from its seed and count what is born in each generation."""
    from gpu_nim.automata.growth import Growing
    from gpu_nim.backends import select
    from gpu_nim.storage import open_growth

    with ExitStack() as stack:
        sink = stack.enter_context(open_growth(out)) if out is not None else None
        growing = Growing(
            automaton,
            generations,
            select(backend),
            cells=sink is not None and sink.wants_cells,
            verify=not no_verify,
        )
        show = stack.enter_context(growth_progress(generations, wants_progress(quiet)))
        for batch in growing:
            if sink is not None:
                sink.append(batch)
            show(batch)
        growth = growing.growth()
        if sink is not None:
            sink.finish(growth)

    if as_json:
        emit_json(growth.summary())
    elif not quiet:
        births = growth.births.tolist()
        first = max(0, len(births) - _SHOWN)
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
                *([("saved", str(out))] if out is not None else []),
            ]
        )
    if growing.mismatch is not None:
        click.echo(f"gpunim: generation {growing.mismatch} of {automaton} contradicts {growing.automaton.source}", err=True)
        return 1
    return 0


def _verdict(growing: "Growing") -> str:
    if not growing.verifies:
        return "not checked" if growing.automaton.births_formula else "no theorem says what is born"
    if growing.mismatch is not None:
        return f"NO, generation {growing.mismatch} differs"
    cells = " and each cell" if growing.checks_cells else ""
    return f"yes, births{cells}, by {growing.automaton.source}"
