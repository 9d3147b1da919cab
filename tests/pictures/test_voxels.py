"""Voxels and patterns: they are read back by other tools, or by readers written from the formats' definitions."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gpu_nim import Growth, grow, save
from gpu_nim.automata.newborns import Newborns
from gpu_nim.model.rule import Rule
from gpu_nim.storage import voxels
from gpu_nim.storage.rle_files import read_pattern
from gpu_nim.storage.voxels import Slabs
from tests.lattices import ONE, literal

GROWTHS = [("edge", 20), ("fcc", 20), ("nim", 18), ("hexagonal", 20), ("ulam-warburton-3", 18), ("edge", 0), ("askew", 9)]
ASKEW = Rule(3, ((1, 2, 0), (0, 1, -1), (3, 0, 1)), ONE, ((0, 0, 0),))  # no two axes are alike


def grown(name: str, generations: int) -> Growth:
    return grow(ASKEW if name == "askew" else name, generations, backend="numpy", cells=True)


def births_of(growth: Growth) -> dict[tuple[int, ...], int]:
    return {tuple(cell): n for n, cells in enumerate(growth) for cell in cells.tolist()}


def placed(born: np.ndarray, origin: np.ndarray) -> dict[tuple[int, ...], int]:
    """The generation of each cell of voxels."""
    return {tuple((place + origin).tolist()): int(born[tuple(place)]) for place in np.argwhere(born >= 0)}


def read_by_vtk(path: Path) -> Any:
    pytest.importorskip("vtkmodules.vtkIOXML", reason="vtk is not installed")
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutputDataObject(0)


def of_vti(path: Path) -> dict[tuple[int, ...], int]:
    from vtkmodules.util.numpy_support import vtk_to_numpy

    image = read_by_vtk(path)
    sides = [max(points - 1, 1) for points in image.GetDimensions()]  # a flat picture has one layer of points
    values = vtk_to_numpy(image.GetCellData().GetArray("generation")).reshape(sides, order="F")
    return placed(values, np.array(image.GetOrigin()).astype(int))


@pytest.mark.parametrize(("name", "generations"), GROWTHS)
@pytest.mark.parametrize("side", [1, 16])
def test_each_birth_is_read(tmp_path: Path, side: int, name: str, generations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The box of fcc begins at -20, between two slabs of 16; reads of 50 cells end anywhere; the last block is not full.
    monkeypatch.setattr(voxels, "SIDE", side)
    monkeypatch.setattr(voxels, "_AT_ONCE", 50)
    monkeypatch.setattr("gpu_nim.storage.voxels._BLOCK", 1000)
    growth = grown(name, generations)
    save(growth, tmp_path / "a.vti")
    assert of_vti(tmp_path / "a.vti") == {(*cell, 0)[:3]: generation for cell, generation in births_of(growth).items()}
    assert os.listdir(tmp_path) == ["a.vti"]


def line(first: int, stop: int) -> Iterator[Newborns]:
    """The generations of a growth that moves by a cell a generation, which is not grown: that would take minutes."""
    return ((n, np.array([[n, 0]])) for n in range(first, stop))


def test_many_generations_take_wider_voxels(tmp_path: Path) -> None:
    for last, dtype in ((2**15 - 1, np.int16), (2**15, np.int32)):
        (tmp_path / f"{last}").mkdir()
        births = np.ones(last + 1, np.uint64)
        begun = grow(Rule(2, ((1, 0),), ONE, ((0, 0),)), 0, backend="numpy")
        slabs = Slabs(replace(begun, births=births, checksums=births, source=line), tmp_path / f"{last}")
        ((_, voxels),) = slabs
        assert voxels.tolist() == [list(range(last + 1))]
        assert voxels.dtype == dtype


def test_parents_beyond_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(grown("edge", 20), tmp_path / "a.zarr", parents=True)
    monkeypatch.setattr("gpu_nim.storage.growth_files._CHUNK", 64)
    save(grown("edge", 20), tmp_path / "b.zarr", parents=True)
    first, second = (zarr.open_group(tmp_path / name, mode="r")["parents"][:] for name in ("a.zarr", "b.zarr"))
    assert np.array_equal(first, second)


# Golly


def test_rle_has_its_head_and_lines_that_are_short_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voxels, "SLAB_BYTES", 2**14)  # some rows a slab
    growth = grown("knight", 30)
    save(growth, tmp_path / "a.rle")
    lines = (tmp_path / "a.rle").read_text().splitlines()
    assert set(read_pattern(tmp_path / "a.rle").seeds) == set(births_of(growth))
    width, height = np.ptp(growth.cells(), axis=0) + 1
    assert lines[2] == f"x = {width}, y = {height}, rule = B/S012345678"
    assert (lines[-1][-1], "".join(lines[3:]).count("!"), max(map(len, lines[3:])) <= 71) == ("!", 1, True)


NEIGHBOURS = {  # what Golly's letters mean, in its coordinates, y downwards
    "V": [(1, 0), (-1, 0), (0, 1), (0, -1)],
    "H": [(1, 0), (-1, 0), (0, 1), (0, -1), (-1, -1), (1, 1)],
    "": [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y],
}


@pytest.mark.parametrize("name", ["ulam-warburton", "square8", "hexagonal", "rule750"])
def test_golly_grows_it_on(tmp_path: Path, name: str) -> None:
    save(grown(name, 9), tmp_path / "a.rle")
    pattern = read_pattern(tmp_path / "a.rle")
    births, survivals, letter = re.fullmatch(r"B(\d*)/S(\d*)([VH]?)", pattern.rule).groups()  # type: ignore[union-attr]
    assert len(survivals) == len(NEIGHBOURS[letter]) + 1
    offsets = tuple(NEIGHBOURS[letter])
    alive = tuple((x, -y) for x, y in pattern.seeds)
    born = literal(Rule(2, offsets, frozenset(map(int, births)), alive), 1)[1]
    assert len(born) == grown(name, 10).births[10]


def test_patterns_in_space_are_in_the_middle_of_their_grid(tmp_path: Path) -> None:
    """With 81 cells a side it is in the middle; 101 are refused."""
    for generation, place in ((40, 9), (49, 0)):
        save(grown("cubic6", generation), tmp_path / "a.rle3")
        start = f"3D version=1 size=100 pos={place},{place},{place} gen={generation}\n"
        assert (tmp_path / "a.rle3").read_text().startswith(start)
