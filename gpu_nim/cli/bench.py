"""`gpunim bench`: side-by-side speed, with the machine's ceiling."""

import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gpu_nim.cli.catalogues import AUTOMATON_NAME
from gpu_nim.cli.command import Group, integer, json_option
from gpu_nim.cli.output import emit_json, print_table, step_progress
from gpu_nim.model.errors import BackendError

if TYPE_CHECKING:
    from gpu_nim.backends.interface import Backend
    from gpu_nim.bench.device import Row
    from gpu_nim.bench.harness import Timing
    from gpu_nim.model.work import OnStep


@click.group(
    cls=Group,
    examples={
        "gpunim bench count --runs 1": "Measure counting, with one run of each contender.",
        "gpunim bench ranks": "Count how evenly the work of a growth can be divided.",
    },
)
def bench() -> None:
    """Measure gpunim against its peers: warm runs in turn, medians, ratios, and the bandwidth of memory as the ceiling."""


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a benchmark the options that all of them have."""
    runs = click.option("--runs", type=integer(1, 100), default=5, help="Warm runs of each contender, 1 to 100.")
    return runs(json_option(command))


@bench.command(
    "grow",
    examples={
        "gpunim bench grow": "Five runs of each.",
        "gpunim bench grow --runs 1 --json": "One run, for programs.",
    },
)
@_options
def bench_grow(runs: int, as_json: bool) -> None:
    """Grow on each backend, with a Python set of cells, and by scipy's convolution."""
    from gpu_nim.bench.grow import SCIPY, present, races

    if SCIPY not in present():
        click.echo("gpunim: scipy is not installed, so its convolution does not race: the extra dev brings it", err=True)
    _race(races, runs, as_json)


@bench.command(
    "count",
    examples={
        "gpunim bench count": "Five runs of each.",
        "gpunim bench count --runs 1": "One run.",
    },
)
@_options
def bench_count(runs: int, as_json: bool) -> None:
    """Fill ranges on each backend, by the plain formula in NumPy, and with PARI/GP where it is installed."""
    from gpu_nim.bench.count import races

    _race(races, runs, as_json)


@bench.command(
    "device",
    examples={
        "gpunim bench device": "Time every kernel.",
        "gpunim bench device --work nim --profile": "Profile the kernels of works with nim in their name.",
    },
)
@click.option("--work", "chosen", multiple=True, metavar="TEXT", help="Only works with this in their name; may be repeated.")
@click.option("--profile", is_flag=True, help="Run under Nsight Compute (ncu), which prints what limits each kernel.")
@_options
def bench_device(chosen: tuple[str, ...], profile: bool, runs: int, as_json: bool) -> int:
    """Time every kernel of a GPU, with its floor, target and prediction, and compare with a straightforward implementation."""
    if profile:
        return _profile(chosen)
    from gpu_nim.bench.device import HEADER, open_device, rows
    from gpu_nim.bench.device_works import works

    device = open_device()
    every = [work for work in works(device.cuda, device.naive) if not chosen or any(text in work.name for text in chosen)]
    if not every:
        raise click.UsageError(f"no work has {' or '.join(map(repr, chosen))} in its name.")
    done: list[Row] = []
    with step_progress() as step:
        for number, work in enumerate(every):
            step(work.name, number, len(every))
            done += rows(work, device, runs)
    if as_json:
        rates = asdict(device.rates)
        emit_json({"device": device.cuda.device, "rates": rates, "rows": [asdict(row) for row in done]})
        return 0
    print_table((row.cells() for row in done), HEADER)
    _print_ceiling(device.cuda.device, device.rates.fill, device.rates.copy)
    return 0


@bench.command(
    "ranks",
    examples={
        "gpunim bench ranks": "Ways of dividing edge to generation 256.",
        "gpunim bench ranks fcc --gen 64": "Another automaton.",
    },
)
@click.argument("automaton", type=AUTOMATON_NAME, default="edge")
@click.option("--gen", "generations", type=integer(1), default=256, help="The last generation.")
@json_option
def bench_ranks(automaton: str, generations: int, as_json: bool) -> None:
    """Count how evenly ways of dividing a growth among ranks spread its births, and the bytes that ranks send.

    Each figure is the work of the busiest rank over the mean of all: 1 is even, 2 is as slow as half of the ranks. Work is births,
    for nim words with births.
    """
    from gpu_nim.bench.ranks import RANKS, SENDING, divisions

    with step_progress() as step:
        done = divisions(automaton, generations, step)
    if as_json:
        emit_json({"automaton": automaton, "generations": generations, "divisions": [asdict(each) for each in done]})
        return
    rows = [(each.axis, each.way, *(f"{each.uneven[ranks]:.2f}" for ranks in RANKS)) for each in done]
    print_table(rows, ("slabs along", "way", *(f"{ranks} ranks" for ranks in RANKS)))
    for each in done:
        if each.sent is not None:
            sent = ", ".join(f"{each.sent[ranks]:,} on {ranks}" for ranks in SENDING)
            click.echo(f"bytes sent, slabs along {each.axis} {each.way}: {sent}")


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


def _race(races: "Callable[[Backend, Backend | None, int, OnStep], Iterable[list[Timing]]]", runs: int, as_json: bool) -> None:
    """Print each contender's times, also over those of the race's first, and the ceilings."""
    from gpu_nim.backends.availability import cuda_obstacle
    from gpu_nim.backends.selection import select
    from gpu_nim.bench.harness import device_ceiling, host_ceiling

    numpy = select("numpy")
    cuda = select("cuda") if cuda_obstacle() is None else None
    with step_progress() as step:
        done = list(races(numpy, cuda, runs, step))
    ceilings = {"host": host_ceiling()}
    if cuda is not None:
        import cupy

        ceilings["device"] = device_ceiling(cupy)
    names = {"host": numpy.device, "device": None if cuda is None else cuda.device}
    if as_json:
        emit_json({**names, "ceilings": ceilings, "timings": [asdict(timing) for race in done for timing in race]})
        return
    rows = [timing.cells(race[0]) for race in done for timing in race]
    print_table(rows, ("work", "contender", "median s", "least", "most", "10^6/s", "ratio to first"))
    for where, bandwidth in ceilings.items():
        _print_ceiling(f"ceiling, {names[where]}", **bandwidth)


def _print_ceiling(name: str, fill: float, copy: float) -> None:
    click.echo(f"{name}: fill {fill / 1e9:,.1f} GB/s, copy {copy / 1e9:,.1f} GB/s")
