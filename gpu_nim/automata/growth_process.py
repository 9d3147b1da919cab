"""The growth of an automaton, a batch of generations at a time, with snapshots to resume from."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.automata.catalogue import Automaton
from gpu_nim.automata.columns import DEFAULT_COLUMNS, ColumnRecorder
from gpu_nim.automata.growth import Growth, Table
from gpu_nim.automata.newborns import CellSource, Newborns, split
from gpu_nim.automata.user_defined import as_automaton, describe
from gpu_nim.backends.interface import ALONE, Backend, Batch, Engine, EngineChoice, State, gather_cells
from gpu_nim.backends.selection import select
from gpu_nim.backends.shared.engines import Keys
from gpu_nim.model.arguments import IntLike, argument, integer, short_repr
from gpu_nim.model.arrays import ArrayValue
from gpu_nim.model.errors import GpunimError, InsufficientMemoryError, UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.model.shown import Shown
from gpu_nim.model.work import require_memory

# A batch lasts between these: long enough that its overhead is small, short enough that progress shows and Ctrl-C takes effect.
_SHORT, _LONG = 0.1, 0.5
_BATCH = 1 << 18  # cells of some generations that are wanted at a time
_TESTED = 127  # generations whose cells are checked against the theorem even with cells=False: a few times 10,000
_TOUCHED_BYTES = 200  # of the general engine, for a touched cell: its table twice while it doubles, and a step's arrays
_GENERATIONS_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Snapshot(ArrayValue):
    """A growth after some generation: all that is needed to resume it, on any backend.

    Attributes:
        automaton: the automaton.
        generations: the last generation of the growth.
        births: uint64, one per generation, up to the last one done.
        checksums: uint64, one per generation, likewise.
        state: the state of the engine, packed.
        columns: the columns that are recorded.
        measured: the state of their `ColumnRecorder`.
        mismatch: as in `GrowthProcess`.
        tested: as in `GrowthProcess`.
        seconds: the time so far.
    """

    automaton: Automaton
    generations: int
    births: NDArray[np.integer]
    checksums: NDArray[np.uint64]
    state: State
    columns: tuple[str, ...]
    measured: State
    mismatch: int | None
    tested: int
    seconds: float

    @property
    def generation(self) -> int:
        """The last generation done."""
        return len(self.births) - 1


class GrowthProcess(Shown):
    """A growth in progress, in memory alone: iterate over it for its batches, and call `growth`.

    Between batches, `snapshot` returns a state from which another process can resume, to the same digest.

    Args:
        automaton: a name of the catalogue, a `Rule` or an `Automaton`.
        generations: the last generation.
        backend: the backend, or its name. On several ranks each makes the same process, and batches have all cells on rank 0 alone.
        cells: each batch has its newborns; they are not kept here, so that a file of any size can be written.
        verify: check births, and cells where there are any, against the theorem.
        columns: the columns of the growth's table.
        every: a batch ends at each multiple of this number of generations.
        general: use the general engine, even where there is a faster one.
        resume: the snapshot to resume from.

    Attributes:
        mismatch: the first generation that contradicts the theorem, or None.
        verifies: whether births are checked against a theorem.
        tested: the last generation up to which each cell was checked, too: all with cells=True, otherwise the first ones.
        resumed: the snapshot that it resumed from, once it has begun without its state.
        ranks: the ranks of the backend.

    Raises:
        UsageError: an argument is wrong, or the snapshot is of another automaton or damaged.
        InsufficientMemoryError: the growth would not fit.

    >>> growing = GrowthProcess("edge", 100, "numpy", every=40)
    >>> snapshots = {growing.generation: growing.snapshot() for batch in growing}
    >>> resumed = GrowthProcess("edge", 100, "numpy", resume=snapshots[40])
    >>> resumed.generation, [batch.first for batch in resumed][0]
    (40, 41)
    >>> resumed.growth().digest == growing.growth().digest
    True
    >>> GrowthProcess("nim", 1024, select("numpy", threads=0)).choice.memory
    729880
    """

    def __init__(
        self,
        automaton: str | Automaton | Rule,
        generations: IntLike,
        backend: str | Backend,
        *,
        cells: bool = False,
        verify: bool = True,
        columns: Sequence[str] = DEFAULT_COLUMNS,
        every: int | None = None,
        general: bool = False,
        resume: Snapshot | None = None,
    ) -> None:
        self._backend = select(backend)
        self.ranks = self._backend.communicator
        self.automaton = as_automaton(automaton)
        repeats, most = self.automaton.repeats, _GENERATIONS_LIMIT
        self._way_on = f"; {argument('engine')} macro-cells jumps there" if repeats else ""  # in refusals
        if repeats and isinstance(generations, int) and generations > most:
            raise UsageError(f"generations is at most {most} one by one, got {short_repr(generations)}{self._way_on}")
        self.generations = generations = integer("generations", generations, 0, most)
        if every is not None:
            every = integer("every", every, 1)
        self.recorder = ColumnRecorder(columns, self.automaton.rule, generations)
        self.mismatch: int | None = None
        self.verifies = verify and self.automaton.births_formula is not None
        self._cells = cells or self.recorder.needs_cells
        self.tested = -1
        self._every = every or generations + 1
        self._general = general
        self._births: list[NDArray[np.integer]] = []
        self._checksums: list[NDArray[np.uint64]] = []
        self._seconds = 0.0
        self._engine: Engine | None = None
        self.resumed = resume
        if resume is not None:
            self._restore(resume)

    @property
    def generation(self) -> int:
        """The last generation done; -1 before the seeds are laid."""
        return sum(map(len, self._births)) - 1

    @property
    def verdict(self) -> str:
        """What the comparison with the theorem has found so far, in words."""
        if not self.verifies:
            return "not checked" if self.automaton.births_formula else "no theorem is known"
        if self.mismatch is not None:
            return f"NO, generation {self.mismatch} differs"
        some = "" if self.tested == self.generations else f" to generation {self.tested}"
        cells = f" and each cell{some}" if self.tested >= 0 else ""
        return f"yes, births{cells}, by {self.automaton.source}"

    def __iter__(self) -> Iterator[Batch]:
        """Grow to the last generation, a batch of generations at a time."""
        engine = self.begin()
        stride, busiest, several = 1, 1, self.ranks.size > 1
        while engine.generation < self.generations:
            began = time.perf_counter()
            pause = (engine.generation // self._every + 1) * self._every
            to = min(engine.generation + stride, self.generations, pause)
            # Whether each cell of the next generation is checked against the theorem, though no cells are wanted.
            tests = not self._cells and self.verifies and self.automaton.cell_test is not None
            tests = tests and self.tested == engine.generation < _TESTED
            if tests:
                to = min(to, _TESTED)
            wanted = self._cells or tests
            # Of several ranks each has some cells of a generation, and only a batch of one generation says of which they are.
            alone = engine.generation + 1 if several and wanted else to
            own = batch = engine.advance(alone, cells=wanted, section=self.recorder.section)
            if own.cells is not None:
                batch = replace(own, cells=None if tests else gather_cells(self.ranks, own.cells))
            if self.ranks.rank == 0 or not self.recorder.needs_cells:
                self.recorder.add(batch)
            elapsed = time.perf_counter() - began
            if several:  # the mean, by which all ranks choose batches alike
                elapsed = int(self.ranks.sum(np.array([int(elapsed * 1e9)], np.uint64))[0]) / 1e9 / self.ranks.size
            self._seconds += elapsed
            self._births.append(batch.births)
            self._checksums.append(batch.checksums)
            self._check(own)
            yield replace(batch, births=batch.births.astype(np.int64))
            if elapsed > _LONG:
                stride = max(1, stride // 2)
            elif elapsed < _SHORT:
                stride *= 2
            if self._cells:  # the next generation may have as many as the busiest one
                busiest = max(busiest, int(batch.births.max()))
                stride = min(stride, max(1, _BATCH // busiest))

    @cached_property
    def choice(self) -> EngineChoice:
        """The engine that the backend has for it, with the bytes that it is planned to take."""
        rule, last = self.automaton.rule, self.generations
        engine = partial(self._backend.engine, rule, last, cells=self._cells or self.recorder.section is not None)
        if self.resumed is not None:
            with _damage_refused():
                return engine(self.resumed.state)
        try:
            choice = engine(general=self._general)
            fits = choice.memory is None or choice.memory <= choice.free
        except InsufficientMemoryError as error:
            if not self._touched_fit:
                raise InsufficientMemoryError(f"{error}{self._way_on}") from error
            fits = False
        return choice if fits or not self._touched_fit else engine(general=True)

    @property
    def _touched_fit(self) -> bool:
        """Whether the general engine may grow what has no room for a table of bricks, since its offsets are long and few."""
        rule, last, free = self.automaton.rule, self.generations, self._backend.free_memory()
        with suppress(UsageError):  # its keys would not fit 63 bits
            Keys(rule, last)
            return not self._general and self.ranks.size == 1 and _TOUCHED_BYTES * rule.most_touched(last) <= free
        return False

    def begin(self) -> Engine:
        """Make the engine, with the memory that it needs, if there is none yet, and return it."""
        if self._engine is not None:
            return self._engine
        began, choice = time.perf_counter(), self.choice
        try:
            if choice.memory is not None:
                device = f" on {self._backend.device}" if self._backend.name == "cuda" else ""
                require_memory(choice.memory, choice.free, f"a growth to generation {self.generations}{device}")
            with _damage_refused() if self.resumed else nullcontext():
                self._engine = choice.make()
        except InsufficientMemoryError as error:
            raise InsufficientMemoryError(f"{error}{self._way_on}") from error
        del self.choice  # which has the state
        if self.resumed is not None:
            self.resumed = replace(self.resumed, state={})
        self._seconds += time.perf_counter() - began
        return self._engine

    def end(self) -> None:
        """Free the memory of the engine: it grows no further, and has no snapshots."""
        self._engine = None

    def _restore(self, snapshot: Snapshot) -> None:
        begun = snapshot.automaton
        if (begun.name, describe(begun.rule)) != (self.automaton.name, describe(self.automaton.rule)):
            raise UsageError(f"automaton must be the one that is resumed, {begun.name}, got {self.automaton.name}")
        if self.generations < snapshot.generation:
            raise UsageError(f"generations must be at least {snapshot.generation}, where this resumes, got {self.generations}")
        with _damage_refused():
            self.recorder.restore(snapshot.measured, snapshot.columns)
        self._births, self._checksums = [snapshot.births], [snapshot.checksums]
        self.mismatch, self.tested = snapshot.mismatch, snapshot.tested
        self._seconds = snapshot.seconds
        # The first part may have been grown with verify=False.
        self._check(Batch(0, snapshot.births, snapshot.checksums))

    def snapshot(self) -> Snapshot:
        """Return the state of the growth, to resume from later.

        Raises:
            UsageError: the growth has not begun.
        """
        if self._engine is None or self.generation < 0:
            raise UsageError("a snapshot needs a growth that has begun: iterate over it first")
        return Snapshot(
            self.automaton,
            self.generations,
            np.concatenate(self._births),
            np.concatenate(self._checksums),
            self._engine.state(),
            self.recorder.columns,
            self.recorder.state(),
            self.mismatch,
            self.tested,
            self._seconds,
        )

    def growth(self, source: CellSource | None = None) -> Growth:
        """Grow to the end, and return the growth, whose cells are read from `source` or otherwise grown again on demand."""
        for _ in self if self.generation < self.generations else ():
            pass
        births = np.concatenate(self._births).astype(np.int64)
        alone = self._backend if self.ranks.size == 1 else self._backend.on_rank(ALONE)
        return Growth(
            self.automaton.name,
            births,
            np.concatenate(self._checksums),
            source or RegrownCells(self.automaton, alone, self.generations, general=self._general),
            symmetry=self.automaton.rule.symmetry,
            verified=self.mismatch is None if self.verifies else None,
            backend=self._backend.name,
            device=self._backend.device,
            seconds=self._seconds,
            rule=self.automaton.rule,
            lattice=self.automaton.lattice,
            table=Table({} if self.ranks.rank else self.recorder.values(births)),  # rank 0 has all cells
        )

    def _check(self, batch: Batch) -> None:
        formula, test = self.automaton.births_formula, self.automaton.cell_test
        if not self.verifies or formula is None or self.mismatch is not None:
            return
        numbers = np.arange(batch.first, batch.first + len(batch.births), dtype=np.int64)
        wrong = batch.births != np.array(list(map(formula, numbers.tolist())), np.uint64)
        if batch.cells is not None and test is not None and not wrong.any():
            # Several ranks have a generation at a time, of which each tests its own cells.
            own = batch.births.astype(np.int64) if self.ranks.size == 1 else [len(batch.cells)]
            born = np.repeat(numbers, own)
            outsiders = np.bincount(born[~test(batch.cells, born)] - batch.first, minlength=len(numbers))
            wrong = self.ranks.sum(outsiders.astype(np.uint64)) > 0
            if self.tested == batch.first - 1:
                self.tested = int(numbers[-1])
        if wrong.any():
            self.mismatch = int(numbers[np.argmax(wrong)])


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Raise UsageError in place of the errors that a snapshot with wrong contents causes."""
    try:
        yield
    except GpunimError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise UsageError("resume must be a snapshot of a growth, got one whose state is damaged") from error


