"""Files as NumPy, zarr, xarray and pandas read them: what they hold can be added and subtracted, and what is edited is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_nim import grow, load, save, solve
from gpu_nim.automata.growth import Growth
from gpu_nim.jobs.verification import verify
from gpu_nim.model.errors import FileError
from gpu_nim.model.rule import Rule
from gpu_nim.storage.save_load import read_terms
from tests.files.test_storage import copied
from tests.helpers import printed
from tests.lattices import ONE, steps

zarr = pytest.importorskip("zarr", reason="zarr is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of each kind."""
    path = tmp_path_factory.mktemp("files")
    for ending in (".zarr", ".npz", ".csv"):
        grow("edge", 7, backend="numpy", out=path / f"edge{ending}", parents=ending == ".zarr")
        save(solve("3y <= x + z", 15, grundy=True, backend="numpy"), path / f"solved{ending}")
    for ending in (".zarr", ".npy", ".csv"):
        printed("count", "D", "--piles", 3, "--range", "10:40", "--out", path / f"terms{ending}")
        printed("count", "edge-births", "--range", "0:8", "--out", path / f"entry{ending}")
    return path


def _every_array(path: Path) -> dict[str, Any]:
    if path.suffix == ".npy":
        return {"": np.load(path)}
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {name: file[name] for name in file.files if name != "attributes"}
    if path.suffix == ".zarr":
        found = zarr.open(path, mode="r", zarr_format=3)
        return {"": found[...]} if isinstance(found, zarr.Array) else {name: array[...] for name, array in found.arrays()}
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return {name: column.to_numpy() for name, column in pandas.read_csv(path).items()}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("edge.zarr", {"births", "cells", "parents", "generation", "checksums", "parent_checksums"}),
        ("edge.npz", {"births", "cells", "checksums"}),
        *(
            (f"solved{ending}", {"p_positions", "grundy"} | names)
            for ending, names in ((".npz", set()), (".zarr", {"x", "y", "z"}))
        ),
        *((f"{name}{ending}", {""}) for name in ("terms", "entry") for ending in (".npy", ".zarr")),
        ("edge.csv", {"generation", "births", "population"}),
        ("solved.csv", {"x", "y", "z", "grundy"}),
        *((f"{name}.csv", {"n", "value"}) for name in ("terms", "entry")),
    ],
)
def test_every_number_is_signed_and_wide_enough(folder: Path, file: str, names: set[str]) -> None:
    arrays = _every_array(folder / file)
    assert arrays.keys() == names
    for name, array in arrays.items():
        if name.endswith("checksums"):
            assert array.dtype == np.uint64
        elif name != "grundy":  # as in memory
            assert array.dtype in ((np.int32, np.int64) if name == "cells" else (np.int64,))


def test_a_sequence_is_int64_where_it_fits(tmp_path: Path) -> None:
    for limit, dtype in ((2**63 - 1, np.int64), (2**63, np.uint64), (2**64, np.uint64)):
        printed(
            "count", "A", "--piles", 2, "--range", f"{limit - 4}:{limit}", "--out", tmp_path / "a.npy", "--quiet"
        )  # A_2(n) = n + 1
        found = np.load(tmp_path / "a.npy")
        assert (found.dtype, found.shape) == (dtype, (4,) if limit < 2**64 else (4, 2))
        assert read_terms(tmp_path / "a.npy").values == tuple(range(limit - 3, limit + 1))


# What a file says to other programs.


def _json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    metadata = json.loads(path.read_text())
    change(metadata)
    path.write_text(json.dumps(metadata))


