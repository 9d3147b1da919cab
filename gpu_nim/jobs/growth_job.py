"""A growth from its beginning or its latest checkpoint to its files: the work of `gpunim grow`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from gpu_nim.automata.ancestry import ancestry, require_one_parent
from gpu_nim.automata.catalogue import AUTOMATON, GENERATIONS, Automaton, GrowthEntry, find
from gpu_nim.automata.columns import DEFAULT_COLUMNS
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.growth_process import GrowthProcess, as_automaton
from gpu_nim.automata.snapshot import Snapshot
from gpu_nim.backends.interface import Backend, Batch
from gpu_nim.backends.selection import select
from gpu_nim.jobs.checkpoints import Checkpoints, rest_told
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.model.rule import Rule
from gpu_nim.storage.atomic import check_writable, claim, flush
from gpu_nim.storage.growth_bfiles import bfile_column, write_bfile
from gpu_nim.storage.growth_formats import GROWTH_FORMATS, check_growth_file, open_growth, suffixes_with_parents
from gpu_nim.storage.growth_writer import GatheringWriter, GrowthWriter, write_growth
from gpu_nim.storage.voxels import check_voxels, open_voxels, save_voxels
from gpu_nim.storage.zarr_files import ZarrGrowthWriter, copy_store, load_zarr_growth, new_zarr_growth, resumed_zarr_growth

EVERY = 100  # generations from one checkpoint to the next


@dataclass(frozen=True)
class Outputs:
    """The files to write: the growth (see `gpu_nim.storage.growth_formats`), its voxels, a b-file; and whether with parents."""

    out: Path | None = None
    voxels: Path | None = None
    bfile: Path | None = None
    parents: bool = False

    def __post_init__(self) -> None:
        if len({*map(_whole, self.paths)}) < len(self.paths):
            raise UsageError(f"each file must have a name of its own, got {', '.join(map(str, self.paths))}")
        if self.parents and self.out is None:
            raise UsageError(f"parents are saved in the {suffixes_with_parents()} file of the growth, got no file")

    @property
    def paths(self) -> list[Path]:
        """All of them."""
        return [path for path in (self.out, self.voxels, self.bfile) if path is not None]

    @property
    def want_cells(self) -> list[Path]:
        """Those that are written from cells."""
        return [path for path in (self.out, self.voxels) if path is not None and _needs_cells(path)]

    def as_record(self) -> dict[str, Any]:
        """Return them as plain values, with absolute paths."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(_whole(value)) if isinstance(value, Path) else value for name, value in values.items()}

    def merged_with(self, record: dict[str, Any]) -> Outputs:
        """Return these where they are given, and otherwise those of a record."""
        old: dict[str, Any] = {name: Path(value) if isinstance(value, str) else value for name, value in record.items()}
        merged: dict[str, Any] = {field.name: getattr(self, field.name) or old.get(field.name) for field in fields(self)}
        return Outputs(**merged)


def _whole(path: Path) -> Path:
    """The absolute path; a symbolic link at its end is not resolved, since a file replaces the link."""
    return path.parent.resolve() / path.name


def _needs_cells(path: Path) -> bool:
    return path.suffix not in GROWTH_FORMATS or GROWTH_FORMATS[path.suffix].cells


