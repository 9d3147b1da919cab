"""Solved games in files: .zarr, .npz, or only the points as a table (see `gpu_nim.storage.table_formats`).

NAME.zarr/ or NAME.npz has::

    p_positions       (n, k), the P-positions in lexicographic order
    grundy            Grundy values over the box, -1 where no position is; only if requested
    attributes        `Solution.summary`, the coordinates' names and limits, kind, format and version, and the digest:
                      a SHA-256 over all of these and the arrays

In .zarr the dimensions of p_positions are named position and coordinate, and those of grundy by the coordinates, for xarray.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.games.solution import Solution
from gpu_nim.model.errors import FileError
from gpu_nim.model.files import Damaged, name_of
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.atomic import check_output, replacing
from gpu_nim.storage.file_checks import Declared, check_kind, origin, reading, reason, require_room, seal, store_of
from gpu_nim.storage.npz_arrays import NpzArrays
from gpu_nim.storage.table_formats import TABLE_FORMATS, endings, write_table
from gpu_nim.storage.table_interface import Columns
from gpu_nim.storage.zarr_arrays import StoredArray, read_group

KIND = "gpunim solution"
FORMAT = 1
SUFFIXES = (".zarr", ".npz", *endings(columns=True))
_ARRAYS = ("p_positions", "grundy")
_GAME = 10_000  # letters of a game's description
_is_ours = store_of(KIND)


def save_solution(solution: Solution, path: Path) -> None:
    """Write a solved game: .zarr or .npz completely, .csv or another table with one position and its Grundy value per row.

    A table lists the P-positions, or every position if it has Grundy values. The write is atomic.

    Raises:
        UsageError: the file has another suffix.
        FileError: the file cannot be written.
    """
    check_solution(path)
    arrays = _arrays(solution)
    with replacing(path, _is_ours) as scratch:
        if path.suffix in TABLE_FORMATS and path.suffix != ".zarr":
            write_table(scratch, _columns(solution), solution.summary())
        elif path.suffix == ".npz":
            contents: dict[str, Any] = {**arrays, "attributes": json.dumps(_attributes(solution, arrays))}
            np.savez_compressed(scratch, **contents)
        else:
            import zarr
            from zarr.codecs import ZstdCodec

            with interrupts_deferred():
                group = zarr.open_group(scratch, mode="w", zarr_format=3)
                for name, array in arrays.items():
                    group.create_array(
                        name,
                        data=array,
                        chunks=_chunks(array),
                        dimension_names=("position", "coordinate") if name == "p_positions" else solution.coordinates,
                        compressors=ZstdCodec(level=3),
                        config={"write_empty_chunks": True},  # to detect a missing one
                    )
                group.attrs.update(_attributes(solution, arrays))


def check_solution(path: Path) -> None:
    """Raise UsageError or FileError where `save_solution` would, to be called before long work."""
    check_output(path, "the file of a solved game", SUFFIXES, _is_ours)


def load_solution(path: Path) -> Solution:
    """Read a solved game from a .zarr or .npz file; see `gpu_nim.storage.save_load.load`."""
    if path.suffix == ".zarr":
        with reading(path, "Zarr v3 store"):
            attributes = read_group(path)
            stored = {name: StoredArray(path, name) for name in _ARRAYS if (path / name).is_dir()}
            _check(path, attributes, {name: array.declared for name, array in stored.items()})
            arrays = {name: array.read() for name, array in stored.items()}
    else:
        with reading(path, "npz file"), NpzArrays(path) as members:
            attributes = members.attributes()
            _check(path, attributes, {name: array for name, array in members.declared.items() if name != "attributes"})
            arrays = {name: members.read(name) for name in _ARRAYS if name in members.declared}
    if attributes.pop("digest", None) != seal(attributes, arrays):
        raise FileError(f"cannot read {path}: its contents do not agree with its digest, it was edited or damaged")
    try:
        return _solution(attributes, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"cannot read {path}: its attributes are damaged ({reason(error)})") from error


def _check(path: Path, attributes: Mapping[str, Any], declared: Mapping[str, Declared]) -> None:
    """Raise FileError where a file does not declare a solved game, InsufficientMemoryError where that would not fit."""
    check_kind(path, attributes, KIND, "solved game", (FORMAT,))
    points, values = declared.get("p_positions"), declared.get("grundy")
    whole = points is not None and points.dtype.kind == "i" and len(points.shape) == 2 and set(declared) <= set(_ARRAYS)
    if not whole or (values is not None and values.dtype.kind != "i"):
        raise FileError(f"cannot read {path}: its arrays are not those of a solved game, it was edited or damaged")
    require_room(path, declared)


def _solution(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Solution:
    """The solved game of consistent attributes and arrays."""
    points, values, difference = arrays["p_positions"], arrays.get("grundy"), attributes["first_difference"]
    coordinates, limits = tuple(map(name_of, attributes["coordinates"])), tuple(attributes["limits"])
    numbers = (attributes["size"], attributes["positions"], *limits, *(difference or ()))
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise Damaged("its numbers are not all counts")
    if not len(coordinates) == len(limits) == points.shape[1] == len(difference or limits):
        raise Damaged("its positions have other coordinates")
    if values is not None and values.shape != tuple(limit + 1 for limit in limits):
        raise Damaged("its Grundy values fill another box")
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
    if path.suffix != ".npz":
        return path.suffix == ".zarr" and _is_ours(path)
    try:
        with NpzArrays(path) as arrays:
            return bool(arrays.attributes().get("kind") == KIND)
    except (OSError, Damaged):
        return False


def _attributes(solution: Solution, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    attributes = {
        "kind": KIND,
        "format": FORMAT,
        "version": solution.version,
        "coordinates": solution.coordinates,
        "limits": solution.limits,
        **solution.summary(),
    }
    return attributes | {"digest": seal(attributes, arrays)}


def digest(solution: Solution) -> str:
    """Return the digest in the file of a solved game."""
    return str(_attributes(solution, _arrays(solution))["digest"])


def _arrays(solution: Solution) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"p_positions": solution.p_positions}
    if solution.grundy is not None:
        arrays["grundy"] = solution.grundy
    return arrays


def _chunks(array: NDArray[Any]) -> tuple[int, ...]:
    """Chunks of about a million entries, complete along the last axes."""
    chunks = [max(1, side) for side in array.shape]
    for axis, side in enumerate(chunks):
        rest = int(np.prod(chunks[axis + 1 :]))
        chunks[axis] = min(side, max(1, (1 << 20) // rest))
    return tuple(chunks)


def _columns(solution: Solution) -> Columns:
    """The P-positions, or every position with its Grundy value where it has one."""
    points, values = solution.points(0 if solution.grundy is None else int(solution.grundy.max()))
    return {**{name: points[:, axis] for axis, name in enumerate(solution.coordinates)}, "grundy": values}
