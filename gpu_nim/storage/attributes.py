"""What a growth's file says of itself, the same in every format, and how it is held against the cells."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.growth import CellSource, Growth, Newborns
from gpu_nim.automata.own import describe, recall
from gpu_nim.backends.digest import checksum
from gpu_nim.backends.rule import Symmetry
from gpu_nim.errors import FileError
from gpu_nim.storage.containers import check_kind, store_of

KIND = "gpunim growth"
FORMAT = 1


def of_growth(growth: Growth) -> dict[str, Any]:
    """Return the attributes of a growth's file."""
    summary = growth.summary()
    del summary["births"]  # an array of its own, exact at any size
    rule = None if growth.rule is None else describe(growth.rule)
    return {"kind": KIND, "format": FORMAT, "version": __version__, "symmetry": growth.symmetry.value, "rule": rule, **summary}


def check_growth(path: Path, attributes: dict[str, Any]) -> None:
    """Raise FileError where the attributes are not those of a growth that this version reads."""
    check_kind(path, attributes, KIND, "growth", FORMAT)


def to_growth(
    path: Path, attributes: Mapping[str, Any], births: NDArray[Any], checksums: NDArray[Any], cells: CellSource
) -> Growth:
    """Return the growth that a file describes; FileError where its parts do not belong together."""
    try:
        symmetry = Symmetry(attributes["symmetry"])
        automaton = recall(str(attributes["automaton"]), attributes.get("rule"))
        growth = Growth(
            str(attributes["automaton"]),
            births,
            checksums,
            checked(path, cells, births, checksums, symmetry),
            symmetry=symmetry,
            verified=attributes["verified"],
            backend=str(attributes["backend"]),
            device=str(attributes["device"]),
            seconds=float(attributes["seconds"]),
            version=str(attributes["version"]),
            rule=None if automaton is None else automaton.rule,
        )
        whole = births.shape == checksums.shape == (int(attributes["generations"]) + 1,) and births.dtype == np.uint64
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"cannot read {path}: its attributes are damaged ({error})") from error
    if not whole or growth.population != attributes["population"]:
        raise FileError(f"cannot read {path}: its births do not agree with its attributes")
    if growth.digest != attributes["digest"]:
        raise FileError(f"cannot read {path}: its checksums do not agree with its digest, it was edited or damaged")
    return growth


is_growth_store = store_of(KIND)
"""Whether a folder is a growth that gpunim wrote, and so may be replaced by another."""


def checked(
    path: Path, source: CellSource, births: NDArray[np.uint64], checksums: NDArray[np.uint64], symmetry: Symmetry
) -> CellSource:
    """Return the source with each generation held against its births and checksum as it is read."""

    def read(first: int, stop: int) -> Iterator[Newborns]:
        for generation, cells in source(first, stop):
            if len(cells) != births[generation] or checksum(symmetry.representative(cells)) != checksums[generation]:
                raise FileError(f"cannot read {path}: the cells of generation {generation} were edited or damaged")
            yield generation, cells

    return read
