"""Files of growths and of solved games: they are read back, written atomically, and damage is reported in one sentence."""

import csv
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gpu_nim import Growth, grow, guess, load, save, solve
from gpu_nim.backends.numpy import NumpyBackend
from gpu_nim.games.inequality import chocolate, parse_game
from gpu_nim.games.nim.evolution_graph import evolution_graph
from gpu_nim.model.digest import checksum
from gpu_nim.model.errors import FileError, UsageError
from gpu_nim.storage.arrays import Declared
from gpu_nim.storage.growth_files import growth_checksum
from gpu_nim.storage.growth_formats import GROWTH_FORMATS
from gpu_nim.storage.solutions import SUFFIXES
from tests.helpers import beside


@pytest.fixture(scope="module")
def growth() -> Growth:
    return grow("nim", 100, backend="numpy", cells=True)


def test_what_is_saved_for_other_programs_is_not_loaded(tmp_path: Path) -> None:
    grown, flat = (grow(name, 3, backend="numpy") for name in ("nim", "ulam-warburton"))
    solved, terms = solve("wythoff", 7, backend="numpy"), guess([1, 2, 3, 4, 5, 6])
    every = [(solved, each) for each in SUFFIXES] + [(evolution_graph(3, 4), ".dot"), (terms, ".json")]
    every += [(flat if each == ".rle" else grown, each) for each in GROWTH_FORMATS]
    for number, (found, suffix) in enumerate(every):
        save(found, path := tmp_path / f"{number}{suffix}")
        if suffix in (".zarr", ".npz"):
            assert load(path) == found
            assert (load(path).summary(), load(path).version) == (found.summary(), found.version)
        else:
            with pytest.raises(UsageError, match=r"is read from a file that ends in \.zarr, \.npz, got"):
                load(path)
    assert json.loads((tmp_path / f"{len(SUFFIXES) + 1}.json").read_text()) == terms.facts()


def test_a_growth_streams_into_its_file(growth: Growth, tmp_path: Path) -> None:
    for name in ("a.zarr", "a.npz", "a.csv"):
        grow("nim", 100, backend=NumpyBackend(), out=tmp_path / name)
    assert load(tmp_path / "a.zarr") == load(tmp_path / "a.npz") == growth
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[:4] == ["generation,births,population", "0,1,1", "1,3,4", "2,3,7"]
    assert (len(lines), lines[-1]) == (102, f"100,27,{growth.population}")


def test_a_name_that_is_too_long(growth: Growth, tmp_path: Path) -> None:
    save(growth, tmp_path / f"{'n' * 251}.npz")
    name = "n" * 252 + ".npz"
    with pytest.raises(OSError, match="File name too long"):
        save(growth, tmp_path / name)
    assert len(os.listdir(tmp_path)) == 1


# Damage, one case each: what is done to a good file, and what the sentence says.


def test_foreign_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", births=np.ones(3))
    with pytest.raises(FileError, match="not a growth written by gpunim"):
        load(tmp_path / "b.npz")
    (tmp_path / "c.zarr").mkdir()
    with pytest.raises(FileError, match=r"it has no zarr\.json"):
        load(tmp_path / "c.zarr")
    zarr.open_group(tmp_path / "d.zarr", mode="w")
    with pytest.raises(FileError, match="not a growth written by gpunim"):
        load(tmp_path / "d.zarr")


def _edited(growth: Growth, path: Path, *, rechecked: bool = True, **changes: object) -> None:
    """Save a growth and change its attributes and arrays, and by default the checksum."""
    save(growth, path)
    with np.load(path) as file:
        parts = dict(file)
    attributes = json.loads(str(parts["attributes"]))
    for key, value in changes.items():
        if key in parts:
            parts[key] = value  # type: ignore[assignment]
        elif value is None:
            del attributes[key]
        else:
            attributes[key] = value
    if rechecked and attributes.pop("checksum", None):
        stored = {"cells": Declared(parts["cells"].dtype, parts["cells"].shape)}
        attributes["checksum"] = growth_checksum(attributes, parts["births"], parts["checksums"], stored)
    np.savez(path, **{**parts, "attributes": json.dumps(attributes)})  # type: ignore[arg-type]