class GrowthJob:
    """A growth that is written to files, with checkpoints if a folder is given for them.

    Where `automaton`, `generations`, `columns`, `outputs` or `every` is not given, it is that of the resumed checkpoint or, without
    one, the default.

    Args:
        automaton: the automaton.
        generations: the last generation.
        backend: "auto", "cuda", "numpy", or a backend object: `gpu_nim.jobs.select("numpy", disk=folder)` keeps the table of the
            growth in a file of that folder, where it does not fit in memory. On several ranks each makes the same job; each writes
            its part of a checkpoint and of a Zarr store of cells, and rank 0 all other files.
        columns: the columns of the growth's table.
        outputs: the files to write.
        verify: whether to check the growth against its theorem.
        general: whether to use the general engine, even where a faster one applies.
        checkpoint: a new folder for checkpoints.
        resume: a folder of checkpoints to resume from.
        every: the number of generations between checkpoints.

    Raises:
        UsageError: the arguments contradict each other, or an output cannot hold this growth.
        FileError: an output cannot be written, or there is no intact checkpoint to resume.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     begun = GrowthJob("edge", 20, checkpoint=Path(folder, "run"), every=10).grow()
    ...     longer = GrowthJob(generations=40, resume=Path(folder, "run"))
    ...     longer.growing.generation, longer.grow().population
    (20, 7117)
    """

    def __init__(
        self,
        automaton: str | Automaton | Rule | None = None,
        generations: int | None = None,
        *,
        backend: str | Backend = "auto",
        columns: Sequence[str] | None = None,
        outputs: Outputs | None = None,
        verify: bool = True,
        general: bool = False,
        checkpoint: Path | None = None,
        resume: Path | None = None,
        every: int | None = None,
    ) -> None:
        if checkpoint is not None and resume is not None:
            raise UsageError("checkpoint makes a new folder and resume uses an existing one: only one may be given")
        if every is not None and checkpoint is None and resume is None:
            raise UsageError("every is the number of generations between checkpoints: it needs a folder to checkpoint to or resume")
        backend = select(backend)
        self._ranks = backend.communicator
        self._writes = self._ranks.rank == 0
        with ExitStack() as held:
            chosen = None if automaton is None else as_automaton(automaton)
            snapshot: Snapshot | None = None
            self.outputs = outputs or Outputs()
            self.passed_over: list[str] = []
            """A sentence for each checkpoint that was damaged and therefore skipped."""
            self._checkpoints = Checkpoints(folder, self._ranks) if (folder := checkpoint or resume) is not None else None
            if self._checkpoints is not None and resume is not None:
                if self._writes:
                    held.enter_context(self._checkpoints.held(new=False))
                snapshot = self._checkpoints.latest(chosen)
                chosen = snapshot.automaton
                self.passed_over = self._checkpoints.passed_over
                asked = self._checkpoints.asked
                every = every or asked.get("every")
                columns = columns or asked.get("columns")
                self.outputs = self.outputs.merged_with(asked)
                generations = snapshot.generations if generations is None else generations
            chosen = chosen or find(AUTOMATON)
            self._every = every or EVERY
            self.columns = None if columns is None else tuple(columns)
            """The requested columns, now or at the start of the growth; None for the default."""
            names = self.columns or (DEFAULT_COLUMNS if snapshot is None else snapshot.columns)
            self._bfile: tuple[str, GrowthEntry | None] | None = None
            if self.outputs.bfile is not None:
                self._bfile = bfile_column(self.outputs.bfile, chosen.oeis, self.columns or ())
                names = (*names, *({self._bfile[0]} - {*names}))
            if self._writes:
                self._check_outputs(chosen)
            self._stores_cells = self._checkpoints is not None and (
                self._checkpoints.extent is not None if snapshot is not None else bool(self.outputs.want_cells)
            )
            if snapshot is not None and self.outputs.want_cells and not self._stores_cells:
                raise UsageError(
                    f"{self.outputs.want_cells[0]} needs the cells of generations 0 to {snapshot.generation}, which {resume} does "
                    "not keep: no file that holds cells was requested at its start"
                )
            self.growing = GrowthProcess(
                chosen,
                GENERATIONS if generations is None else generations,
                backend,
                cells=bool(self.outputs.want_cells) or self._stores_cells,
                verify=verify,
                columns=names,
                every=self._every if self._checkpoints is not None else None,
                general=general,
                resume=snapshot,
            )
            self._ancestry = partial(ancestry, chosen.rule) if self.outputs.parents else None
            for path in self.outputs.paths if self._writes else ():
                held.enter_context(claim(path))
            if self._checkpoints is not None and snapshot is None and self._writes:
                held.enter_context(self._checkpoints.held(new=True))
            self._held = held.pop_all()

    def __enter__(self) -> GrowthJob:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the names of the files, which `grow` does at its end, too."""
        self._held.close()

    def grow(self, on_batch: Callable[[Batch], None] = lambda batch: None) -> Growth:
        """Grow to the end, write the files, and return the growth, whose table is complete on rank 0 alone."""
        with self._held, rest_told(self._checkpoints):
            with ExitStack() as stack:
                writers, store = self._open(stack)
                for batch in self.growing:
                    self._write(*(partial(writer.append, batch) for writer in writers))
                    on_batch(batch)
                    self._save(store)
                growth = self.growing.growth()
                self._write(*(partial(writer.finish, growth) for writer in writers))
            if not self._writes:
                return growth
            if self._checkpoints is not None:
                self._finish(growth, store)
            if self.outputs.bfile is not None and self._bfile is not None:
                write_bfile(growth, self.outputs.bfile, *self._bfile)
        return growth

    def _check_outputs(self, automaton: Automaton) -> None:
        """Check that outputs are writable first."""
        if self._checkpoints is not None:
            own = {_whole(self._checkpoints.folder), _whole(self._checkpoints.cells)}
            for path in self.outputs.paths:
                if _whole(path) in own:
                    raise UsageError(f"{path} is where the checkpoints are kept: choose another file, or another folder for them")
        if self.outputs.parents:
            require_one_parent(automaton.rule)
        if self.outputs.out is not None:
            check_growth_file(self.outputs.out, automaton.rule.dimension, parents=self.outputs.parents)
        if self.outputs.voxels is not None:
            check_voxels(self.outputs.voxels, automaton.rule.dimension)
        if self.outputs.bfile is not None:
            check_writable(self.outputs.bfile)

    def _open(self, stack: ExitStack) -> tuple[list[GrowthWriter], ZarrGrowthWriter | None]:
        """Open the writers of the batches: the files, or with checkpoints the store of cells beside the checkpoints."""
        if self._checkpoints is None:
            out, voxels = self.outputs.out, self.outputs.voxels
            writers: list[GrowthWriter] = []
            if out is not None and self._ranks.size > 1 and GROWTH_FORMATS[out.suffix].together:
                writers.append(stack.enter_context(open_growth(out, parents=self._ancestry, ranks=self._ranks)))
            elif out is not None:
                writers.append(self._opened(stack, partial(open_growth, out, parents=self._ancestry)))
            if voxels is not None:
                writers.append(self._opened(stack, partial(open_voxels, voxels)))
            return writers, None
        if not self._stores_cells:
            return [], None
        cells, extent, snapshot = self._checkpoints.cells, self._checkpoints.extent, self.growing.resumed
        if extent is None or snapshot is None:
            store = new_zarr_growth(cells, self._ranks, parents=self._ancestry)
        else:
            store = resumed_zarr_growth(cells, extent, snapshot, self._ranks, parents=self._ancestry)
        return [store], store

    def _opened(self, stack: ExitStack, file: Callable[[], AbstractContextManager[GrowthWriter]]) -> GrowthWriter:
        """Open a file that rank 0 writes."""
        writer = stack.enter_context(file()) if self._writes else None
        return writer if writer is not None and self._ranks.size == 1 else GatheringWriter(writer, self._ranks)

    def _write(self, *steps: Callable[[], None]) -> None:
        try:
            for step in steps:
                step()
        except OSError as error:
            if self._checkpoints is None or isinstance(error, FileError):
                raise  # with the name of the file
            left = "the last checkpoint can still be resumed"
            raise FileError(f"cannot write {self._checkpoints.cells}: {error.strerror or error}; {left}") from error

    def _save(self, store: ZarrGrowthWriter | None) -> None:
        growing = self.growing
        if self._checkpoints is None or (growing.generation % self._every and growing.generation != growing.generations):
            return
        asked = {**self.outputs.as_record(), "every": self._every, "columns": self.columns}
        extent = None if store is None else store.extent()
        if store is not None and self._writes:
            flush(self._checkpoints.cells)  # the checkpoint counts on them
        self._checkpoints.save(growing.snapshot(), asked=asked, extent=extent)

    def _finish(self, growth: Growth, store: ZarrGrowthWriter | None) -> None:
        """Write the files from the store of cells beside the checkpoints."""
        assert self._checkpoints is not None
        out, voxels = self.outputs.out, self.outputs.voxels
        if out is not None and out.suffix == ".zarr":
            copy_store(self._checkpoints.cells, out)
        elif out is not None:
            with open_growth(out, parents=self._ancestry) as writer:
                write_growth(writer, growth if store is None else self._stored_growth())
        if voxels is not None:
            save_voxels(self._stored_growth(), voxels)

    def _stored_growth(self) -> Growth:
        assert self._checkpoints is not None
        return self.growing.growth(load_zarr_growth(self._checkpoints.cells).source)
