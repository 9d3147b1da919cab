"""The attributes of a growth's file, the same in every format, and their comparison with the cells."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim._version import __version__
from gpu_nim.automata.cell_sources import CellSource, Newborns, ParentSource, is_ascending
from gpu_nim.automata.growth import Growth
from gpu_nim.automata.user_defined import describe, from_description
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of
from gpu_nim.model.rule import MAX_DIMENSION, Rule, Symmetry
from gpu_nim.storage.file_checks import Declared, check_kind, origin, reason, require_room, seal, store_of

KIND = "gpunim growth"
FORMAT = 2
_COUNT = np.dtype(np.uint64)
_UNSEALED = 1  # the format of earlier versions, whose attributes have no seal


def of_growth(growth: Growth) -> dict[str, Any]:
    """Return the attributes of a growth's file."""
    summary = growth.summary()
    del summary["births"]  # stored as an array, exact at any size
    rule = None if growth.rule is None else describe(growth.rule)
    return {"kind": KIND, "format": FORMAT, "version": __version__, "symmetry": growth.symmetry.value, "rule": rule, **summary}


def sealed(growth: Growth, stored: Mapping[str, Declared]) -> dict[str, Any]:
    """Return the attributes of a growth's file, bound to its arrays.

    Args:
        growth: the growth.
        stored: the arrays written in addition to births and checksums. The cells' values are bound by the checksums.
    """
    attributes = of_growth(growth)
    return attributes | {"seal": _seal(attributes, growth.births, growth.checksums, stored)}


def _seal(attributes: dict[str, Any], births: NDArray[Any], checksums: NDArray[Any], stored: Mapping[str, Declared]) -> str:
    arrays = {name: [array.dtype.str, *array.shape] for name, array in stored.items() if name in ("cells", "parents")}
    return seal({"attributes": attributes, "arrays": arrays}, {"births": births, "checksums": checksums})


def check_declared(path: Path, attributes: Mapping[str, Any], stored: Mapping[str, Declared]) -> None:
    """Raise FileError for a file that declares no growth of this version, InsufficientMemoryError where its table would not fit.

    Args:
        path: the file.
        attributes: its attributes.
        stored: the arrays that it declares.
    """
    check_kind(path, attributes, KIND, "growth", (_UNSEALED, FORMAT))
    for name in ("births", "checksums", "cells"):
        if name not in stored:
            raise FileError(f"cannot read {path}: it has no {name}, it was edited")
    table = {name: stored[name] for name in ("births", "checksums")}
    generations, population, cells = attributes.get("generations"), attributes.get("population"), stored["cells"]
    if type(generations) is not int or any(array != Declared(_COUNT, (generations + 1,)) for array in table.values()):
        raise FileError(f"cannot read {path}: its births do not agree with its attributes")
    if len(cells.shape) != 2 or not 1 <= cells.shape[1] <= MAX_DIMENSION or cells.dtype.kind != "i":
        raise FileError(f"cannot read {path}: its cells are not an array of cells")
    if cells.shape[0] != population:
        raise FileError(f"cannot read {path}: it holds {cells.shape[0]} cells, not those of its births, it was truncated")
    if "parents" in stored and stored["parents"] != Declared(np.dtype(np.int64), cells.shape[:1]):
        raise FileError(f"cannot read {path}: its parents are not those of its cells")
    require_room(path, table)


def to_growth(
    path: Path,
    attributes: dict[str, Any],
    births: NDArray[Any],
    checksums: NDArray[Any],
    stored: Mapping[str, Declared],
    cells: CellSource,
    parents: ParentSource | None = None,
) -> Growth:
    """Return the growth that a file describes; FileError where its parts do not match.

    Args:
        path: the file.
        attributes: its attributes.
        births: its births.
        checksums: its checksums.
        stored: the arrays that it declares.
        cells: reads its cells.
        parents: reads its parents.
    """
    unsealed = attributes["format"] == _UNSEALED
    said = attributes.pop("seal", None)
    if not unsealed and said != _seal(attributes, births, checksums, stored):
        raise FileError(f"cannot read {path}: its attributes and births do not agree with its seal, it was edited or damaged")
    if sum(births.tolist()) != attributes["population"]:
        raise FileError(f"cannot read {path}: its births do not agree with its attributes")
    try:
        symmetry = Symmetry(attributes["symmetry"])
        automaton = from_description(name_of(attributes["automaton"]), attributes.get("rule"))
        rule = None if automaton is None else automaton.rule
        if rule is not None and (rule.dimension, rule.symmetry) != (stored["cells"].shape[1], symmetry):
            raise Damaged("its rule has other cells")
        verified = attributes["verified"]
        if verified not in (True, False, None):
            raise Damaged("verified is neither true nor false")
        growth = Growth(
            attributes["automaton"],
            births,
            checksums,
            with_checked_cells(path, cells, births, checksums, symmetry, rule),
            symmetry=symmetry,
            verified=None if unsealed else verified,
            rule=rule,
            lattice="square" if automaton is None else automaton.lattice,
            parents=parents,
            **origin(attributes),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"cannot read {path}: its attributes are damaged ({reason(error)})") from error
    if growth.digest != attributes.get("digest"):
        raise FileError(f"cannot read {path}: its checksums do not agree with its digest, it was edited or damaged")
    return growth


is_growth_store = store_of(KIND)
"""Whether a folder is a growth that gpunim wrote, and may therefore be replaced."""


def with_checked_cells(
    path: Path,
    source: CellSource,
    births: NDArray[np.uint64],
    checksums: NDArray[np.uint64],
    symmetry: Symmetry,
    rule: Rule | None,
) -> CellSource:
    """Return the source with each generation compared with its births and checksum as it is read.

    A checksum depends neither on the order of cells nor, for a growth by symmetry, on the choice of a cell within its orbit: so
    cells must also be strictly ascending.  With the right number of each orbit, all distinct, they are the cells that were written.
    With a known rule they must also be within its reach, which the dtype is chosen for.
    """
    low, high = (None, None) if rule is None else (min(rule.box(len(births) - 1)[0]), max(rule.box(len(births) - 1)[1]))

    def read(first: int, stop: int) -> Iterator[Newborns]:
        for generation, cells in source(first, stop):
            held = len(cells) == births[generation] and is_ascending(cells)
            if len(cells) and low is not None and high is not None:
                held = held and bool(low <= cells.min() and cells.max() <= high)
            if not held or checksum(symmetry.representative(cells)) != checksums[generation]:
                raise FileError(f"cannot read {path}: the cells of generation {generation} were edited or damaged")
            yield generation, cells

    return read
