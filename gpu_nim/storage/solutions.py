"""Solved games in files, as the growths are: .zarr, .npz, or the points alone as .csv.

NAME.zarr/ or NAME.npz
    p_positions       (n, k), the P-positions in lexicographic order
    grundy            Grundy values over the box, -1 where no position is; only where they were asked for
    attributes        what `Solution.summary` says, the coordinates' names and limits, kind, format and version, and the digest:
                      a SHA-256 over all of these and the arrays
"""

import csv
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.errors import FileError, UsageError
from gpu_nim.games.solution import Solution
from gpu_nim.storage.atomic import check_writable, interrupts_deferred, replacing
from gpu_nim.storage.containers import NPZ_DAMAGE, check_kind, read_npz, reason, store_of

KIND = "gpunim solution"
FORMAT = 1
SUFFIXES = (".zarr", ".npz", ".csv")
_is_ours = store_of(KIND)


def save_solution(solution: Solution, path: Path) -> None:
    """Write a solved game: .zarr or .npz with all it holds, .csv with a position and its Grundy value a line.

    The .csv file lists the P-positions, or every position where Grundy values were asked for. The file appears whole or not at
    all. Raises UsageError for another ending and FileError where it cannot be written.
    """
    check_solution(path)
    arrays = _arrays(solution)
    with replacing(path, _is_ours) as scratch:
        if path.suffix == ".csv":
            _write_csv(solution, scratch)
        elif path.suffix == ".npz":
            contents: dict[str, Any] = {**arrays, "attributes": json.dumps(_attributes(solution, arrays))}
            np.savez_compressed(scratch, **contents)
        else:
            import zarr
            from zarr.codecs import ZstdCodec

            with interrupts_deferred():
                group = zarr.open_group(scratch, mode="w", zarr_format=3)
                for name, array in arrays.items():
                    group.create_array(name, data=array, chunks=_chunks(array), compressors=ZstdCodec(level=3))
                group.attrs.update(_attributes(solution, arrays))


def check_solution(path: Path) -> None:
    """Raise UsageError or FileError where `save_solution` would: asked before long work, so that it is not done in vain."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"the file of a solved game must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    check_writable(path, _is_ours)


def load_solution(path: Path) -> Solution:
    """Read a solved game from a .zarr or .npz file; see `gpu_nim.storage.load`."""
    attributes, arrays = _read_zarr(path) if path.suffix == ".zarr" else read_npz(path)
    check_kind(path, attributes, KIND, "solved game", FORMAT)
    if attributes.pop("digest", None) != _digest(attributes, arrays):
        raise FileError(f"cannot read {path}: its contents do not agree with its digest, it was edited or damaged")
    difference = attributes["first_difference"]
    return Solution(
        game=attributes["game"],
        coordinates=tuple(attributes["coordinates"]),
        size=attributes["size"],
        limits=tuple(attributes["limits"]),
        positions=attributes["positions"],
        p_positions=arrays["p_positions"],
        first_difference=None if difference is None else tuple(difference),
        grundy=arrays.get("grundy"),
        backend=attributes["backend"],
        device=attributes["device"],
        seconds=attributes["seconds"],
        version=attributes["version"],
    )


def is_solution(path: Path) -> bool:
    """Return whether a file or folder says that it is a solved game that gpunim wrote."""
    if path.suffix == ".zarr":
        return _is_ours(path)
    if not zipfile.is_zipfile(path):
        return False
    try:
        with np.load(path, allow_pickle=False) as file:
            return bool(json.loads(str(file["attributes"]))["kind"] == KIND)
    except NPZ_DAMAGE:
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
    return attributes | {"digest": _digest(attributes, arrays)}


def _digest(attributes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(solution: Solution) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"p_positions": solution.p_positions}
    if solution.grundy is not None:
        arrays["grundy"] = solution.grundy
    return arrays


def _chunks(array: NDArray[Any]) -> tuple[int, ...]:
    """Chunks of about a million entries, whole along the last axes."""
    chunks = [max(1, side) for side in array.shape]
    for axis, side in enumerate(chunks):
        rest = int(np.prod(chunks[axis + 1 :]))
        chunks[axis] = min(side, max(1, (1 << 20) // rest))
    return tuple(chunks)


def _write_csv(solution: Solution, path: Path) -> None:
    points, values = solution.points(0 if solution.grundy is None else int(solution.grundy.max()))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*solution.coordinates, "grundy"))
        writer.writerows((*point, value) for point, value in zip(points.tolist(), values.tolist(), strict=True))


def _read_zarr(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    import zarr

    try:
        group = zarr.open_group(path, mode="r", zarr_format=3)
        return dict(group.attrs), {name: np.asarray(array[:]) for name, array in group.arrays()}
    except Exception as error:  # zarr, its codecs and the JSON reader each raise types of their own for a damaged store
        raise FileError(f"cannot read {path}: it is not a whole Zarr v3 store ({reason(error)})") from error
