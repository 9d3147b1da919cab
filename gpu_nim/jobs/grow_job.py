"""`grow`: a growth from its seeds or from a checkpoint to its files, for `gpunim grow` and for Python alike.

A `Run` is one growth: it reads the newest checkpoint or begins at the seeds, takes each batch, with checkpoints between, and writes
the file. The engine grows in `gpu_nim.automata.growth_process.GrowthProcess`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS, Automaton
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.newborns import CellsInMemory, ancestry
from gpu_nim.automata.user_defined import as_automaton, define, rule_of_golly, with_generation
from gpu_nim.backends.interface import NOT_ON_RANKS, Backend, Batch, Communicator, allgather
from gpu_nim.backends.selection import select
from gpu_nim.jobs.checkpoints import EVERY, Checkpoints, Outputs
from gpu_nim.model.arguments import Exclusions, IntLike, Requirements, check_options, given_options, integer, short_repr, size_text
from gpu_nim.model.errors import MissingDependency, RanksLost, UsageError, missing
from gpu_nim.model.registry import one_of
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.model.shown import Plan
from gpu_nim.model.work import OnStep, host_memory, mpi_rank, no_progress
from gpu_nim.storage.atomic import flush, scratch_folder, writing
from gpu_nim.storage.growth_files import ZarrGrowthWriter, copy_store, load_growth, zarr_growth_writer
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, Limits, suffixes_with_parents
from gpu_nim.storage.rle_files import read_pattern

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


class Run:
    """A growth, with which `grow` calls `on_begin`.

    Attributes:
        growing: the growth, after generation `growing.generation`.
        outputs: what it writes, with the options of the growth that it resumes.
        form: the format of the file.
        checkpoints: the folder of checkpoints, whose `skipped` are those that were damaged.
        source: the cells that are kept in memory.
        notes: sentences on how it grows and what it writes.
        lack: what it would be faster with, and is not installed.
    """

    def __init__(
        self,
        held: ExitStack,
        automaton: Automaton | None,
        generations: IntLike | None,
        backend: Backend,
        outputs: Outputs,
        folder: str | Path | None,
        resumes: bool,
        cells: bool,
        **options: bool,
    ) -> None:
        self._held, self._resumes, self._ranks, self.notes = held, resumes, backend.communicator, list[str]()
        self.checkpoints = kept = None if folder is None else Checkpoints(folder, self._ranks)
        snapshot, last, columns = None, GENERATIONS, tuple[str, ...](DEFAULT_COLUMNS)
        if kept is not None and resumes:
            if self._ranks.rank == 0:
                held.enter_context(kept.held(new=False))
            snapshot = kept.latest(automaton)
            automaton, last, columns, out = snapshot.automaton, snapshot.generations, snapshot.columns, outputs.out
            outputs = outputs.resumed(kept.options, kept.folder, snapshot)
            if outputs.out != out:
                self.notes.append(f"saves to {outputs.out}, as when it began")
        automaton = automaton or as_automaton(AUTOMATON)
        if kept is not None and not resumes and self._ranks.rank == 0:
            kept.require_new()
        self.outputs, self.form = outputs, None if outputs.out is None else outputs.format(automaton.rule, kept)
        self._stores = self.form is not None and self.form.cells  # whether cells are stored as they are born
        if snapshot is not None and kept is not None:
            if self._stores and not kept.keeps_cells:
                wanted = f"{outputs.out} needs the cells of generations 0 to {snapshot.generation}, which {folder} does not keep"
                raise UsageError(f"{wanted}: no file that holds cells was requested at its start")
            self._stores = kept.keeps_cells
        self.growing = GrowthProcess(
            automaton,
            last if generations is None else generations,
            backend,
            columns=columns if outputs.columns is None else outputs.columns,
            every=None if kept is None else outputs.every or EVERY,
            resume=snapshot,
            cells=self._stores or cells,
            **options,
        )
        if self._ranks.size > 1 and backend.name == "cuda":
            way = "directly" if self._ranks.device_buffers else "through page-locked memory, since MPI takes no buffers of GPUs"
            self.notes.append(f"newborns travel between GPUs {way}")
        self.source = CellsInMemory(host_memory() // 2) if cells and self._ranks.rank == 0 else None
        self._limits = None if self.form is None else Limits(self.form)
        # What the errors of the store say: with checkpoints, which of them is left.
        self._named = nullcontext if kept is None else partial(writing, kept.cells, kept.left)
        self._store: ZarrGrowthWriter | None = None
        self.lack: MissingDependency | None = None

    def open(self) -> None:
        """Open what is written meanwhile, on rank 0, which has all cells."""
        if self.checkpoints is not None and not self._resumes:
            self._held.enter_context(self.checkpoints.held(new=True))
        if not self._stores:
            return
        if self.checkpoints is None:  # beside the file until it is written
            assert self.outputs.out is not None
            self._held.enter_context(writing(self.outputs.out))
            path = self._held.enter_context(scratch_folder(self.outputs.out.parent)) / "cells.zarr"
        else:
            path = self.checkpoints.cells
        parents = partial(ancestry, self.growing.automaton.rule) if self.outputs.parents else None
        self._store = zarr_growth_writer(path, self.growing.resumed, parents=parents)

    def take(self, batch: Batch) -> None:
        """Keep and store the cells of a batch, and write a checkpoint where one is due."""
        growing, store = self.growing, self._store
        if self.source is not None:
            self.source.add(batch)
        if store is not None and batch.cells is not None:
            if self._limits is not None:
                self._limits.add(growing.generation, batch.cells)
            with self._named():
                store.append(batch.cells)
        due = growing.generation % (self.outputs.every or EVERY) == 0 or growing.generation == growing.generations
        if self.checkpoints is not None and due:
            if store is not None:
                with self._named():
                    store.flush()
                flush(store.path)  # the checkpoint counts on them
            self.checkpoints.save(growing.snapshot(), self.outputs, cells=self._stores)

    def finish(self, growth: Growth) -> None:
        """Write the file, from the table of the growth or from the store of its cells."""
        form, out, store = self.form, self.outputs.out, self._store
        if store is not None:
            with self._named():
                store.finish(growth)
        if form and out and self._ranks.rank == 0:
            self.outputs.format(self.growing.automaton.rule)  # what is there may be another's by now
            if store is not None and form is GROWTH_FORMATS[".zarr"]:
                copy_store(store.path, out)
            else:
                stored = growth if store is None else load_growth(store.path)
                form.save(replace(growth, source=stored.source, parents=stored.parents), out)
        if self._ranks.size > 1:
            allgather(self._ranks, None)  # the file is written


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
    on_begin: Callable[[Run], object] = lambda _: None,
    progress: OnStep = no_progress,
) -> Growth:
    """Grow an automaton, from its seeds or from a checkpoint, and return the growth.

    Where `automaton`, `generations`, `columns`, `out`, `parents` or `every` is not given, it is that of the growth that is resumed
    or, without one, the default. Under mpirun the ranks, each of which calls this alike, divide the growth among themselves: each
    writes its part of a checkpoint, and rank 0 the file; its table is complete on rank 0 alone.

    Args:
        automaton: a name of the catalogue, also with the last generation as in "nim:63", or a `Rule` or `Automaton` of your own; by
            default nim.
        generations: the last generation, 0 or more; by default 1024.
        backend: "auto" (CUDA where there is a GPU, else NumPy), "cuda", "numpy", or an object, which has its ranks and threads.
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
        UsageError: an argument is wrong; `out` cannot hold this growth, or the checkpoint is of another one.
        BackendError: the backend cannot run here.
        FileError: a file cannot be written, or there is no intact checkpoint to resume.
        InsufficientMemoryError: the growth would not fit; raised before anything is grown.
        RanksLost: another rank was ended; the message says what is left to resume from.

    >>> grow("nim", 1024).population
    1048579

    An automaton of your own is a `Rule`, which runs on every backend, has a digest, and is saved as any other.

    >>> sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    >>> half_plane = Rule(2, sides, births=frozenset({1}), seeds=((0, 0),), universe=lambda cells: cells[:, 1] >= 0)
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
    check_options(given_options(given), _EXCLUDES, _REQUIRES)
    _check_engine(engine)
    for name, function in (("on_begin", on_begin), ("progress", progress)):
        if not callable(function):
            raise UsageError(f"{name} must be a function, got {short_repr(function)}")
    if parents and out is None:
        raise UsageError(f"parents are saved in the {suffixes_with_parents()} file of the growth, got no file")
    every = None if every is None else integer("every", every, 1)
    outputs = Outputs(None if out is None else Path(out), parents, every, columns)
    here = mpi_rank()
    if here is None or not isinstance(backend, str):
        chosen = select(backend, threads=threads)
    else:
        from gpu_nim.jobs.mpi import join, select_on_rank

        chosen = select_on_rank(backend, join(here), threads)
    automaton, generations = with_generation(automaton, generations)
    known, general = None if automaton is None else as_automaton(automaton), engine == "general"
    with ExitStack() as held:
        folder, resumes = checkpoint if resume is None else resume, resume is not None
        run = Run(held, known, generations, chosen, outputs, folder, resumes, cells, verify=verify, general=general)
        growing, population = run.growing, 0
        if growing.choice.lacks_numba:
            run.lack = missing("this growth takes a fraction of the time with numba", "numba")
            run.notes.append(str(run.lack))
        on_begin(run)
        began = time.perf_counter()
        try:
            growing.begin()
            if chosen.communicator.rank == 0:
                run.open()  # now, so that nothing is left of a growth that is refused
            for batch in growing:
                population += sum(batch.births.tolist())
                rate = population / max(time.perf_counter() - began, 1e-9)
                words = f"{int(batch.births[-1]):,} births, {rate:,.0f} cells/s, generation"
                progress(words, growing.generation, growing.generations)
                run.take(batch)
            growth = growing.growth(run.source)
            growing.end()
            run.finish(growth)
        except RanksLost as error:
            if run.checkpoints is None:
                raise
            raise RanksLost(f"{error}; {run.checkpoints.left()}") from error
        except BaseException:
            chosen.communicator.fail()  # the others wait for this rank
            raise
    return growth


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
        automaton: as for `grow`, like the following ones.
        generations: the last generation.
        backend: where to grow.
        threads: the number of numba threads.
        engine: one of `ENGINES`.
        out: the file of the growth.
        parents: whether it has each cell's parent.
        ranks: how many ranks, by default those that mpirun has started.

    Raises:
        UsageError: an argument is wrong, or the automaton does not grow on several ranks.
        BackendError: the backend cannot run here.
        InsufficientMemoryError: there cannot be enough memory.

    >>> print(plan_growth("edge", 1024, backend="numpy", ranks=8))
    edge to generation 1024 is planned to take ...iB on each of 8 ranks: ...
    """
    _check_engine(engine)
    automaton, generations = with_generation(automaton, generations)
    here = mpi_rank()
    count = integer("ranks", ranks, 1, _MOST_RANKS) if ranks is not None else 1 if here is None else here.size
    chosen = select(backend, threads=threads)
    if count > 1:
        chosen = chosen.on_rank(Planned(count))
    last = GENERATIONS if generations is None else generations
    growing = GrowthProcess(automaton or AUTOMATON, last, chosen, general=engine == "general")
    name, memory = growing.automaton.name, growing.choice.memory
    if out is not None:
        Outputs(Path(out), parents).format(growing.automaton.rule)
    if count > 1 and memory is None:
        raise UsageError(NOT_ON_RANKS)
    free, together = chosen.free_memory(), count if chosen.name == "numpy" else 1
    costs: dict[str, Any] = {"memory": memory, "free_memory": free} | ({"ranks": count} if count > 1 else {})
    taken = "takes memory as it grows, while there is any"
    if memory is not None:
        taken = f"is planned to take {size_text(memory, up=True)}" + (f" on each of {count} ranks" if count > 1 else "")
        if (fit := free // max(1, memory)) < together:
            some = f"of which {fit or 'none'} fit{'s' * (fit < 2)} on this machine"
            taken += f", {some if together > 1 else 'which does not fit'}"
    facts = {"automaton": name, "generations": growing.generations, "backend": chosen.name, "device": chosen.device}
    whole = f"{name} to generation {growing.generations} {taken}: {size_text(free)} are free on {chosen.device}"
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
    check_options(given_options(given | {"octant": octant}), _EXCLUDES, _REQUIRES)
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
    if engine not in ENGINES:
        jumps = "engine macro-cells jumps: nothing is planned, saved or resumed"
        raise UsageError(jumps if engine == "macro-cells" else f"engine must be {one_of(ENGINES)}, got {short_repr(engine)}")


class Planned(Communicator):
    """Rank 0 of some ranks that are not started, to plan a growth by a backend."""

    def __init__(self, size: int) -> None:
        self.size = size
