"""Solved games in files, as the growths are: .zarr, .npz, or the points alone as .csv.

NAME.zarr/ or NAME.npz
    p_positions       (n, k), the P-positions in lexicographic order
    grundy            Grundy values over the box, -1 where no position is; only where they were asked for
    attributes        what `Solution.summary` says, the coordinates' names and limits, kind, format and version
"""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.errors import FileError, UsageError
from gpu_nim.games.solution import Solution
from gpu_nim.storage.atomic import check_writable, replacing
from gpu_nim.storage.containers import check_kind, read_npz, reason, store_of

KIND = "gpunim solution"
FORMAT = 1
SUFFIXES = (".zarr", ".npz", ".csv")
_is_ours = store_of(KIND)


def save_solution(solution: Solution, path: str | Path) -> None:
    """Write a solved game: .zarr or .npz with all it holds, .csv with a position and its Grundy value a line.

    The .csv file lists the P-positions, or every position where Grundy values were asked for. The file appears whole or not at
    all. Raises UsageError for another ending and FileError where it cannot be written.

    >>> import tempfile
    >>> from gpu_nim.games.inequality import chocolate
    >>> from gpu_nim.games.solution import solve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_solution(solve(chocolate(3), 31), f"{folder}/chocolate.npz")
    ...     len(load_solution(f"{folder}/chocolate.npz").p_positions)
    342
    """
    path = Path(path)
    check_target(path)
    with replacing(path, _is_ours) as scratch:
        if path.suffix == ".csv":
            _write_csv(solution, scratch)
        elif path.suffix == ".npz":
            contents: dict[str, Any] = {**_arrays(solution), "attributes": json.dumps(_attributes(solution))}
            np.savez_compressed(scratch, **contents)
        else:
            import zarr
            from zarr.codecs import ZstdCodec

            group = zarr.open_group(scratch, mode="w", zarr_format=3)
            for name, array in _arrays(solution).items():
                group.create_array(name, data=array, chunks=_chunks(array), compressors=ZstdCodec(level=3))
            group.attrs.update(_attributes(solution))


def check_target(path: Path) -> None:
    """Raise UsageError or FileError where `save_solution` would: asked before long work, so that it is not done in vain."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"the file of a solved game must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    check_writable(path, _is_ours)


def load_solution(path: str | Path) -> Solution:
    """Read a solved game from a .zarr or .npz file.

    Raises FileError, with one sentence that says what is wrong, for a file that is missing, foreign, truncated or edited.

    >>> load_solution("nowhere.npz")
    Traceback (most recent call last):
    gpu_nim.errors.FileError: cannot read nowhere.npz: there is no such file
    """
    path = Path(path)
    if path.suffix not in (".zarr", ".npz"):
        raise UsageError(f"a solved game is read from a file that ends in .zarr or .npz, got {str(path)!r}")
    if not path.exists():
        raise FileError(f"cannot read {path}: there is no such file")
    attributes, arrays = _read_zarr(path) if path.suffix == ".zarr" else read_npz(path)
    check_kind(path, attributes, KIND, "solved game", FORMAT)
    try:
        difference = attributes["first_difference"]
        solution = Solution(
            game=str(attributes["game"]),
            coordinates=tuple(map(str, attributes["coordinates"])),
            size=int(attributes["size"]),
            limits=tuple(map(int, attributes["limits"])),
            positions=int(attributes["positions"]),
            p_positions=arrays["p_positions"],
            first_difference=None if difference is None else tuple(map(int, difference)),
            grundy=arrays.get("grundy"),
            backend=str(attributes["backend"]),
            device=str(attributes["device"]),
            seconds=float(attributes["seconds"]),
            version=str(attributes["version"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"cannot read {path}: its attributes are damaged ({error})") from error
    box = tuple(limit + 1 for limit in solution.limits)
    whole = solution.p_positions.shape == (attributes["p_positions"], len(box))
    if not whole or (solution.grundy is not None and solution.grundy.shape != box):
        raise FileError(f"cannot read {path}: its arrays do not agree with its attributes")
    return solution


def _attributes(solution: Solution) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": FORMAT,
        "version": solution.version,
        "coordinates": solution.coordinates,
        "limits": solution.limits,
        **solution.summary(),
    }


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