EDITED: list[tuple[str, Any, str]] = beside(__file__)["edited"]
MANY = [[x, y, z] for x in (-9, 9) for y in range(-16, 16) for z in range(-16, 16)]
FAR = {"dimension": 3, "offsets": MANY, "births": [1], "seeds": MANY, "octant": False, "symmetry": "cube", "predicates": False}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        *(({name: value}, sentence) for name, value, sentence in EDITED),
        ({"backend": None}, "its attributes are damaged .KeyError: 'backend'"),
        ({"births": np.ones(101)}, "births do not agree with its attributes"),
        ({"births": np.ones((101, 2), np.int64)}, "births do not agree with its attributes"),
        ({"births": np.array(5, np.int64)}, "births do not agree with its attributes"),
        ({"births": np.ones(101, np.uint64)}, "births do not agree with its attributes"),
        ({"births": np.full(101, -1)}, "its births are not all counts"),
        ({"births": np.ones(101, np.int64)}, "its population does not agree with its births"),
        ({"checksums": np.ones(101, np.uint64)}, "its digest does not agree with its births and checksums"),
        ({"cells": np.zeros((4096, 0), np.int32)}, "its cells are not an array of cells"),
        ({"cells": np.zeros((4096, 3))}, "its cells are not an array of cells"),
        ({"cells": np.array(7)}, "its cells are not an array of cells"),
        ({"cells": np.zeros((5, 3), np.int32)}, "its cells do not agree with its attributes, it was truncated"),
        ({"automaton": "own", "rule": FAR}, "up to 1048576 seeds times offsets, got 4194304"),
    ],
)
def test_edited_attributes(growth: Growth, tmp_path: Path, changes: dict[str, object], sentence: str) -> None:
    _edited(growth, tmp_path / "a.npz", **changes)
    with pytest.raises(FileError, match=sentence):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize("changes", [{"automaton": "fcc"}, {"verified": False}, {"seconds": 0.0}, {"device": "abacus"}])
def test_attributes_are_bound_to_the_cells(growth: Growth, tmp_path: Path, changes: dict[str, object]) -> None:
    _edited(growth, tmp_path / "a.npz", rechecked=False, **changes)
    with pytest.raises(FileError, match="do not agree with its checksum"):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", [".zarr", ".npz"])
def test_attributes_of_ones_own_do_no_damage(growth: Growth, tmp_path: Path, ending: str) -> None:
    solution = solve("3y <= x + z", 9, grundy=True, backend="numpy")
    for found, changed in ((growth, {"verified": False}), (solution, {"positions": 7})):
        name = f"{type(found).__name__}{ending}"
        save(found, tmp_path / name)
        _attribute(tmp_path / name, {"title": "for the talk", "tags": [1, None]})
        loaded = load(tmp_path / name)
        assert loaded.summary() == found.summary()
        _attribute(tmp_path / name, changed)
        with pytest.raises(FileError, match="it was edited or damaged"):
            load(tmp_path / name)


def _attribute(path: Path, new: dict[str, object]) -> None:
    if path.suffix == ".zarr":
        zarr.open_group(path, mode="r+").attrs.update(new)
        return
    with np.load(path) as file:
        parts = dict(file)
    np.savez(path, **{**parts, "attributes": json.dumps(json.loads(str(parts["attributes"])) | new)})


def _stores() -> Iterator[Any]:
    """How zarr can write an array: chunks, shards and fill values that gpunim itself does not take, or no longer."""
    codecs = zarr.codecs
    yield pytest.param({"compressors": codecs.ZstdCodec(level=1), "chunks": 5}, id="chunks")
    yield pytest.param({"compressors": [codecs.Crc32cCodec(), codecs.ZstdCodec(), codecs.Crc32cCodec()]}, id="crc32c")
    yield pytest.param({"compressors": None, "serializer": codecs.BytesCodec(endian="big")}, id="big endian")
    yield pytest.param({"shards": 64, "chunks": 16}, id="shards")
    yield pytest.param({"fill_value": 7, "chunk_key_encoding": {"name": "v2", "separator": "."}}, id="fill value and names")


@pytest.mark.parametrize("layout", list(_stores()))
def test_every_store_of_zarr_is_read(tmp_path: Path, layout: dict[str, Any]) -> None:
    grown = grow("edge", 6, backend="numpy", cells=True)
    solution = solve("3y <= x + z", 9, grundy=True, backend="numpy")
    for found, name in ((grown, "a.zarr"), (solution, "b.zarr")):
        save(found, tmp_path / name)
        copied(tmp_path / name, tmp_path / "other.zarr", layout)
        loaded = load(tmp_path / "other.zarr")
        assert loaded.summary() == found.summary()
        if isinstance(loaded, Growth):
            assert np.array_equal(loaded.cells(), grown.cells())
            assert np.array_equal(loaded.newborns(5), grown.newborns(5))
        else:
            assert np.array_equal(loaded.grundy, solution.grundy)
        shutil.rmtree(tmp_path / "other.zarr")


