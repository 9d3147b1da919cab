"""A growth from its beginning or its latest checkpoint to its files: the work of `gpunim grow`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from gpu_nim.automata.ancestry import ancestry, require_one_parent
from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS, Automaton, as_automaton, find
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess
from gpu_nim.automata.macro_cells import MacroGrowth
from gpu_nim.automata.user_defined import define
from gpu_nim.backends.communicator import NOT_ON_RANKS, Communicator, share
from gpu_nim.backends.interface import Backend, Batch
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.backends.selection import select
from gpu_nim.jobs.checkpoints import Checkpoints
from gpu_nim.model.arguments import Apart, Needs, argument, check_together, given_fields, integer, shown
from gpu_nim.model.errors import MissingDependency, RanksLost, UsageError, missing
from gpu_nim.model.notebook_repr import Plan
from gpu_nim.model.registry import one_of
from gpu_nim.model.rule import Cell, Rule
from gpu_nim.model.work import OnStep, place, unreported
from gpu_nim.storage.atomic import flush, scratch_folder, writing
from gpu_nim.storage.growth_files import ZarrGrowthWriter, copy_store, load_growth, zarr_growth_writer
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, GrowthFormat, Limits, growth_format, suffixes_with_parents
from gpu_nim.storage.rle_files import read_pattern, rule_of_golly

EVERY = 100  # generations from one checkpoint to the next
_MOST_RANKS = 1 << 14  # that a plan is for, which goes through all of them
#: The options that a checkpoint keeps for the growth that resumes.
_STORED = ("out", "parents", "every", "columns")
Engine: TypeAlias = Literal["auto", "general", "macro-cells"]
#: The engines: the fast one where there is one, the one for any rule, and jumps without the generations before.
ENGINES: tuple[Engine, ...] = get_args(Engine)
_JUMPS = {"automaton", "generations", "offsets", "births", "seeds", "octant", "engine", "within"}
_APART: Apart = {"checkpoint": ("resume",), "offsets": ("automaton",)}
_OWN = ("offsets",), "which describes an automaton of your own"
_NEEDS: Needs = {
    "births": _OWN,
    "seeds": (("offsets", "automaton"), "which grows from them"),
    "octant": _OWN,
    "every": (("checkpoint", "resume"), "the folder of the checkpoints between which it is the number of generations"),
}


@dataclass(frozen=True)
class GrowthJob:
    """A growth that is written to a file, with checkpoints if a folder is given for them.

    Making a job reads and locks nothing: `grow` does all of it, `open` yields the growth before it goes on, and `plan` only says
    what it would take. Under mpirun each rank makes the same job; each writes its part of a checkpoint, and rank 0 the file.

    Where `automaton`, `generations`, `columns`, `out` or `every` is not given, it is that of the resumed checkpoint or, without
    one, the default.

    Args:
        automaton: the automaton.
        generations: the last generation.
        offsets: those of an automaton of your own, in place of `automaton` (see `gpu_nim.automata.user_defined.define`).
        births: with `offsets`: the numbers of touches that give birth, by default 1.
        seeds: the cells of generation 0, with `offsets` or an automaton that is the same everywhere, by default its own; or a
            pattern of Golly, an .rle or .rle3 file, which also has the rule where neither is given.
        octant: with `offsets`: whether only cells without a negative coordinate may live.
        backend: "auto", "cuda", "numpy", or a backend object, which has its ranks and its threads.
        threads: the number of numba threads, on NumPy; 0 turns numba off; by default one per core.
        columns: the columns of the growth's table.
        out: the file of the growth (see `gpu_nim.storage.growth_formats`).
        parents: whether `out` has each cell's parent.
        verify: whether to check the growth against its theorem.
        engine: one of `ENGINES`; with "macro-cells", `jump` takes the place of `grow`, and nothing is written.
        within: with "macro-cells": two corners of a box, both included, in which the cells are counted, too.
        checkpoint: a new folder for checkpoints.
        resume: a folder of checkpoints to resume from.
        every: the number of generations between checkpoints.
        ranks: how many ranks `plan` is for, by default those that mpirun has started.

    Raises:
        UsageError: the arguments contradict each other.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     begun = GrowthJob("edge", 20, checkpoint=Path(folder, "run"), every=10).grow()
    ...     with GrowthJob(generations=40, resume=Path(folder, "run")).open() as longer:
    ...         longer.growing.generation, longer.grow().population
    (20, 7117)
    """

    automaton: str | Automaton | Rule | None = None
    generations: int | None = None
    _: KW_ONLY
    offsets: Iterable[Cell] | None = None
    births: Iterable[int] | None = None
    seeds: Iterable[Cell] | str | Path | None = None
    octant: bool = False
    backend: str | Backend = "auto"
    threads: int | None = None
    columns: Sequence[str] | None = None
    out: str | Path | None = None
    parents: bool = False
    verify: bool = True
    engine: Engine = "auto"
    within: Iterable[Cell] | None = None
    checkpoint: str | Path | None = None
    resume: str | Path | None = None
    every: int | None = None
    ranks: int | None = None

    def __post_init__(self) -> None:
        given = given_fields(self)
        check_together(given.keys() - {"seeds"} if isinstance(self.seeds, str | Path) else given, _APART, _NEEDS)
        if self.engine not in ENGINES:
            raise UsageError(f"{argument('engine')} must be {one_of(ENGINES)}, got {shown(self.engine)}")
        if self.engine == "macro-cells":
            for name in given.keys() - _JUMPS:
                instead = f", and count a section by {argument('within')}" if name == "columns" else ""
                raise UsageError(f"{argument('engine')} macro-cells has populations alone: leave out {argument(name)}{instead}")
        elif self.within is not None:
            raise UsageError(f"{argument('within')} needs {argument('engine')} macro-cells; others have {argument('section')}")
        if self.parents and self.out is None:
            raise UsageError(f"parents are saved in the {suffixes_with_parents()} file of the growth, got no file")
        if not isinstance(self.backend, str) and "threads" in given:
            raise UsageError("threads must be left out with a backend object, which has its own")
        if self.every is not None:
            integer("every", self.every, 1)
        if self.ranks is not None:
            integer("ranks", self.ranks, 1, _MOST_RANKS)

    @property
    def _chosen(self) -> Automaton | None:
        """The automaton that is asked for, if any is."""
        seeds, pattern = self.seeds, None
        if isinstance(seeds, str | Path):
            pattern = read_pattern(Path(seeds))
            seeds = pattern.seeds
        if self.offsets is not None:
            return define(self.offsets, self.births, seeds, octant=self.octant)
        if self.automaton is None:
            return None if pattern is None else define(*rule_of_golly(pattern.rule, pattern.cells.shape[1]), seeds)
        chosen = as_automaton(self.automaton)
        if seeds is None:
            return chosen
        rule = chosen.rule
        if rule.universe is not None or rule.touches is not None:
            raise UsageError(f"{argument('seeds')} must be of a rule that is the same everywhere, and that of {chosen.name} is not")
        return define(rule.offsets, rule.births, seeds, octant=rule.octant)

    @property
    def _general(self) -> bool:
        return self.engine == "general"

    def _check_engine(self) -> None:
        if self.engine == "macro-cells":
            raise UsageError(f"{argument('engine')} macro-cells jumps: nothing is planned, saved or resumed")

    @property
    def last(self) -> int:
        """The last generation, where nothing is resumed."""
        return GENERATIONS if self.generations is None else self.generations

    def jump(self, on_step: OnStep = unreported) -> MacroGrowth:
        """Return the growth by macro-cells, at its beginning.

        Args:
            on_step: called for progress.

        Raises:
            UsageError: macro-cells do not grow by its rule.

        >>> growth = GrowthJob("hexagonal", 2**14, engine="macro-cells").jump()
        >>> growth.advance(2**14)
        >>> growth.population()
        511670917
        """
        return MacroGrowth(self._chosen or AUTOMATON, whole=self.within is not None, on_step=on_step)

    def _format(self, automaton: Automaton) -> GrowthFormat | None:
        """The format of the file; UsageError or FileError where it cannot hold the growth, or cannot be written."""
        if self.out is None:
            return None
        found = growth_format(Path(self.out), parents=self.parents)
        found.check(Path(self.out), automaton.rule.dimension)
        return found

    @property
    def _folder(self) -> Path | None:
        folder = self.checkpoint or self.resume
        return None if folder is None else Path(folder)

    def plan(self) -> Plan:
        """Return what the growth is planned to take, without starting it; on several ranks, of the one that has most.

        Raises:
            UsageError: it resumes, or the automaton does not grow on several ranks.
            BackendError: the backend cannot run here.

        >>> print(GrowthJob("edge", 1024, backend="numpy", ranks=8).plan())
        edge to generation 1024 is planned to take ... bytes on each of 8 ranks: ...
        """
        self._check_engine()
        if self.resume is not None:
            raise UsageError(f"{argument('plan')} is for a growth from its seed: leave out {argument('resume')}")
        here = place()
        ranks = self.ranks or (1 if here is None else here.size)
        backend = select(self.backend, threads=self.threads)
        if ranks > 1:
            backend = backend.on_rank(Planned(ranks))
        growing = GrowthProcess(self._chosen or AUTOMATON, self.last, backend, general=self._general)
        name, memory = growing.automaton.name, growing.planned_memory()
        self._format(growing.automaton)
        if ranks > 1 and memory is None:
            raise UsageError(NOT_ON_RANKS)
        free = backend.free_memory()
        costs: dict[str, Any] = {"memory": memory, "free_memory": free}
        taken = ["takes memory as it grows, while there is any" if memory is None else f"is planned to take {memory:,} bytes"]
        if ranks > 1:
            taken[-1] += f" on each of {ranks} ranks"
        if memory is not None and (fit := free // max(1, memory)) < (ranks if backend.name == "numpy" else 1):
            some = ranks > 1 and backend.name == "numpy"
            taken.append(f"of which {fit or 'none'} fit{'s' * (fit < 2)} on this machine" if some else "which does not fit")
        if ranks > 1:
            costs["ranks"] = ranks
        facts = {"automaton": name, "generations": growing.generations, "backend": backend.name, "device": backend.device}
        whole = f"{name} to generation {growing.generations} {', '.join(taken)}: {free:,} bytes are free on {backend.device}"
        return Plan(facts, costs, whole)

    def grow(self, on_batch: Callable[[Batch], None] = lambda batch: None) -> Growth:
        """Grow to the end, write the file, and return the growth, whose table is complete on rank 0 alone.

        Args:
            on_batch: called with each finished batch.
        """
        with self.open() as opened:
            return opened.grow(on_batch)

    @contextmanager
    def open(self, on_lack: Callable[[MissingDependency], None] = lambda lack: None) -> Iterator[OpenGrowth]:
        """Lock the folder of checkpoints, read the newest, and yield the growth with the memory that it needs.

        Args:
            on_lack: called, before anything is written, with what the growth would be faster with and is not installed.

        Raises:
            UsageError: an output cannot hold this growth, or the checkpoint is of another one.
            BackendError: the backend cannot run here.
            FileError: an output cannot be written, or there is no intact checkpoint to resume.
            InsufficientMemoryError: the growth would not fit.
        """
        self._check_engine()
        backend, folder = self._on_ranks(), self._folder
        ranks = backend.communicator
        notes: list[str] = []
        with ExitStack() as held:
            chosen = self._chosen
            job, snapshot, checkpoints = self, None, None if folder is None else Checkpoints(folder, ranks)
            if checkpoints is not None and self.resume is not None:
                if ranks.rank == 0:
                    held.enter_context(checkpoints.held(new=False))
                snapshot = checkpoints.latest(chosen)
                chosen = snapshot.automaton
                job = self._with(checkpoints.asked)
                if job.out != self.out:
                    notes.append(f"saves to {job.out}, as was asked for when it began")
            chosen = chosen or find(AUTOMATON)
            if ranks.rank == 0:
                job._check_folder(chosen)
            form = job._format(chosen)
            names = job.columns or (DEFAULT_COLUMNS if snapshot is None else snapshot.columns)
            from_cells = form is not None and form.cells
            stores = from_cells if checkpoints is None or snapshot is None else checkpoints.keeps_cells
            if snapshot is not None and from_cells and not stores:
                raise UsageError(
                    f"{job.out} needs the cells of generations 0 to {snapshot.generation}, which {self.resume} does "
                    "not keep: no file that holds cells was requested at its start"
                )
            last = GENERATIONS if snapshot is None else snapshot.generations
            growing = GrowthProcess(
                chosen,
                last if job.generations is None else job.generations,
                backend,
                cells=stores,
                verify=job.verify,
                columns=names,
                every=(job.every or EVERY) if checkpoints is not None else None,
                general=job._general,
                resume=snapshot,
            )
            if isinstance(backend, NumpyBackend) and backend.lacks_numba(chosen.rule, growing.generations, general=job._general):
                lack = missing("this growth takes a fraction of the time with numba", "numba")
                on_lack(lack)
                notes.append(str(lack))
            if ranks.size > 1 and backend.name == "cuda":
                way = "directly" if ranks.device_buffers else "through page-locked memory, since MPI takes no buffers of GPUs"
                notes.append(f"newborns travel between GPUs {way}")
            growing.begin()
            if checkpoints is not None and snapshot is None and ranks.rank == 0:
                held.enter_context(checkpoints.held(new=True))  # now, so that a growth that is refused leaves no folder
            yield OpenGrowth(job, growing, notes, checkpoints, stores, form)

    def _on_ranks(self) -> Backend:
        """The backend, with the ranks that mpirun has started."""
        here = place()
        started = 1 if here is None else here.size
        if self.ranks not in (None, started):
            raise UsageError(f"{argument('ranks')} is for a plan: mpirun starts ranks, and has started {started}, got {self.ranks}")
        if here is None or not isinstance(self.backend, str):
            return select(self.backend, threads=self.threads)
        from gpu_nim.jobs.mpi import join, select_on_rank

        return select_on_rank(self.backend, join(here), self.threads)

    def _with(self, asked: dict[str, Any]) -> GrowthJob:
        """This job, with the options of the one that it resumes where it has none of its own.

        The file has a name relative to the folder of checkpoints, so that the run and its file may be moved, or copied.
        """
        folder = Path(self.resume or ".").resolve()
        options: dict[str, Any] = {name: getattr(self, name) or asked.get(name) for name in _STORED}
        if self.out is None and asked.get("out") is not None:
            path = _whole(folder / asked["out"])
            if not any(path.is_relative_to(place) for place in (folder.parent, Path.cwd())):
                where = f"{folder.parent}, where {folder.name} is, and of the current folder"
                raise UsageError(f"this growth was saved to {path}, outside of {where}: give {argument('out')}")
            options["out"] = path
        return replace(self, **options)

    def _check_folder(self, automaton: Automaton) -> None:
        """Check that the folder of checkpoints is not the file, and that parents are known."""
        if self.checkpoint is not None:
            Checkpoints(self.checkpoint).require_new()
        own = [] if self._folder is None else [_whole(self._folder), _whole(Checkpoints(self._folder).cells)]
        if self.out is not None and _whole(Path(self.out)) in own:
            raise UsageError(f"{self.out} is where the checkpoints are kept: choose another file, or another folder for them")
        if self.parents:
            require_one_parent(automaton.rule)

    @property
    def stored_options(self) -> dict[str, Any]:
        """The options that a checkpoint keeps, as plain values, with the file relative to its folder."""
        values = {name: getattr(self, name) for name in _STORED}
        folder = (self._folder or Path()).resolve()
        out = None if self.out is None else os.path.relpath(_whole(Path(self.out)), folder)
        return {**values, "every": self.every or EVERY, "out": out}


@dataclass(frozen=True)
class OpenGrowth:
    """A growth whose folder of checkpoints is locked, as `GrowthJob.open` yields it.

    Attributes:
        job: the job, with the options of the one that it resumes.
        growing: the growth in progress.
        notes: sentences on how it grows and what it writes, for who watches it.
    """

    job: GrowthJob
    growing: GrowthProcess
    notes: list[str]
    _checkpoints: Checkpoints | None
    _stores_cells: bool
    _form: GrowthFormat | None

    @property
    def passed_over(self) -> list[str]:
        """A sentence for each checkpoint that was damaged and therefore skipped."""
        return [] if self._checkpoints is None else self._checkpoints.passed_over

    @property
    def saves_columns(self) -> bool:
        """Whether its file has the columns."""
        return self._form is not None and not self._form.cells

    def grow(self, on_batch: Callable[[Batch], None] = lambda batch: None) -> Growth:
        """Grow to the end, write the file, and return the growth, whose table is complete on rank 0 alone.

        Args:
            on_batch: called with each finished batch.

        Raises:
            RanksLost: another rank was ended; the message says what is left to resume from.
        """
        try:
            with ExitStack() as stack:
                store = self._open_store(stack)
                limits = None if self._form is None else Limits(self._form)
                for batch in self.growing:
                    if store is not None and batch.cells is not None:
                        if limits is not None:
                            limits.add(batch.first + len(batch.births) - 1, batch.cells)
                        self._write(partial(store.append, batch.cells))
                    on_batch(batch)
                    self._save(store)
                growth = self.growing.growth()
                self.growing.end()
                if store is not None:
                    self._write(partial(store.finish, growth))
                if self.growing.ranks.rank == 0:
                    self._write_file(growth, store)
            share(self.growing.ranks, None)  # the file is written
        except RanksLost as error:
            if self._checkpoints is None:
                raise
            raise RanksLost(f"{error}; {self._checkpoints.left()}") from error
        except BaseException:
            self.growing.ranks.fail()  # the others wait for this rank
            raise
        return growth

    def _open_store(self, stack: ExitStack) -> ZarrGrowthWriter | None:
        """Open the store of cells, if the file is written from them: with the checkpoints, or else beside that file until it is."""
        checkpoints, snapshot = self._checkpoints, self.growing.resumed
        if not self._stores_cells or self.growing.ranks.rank:  # rank 0 has all cells
            return None
        parents = partial(ancestry, self.growing.automaton.rule) if self.job.parents else None
        if checkpoints is None:
            assert self.job.out is not None
            path = Path(self.job.out)
            stack.enter_context(writing(path))
            cells = stack.enter_context(scratch_folder(path.parent)) / "cells.zarr"
        else:
            cells = checkpoints.cells
        return zarr_growth_writer(cells, snapshot, parents=parents)

    def _write(self, step: Callable[[], None]) -> None:
        with nullcontext() if self._checkpoints is None else writing(self._checkpoints.cells, self._checkpoints.left):
            step()

    def _save(self, store: ZarrGrowthWriter | None) -> None:
        growing, every = self.growing, self.job.every or EVERY
        if self._checkpoints is None or (growing.generation % every and growing.generation != growing.generations):
            return
        if store is not None:
            self._write(store.flush)
            flush(self._checkpoints.cells)  # the checkpoint counts on them
        self._checkpoints.save(growing.snapshot(), asked=self.job.stored_options, cells=store is not None)

    def _write_file(self, growth: Growth, store: ZarrGrowthWriter | None) -> None:
        """Write the file from the table of the growth or from the store of its cells."""
        if self._form is None:
            return
        assert self.job.out is not None
        path = Path(self.job.out)
        if store is None:
            self._form.save(growth, path)
        elif self._form is GROWTH_FORMATS[".zarr"]:
            copy_store(store.path, path)
        else:
            stored = load_growth(store.path)
            self._form.save(replace(self.growing.growth(stored.source), parents=stored.parents), path)


def _whole(path: Path) -> Path:
    """The absolute path; a symbolic link at its end is not resolved, since a file replaces the link."""
    return path.parent.resolve() / path.name


class Planned(Communicator):
    """Rank 0 of some ranks that are not started, to ask a backend for its plan."""

    def __init__(self, size: int) -> None:
        self.size = size
