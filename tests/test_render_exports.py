"""Meshes have the values of the cells, and printable bodies are connected: read back by other programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.model.errors import UsageError
from gpu_nim.render.exports import export
from gpu_nim.render.exports.triangles import Mesh, cubes, printable_body
from gpu_nim.render.exports.trimesh_formats import glb_of
from gpu_nim.render.geometry import Blocks, pieces
from gpu_nim.render.look import Look
from gpu_nim.render.source import blocks_of
from tests.render_files import needs_trimesh


def blocks_at(cells):
    cells = np.array(sorted(cells), dtype=np.int32)
    return Blocks("cells", cells, np.ones(len(cells), np.int32), np.zeros(len(cells), np.int32), len(cells))


def pieces_by_walking(cells):
    """The sizes of the pieces, by walking from cell to cell that share a side, an edge or a corner."""
    left, found = set(cells), []
    while left:
        seen, ahead = set(), [left.pop()]
        while ahead:
            here = ahead.pop()
            seen.add(here)
            near = {c for c in left if max(abs(a - b) for a, b in zip(c, here, strict=True)) == 1}
            left -= near
            ahead += near
        found.append(len(seen))
    return sorted(found, reverse=True)


@settings(deadline=None, max_examples=60)
@given(st.sets(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=60))
def test_pieces_are_those_that_one_can_walk_through(cells):
    assert pieces(blocks_at(cells)).tolist() == pieces_by_walking(cells)


@needs_trimesh
@settings(deadline=None, max_examples=25)
@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=24))
def test_any_cells_that_hang_together_print_as_one_watertight_body(cells):
    import trimesh

    blocks = blocks_at(cells)
    if len(pieces_by_walking(cells)) > 1:
        with pytest.raises(UsageError, match="cells cannot be printed as one body: it falls into"):
            printable_body(blocks)
        return
    points, faces = printable_body(blocks)
    mesh = trimesh.Trimesh(points, faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_volume
    assert sum(part.volume > 0 for part in mesh.split()) == 1  # hollows inside are parts of negative volume


@needs_trimesh
@pytest.mark.parametrize("name", [name for name, found in CATALOGUE.items() if found.rule.dimension in (2, 3)])
def test_every_automaton_prints_in_one_piece_or_is_refused(name, tmp_path):
    import trimesh

    file = tmp_path / "a.stl"
    source = f"{name}:6"
    blocks = blocks_of(source)
    if blocks.lattice != "square" or len(pieces_by_walking({*map(tuple, blocks.corners.tolist())})) > 1:
        with pytest.raises(UsageError, match=f"tiles|falls into {len(pieces(blocks))} pieces that do not touch"):
            export(source, file, printable=True)
        assert not file.exists()
        return
    report = export(source, file, printable=True)
    mesh = trimesh.load(file)
    assert mesh.is_watertight
    assert sum(part.volume > 0 for part in mesh.split()) == 1
    assert "in one piece, with necks of 0.4 blocks: print it" in report["note"]


@needs_trimesh
@pytest.mark.parametrize("suffix", ["stl", "ply"])
def test_a_body_that_would_fall_apart_is_not_written(suffix, tmp_path):
    message = r"knight:5 cannot be printed as one body: it falls into \d+ pieces .* the largest of \d+ of \d+ blocks"
    with pytest.raises(UsageError, match=message):
        export("knight:5", tmp_path / f"a.{suffix}", printable=True)
    with pytest.raises(UsageError, match="it falls into 3 pieces"):
        export("nim:3", tmp_path / f"a.{suffix}", Look(generations=(2, 3)), printable=True)
    assert not list(tmp_path.iterdir())


SOURCES = (("edge:6", None, ()), ("edge:6", "branch", ("branch",)), ("chocolate:size=5,grundy=4", "grundy", ("grundy",)))


def expected(source, color):
    blocks = blocks_of(source, color=color)
    return blocks, {"generation": blocks.generations, **blocks.values}


@pytest.mark.parametrize(("source", "color", "more"), SOURCES)
def test_a_vtp_file_has_the_generation_of_each_triangle(source, color, more, tmp_path):
    reader_module = pytest.importorskip("vtkmodules.vtkIOXML", reason="VTK is not installed")
    support = pytest.importorskip("vtkmodules.util.numpy_support")
    export(source, tmp_path / "a.vtp", Look(color=color))
    reader = reader_module.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "a.vtp"))
    reader.Update()
    mesh = reader.GetOutput()
    blocks, facts = expected(source, color)
    assert set(facts) == {"generation", *more}
    for name, values in facts.items():
        read = support.vtk_to_numpy(mesh.GetCellData().GetArray(name))
        assert np.array_equal(read, np.repeat(values, 12))
    corners = support.vtk_to_numpy(mesh.GetPoints().GetData()).reshape(-1, 8, 3).min(axis=1)
    assert np.array_equal(corners, blocks.corners)
    assert mesh.GetPointData().GetScalars().GetName() == "colour"


@needs_trimesh
@pytest.mark.parametrize("suffix", ["ply", "glb"])
@pytest.mark.parametrize(("source", "color", "more"), SOURCES)
def test_a_mesh_has_the_generation_of_each_point(source, color, more, suffix, tmp_path):
    import trimesh

    export(source, tmp_path / f"a.{suffix}", Look(color=color))
    mesh = trimesh.load(tmp_path / f"a.{suffix}", force="mesh", process=False)
    _, facts = expected(source, color)
    assert set(facts) == {"generation", *more}
    for name, values in facts.items():
        attributes = mesh.vertex_attributes if suffix == "glb" else mesh.metadata["_ply_raw"]["vertex"]["data"]
        read = attributes[f"_{name.upper()}" if suffix == "glb" else name]
        assert np.array_equal(np.asarray(read).ravel(), np.repeat(values, 8))


@needs_trimesh
def test_numbers_that_a_mesh_does_not_hold_are_refused():
    far = blocks_at({(2**24, 0, 0), (2**24 + 1, 0, 0)})
    with pytest.raises(UsageError, match="cells has numbers beyond 16,777,216"):
        cubes(far)
    points, faces = cubes(blocks_at({(2**24 - 1, 0, 0)}))
    assert points[:, 0].max() == 2**24
    with pytest.raises(UsageError, match="generation has numbers beyond"):
        glb_of(Mesh(points, faces, None, {"generation": np.full(8, 2**24 + 1, np.int32)}))
