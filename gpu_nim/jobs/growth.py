"""`grow`: a growth from its seeds or from a checkpoint to its files, for `gpunim grow` and for Python alike.

`_resume` locks the folder of checkpoints and reads the newest, or begins at the seeds; `grow` then grows to the end, with
checkpoints between, and writes the file; `plan_growth` says what a growth would take. The engine grows in
`gpu_nim.automata.growth_process.GrowthProcess`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from gpu_nim.automata.ancestry import ancestry, require_one_parent
from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS, Automaton
from gpu_nim.automata.cell_sources import CellsInMemory
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.golly_rules import rule_of_golly
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess, Snapshot
from gpu_nim.automata.user_defined import as_automaton, define
from gpu_nim.backends.communicator import NOT_ON_RANKS, Communicator, allgather
from gpu_nim.backends.interface import Backend
from gpu_nim.backends.selection import select
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.model.arguments import Exclusions, IntLike, Requirements, argument, check_options, integer, short_repr, size_text
from gpu_nim.model.errors import FileError, MissingDependency, RanksLost, UsageError, missing
from gpu_nim.model.notebook_repr import Plan
from gpu_nim.model.process import host_memory, mpi_rank
from gpu_nim.model.registry import one_of
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.model.work import OnStep, no_progress
from gpu_nim.storage.atomic import flush, scratch_folder, writing
from gpu_nim.storage.growth_files import ZarrGrowthWriter, copy_store, load_growth, zarr_growth_writer
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, GrowthFormat, Limits, growth_format, is_output_of, suffixes_with_parents
from gpu_nim.storage.rle_files import read_pattern

EVERY = 100  # generations from one checkpoint to the next
_MOST_RANKS = 1 << 14  # that a plan is for, which goes through all of them
Engine: TypeAlias = Literal["auto", "general"]
#: The engines: the fast one where there is one, and the one for any rule.
ENGINES: tuple[Engine, ...] = get_args(Engine)
_EXCLUDES: Exclusions = {"checkpoint": ("resume",), "offsets": ("automaton",)}
_OWN = ("offsets",), "which describes an automaton of your own"
_REQUIRES: Requirements = {
    "births": _OWN,
    "seeds": (("offsets", "automaton"), "which grows from them"),
    "octant": _OWN,
    "every": (("checkpoint", "resume"), "the folder of the checkpoints between which it is the number of generations"),
}


@dataclass(frozen=True)
class Outputs:
    """What a growth writes; a checkpoint keeps it for the growth that resumes.

    Attributes:
        out: the file.
        parents: whether the file has each cell's parent.
        every: the number of generations between checkpoints, None for `EVERY`.
        columns: the columns of the table, None for the default.
        named_by: the checkpoint that alone names the file, which then replaces nothing but an output of that growth.
    """

    out: Path | None = None
    parents: bool = False
    every: int | None = None
    columns: Sequence[str] | None = None
    named_by: Snapshot | None = None

    def format(self, rule: Rule) -> GrowthFormat | None:
        """Return the format of the file; UsageError or FileError where it cannot hold the growth, or cannot be written."""
        if self.out is None:
            return None
        found = growth_format(self.out, parents=self.parents)
        found.check(self.out, rule.dimension)
        named = self.named_by
        if named is not None and os.path.lexists(self.out) and not is_output_of(self.out, named.births, named.checksums):
            where = f"cannot write {self.out}, which only the checkpoint names: it is no output of this growth"
            raise FileError(f"{where}; give {argument('out')}")
        return found

    def check(self, rule: Rule, checkpoints: Checkpoints | None) -> None:
        """Check that the folder of checkpoints is not the file, and that parents are known."""
        own = [] if checkpoints is None else [_absolute(checkpoints.folder), _absolute(checkpoints.cells)]
        if self.out is not None and _absolute(self.out) in own:
            raise UsageError(f"{self.out} is where the checkpoints are kept: choose another file, or another folder for them")
        if self.parents:
            require_one_parent(rule)

    def stored(self, folder: Path) -> dict[str, Any]:
        """Return plain values for a checkpoint in this folder, with the file relative to it."""
        out = None if self.out is None else os.path.relpath(_absolute(self.out), folder.resolve())
        return {"out": out, "parents": self.parents, "every": self.every or EVERY, "columns": self.columns}

    def resumed(self, stored: dict[str, Any], folder: Path, snapshot: Snapshot) -> Outputs:
        """Return these, where something is left out as the snapshot's checkpoint in this folder has it (`stored`).

        The file has a name relative to the folder, so that the run and its file may be moved, or copied.
        """
        name, parents, every, columns = (stored.get(each) for each in ("out", "parents", "every", "columns"))
        types = (name, str), (parents, bool), (every, int), (columns, list)
        if not all(value is None or type(value) is kind for value, kind in types) or "\0" in (name or "") or not (every or 1) > 0:
            raise FileError(f"cannot resume from {folder}: the options of its growth were edited or damaged")
        out, named_by, folder = self.out, None, folder.resolve()
        if out is None and name is not None:
            out, named_by = _absolute(folder / name), snapshot
            if not any(out.is_relative_to(parent) for parent in (folder.parent, Path.cwd())):
                where = f"{folder.parent}, where {folder.name} is, and of the current folder"
                raise UsageError(f"this growth was saved to {out}, outside of {where}: give {argument('out')}")
        columns = columns if self.columns is None else self.columns
        return Outputs(out, self.parents or bool(parents), self.every or every, columns, named_by)


@dataclass
class Run:
    """A growth that is about to begin, as `grow` calls `on_begin` with it.

    Attributes:
        growing: the growth, after generation `growing.generation`.
        outputs: what it writes, with the options of the growth that it resumes.
        form: the format of the file.
        checkpoints: the folder of checkpoints, whose `skipped` are those that were damaged.
        stores_cells: whether the cells are stored as they are born, for the file.
        notes: sentences on how it grows and what it writes.
        lack: what the growth would be faster with, and is not installed.
    """

    growing: GrowthProcess
    outputs: Outputs
    form: GrowthFormat | None
    checkpoints: Checkpoints | None
    stores_cells: bool
    notes: list[str]
    lack: MissingDependency | None = None


def grow(
    automaton: str | Automaton | Rule | None = None,
    generations: IntLike | None = None,
    *,
    backend: str | Backend = "auto",
    threads: int | None = None,
    engine: Engine = "auto",
    columns: Sequence[str] | None = None,
    cells: bool = False,
    verify: bool = True,
    out: str | Path | None = None,
    parents: bool = False,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    every: int | None = None,
    on_begin: Callable[[Run], None] | None = None,
    progress: OnStep = no_progress,
) -> Growth:
    """Grow an automaton, from its seeds or from a checkpoint, and return the growth.

    Where `automaton`, `generations`, `columns`, `out`, `parents` or `every` is not given, it is that of the growth that is resumed
    or, without one, the default. Under mpirun the ranks, each of which calls this alike, divide the growth among themselves: each
    writes its part of a checkpoint, and rank 0 the file; its table is complete on rank 0 alone.

    Args:
        automaton: a name of the catalogue, or a `Rule` or `Automaton` of your own; by default nim.
        generations: the last generation, 0 or more; by default 64.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or a backend object, which has its ranks and its
            threads.
        threads: the number of numba threads, on NumPy; 0 turns numba off; by default one per core.
        engine: one of `ENGINES`; "general" is the engine for any rule, even where a faster one applies.
        columns: the columns of `Growth.table` (see `gpu_nim.automata.columns`).
        cells: keep the newborns in memory; without it they are grown again on demand.
        verify: check births, and cells if they are kept, against the theorem if there is one; see `Growth.verified`.
        out: the file of the growth (see `gpu_nim.storage.growth_formats`).
        parents: whether `out` has each cell's parent.
        checkpoint: a new folder for checkpoints.
        resume: a folder of checkpoints to resume from, which gets those of this growth.
        every: the number of generations between checkpoints, by default 100.
        on_begin: called before memory is taken and anything is written.
        progress: called with births and cells a second in words, the last finished generation, and the last one.

    Raises:
        UsageError: the automaton is unknown, or another argument wrong; `out` cannot hold this growth, or the checkpoint is of
            another one.
        BackendError: the backend cannot run here.
        FileError: a file cannot be written, or there is no intact checkpoint to resume.
        InsufficientMemoryError: the growth would not fit; raised before anything is grown.
        RanksLost: another rank was ended; the message says what is left to resume from.

    >>> grow("nim", 1024).population
    1048579

    An automaton of your own is a `Rule`: offsets, births, seeds, and where cells may live, a predicate over arrays of cells.  It
    runs on every backend, has a digest, and is saved as any other.

    >>> half_plane = Rule(
    ...     dimension=2,
    ...     offsets=((1, 0), (-1, 0), (0, 1), (0, -1)),
    ...     births=frozenset({1}),
    ...     seeds=((0, 0),),
    ...     universe=lambda cells: cells[:, 1] >= 0,
    ... )
    >>> growth = grow(half_plane, 15, columns=["births", "section y=0"])
    >>> growth.births.tolist()
    [1, 3, 3, 7, 3, 7, 7, 19, 3, 7, 7, 19, 7, 19, 19, 55]
    >>> growth.table["section y=0"].tolist()[-1], growth.verified
    (31, None)

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     begun = grow("edge", 20, checkpoint=Path(folder, "run"), every=10)
    ...     grow(generations=40, resume=Path(folder, "run"), out=Path(folder, "edge.csv")).population
    7117
    """
    given = {"checkpoint": checkpoint, "resume": resume, "every": every}
    check_options({name for name, value in given.items() if value is not None}, _EXCLUDES, _REQUIRES)
    _check_engine(engine)
    for name, function in (("on_begin", on_begin or no_progress), ("progress", progress)):
        if not callable(function):
            raise UsageError(f"{name} must be a function, got {short_repr(function)}")
    if parents and out is None:
        raise UsageError(f"parents are saved in the {suffixes_with_parents()} file of the growth, got no file")
    if every is not None:
        every = integer("every", every, 1)
    outputs = Outputs(None if out is None else Path(out), parents, every, columns)
    here = mpi_rank()
    if here is None or not isinstance(backend, str):
        chosen = select(backend, threads=threads)
    else:
        from gpu_nim.jobs.mpi import join, select_on_rank

        chosen = select_on_rank(backend, join(here), threads)
    options = {"cells": cells, "verify": verify, "general": engine == "general"}
    known = None if automaton is None else as_automaton(automaton)
    with ExitStack() as held:
        run = _resume(held, known, generations, chosen, outputs, checkpoint, resume, **options)
        growing, checkpoints, ranks = run.growing, run.checkpoints, run.growing.ranks
        if growing.choice.lacks_numba:
            run.lack = missing("this growth takes a fraction of the time with numba", "numba")
            run.notes.append(str(run.lack))
        if on_begin is not None:
            on_begin(run)
        growing.begin()
        if checkpoints is not None and resume is None and ranks.rank == 0:
            held.enter_context(checkpoints.held(new=True))  # now, so that a growth that is refused leaves no folder
        population, began = 0, time.perf_counter()
        kept = CellsInMemory(host_memory() // 2) if cells and ranks.rank == 0 else None
        try:
            store, limits = _open_store(run, held), None if run.form is None else Limits(run.form)
            # What the errors of a store say: with checkpoints, which of them is left.
            named = nullcontext if checkpoints is None else partial(writing, checkpoints.cells, checkpoints.left)
            for batch in growing:
                if store is not None and batch.cells is not None:
                    if limits is not None:
                        limits.add(batch.first + len(batch.births) - 1, batch.cells)
                    with named():
                        store.append(batch.cells)
                if kept is not None:
                    kept.add(batch)
                population += sum(batch.births.tolist())
                rate = population / max(time.perf_counter() - began, 1e-9)
                words = f"{int(batch.births[-1]):,} births, {rate:,.0f} cells/s, generation"
                progress(words, growing.generation, growing.generations)
                due = growing.generation % (run.outputs.every or EVERY) == 0 or growing.generation == growing.generations
                if checkpoints is not None and due:
                    if store is not None:
                        with named():
                            store.flush()
                        flush(checkpoints.cells)  # the checkpoint counts on them
                    described = run.outputs.stored(checkpoints.folder)
                    checkpoints.save(growing.snapshot(), options=described, cells=store is not None)
            growth = growing.growth(kept)
            growing.end()
            if store is not None:
                with named():
                    store.finish(growth)
            if run.form is not None and run.outputs.out is not None and ranks.rank == 0:
                run.outputs.format(growing.automaton.rule)  # what is there may be another's by now
                _write_file(growth, run.form, run.outputs.out, store)
            if ranks.size > 1:
                allgather(ranks, None)  # the file is written
        except RanksLost as error:
            if checkpoints is None:
                raise
            raise RanksLost(f"{error}; {checkpoints.left()}") from error
        except BaseException:
            ranks.fail()  # the others wait for this rank
            raise
    return growth


def _resume(
    held: ExitStack,
    automaton: Automaton | None,
    generations: IntLike | None,
    backend: Backend,
    outputs: Outputs,
    checkpoint: str | Path | None,
    resume: str | Path | None,
    **options: bool,
) -> Run:
    """Return the growth from the newest checkpoint, whose folder is locked, or else from the seeds."""
    ranks = backend.communicator
    folder, snapshot, notes = checkpoint if resume is None else resume, None, []
    checkpoints = None if folder is None else Checkpoints(folder, ranks)
    last = GENERATIONS
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    if checkpoints is not None and resume is not None:
        if ranks.rank == 0:
            held.enter_context(checkpoints.held(new=False))
        snapshot = checkpoints.latest(automaton)
        automaton, last, columns, out = snapshot.automaton, snapshot.generations, snapshot.columns, outputs.out
        outputs = outputs.resumed(checkpoints.options, checkpoints.folder, snapshot)
        if outputs.out != out:
            notes.append(f"saves to {outputs.out}, as when it began")
    automaton = automaton or as_automaton(AUTOMATON)
    if ranks.rank == 0:
        if checkpoints is not None and resume is None:
            checkpoints.require_new()
        outputs.check(automaton.rule, checkpoints)
    form = outputs.format(automaton.rule)
    stores = form is not None and form.cells
    if snapshot is not None and checkpoints is not None:
        if stores and not checkpoints.keeps_cells:
            raise UsageError(
                f"{outputs.out} needs the cells of generations 0 to {snapshot.generation}, which {resume} does "
                "not keep: no file that holds cells was requested at its start"
            )
        stores = checkpoints.keeps_cells
    growing = GrowthProcess(
        automaton,
        last if generations is None else generations,
        backend,
        columns=columns if outputs.columns is None else outputs.columns,
        every=None if checkpoints is None else outputs.every or EVERY,
        resume=snapshot,
        **{**options, "cells": stores or options["cells"]},
    )
    if ranks.size > 1 and backend.name == "cuda":
        way = "directly" if ranks.device_buffers else "through page-locked memory, since MPI takes no buffers of GPUs"
        notes.append(f"newborns travel between GPUs {way}")
    return Run(growing, outputs, form, checkpoints, stores, notes)


def _open_store(run: Run, stack: ExitStack) -> ZarrGrowthWriter | None:
    """Open the store of cells, if the file is written from them: with the checkpoints, or else beside that file until it is."""
    if not run.stores_cells or run.growing.ranks.rank:  # rank 0 has all cells
        return None
    parents = partial(ancestry, run.growing.automaton.rule) if run.outputs.parents else None
    if run.checkpoints is None:
        assert run.outputs.out is not None
        stack.enter_context(writing(run.outputs.out))
        path = stack.enter_context(scratch_folder(run.outputs.out.parent)) / "cells.zarr"
    else:
        path = run.checkpoints.cells
    return zarr_growth_writer(path, run.growing.resumed, parents=parents)


def _write_file(growth: Growth, form: GrowthFormat, path: Path, store: ZarrGrowthWriter | None) -> None:
    """Write the file from the table of the growth or from the store of its cells."""
    if store is None:
        form.save(growth, path)
    elif form is GROWTH_FORMATS[".zarr"]:
        copy_store(store.path, path)
    else:
        stored = load_growth(store.path)
        form.save(replace(growth, source=stored.source, parents=stored.parents), path)


def plan_growth(
    automaton: str | Automaton | Rule | None = None,
    generations: IntLike | None = None,
    *,
    backend: str | Backend = "auto",
    threads: int | None = None,
    engine: Engine = "auto",
    out: str | Path | None = None,
    parents: bool = False,
    ranks: int | None = None,
) -> Plan:
    """Return what a growth from the seeds is planned to take, without starting it; on several ranks, of the one that has most.

    Args:
        automaton: as for `grow`, like those without a line here.
        generations: the last generation.
        backend: where to grow.
        threads: the number of numba threads.
        engine: one of `ENGINES`.
        out: the file of the growth.
        parents: whether `out` has each cell's parent.
        ranks: how many ranks, by default those that mpirun has started.

    Raises:
        UsageError: an argument is wrong, or the automaton does not grow on several ranks.
        BackendError: the backend cannot run here.
        InsufficientMemoryError: there cannot be enough memory.

    >>> print(plan_growth("edge", 1024, backend="numpy", ranks=8))
    edge to generation 1024 is planned to take ...iB on each of 8 ranks: ...
    """
    _check_engine(engine)
    here = mpi_rank()
    count = integer("ranks", ranks, 1, _MOST_RANKS) if ranks is not None else 1 if here is None else here.size
    chosen = select(backend, threads=threads)
    if count > 1:
        chosen = chosen.on_rank(Planned(count))
    last = GENERATIONS if generations is None else generations
    growing = GrowthProcess(automaton or AUTOMATON, last, chosen, general=engine == "general")
    name, memory = growing.automaton.name, growing.choice.memory
    Outputs(None if out is None else Path(out), parents).format(growing.automaton.rule)
    if count > 1 and memory is None:
        raise UsageError(NOT_ON_RANKS)
    free = chosen.free_memory()
    costs: dict[str, Any] = {"memory": memory, "free_memory": free}
    as_it_grows = "takes memory as it grows, while there is any"
    taken = [as_it_grows if memory is None else f"is planned to take {size_text(memory, up=True)}"]
    if count > 1:
        taken[-1] += f" on each of {count} ranks"
    if memory is not None and (fit := free // max(1, memory)) < (count if chosen.name == "numpy" else 1):
        some = count > 1 and chosen.name == "numpy"
        taken.append(f"of which {fit or 'none'} fit{'s' * (fit < 2)} on this machine" if some else "which does not fit")
    if count > 1:
        costs["ranks"] = count
    facts = {"automaton": name, "generations": growing.generations, "backend": chosen.name, "device": chosen.device}
    whole = f"{name} to generation {growing.generations} {', '.join(taken)}: {size_text(free)} are free on {chosen.device}"
    return Plan(facts, costs, whole)


def automaton_of(
    automaton: str | Automaton | Rule | None = None,
    *,
    offsets: Iterable[Cell] | None = None,
    births: Iterable[int] | None = None,
    seeds: Iterable[Cell] | str | Path | None = None,
    octant: bool = False,
) -> Automaton | None:
    """Return the automaton that options describe, or None where they describe none.

    Args:
        automaton: a name of the catalogue, a rule, also in Golly's notation, or an automaton.
        offsets: those of an automaton of your own, in place of `automaton` (see `gpu_nim.automata.define`).
        births: with `offsets`: the numbers of touches that give birth, by default 1.
        seeds: the cells of generation 0, with `offsets` or an automaton that is the same everywhere, by default its own; or a
            pattern of Golly, an .rle or .rle3 file or /dev/stdin, which also has the rule where neither is given.
        octant: with `offsets`: whether only cells without a negative coordinate may live.

    Raises:
        UsageError: the options contradict each other.
        FileError: the pattern cannot be read.

    >>> automaton_of(offsets=[(1, 0), (0, 1)], seeds=[(0, 0)]).rule.births
    frozenset({1})
    """
    pattern, cells = None, seeds
    if isinstance(cells, str | Path):
        pattern = read_pattern(Path(cells))
        cells = pattern.seeds
    given = {"automaton": automaton, "offsets": offsets, "births": births, "seeds": None if pattern else cells}
    names = {name for name, value in given.items() if value is not None}
    check_options(names | {"octant"} if octant else names, _EXCLUDES, _REQUIRES)
    if offsets is not None:
        return define(offsets, births, cells, octant=octant)
    if automaton is None:
        return None if pattern is None else define(*rule_of_golly(pattern.rule), cells)
    chosen = as_automaton(automaton)
    if cells is None:
        return chosen
    rule = chosen.rule
    if rule.universe is not None or rule.touches is not None:
        raise UsageError(f"seeds must be of a rule that is the same everywhere, and that of {chosen.name} is not")
    return define(rule.offsets, rule.births, cells, octant=rule.octant)


def _check_engine(engine: str) -> None:
    if engine == "macro-cells":
        raise UsageError("engine macro-cells jumps: nothing is planned, saved or resumed")
    if engine not in ENGINES:
        raise UsageError(f"engine must be {one_of(ENGINES)}, got {short_repr(engine)}")


def _absolute(path: Path) -> Path:
    """The absolute path; a symbolic link at its end is not resolved, since a file replaces the link."""
    return path.parent.resolve() / path.name


class Planned(Communicator):
    """Rank 0 of some ranks that are not started, to plan a growth by a backend."""

    def __init__(self, size: int) -> None:
        self.size = size
