"""Meshes have the values of the cells, and printable objects are connected: read back by other programs."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import Provenance
from gpu_nim.render.exports import EXPORTS, ExportedObject, export
from gpu_nim.render.exports.meshes import components, cubes, printed_object, printing_note
from gpu_nim.render.geometry import middles
from gpu_nim.render.image import prepare, solid
from gpu_nim.render.look import Look
from gpu_nim.render.page.scenes import colour_bytes
from gpu_nim.render.source import blocks_of
from tests.helpers import facts
from tests.render_files import blocks_at, needs_trimesh


def pieces(blocks, by="corners"):
    return np.sort(np.bincount(components(blocks, by)))[::-1]


def cubes_touch(by):
    """Whether two cubes share a side, or also an edge or a corner."""
    length = {"corners": max, "sides": sum}[by]
    return lambda one, other: length([abs(a - b) for a, b in zip(one, other, strict=True)]) == 1


def pieces_by_walking(cells, touching):
    """The sizes of the pieces, by walking from cell to cell that touch."""
    left, found = set(cells), []
    while left:
        seen, ahead = set(), [left.pop()]
        while ahead:
            here = ahead.pop()
            seen.add(here)
            near = {c for c in left if touching(c, here)}
            left -= near
            ahead += near
        found.append(len(seen))
    return sorted(found, reverse=True)


@settings(max_examples=60)
@given(st.sets(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=60), st.sampled_from(["corners", "sides"]))
def test_pieces_are_those_that_one_can_walk_through(cells, by):
    assert pieces(blocks_at(cells), by).tolist() == pieces_by_walking(cells, cubes_touch(by))


@needs_trimesh
@settings(max_examples=25)
@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=24))
def test_any_cells_print_as_a_watertight_object_in_the_size_and_the_pieces_that_are_said(cells):
    import trimesh

    blocks = blocks_at(cells)
    mesh = trimesh.Trimesh(*printed_object(blocks, 50)[:2], process=False)
    assert mesh.is_watertight
    assert mesh.is_volume  # its normals point outward, consistently
    assert mesh.area_faces.min() > 0
    assert mesh.extents.max() == pytest.approx(50)
    assert mesh.bounds[0] == pytest.approx([0, 0, 0])
    walked = pieces_by_walking(cells, cubes_touch("corners"))
    assert sum(part.volume > 0 for part in mesh.split()) == len(walked)  # hollows have negative volumes
    said = f"warning: in {len(walked)} pieces that do not touch, the largest of {walked[0]} of {len(blocks)} blocks"
    assert printing_note(blocks, 50).endswith(said if len(walked) > 1 else "; in one piece")


@needs_trimesh
@settings(max_examples=40)
@given(st.sets(st.tuples(*[st.integers(-2, 2)] * 2), min_size=1, max_size=20), st.sampled_from(["hexagonal", "triangular"]))
def test_any_hexagons_and_triangles_are_closed_prisms_and_print_as_a_watertight_object(cells, lattice):
    import trimesh

    def apart(a, b):
        x, y = np.subtract(a, b).tolist()
        return x * x + x * y + y * y  # of points of the lattice, squared

    omitted = {(x, y) for x in range(-4, 5) for y in range(-4, 5) if lattice == "triangular" and (x - y) % 3 == 0}
    cells = sorted({*cells, (1, 0)} - omitted)
    blocks = replace(blocks_at([(x, y, 0) for x, y in cells]), lattice=lattice, flat=True)
    obj = ExportedObject(blocks, Look(), Provenance(""))
    parts = trimesh.Trimesh(*obj.mesh[:2], process=False).split(only_watertight=True)
    area = 3**0.5 / 2 if lattice == "hexagonal" else 3 * 3**0.5 / 4
    assert [part.volume for part in parts] == pytest.approx([area] * len(cells), rel=1e-5)
    sums = np.stack([np.bincount(obj.owners, values) for values in obj.mesh.points.T], axis=1)
    assert sums / np.bincount(obj.owners)[:, None] == pytest.approx(middles(blocks) + np.array([0, 0, 0.5]), abs=1e-5)

    mesh = trimesh.Trimesh(*printed_object(blocks, 50)[:2], process=False)
    assert mesh.is_watertight
    assert mesh.is_volume
    assert mesh.extents.max() == pytest.approx(50)
    neck = {"hexagonal": 3**-0.5, "triangular": 0.2 * 3**0.5}[lattice] * mesh.extents[2]  # a prism is as high as cells are apart
    assert float(re.search(r"necks of ([\d.]+) mm", printing_note(blocks, 50))[1]) == pytest.approx(neck, rel=0.07)
    near = {  # what has a common corner
        (a, b) for a in cells for b in cells if apart(a, b) == 1 or any(apart(a, c) == apart(b, c) == 1 for c in omitted)
    }
    walked = pieces_by_walking(cells, touching=lambda a, b: (a, b) in near)
    assert len(mesh.split()) == len(walked)
    assert pieces(blocks).tolist() == walked
    assert pieces(blocks, "sides").tolist() == pieces_by_walking(cells, touching=lambda a, b: apart(a, b) == 1)


@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=24))
def test_each_side_of_a_print_belongs_to_a_cell_that_it_is_on(cells):
    blocks = blocks_at(cells)
    points, faces, owners = printed_object(blocks, 50)
    unit = (np.ptp(blocks.corners, axis=0).max() + 1.4) / 50  # cells in a millimetre
    middles = points[faces].mean(axis=1) * unit + blocks.corners.min(axis=0) - 0.2
    assert np.abs(middles - blocks.centres()[owners]).max() <= 0.7 + 1e-4  # a cell reaches 0.2 beyond its sides


@needs_trimesh
@pytest.mark.parametrize("suffix", [".stl", ".3mf"])
def test_cubes_for_a_printer_come_with_a_warning(suffix, tmp_path):
    note = str(export("nim:3", tmp_path / f"a{suffix}")["note"])
    assert note.startswith("warning: in 16 pieces that share no side, the largest of 1 of 16 blocks")
    assert export(blocks_at({(0, 0, 0), (0, 0, 1)}), tmp_path / f"b{suffix}")["note"] == ""


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("nim:7", ["--printable", "--print-size", 25]),
        ("nim-4:3", ["--printable"]),
        ("triangular:4", ["--printable"]),
        ("fcc:3", []),
        ("hexagonal:3", []),
    ],
)
def test_the_library_of_the_3mf_consortium_reads_an_object_without_a_warning(source, options, tmp_path):
    lib3mf = pytest.importorskip("lib3mf", reason="lib3mf is not installed")
    file = tmp_path / "a.3mf"
    said = facts("export", source, "-o", file, *options)
    model = lib3mf.get_wrapper().CreateModel()
    reader = model.QueryReader("3mf")
    reader.SetStrictModeActive(True)
    reader.ReadFromFile(str(file))
    assert [reader.GetWarning(k) for k in range(reader.GetWarningCount())] == []
    assert model.GetUnit() == lib3mf.ModelUnit.MilliMeter
    meshes, items = model.GetMeshObjects(), model.GetBuildItems()
    assert meshes.MoveNext()
    assert items.MoveNext()
    mesh = meshes.GetCurrentMeshObject()
    assert items.GetCurrent().GetObjectResourceID() == mesh.GetResourceID()
    assert mesh.IsManifoldAndOriented()
    assert mesh.GetTriangleCount() == said["triangles"]
    points = np.array([list(point.Coordinates) for point in mesh.GetVertices()])
    if options:
        assert np.ptp(points, axis=0).max() == pytest.approx(options[-1] if "--print-size" in options else 100)
    else:
        faces = np.array([list(triangle.Indices) for triangle in mesh.GetTriangleIndices()])
        assert [np.allclose(*pair) for pair in zip((points, faces), cubes(blocks_of(source)), strict=False)] == [True, True]
    assert not meshes.MoveNext()
    # Each triangle has the colour of the cell that it belongs to.
    groups = model.GetColorGroups()
    assert groups.MoveNext()
    group, properties = groups.GetCurrentColorGroup(), mesh.GetAllTriangleProperties()
    assert {(each.ResourceID, *each.PropertyIDs) for each in properties} <= {
        (group.GetResourceID(), k, k, k) for k in group.GetAllPropertyIDs()
    }
    shades = {k: (colour.Red, colour.Green, colour.Blue) for k in group.GetAllPropertyIDs() for colour in [group.GetColor(k)]}
    blocks = solid(prepare(source, Look()), Look())
    of_each = ExportedObject(blocks, Look(), Provenance(""), 100.0 if options else None).mesh.blocks
    assert [shades[each.PropertyIDs[0]] for each in properties] == [*map(tuple, colour_bytes(blocks, Look())[of_each].tolist())]


@needs_trimesh
def test_numbers_that_a_mesh_does_not_hold_are_refused():
    far = blocks_at({(2**24, 0, 0), (2**24 + 1, 0, 0)})
    with pytest.raises(UsageError, match="cells has numbers beyond 16,777,216"):
        cubes(far)
    near = blocks_at({(2**24 - 1, 0, 0)})
    assert cubes(near)[0][:, 0].max() == 2**24
    late = ExportedObject(replace(near, generations=np.array([2**24 + 1], np.int32)), Look(), Provenance(""))
    with pytest.raises(UsageError, match="generation has numbers beyond"):
        EXPORTS[".glb"].write(late)


def read_glb(data):
    """The scene of a .glb file, and a function that reads one of its accessors."""
    size = int.from_bytes(data[12:16], "little")
    scene = json.loads(data[20 : 20 + size])
    kinds = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}

    def read(number):
        accessor = scene["accessors"][number]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        start = 28 + size + scene["bufferViews"][accessor["bufferView"]]["byteOffset"]
        values = np.frombuffer(data, kinds[accessor["componentType"]], width * accessor["count"], start)
        return values.reshape(-1, width) if width > 1 else values

    return scene, read


@needs_trimesh
@pytest.mark.parametrize("suffix", ["ply", "glb"])
@pytest.mark.parametrize(("source", "colour"), [("edge:7", "branch"), ("fcc:5", None), ("chocolate:size=7,grundy=4", "grundy")])
def test_a_mesh_has_the_cells_with_their_colours_and_values(source, colour, suffix, tmp_path):
    import trimesh

    export(source, file := tmp_path / f"a.{suffix}", Look(colour=colour))
    blocks = blocks_of(source, colour=colour)
    facts, light = {"generation": blocks.generations, **blocks.values}, colour_bytes(blocks, Look(colour=colour)) / 255
    if suffix == "ply":
        mesh = trimesh.load(file, process=False)
        corners, faces, colours = mesh.vertices, mesh.faces, mesh.visual.vertex_colors
        values = {name: mesh.metadata["_ply_raw"]["vertex"]["data"][name] for name in facts}
    else:
        scene, read = read_glb(file.read_bytes())
        (primitive,) = scene["meshes"][0]["primitives"]
        values = {name.removeprefix("_").lower(): read(at) for name, at in primitive["attributes"].items()}
        corners, faces, colours = values.pop("position"), read(primitive["indices"]).reshape(-1, 3), values.pop("color_0")
        corners, light = corners[:, [2, 0, 1]], light**2.2  # y is upright, and sRGB is nearly that
        assert scene["materials"][primitive["material"]]["pbrMetallicRoughness"]["metallicFactor"] == 0
    assert np.array_equal(corners.reshape(-1, 8, 3).min(axis=1), blocks.corners)
    assert np.abs(colours / 255 - np.c_[light, np.ones(len(light))].repeat(8, axis=0)).max() < 0.02
    assert values.keys() == facts.keys()
    for name, known in facts.items():
        assert np.array_equal(np.ravel(values[name]), np.repeat(known, 8))
    a, b, c = np.moveaxis(corners[faces], 1, 0).astype(float)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(len(blocks))  # the sides face out