def _array(store: Path, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    array = zarr.open_array(store, path=name, mode="r+")
    array[...] = change(array[...])


def _consolidated(group: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = group["consolidated_metadata"]["metadata"]
    return found


def _both(store: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the metadata of an array, and those that are consolidated."""
    _json(store / name / "zarr.json", change)
    _json(store / "zarr.json", lambda group: change(_consolidated(group)[name]))


def _group(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda store: _json(store / "zarr.json", change)


def _member(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda store: _both(store, name, change)


def _values(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], object]:
    return lambda store: _array(store, name, change)


CHECKSUM = "do not agree with its checksum"
EDITS: list[tuple[str, Callable[[Path], object], str]] = [
    ("edge.zarr", _values("generation", np.flip), "its generation do not count from 0 on"),
    ("edge.zarr", _values("parents", np.zeros_like), "the parents of generation 0 were edited"),
    ("edge.zarr", _values("parents", lambda p: np.where(p < 0, p, 10**12)), "the parents of generation 1 were edited"),
    ("edge.zarr", _values("parent_checksums", np.flip), CHECKSUM),
    ("edge.zarr", lambda s: shutil.rmtree(s / "parent_checksums"), "it has no parent_checksums"),
    ("edge.zarr", _group(lambda g: _consolidated(g)["births"].update(data_type="float64")), "are not those of its arrays"),
    ("edge.zarr", _group(lambda g: g.update(consolidated_metadata=5)), "consolidated metadata are damaged"),
    ("edge.zarr", _member("cells", lambda m: m["dimension_names"].reverse()), "dimensions of its cells have other names"),
    ("edge.zarr", _member("births", lambda m: m["attributes"].update(scale_factor=2)), "births has attributes of its own"),
    ("edge.zarr", _member("births", lambda m: m.update(data_type="uint64")), "its births do not agree"),
    ("solved.zarr", _values("x", np.flip), "its x do not count from 0 on"),
    ("solved.zarr", _member("grundy", lambda m: m["dimension_names"].reverse()), "dimensions of its grundy have other"),
    ("solved.zarr", lambda s: shutil.copytree(s / "x", s / "w"), "consolidated metadata are not those of its arrays"),
    ("terms.zarr", _group(lambda m: m["attributes"].update(piles=4)), CHECKSUM),
    ("terms.zarr", _group(lambda m: m["attributes"].update(sequence="A")), CHECKSUM),
    ("terms.zarr", _group(lambda m: m["attributes"].pop("checksum")), CHECKSUM),
    ("terms.zarr", _group(lambda m: m["attributes"].update(format=1)), "this version reads 2"),
    ("terms.zarr", _group(lambda m: m.update(data_type="uint64")), CHECKSUM),
    ("terms.zarr", _group(lambda m: m.update(dimension_names=["m"])), "its array have other names"),
]


@pytest.mark.parametrize(("name", "edit", "sentence"), EDITS)
def test_what_is_edited_is_refused(folder: Path, tmp_path: Path, name: str, edit: Callable[[Path], object], sentence: str) -> None:
    shutil.copytree(folder / name, store := tmp_path / name)
    edit(store)
    with pytest.raises(FileError, match=sentence):
        _read_all(store)


def test_parents_are_compared_where_no_rule_says_them(tmp_path: Path) -> None:
    rule = Rule(2, steps(2, 1), ONE, ((0, 0),), universe=lambda cells: cells[:, 0] >= 0)
    grow(rule, 5, backend="numpy", out=tmp_path / "own.zarr", parents=True)
    assert verify(tmp_path / "own.zarr").scope == "24 cells of generations 0 to 5, and their parents, whose rule is not recorded"
    _array(tmp_path / "own.zarr", "parents", lambda p: np.where(p < 0, p, 0))
    for read in (verify, _read_all, lambda path: save(load(path), tmp_path / "copy.zarr", parents=True)):
        with pytest.raises(FileError, match="the parents of generation 2 were edited or damaged"):
            read(tmp_path / "own.zarr")


def _read_all(store: Path) -> Any:
    if store.stem == "terms":
        return read_terms(store).values
    found = load(store)
    if isinstance(found, Growth):
        assert found.parents is not None
        return found.cells().tolist(), [parents.tolist() for _, parents in found.parents(0, len(found))]
    return found.summary()


@pytest.mark.parametrize(
    ("layout", "change", "sentence"),
    [
        ({"compressors": zarr.codecs.GzipCodec()}, None, "births has the codec gzip, and gpunim reads bytes"),
        ({"compressors": zarr.codecs.BloscCodec()}, None, "births has the codec blosc, and gpunim reads bytes"),
        ({"compressors": zarr.codecs.GzipCodec(), "shards": 64, "chunks": 16}, None, "births has the codec gzip, and gpunim reads"),
        ({}, lambda m: m["codecs"][-1].update(name="numcodecs.blosc"), r"births has the codec numcodecs\.blosc, and gpunim reads"),
        ({}, lambda m: m["codecs"].append("zstd"), "the metadata of births are damaged"),
        ({}, lambda m: m.update(codecs=[]), "the metadata of births are damaged"),
        ({}, lambda m: m["chunk_grid"]["configuration"].update(chunk_shape=[2**60]), r"as it is declared, needs 8388608\.\dTiB"),
    ],
)
def test_other_codecs_are_refused(folder: Path, tmp_path: Path, layout: dict[str, Any], change: Any, sentence: str) -> None:
    copied(folder / "edge.zarr", tmp_path / "other.zarr", layout)
    if change is not None:
        _both(tmp_path / "other.zarr", "births", change)
    with pytest.raises((FileError, MemoryError), match=sentence):
        load(tmp_path / "other.zarr")
