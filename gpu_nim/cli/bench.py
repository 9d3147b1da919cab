"""`gpunim bench`: side-by-side speed, with the machine's ceiling."""

import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.cli.command import Group, integer, json_option
from gpu_nim.cli.output import emit_json, print_table, step_progress
from gpu_nim.model.errors import BackendError, UsageError

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.bench.harness import Work


@click.group(
    cls=Group,
    examples={
        "gpunim bench count --runs 1": "Measure counting, with one run of each contender.",
        "gpunim bench grow --work edge": "Measure the growth of edge.",
    },
)
def bench() -> None:
    """Measure gpunim against its peers: warm runs in turn, medians, ratios, and the bandwidth of memory as the ceiling."""


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a benchmark the options that all of them have."""
    text = "Only works with this in their name; may be repeated."
    chosen = click.option("--work", "chosen", multiple=True, metavar="TEXT", help=text)
    runs = click.option("--runs", type=integer(1, 100), default=5, help="Warm runs of each contender, 1 to 100.")
    return chosen(runs(json_option(command)))


@bench.command(
    "grow",
    examples={
        "gpunim bench grow": "Five runs of each.",
        "gpunim bench grow --runs 1 --json": "One run, for programs.",
    },
)
@_options
def bench_grow(**options: Any) -> None:
    """Grow on each backend, with a Python set of cells, and by scipy's convolution."""
    from gpu_nim.bench.grow import works

    _race(works(_cuda()), **options)


@bench.command(
    "count",
    examples={
        "gpunim bench count": "Five runs of each.",
        "gpunim bench count --runs 1": "One run.",
    },
)
@_options
def bench_count(**options: Any) -> None:
    """Fill ranges on each backend, by the plain formula in NumPy, and with PARI/GP where it is installed."""
    from gpu_nim.bench.count import works

    _race(works(_cuda()), **options)


@bench.command(
    "device",
    examples={
        "gpunim bench device": "Time every kernel.",
        "gpunim bench device --work nim --profile": "Profile the kernels of works with nim in their name.",
    },
)
@click.option("--profile", is_flag=True, help="Run under Nsight Compute (ncu), which prints what limits each kernel.")
@_options
def bench_device(profile: bool, **options: Any) -> int:
    """Time every kernel of a GPU, with its floor, target and prediction, and compare with a straightforward implementation."""
    if profile:
        return _profile(options["chosen"])
    from gpu_nim.backends.selection import select
    from gpu_nim.bench.device_works import works

    cuda = select("cuda")
    import cupy

    _race(works(cuda, cupy), on_device=True, **options)
    return 0


def _cuda() -> "Backend | None":
    from gpu_nim.backends.availability import cuda_obstacle
    from gpu_nim.backends.selection import select

    return select("cuda") if cuda_obstacle() is None else None


def _profile(chosen: tuple[str, ...]) -> int:
    """Run the works once under Nsight Compute, which measures a few launches of each kernel, named by the work."""
    from gpu_nim.bench.harness import GPUNIM

    ncu = shutil.which("ncu")
    if ncu is None:
        raise BackendError("--profile needs Nsight Compute, and ncu is not on PATH: install it with the CUDA toolkit, or by itself")
    options = ("--nvtx", "--print-nvtx-rename", "kernel", "--target-processes", "application-only", "--kernel-id", ":::2|20|200")
    works = [word for text in chosen for word in ("--work", text)]
    command = (ncu, *options, *GPUNIM, "bench", "device", "--runs", "1", *works)
    return subprocess.run(command, check=False).returncode


def _race(works: "Iterable[Work]", chosen: tuple[str, ...], runs: int, as_json: bool, on_device: bool = False) -> None:
    """Print a row for each contender of the works, without columns that are empty, and the ceilings."""
    from gpu_nim.backends.selection import select
    from gpu_nim.bench.floors import measured_rates
    from gpu_nim.bench.harness import HEADER, PATIENCE, Clock, race

    cuda = _cuda()
    ceilings = {} if on_device else {select("numpy").device: measured_rates()}
    clock, rates, patience = Clock(), None, inf
    if cuda is not None:
        import cupy

        ceilings[cuda.device] = measured_rates(cupy)
        if on_device:
            clock, rates, patience = Clock(cupy), ceilings[cuda.device], PATIENCE
    rows = []
    with step_progress() as step:
        for work in works:
            if not chosen or any(text in work.name for text in chosen):
                rows += race(work, runs, clock, rates, patience=patience, on_step=step)
    if not rows:
        raise UsageError(f"no work has {' or '.join(map(repr, chosen))} in its name")
    if as_json:
        emit_json({"ceilings": {name: asdict(rates) for name, rates in ceilings.items()}, "rows": [asdict(row) for row in rows]})
        return
    columns = [column for column in zip(HEADER, *(row.cells() for row in rows), strict=True) if any(column[1:])]
    header, *lines = zip(*columns, strict=True)
    print_table(lines, header)
    for name, ceiling in ceilings.items():
        click.echo(f"ceiling, {name}: fill {ceiling.fill / 1e9:,.1f} GB/s, copy {ceiling.copy / 1e9:,.1f} GB/s")
