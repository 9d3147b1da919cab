"""Solved games in files: .zarr, .npz, or only the points as a table (see `gpu_nim.storage.tables`).

NAME.zarr/ or NAME.npz has::

    p_positions       (n, k), the P-positions in lexicographic order
    grundy            Grundy values over the box, -1 where no position is; only if requested
    attributes        `Solution.summary`, the coordinates' names and limits, kind, format and version, and the digest:
                      a SHA-256 over all of these and the arrays, but not over attributes of other names, which anybody may add

In .zarr the dimensions of p_positions are named position and coordinate, and those of grundy by the coordinates, for xarray, which
also finds their values 0, 1, ... under these names.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gpu_nim.games.solution import Solution
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import PROVENANCE, CorruptFile, FileKind, name_of, origin, raised_as_corrupt, reading
from gpu_nim.storage.arrays import checksum_of, open_arrays, save_arrays
from gpu_nim.storage.atomic import atomic_write, check_output
from gpu_nim.storage.tables import endings, write_table

SOLUTION = FileKind("gpunim solution", 1, "solved game")
_WHOLE = (".zarr", ".npz")
SUFFIXES = (*_WHOLE, *endings(columns=True))
_ARRAYS = ("p_positions", "grundy")
_COVERED = {
    *(*PROVENANCE, "game", "coordinates", "limits", "size", "positions", "p_positions", "largest_grundy"),
    *("equals_nim", "first_difference", "grundy_equals_nim", "grundy_first_difference"),
}
_GAME = 10_000  # letters of a game's description


def save_solution(solution: Solution, path: Path) -> None:
    """Write a solved game: .zarr or .npz completely, .csv or another table with one position and its Grundy value per row.

    A table lists the P-positions, or every position if it has Grundy values. The write is atomic.

    Raises:
        UsageError: the file has another suffix.
        FileError: the file cannot be written.
    """
    check_solution(path)
    arrays = {name: array for name in _ARRAYS if (array := getattr(solution, name)) is not None}
    lengths = {name: limit + 1 for name, limit in zip(solution.coordinates, solution.limits, strict=True)}
    with atomic_write(path, SOLUTION.is_ours) as scratch:
        if path.suffix in _WHOLE:
            attributes = SOLUTION.attributes | {"version": solution.version, **solution.summary()}
            attributes |= {"coordinates": solution.coordinates, "limits": solution.limits}
            attributes["digest"] = _digest(attributes, arrays)
            save_arrays(scratch, arrays, attributes, _dimensions(solution.coordinates), lengths)
        else:
            names = (*solution.coordinates, "grundy")
            parts = (dict(zip(names, (*points.T, values), strict=True)) for points, values in solution.in_parts())
            write_table(scratch, parts, solution.summary())


def check_solution(path: Path) -> None:
    """Raise UsageError or FileError where `save_solution` would, to be called before long work."""
    check_output(path, "the file of a solved game", SUFFIXES, SOLUTION.is_ours)


def load_solution(path: Path) -> Solution:
    """Read a solved game from a .zarr or .npz file; see `gpu_nim.storage.save_load.load`."""
    with reading(path):
        stored = open_arrays(path, _ARRAYS)
        attributes, declared = stored.attributes, stored.declared
        SOLUTION.check(attributes)
        shape = declared["p_positions"].shape if "p_positions" in declared else ()
        if len(shape) != 2 or any(each.dtype.kind != "i" for each in declared.values()):
            raise CorruptFile("its arrays are not those of a solved game, it was edited or damaged")
        arrays = {name: stored.read(name) for name in _ARRAYS if name in declared}
        if attributes.get("digest") != _digest(attributes, arrays):
            raise CorruptFile("its contents do not agree with its digest, it was edited or damaged")
        with raised_as_corrupt("its attributes are damaged"):
            points, values, difference = arrays["p_positions"], arrays.get("grundy"), attributes["first_difference"]
            coordinates, limits = tuple(map(name_of, attributes["coordinates"])), tuple(attributes["limits"])
            numbers = (attributes["size"], attributes["positions"], *limits, *(difference or ()))
            if not all(type(number) is int and number >= 0 for number in numbers):
                raise CorruptFile("its numbers are not all counts")
            if not len(coordinates) == len(limits) == points.shape[1] == len(difference or limits):
                raise CorruptFile("its positions have other coordinates")
            box = tuple(limit + 1 for limit in limits)
            if values is not None and values.shape != box:
                raise CorruptFile("its Grundy values fill another box")
            stored.check(_dimensions(coordinates), dict(zip(coordinates, box, strict=True)))
            return Solution(
                game=name_of(attributes["game"], _GAME),
                coordinates=coordinates,
                size=attributes["size"],
                limits=limits,
                positions=attributes["positions"],
                p_positions=points,
                first_difference=None if difference is None else tuple(difference),
                grundy=values,
                **origin(attributes),
            )


def is_solution(path: Path) -> bool:
    """Return whether a file or folder declares a solved game that gpunim wrote."""
    if path.suffix == ".zarr":
        return SOLUTION.is_declared(path)
    try:
        with reading(path):
            return bool(open_arrays(path, ()).attributes.get("kind") == SOLUTION.name)
    except FileError:
        return False


def _digest(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    return checksum_of({name: value for name, value in attributes.items() if name in _COVERED}, arrays)


def _dimensions(coordinates: Sequence[str]) -> dict[str, Sequence[str]]:
    return {"p_positions": ("position", "coordinate"), "grundy": coordinates}
