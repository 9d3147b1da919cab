"""A growth on several processes of this machine, as `gpunim grow --workers` runs it."""

from pathlib import Path

from gpu_nim.automata.catalogue import find
from gpu_nim.automata.growth import Growth
from gpu_nim.jobs.workers import run_on_workers
from gpu_nim.model.arguments import Whole, integer
from gpu_nim.model.errors import BackendError, UsageError
from gpu_nim.storage.save_load import load


def grow_on_workers(
    automaton: str,
    generations: Whole,
    out: str | Path,
    *,
    workers: Whole,
    checkpoint: str | Path | None = None,
    every: Whole | None = None,
    disk: str | Path | None = None,
) -> Growth:
    """Grow an automaton on several processes, each with its part of the memory, into a file, and return the growth of the file.

    Args:
        automaton: a name of the catalogue.
        generations: the last generation.
        out: the file, .zarr or .npz, which holds the cells.
        workers: the number of processes, 2 or more.
        checkpoint: a new folder for checkpoints; `gpunim grow --resume` and `GrowthJob` resume from it on any number of processes.
        every: the number of generations between checkpoints.
        disk: a folder for the tables of the growth, where they do not fit in memory.

    Raises:
        UsageError: an argument is wrong.
        BackendError: the growth failed; the message says why.
        MissingDependency: mpi4py is not installed.

    >>> grow_on_workers("edge", 10, "edge.zarr", workers=1)
    Traceback (most recent call last):
    gpu_nim.model.errors.UsageError: workers must be an integer of at least 2, got 1
    """
    last, count = integer("generations", generations, 0), integer("workers", workers, 2)
    words = ["grow", find(automaton).name, "--gen", str(last), "--backend", "numpy", "--out", str(out), "--quiet"]
    for option, value in (("--checkpoint", checkpoint), ("--every", every), ("--disk", disk)):
        words += [] if value is None else [option, str(value)]
    outcome = run_on_workers(count, words)
    if outcome.sentence is not None:
        raise (UsageError if outcome.status == UsageError.exit_status else BackendError)(outcome.sentence)
    return load(out, Growth)
