"""`gpunim bench`: side-by-side speed, with the machine's ceiling."""

from dataclasses import asdict
from typing import Any

import click

from gpu_nim.bench.harness import DEVICE_TIMEOUT, HEADER, TIMEOUT, Row, compare, measured_rates
from gpu_nim.cli.command import Choice, Command, integer, json_option
from gpu_nim.cli.output import emit_json, print_table, step_progress
from gpu_nim.model.errors import UsageError

# Each but `device` is one of `gpu_nim.bench.host_works`.
_BENCHMARKS = {
    "grow": "Growths on each backend, with a Python set of cells, and by scipy's convolution",
    "count": "Ranges on each backend, by the plain formula in NumPy",
    "macro-cells": "Growths by macro-cells, with Golly's hashlife where bgolly is installed",
    "device": "Every kernel of a GPU, with its floor and target, and a straightforward implementation",
}

_EXAMPLES = {
    "gpunim bench grow": "Five runs of each contender.",
    "gpunim bench count --runs 1": "One run of each.",
    "gpunim bench grow --work edge --json": "The growths of edge alone, for programs.",
    "gpunim bench macro-cells --work ulam --runs 1": "One growth, beside Golly's.",
    "gpunim bench device": "Time every kernel.",
    "gpunim bench device --work nim": "Time the kernels of works with nim in their name.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Benchmarks": _BENCHMARKS.items()})
@click.argument("what", type=Choice(_BENCHMARKS), metavar="WHAT")
@click.option("--work", "chosen", multiple=True, metavar="TEXT", help="Only works with this in their name; may be repeated.")
@click.option("--runs", type=integer(1, 100), default=5, help="Warm runs of each contender, 1 to 100.")
@json_option
def bench(what: str, chosen: tuple[str, ...], runs: int, as_json: bool) -> None:
    """Measure gpunim against its peers: warm runs in turn, medians, ratios, and the bandwidth of memory as the ceiling."""
    from gpu_nim.backends.selection import cuda_obstacle, select
    from gpu_nim.bench import device_works, host_works

    on_device = what == "device"
    cuda = select("cuda") if on_device or cuda_obstacle() is None else None
    ceilings = {} if on_device else {select("numpy").device: measured_rates()}
    device: Any = None
    rates, timeout = None, TIMEOUT
    works = () if on_device else host_works.WORKS[what](cuda)
    if cuda is not None:
        import cupy

        ceilings[cuda.device] = measured_rates(cupy)
        if on_device:
            device, rates, timeout, works = cupy, ceilings[cuda.device], DEVICE_TIMEOUT, device_works.works(cuda, cupy)
    rows: list[Row] = []
    with step_progress() as step:
        for work in works:
            if not chosen or any(text in work.name for text in chosen):
                rows += compare(work, runs, device, rates, timeout=timeout, progress=step)
    if not rows:
        raise UsageError(f"no work has {' or '.join(map(repr, chosen))} in its name")
    if as_json:
        found = {name: asdict(rates) for name, rates in ceilings.items()}
        emit_json({"ceilings": found, "rows": [asdict(row) for row in rows]})
        return
    columns = [column for column in zip(HEADER, *(row.cells() for row in rows), strict=True) if any(column[1:])]
    header, *lines = zip(*columns, strict=True)
    print_table(lines, header)
    for name, ceiling in ceilings.items():
        click.echo(f"ceiling, {name}: fill {ceiling.fill / 1e9:,.1f} GB/s, copy {ceiling.copy / 1e9:,.1f} GB/s")
