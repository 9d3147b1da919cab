"""`gpunim bench`: side-by-side speed, with the machine's ceiling."""

import shutil
import subprocess
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gpu_nim.cli.command import Choice, Command, integer, json_option
from gpu_nim.cli.output import emit_json, print_table, step_progress
from gpu_nim.model.errors import BackendError, UsageError

if TYPE_CHECKING:
    from gpu_nim.automata.macro_cells import Scale
    from gpu_nim.bench.harness import Row

# Each but `device` has the name of its module.
_BENCHMARKS = {
    "grow": "Growths on each backend, with a Python set of cells, and by scipy's convolution",
    "count": "Ranges on each backend, by the plain formula in NumPy, and with PARI/GP where it is installed",
    "macro-cells": "Growths by macro-cells, by seconds of the CPU, with Golly's hashlife where bgolly is installed",
    "device": "Every kernel of a GPU, with its floor, target and prediction, and a straightforward implementation",
}

_EXAMPLES = {
    "gpunim bench grow": "Five runs of each contender.",
    "gpunim bench count --runs 1": "One run of each.",
    "gpunim bench grow --work edge --json": "The growths of edge alone, for programs.",
    "gpunim bench macro-cells --work ulam --runs 1": "One growth, beside Golly's.",
    "gpunim bench device": "Time every kernel.",
    "gpunim bench device --work nim --profile": "Profile the kernels of works with nim in their name.",
}


@click.command(cls=Command, examples=_EXAMPLES, listings=lambda: {"Benchmarks": _BENCHMARKS.items()})
@click.argument("what", type=Choice(_BENCHMARKS), metavar="WHAT")
@click.option("--work", "chosen", multiple=True, metavar="TEXT", help="Only works with this in their name; may be repeated.")
@click.option("--runs", type=integer(1, 100), default=5, help="Warm runs of each contender, 1 to 100.")
@click.option("--profile", is_flag=True, help="Run device under Nsight Compute (ncu), which prints what limits each kernel.")
@json_option
def bench(what: str, chosen: tuple[str, ...], runs: int, profile: bool, as_json: bool) -> int:
    """Measure gpunim against its peers: warm runs in turn, medians, ratios, and the bandwidth of memory as the ceiling."""
    if profile and what != "device":
        raise UsageError(f"--profile is for device, got {what}")
    if profile:
        return _profile(chosen)
    _race(what, chosen, runs, as_json)
    return 0


def _profile(chosen: tuple[str, ...]) -> int:
    """Run the works once under Nsight Compute, which measures a few launches of each kernel, named by the work."""
    from gpu_nim.bench.harness import GPUNIM

    ncu = shutil.which("ncu")
    if ncu is None:
        raise BackendError("--profile needs Nsight Compute, and ncu is not on PATH: install it with the CUDA toolkit, or by itself")
    options = (
        *("--nvtx", "--print-nvtx-rename", "kernel", "--target-processes", "application-only", "--kernel-id", ":::2|20|200"),
        *("--clock-control", "none"),  # to lock the clocks needs rights, and slows the GPU down for others, too
    )
    works = [word for text in chosen for word in ("--work", text)]
    command = (ncu, *options, *GPUNIM, "bench", "device", "--runs", "1", *works)
    return subprocess.run(command, check=False).returncode


def _race(what: str, chosen: tuple[str, ...], runs: int, as_json: bool) -> None:
    """Print a row for each contender of the works, without columns that are empty, and the ceilings."""
    from gpu_nim.backends.availability import cuda_obstacle
    from gpu_nim.backends.selection import select
    from gpu_nim.bench import device_works, macro_cells
    from gpu_nim.bench.floors import measured_rates
    from gpu_nim.bench.harness import DEVICE_PATIENCE, HEADER, PATIENCE, Clock, race

    on_device = what == "device"
    cuda = select("cuda") if on_device or cuda_obstacle() is None else None
    ceilings = {} if on_device else {select("numpy").device: measured_rates()}
    clock, rates, patience = macro_cells.CpuClock() if what == "macro-cells" else Clock(), None, PATIENCE
    works = () if on_device else import_module(f"gpu_nim.bench.{what.replace('-', '_')}").works(cuda)
    if cuda is not None:
        import cupy

        ceilings[cuda.device] = measured_rates(cupy)
        if on_device:
            clock, rates, patience, works = Clock(cupy), ceilings[cuda.device], DEVICE_PATIENCE, device_works.works(cuda, cupy)
    rows: list[Row] = []
    scales: dict[str, list[Scale]] = {}
    with step_progress() as step:
        for work in works:
            if not chosen or any(text in work.name for text in chosen):
                rows += race(work, runs, clock, rates, patience=patience, on_step=step)
                if isinstance(first := work.contenders[0].run, macro_cells.Grown):
                    scales[work.name] = first.scales
    if not rows:
        raise UsageError(f"no work has {' or '.join(map(repr, chosen))} in its name")
    if as_json:
        by_scale = {"scales": {name: [asdict(scale) for scale in some] for name, some in scales.items()}} if scales else {}
        found = {name: asdict(rates) for name, rates in ceilings.items()}
        emit_json({"ceilings": found, "rows": [asdict(row) for row in rows], **by_scale})
        return
    columns = [column for column in zip(HEADER, *(row.cells() for row in rows), strict=True) if any(column[1:])]
    header, *lines = zip(*columns, strict=True)
    print_table(lines, header)
    if scales:
        click.echo("seconds are of the CPU, not on the wall")
        ratios = ((name, some[-1], some[-1].blocks / some[-2].blocks) for name, some in scales.items() if some)
        lines = [(name, last.generation, last.blocks, last.bytes, f"{ratio:.2f}") for name, last, ratio in ratios]
        print_table(lines, ("work", "generation", "blocks", "bytes", "times as many blocks as at half of it"))
    for name, ceiling in ceilings.items():
        click.echo(f"ceiling, {name}: fill {ceiling.fill / 1e9:,.1f} GB/s, copy {ceiling.copy / 1e9:,.1f} GB/s")
