"""Files as other programs read them, and files that were edited or damaged: refused in one sentence, or read as before."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from gpu_nim import Growth, grow, load, save, solve
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.jobs.verification import verify
from gpu_nim.model.errors import FileError, GpunimError
from gpu_nim.model.files import CorruptFile
from gpu_nim.model.rule import Rule
from gpu_nim.storage.arrays import open_zarr, read_npz
from gpu_nim.storage.rle_files import read_pattern
from gpu_nim.storage.save_load import read_terms
from gpu_nim.storage.tables import save_sequence
from tests.files.test_storage import copied
from tests.helpers import damage, interrupt, printed
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


NUMPY = NumpyBackend()
VALUES = np.array([3 ** n.bit_count() for n in range(10, 80)], np.uint64)


def _content(path: Path) -> Any:
    """All that a file holds, in a form that can be compared."""
    if path.suffix == ".run":
        growth = grow(backend=NUMPY, resume=path, out=path.with_suffix(".zarr"))
        return growth.digest, _content(path.with_suffix(".zarr"))
    if path.stem == "terms":
        return read_terms(path)
    if path.suffix in (".rle", ".rle3"):
        return read_pattern(path).cells.tolist()
    found = load(path)
    if isinstance(found, Growth):
        return found.digest, found.version, found.cells().tolist()
    return found.summary(), found.coordinates, found.p_positions.tolist(), found.grundy.tolist()


def _make(path: Path) -> None:
    if path.suffix == ".run":
        out, stop = path.with_suffix(".zarr"), lambda what, done, total: interrupt(done > 6)
        with pytest.raises(KeyboardInterrupt):
            grow("edge", 9, backend=NUMPY, out=out, checkpoint=path, every=3, progress=stop)
    elif path.stem == "terms":
        save_sequence(path, [(10, VALUES)], {"sequence": "D", "piles": 3, "start": 10, "stop": 80}, int(VALUES.max()))
    elif path.stem == "solved":
        save(solve("3y <= x + z", 9, grundy=True, backend="numpy"), path)
    else:
        save(grow(path.stem, 7, backend=NUMPY), path)


SEALED = ("edge.npz", "edge.zarr", "solved.npz", "solved.zarr", "terms.zarr", "edge.run")
#: Without a checksum: other values may be read.
PLAIN = ("terms.npy", "terms.csv", "terms.txt", "terms.json", "ulam-warburton.rle", "edge.rle3")


def _read(path: Path) -> tuple[str, Any]:
    """The sentence that refuses a file, or else what it holds."""
    try:
        return "", _content(path)
    except (GpunimError, MemoryError) as error:
        return str(error) or "no memory", None


@pytest.mark.parametrize("name", [*SEALED, *PLAIN])
def test_a_damaged_file_is_refused_in_a_sentence_or_read_as_before(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    _make(whole / name)
    shutil.copytree(whole, tmp_path / "first")
    expected, refused = _content(tmp_path / "first" / name), 0
    for case in range(25):
        folder = tmp_path / str(case)
        shutil.copytree(whole, folder)
        done = damage(Random(f"{name} {case}"), folder)
        sentence, found = _read(folder / name)
        refused += bool(sentence)
        assert sentence.isprintable(), done
        assert sentence or name in PLAIN or found == expected, done
    assert refused or name in PLAIN


def _linked(path: Path, outside: Path) -> None:
    path.rename(outside)
    path.symlink_to(outside)


def _piped(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [_linked, _piped])
@pytest.mark.parametrize("member", ["zarr.json", "births/zarr.json", "births/c/0", "cells/c/0/0"])
def test_a_store_has_no_links_and_no_pipes(tmp_path: Path, member: str, change: Callable[[Path, Path], None]) -> None:
    save(grow("nim", 3, backend=NUMPY), tmp_path / "a.zarr")
    change(tmp_path / "a.zarr" / member, tmp_path / "outside")
    with pytest.raises(FileError, match=f"{member} is a link, or no regular file"):
        load(tmp_path / "a.zarr")


def test_stored_arrays_are_mapped_in_either_order(tmp_path: Path) -> None:
    rows = np.arange(6).reshape(2, 3)
    for array in (rows, np.asfortranarray(rows), rows[:0]):
        np.savez(tmp_path / "a.npz", **{"state.a": array})
        assert read_npz(tmp_path / "a.npz", mapped="state.")["state.a"].tolist() == array.tolist()


class _Harm:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("harm"),)


def test_no_pickle_is_loaded(place: Path) -> None:
    for path, words in ((Path("a.npz"), "it is no zip file, or was truncated"), (Path("a.npy"), "its header is damaged")):
        path.write_bytes(pickle.dumps(_Harm()))
        with pytest.raises(FileError, match=words):
            read_terms(path)
    np.savez("b.npz", births=np.array([_Harm()], object))
    np.savez("run.npz", births=np.arange(3), **{"state.a": np.array([_Harm()], object)})
    for path in (Path("b.npz"), Path("run.npz")):
        with pytest.raises(CorruptFile):
            read_npz(path, mapped="state.")
    save(grow("nim", 3, backend=NUMPY), "c.zarr")
    metadata = Path("c.zarr/births/zarr.json")
    metadata.write_text(metadata.read_text().replace('"zstd"', '"numcodecs.pickle"'))
    shutil.rmtree("c.zarr/cells")
    Path("c.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    with pytest.raises(CorruptFile, match=r"births has the codec numcodecs\.pickle, and gpunim reads bytes"):
        open_zarr(Path("c.zarr"))
    assert not Path("harm").exists()
