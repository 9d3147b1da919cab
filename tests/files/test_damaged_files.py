"""Damaged files of every format: refused in one sentence, or read as before; and files of others, which name or run nothing."""

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
from gpu_nim.model.errors import FileError, GpunimError
from gpu_nim.model.files import CorruptFile
from gpu_nim.storage.arrays import open_zarr, read_npz
from gpu_nim.storage.rle_files import read_pattern
from gpu_nim.storage.save_load import read_terms
from gpu_nim.storage.tables import save_sequence
from tests.helpers import damage, interrupt

pytest.importorskip("zarr", reason="zarr is not installed")

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