class RegrownCells:
    """A source of cells that grows them again, for growths whose cells were not kept.

    Generations from 0 on are grown while they are read.  Any other request continues from the last one, so that reading the
    generations one by one takes a single growth, or begins again where it is for an earlier one.  The engine is kept until it has
    reached the last generation.

    Args:
        automaton: the automaton.
        backend: the backend, or its name: one that was pickled grows on NumPy as before, or else on what there is.
        last: the growth's last generation.
        general: whether the general engine grows it.
    """

    def __init__(self, automaton: Automaton, backend: Backend | str, last: int, *, general: bool = False) -> None:
        self._automaton, self._backend, self._last, self._general = automaton, backend, last, general
        self._coming: Iterator[Newborns] = iter(())
        self._lock = Lock()  # threads may share a growth
        self._none: Newborns = (last + 1, np.zeros((0, 0), np.int32))
        self._latest = self._none

    def __call__(self, first: int, stop: int) -> Iterator[Newborns]:
        """Yield the newborns of generations first to stop - 1."""
        if first == 0:
            yield from self._newborns(stop - 1)
        else:
            for generation in range(first, stop):
                with self._lock:
                    newborns = self._continued(generation)
                yield newborns

    def __reduce__(self) -> tuple[Any, ...]:
        backend = self._backend if getattr(self._backend, "name", "") == "numpy" else "auto"
        return partial(RegrownCells, general=self._general), (self._automaton, backend, self._last)

    def _newborns(self, last: int) -> Iterator[Newborns]:
        growing = GrowthProcess(self._automaton, last, self._backend, cells=True, verify=False, general=self._general)
        return chain.from_iterable(map(split, growing))

    def _continued(self, generation: int) -> Newborns:
        latest, self._latest = self._latest, self._none  # an interrupted growth cannot continue
        if generation < latest[0]:
            self._coming = self._newborns(self._last)
            latest = next(self._coming)
        while latest[0] < generation:
            latest = next(self._coming)
        if generation == self._last:
            self._coming = iter(())  # this releases the engine's memory
        self._latest = latest
        return latest