def copied(store: Path, other: Path, layout: dict[str, Any]) -> None:
    """Copy a store by zarr alone, to arrays of another layout, with the metadata of all in one place."""
    old, new = zarr.open_group(store, mode="r"), zarr.open_group(other, mode="w", zarr_format=3)
    for name, array in old.arrays():
        sides = {key: (layout[key], *array.shape[1:]) for key in ("chunks", "shards") if key in layout}
        new.create_array(name, data=array[:], **{**layout, **sides})
    new.attrs.update(dict(old.attrs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that consolidated metadata are no part of Zarr v3
        zarr.consolidate_metadata(other)


def test_a_cell_of_the_same_orbit_is_not_taken_for_another(tmp_path: Path) -> None:
    grown = grow("fcc", 6, backend="numpy", cells=True)
    cells = grown.cells().copy()
    cells[1] *= -1  # of generation 1: the same checksum, which sees orbits alone
    _edited(grown, tmp_path / "a.npz", cells=cells)
    with pytest.raises(FileError, match="cells of generation 1 were edited or damaged"):
        load(tmp_path / "a.npz").cells()


def test_cells_beyond_the_rules_reach_are_not_folded_back(tmp_path: Path) -> None:
    grown = grow("nim", 1, backend="numpy", cells=True)
    cells = grown.cells().astype(np.int64)
    cells[1:] += [[2**32, 0, 0]]
    grown.checksums = np.array([checksum(cells[:1]), checksum(cells[1:])], np.uint64)
    _edited(grown, tmp_path / "a.npz", cells=cells)
    with pytest.raises(FileError, match="cells of generation 1 were edited or damaged"):
        load(tmp_path / "a.npz").cells()


def test_edited_cells_are_found_when_read(growth: Growth, tmp_path: Path) -> None:
    cells = growth.cells().copy()
    cells[int(growth.births[:50].sum())] += 1
    _edited(growth, tmp_path / "a.npz", cells=cells)
    loaded = load(tmp_path / "a.npz")
    assert np.array_equal(loaded.newborns(49), growth.newborns(49))
    with pytest.raises(FileError, match="cells of generation 50 were edited or damaged"):
        loaded.newborns(50)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda store: shutil.rmtree(store / "births"), "it has no births"),
        (lambda store: (store / "zarr.json").write_text("{"), "its JSON is damaged"),
        (lambda store: (store / "zarr.json").write_text("[]"), "its JSON must be an object"),
        (lambda store: (store / "zarr.json").write_text('{"attributes": []}'), r"its zarr\.json is not that of a Zarr v3 group"),
        (lambda store: (store / "births" / "c" / "0").write_bytes(b"x"), "a chunk of births is damaged"),
        (lambda store: (store / "births" / "c" / "0").unlink(), "its population does not agree"),
        (lambda store: (store / "cells" / "c" / "0" / "0").write_bytes(b"x"), "a chunk of cells is damaged"),
        (lambda store: (store / "cells" / "c" / "0" / "0").unlink(), "cells of generation .* edited or damaged"),
    ],
)
def test_a_damaged_store(growth: Growth, tmp_path: Path, damage: object, sentence: str) -> None:
    save(growth, tmp_path / "a.zarr")
    assert callable(damage)
    damage(tmp_path / "a.zarr")
    with pytest.raises(FileError, match=sentence):
        load(tmp_path / "a.zarr").cells()


@pytest.mark.parametrize("suffix", [".zarr", ".npz"])
@pytest.mark.parametrize("grundy", [False, True])
def test_round_trip(tmp_path, suffix, grundy):
    for game in (chocolate(4), chocolate("5/2"), parse_game("w <= x; x <= y + z")):
        solution = solve(game, 9, grundy=grundy)
        save(solution, path := tmp_path / f"solved{suffix}")
        assert load(path) == solution
        assert (load(path).summary(), load(path).version) == (solution.summary(), solution.version)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_csv_lists_positions_and_values(tmp_path):
    solution = solve(chocolate(3), 63, grundy=True)  # more than are written at a time
    save(solution, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["x", "y", "z", "grundy"]
    assert len(rows) == solution.positions > 1 << 16
    assert all(solution.grundy[int(x), int(y), int(z)] == int(g) for x, y, z, g in rows)
    save(solve(chocolate(3), 7), tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + len(solve(chocolate(3), 7).p_positions)
