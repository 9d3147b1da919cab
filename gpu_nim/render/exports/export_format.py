"""Export formats: an ending, a writer, the options that it takes and the memory that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpu_nim.model.files import Provenance
from gpu_nim.model.registry import Registry
from gpu_nim.render.exports.triangles import Mesh, Printing, cubes, printed_body
from gpu_nim.render.geometry import Blocks
from gpu_nim.render.look import MESH_OPTIONS, Look
from gpu_nim.render.page import Page, colour_bytes
from gpu_nim.render.source import CELLS_LIMIT, Source
from gpu_nim.render.views import View


@dataclass(frozen=True)
class ExportedBody:
    """A body to be exported, as a writer of a format gets it.

    Attributes:
        blocks: the blocks to write.
        look: their appearance.
        view: where a page looks from at first.
        made: what makes the file.
        printing: how to print it, as one watertight body; None for cubes.
    """

    blocks: Blocks
    look: Look
    view: View
    made: Provenance
    printing: Printing | None = None

    @cached_property
    def mesh(self) -> Mesh:
        """The body as triangles: each block a cube with its colour and values, or the printable body."""
        if self.printing:
            return Mesh(*printed_body(self.blocks, self.printing))
        known = {"generation": self.blocks.generations, **self.blocks.values}
        facts = {name: np.repeat(values, 8).astype(np.int32) for name, values in known.items()}
        return Mesh(*cubes(self.blocks), np.repeat(colour_bytes(self.blocks, self.look), 8, axis=0), facts)


TEXT_LIMIT = 1 << 18
"""The most blocks that are written as text: a minute's work."""

Writer = Callable[[ExportedBody], bytes]
SourceWriter = Callable[[Source, Look], Page]


@dataclass(frozen=True)
class ExportFormat:
    """A format that bodies are written in.

    Args:
        name: the ending of its files.
        summary: the contents of the file, for help texts.
        write: returns the file's content; None where `write_source` does.
        bytes_a_block: memory for writing, for each block, measured, with a margin.
        what: the name of the file in messages.
        takes: the options of a look that change the file.
        many: a number of blocks, and where there are more the memory for each and what is to be said of the file.
        printable: whether it can hold one body to print.
        limit: the most blocks that it holds.
        fixed_bytes: memory for writing, for any number of blocks.
        packages: the optional packages that write it, by the names that they are imported and installed by.
        write_source: returns the file from the source, for a format that does not always need blocks; it plans its own memory.
    """

    name: str
    summary: str
    write: Writer | None
    bytes_a_block: int
    what: str
    takes: frozenset[str] = MESH_OPTIONS
    many: tuple[int, int, str] | None = None
    printable: bool = False
    limit: int = CELLS_LIMIT
    fixed_bytes: int = 0
    packages: tuple[str, ...] = ()
    write_source: SourceWriter | None = None

    def memory(self, blocks: int) -> int:
        """Return the bytes for writing so many blocks.

        Args:
            blocks: their number.
        """
        few = self.many is None or blocks <= self.many[0]
        return self.fixed_bytes + blocks * (self.bytes_a_block if few or self.many is None else self.many[1])


EXPORTS = Registry[ExportFormat]("export")
"""The export formats, by ending."""


def export_format(name: str, summary: str, **facts: Any) -> Callable[[Writer], Writer]:
    """Return a decorator that registers a writer as an export format.

    Args:
        name: as for `ExportFormat`.
        summary: as for `ExportFormat`.
        facts: the other arguments of `ExportFormat`; `what` is by default the ending.
    """
    return EXPORTS.decorator(lambda write: ExportFormat(name, summary, write, **{"what": f"a {name} file", **facts}))
