"""Meshes have the values of the cells, and printable bodies are connected: read back by other programs."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_nim.automata.catalogue import CATALOGUE
from gpu_nim.model.errors import UsageError
from gpu_nim.model.files import Provenance
from gpu_nim.render.exports import Printing, export, gltf
from gpu_nim.render.exports.export_format import Mesh, cubes, printable_body
from gpu_nim.render.geometry import components
from gpu_nim.render.look import Look
from gpu_nim.render.page import colour_bytes
from gpu_nim.render.source import blocks_of
from tests.helpers import facts, refused
from tests.render_files import blocks_at, needs_trimesh


def pieces(blocks, by="corners"):
    return np.sort(np.bincount(components(blocks, by)))[::-1]


def pieces_by_walking(cells, by="corners"):
    """The sizes of the pieces, by walking from cell to cell that share a side, or also an edge or a corner."""
    length = {"corners": max, "sides": sum}[by]
    left, found = set(cells), []
    while left:
        seen, ahead = set(), [left.pop()]
        while ahead:
            here = ahead.pop()
            seen.add(here)
            near = {c for c in left if length([abs(a - b) for a, b in zip(c, here, strict=True)]) == 1}
            left -= near
            ahead += near
        found.append(len(seen))
    return sorted(found, reverse=True)


@settings(max_examples=60)
@given(st.sets(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=60), st.sampled_from(["corners", "sides"]))
def test_pieces_are_those_that_one_can_walk_through(cells, by):
    assert pieces(blocks_at(cells), by).tolist() == pieces_by_walking(cells, by)


@needs_trimesh
@settings(max_examples=25)
@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=24))
def test_any_cells_print_as_a_watertight_body_a_piece(cells):
    import trimesh

    points, faces = printable_body(blocks_at(cells))
    mesh = trimesh.Trimesh(points, faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_volume
    assert sum(part.volume > 0 for part in mesh.split()) == len(pieces_by_walking(cells))  # hollows have negative volumes


@needs_trimesh
@pytest.mark.parametrize("name", [name for name, found in CATALOGUE.items() if found.rule.dimension in (2, 3)])
def test_every_automaton_prints_in_the_size_and_the_pieces_that_are_said(name, tmp_path):
    import trimesh

    file = tmp_path / "a.stl"
    source = f"{name}:4"
    blocks = blocks_of(source)
    if blocks.lattice != "square":
        with pytest.raises(UsageError, match="tiles"):
            export(source, file, printing=Printing())
        assert not file.exists()
        return
    walked = pieces_by_walking({*map(tuple, blocks.corners.tolist())})
    note = str(export(source, file, printing=Printing(50))["note"])
    mesh = trimesh.load(file)
    assert mesh.is_watertight
    assert mesh.extents.max() == pytest.approx(50)
    assert mesh.bounds[0] == pytest.approx([0, 0, 0])
    assert sum(part.volume > 0 for part in mesh.split()) == len(walked)
    if len(walked) == 1:
        assert note.endswith("; in one piece")
    else:
        assert f"warning: in {len(walked)} pieces that do not touch, the largest of {walked[0]} of {len(blocks)} blocks" in note


@needs_trimesh
@pytest.mark.parametrize("size", [20, 400])
def test_a_stand_joins_the_pieces_that_reach_into_it(size, tmp_path):
    import trimesh

    cells = blocks_at({(0, 0, 0), (5, 0, 0), (0, 5, 1), (9, 9, 9)})
    note = export(cells, tmp_path / "a.stl", printing=Printing(size, stand=True))["note"]
    mesh = trimesh.load(tmp_path / "a.stl")
    assert mesh.is_watertight
    *_, plate = parts = mesh.split()
    assert len(parts) == 5
    assert plate.extents == pytest.approx([size, size, 2])
    loose = sum(part.bounds[0][2] >= 2 for part in parts[:-1])
    assert loose == {20: 1, 400: 2}[size]
    assert f"in {1 + loose} pieces" in note


@needs_trimesh
@pytest.mark.parametrize("source", ["edge:5", "nim-4:3"])
def test_a_slicer_finds_closed_contours_in_each_layer_whose_areas_add_up_to_the_volume(source, tmp_path):
    import trimesh

    file = tmp_path / "a.stl"
    export(source, file, printing=Printing(25, stand=True))
    mesh = trimesh.load(file)
    assert file.stat().st_size == 84 + 50 * len(mesh.faces)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.area_faces.min() > 0
    layers = 50
    height = mesh.extents[2] / layers
    volume = 0.0
    for layer in range(layers):
        lines, faces = trimesh.intersections.mesh_plane(mesh, (0, 0, 1), (0, 0, (layer + 0.5) * height), return_faces=True)
        ends, degree = np.unique(lines.reshape(-1, 3)[:, :2].round(4), axis=0, return_counts=True)
        assert len(ends) > 0
        assert (degree % 2 == 0).all()
        out = mesh.face_normals[faces][:, :2]
        out /= np.linalg.norm(out, axis=1)[:, None]
        length = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
        volume += height * (length * (lines[:, 0, :2] * out).sum(axis=1)).sum() / 2
    assert volume == pytest.approx(mesh.volume, rel=0.03)


@needs_trimesh
@pytest.mark.parametrize("suffix", [".stl", ".3mf"])
def test_cubes_for_a_printer_come_with_a_warning(suffix, tmp_path):
    note = str(export("nim:3", tmp_path / f"a{suffix}")["note"])
    assert note.startswith("warning: in 16 pieces that share no side, the largest of 1 of 16 blocks")
    assert export(blocks_at({(0, 0, 0), (0, 0, 1)}), tmp_path / f"b{suffix}")["note"] == ""


@needs_trimesh
def test_the_command_prints_in_the_size_that_is_asked_for(tmp_path):
    file = tmp_path / "a.stl"
    assert "--stand is for a printable body: it needs --printable" in refused("export", "nim:3", "-o", file, "--stand")
    assert "it needs --printable" in refused("export", "nim:3", "-o", file, "--print-size", 100)
    assert "print_size must be from 1" in refused("export", "nim:3", "-o", file, "--printable", "--print-size", "nan")
    assert not file.exists()
    printed = facts("export", "nim:3", "-o", file, "--printable", "--print-size", 25)
    assert printed["note"] == "25 mm across, with necks of 2.3 mm; in one piece"


@pytest.mark.parametrize(
    ("source", "options"), [("nim:7", ["--printable", "--stand"]), ("nim-4:3", ["--printable"]), ("fcc:3", [])]
)
def test_the_library_of_the_3mf_consortium_reads_a_body_without_a_warning(source, options, tmp_path):
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
    assert np.ptp(points, axis=0).max() == pytest.approx(100 if options else 7)  # millimetres; fcc:3 has cells from -3 to 3
    assert not meshes.MoveNext()


@pytest.mark.parametrize("size", [0.5, 20_000, float("nan"), float("inf")])
def test_a_size_that_cannot_be_printed_is_refused(size):
    with pytest.raises(UsageError, match="print_size must be from 1 to 10,000 millimetres, got"):
        Printing(size)


SOURCES = (("edge:6", None, ()), ("edge:6", "branch", ("branch",)), ("chocolate:size=5,grundy=4", "grundy", ("grundy",)))


def expected(source, colour):
    blocks = blocks_of(source, colour=colour)
    return blocks, {"generation": blocks.generations, **blocks.values}


@pytest.mark.parametrize(("source", "colour", "more"), SOURCES)
def test_a_vtp_file_has_the_generation_of_each_triangle(source, colour, more, tmp_path):
    reader_module = pytest.importorskip("vtkmodules.vtkIOXML", reason="VTK is not installed")
    support = pytest.importorskip("vtkmodules.util.numpy_support")
    export(source, tmp_path / "a.vtp", Look(colour=colour))
    reader = reader_module.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "a.vtp"))
    reader.Update()
    mesh = reader.GetOutput()
    blocks, facts = expected(source, colour)
    assert set(facts) == {"generation", *more}
    for name, values in facts.items():
        read = support.vtk_to_numpy(mesh.GetCellData().GetArray(name))
        assert np.array_equal(read, np.repeat(values, 12))
    corners = support.vtk_to_numpy(mesh.GetPoints().GetData()).reshape(-1, 8, 3).min(axis=1)
    assert np.array_equal(corners, blocks.corners)
    assert mesh.GetPointData().GetScalars().GetName() == "colour"


@needs_trimesh
@pytest.mark.parametrize("suffix", ["ply", "glb"])
@pytest.mark.parametrize(("source", "colour", "more"), SOURCES)
def test_a_mesh_has_the_generation_of_each_point(source, colour, more, suffix, tmp_path):
    import trimesh

    export(source, tmp_path / f"a.{suffix}", Look(colour=colour))
    mesh = trimesh.load(tmp_path / f"a.{suffix}", force="mesh", process=False)
    _, facts = expected(source, colour)
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
        gltf.triangles(Mesh(points, faces, None, {"generation": np.full(8, 2**24 + 1, np.int32)}), Provenance(""))


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


def broken_rules(data):
    """The rules of glTF 2.0 that a .glb file breaks, of those that programs rely on."""
    from trimesh.exchange.gltf import validate

    magic, version, length, size, kind = struct.unpack("<4sIII4s", data[:20])
    rest, last = struct.unpack("<I4s", data[20 + size : 28 + size])
    scene, read = read_glb(data)
    validate(scene)  # by the schema of the Khronos Group
    views, accessors = scene["bufferViews"], scene["accessors"]
    (buffer,), (mesh,) = scene["buffers"], scene["meshes"]
    (primitive,) = mesh["primitives"]
    points = primitive["attributes"]
    place = accessors[points["POSITION"]]
    counts = {accessors[at]["count"] for at in points.values()}
    ends = [0, *(view["byteOffset"] + view["byteLength"] for view in views)]
    widths = {5121: 1, 5123: 2, 5125: 4, 5126: 4}
    rules = {
        "header": (magic, version, length, kind, last) == (b"glTF", 2, len(data), b"JSON", b"BIN\0"),
        "chunks": (28 + size + rest, size % 4, rest % 4, buffer["byteLength"]) == (len(data), 0, 0, rest),
        "views": all(end <= view["byteOffset"] for end, view in zip(ends, views, strict=False)) and ends[-1] <= rest,
        "alignment": all(views[one["bufferView"]]["byteOffset"] % 4 == 0 for one in accessors),
        "lengths": all(
            read(number).nbytes == views[one["bufferView"]]["byteLength"] == read(number).size * widths[one["componentType"]]
            for number, one in enumerate(accessors)
        ),
        "points": place["type"] == "VEC3" and len(counts) == 1,
        "bounds": [place["min"], place["max"]] == [f(read(points["POSITION"]), axis=0).tolist() for f in (np.min, np.max)],
        "indices": read(primitive["indices"]).max() < place["count"] and accessors[primitive["indices"]]["count"] % 3 == 0,
        "names": all(name in ("POSITION", "COLOR_0") or name.startswith("_") for name in points),
    }
    return [name for name, kept in rules.items() if not kept]


@needs_trimesh
@pytest.mark.parametrize("limit", [3, gltf.PLAIN_LIMIT], ids=["instances", "triangles"])
@pytest.mark.parametrize("source", ["edge:7", "ulam-warburton:5"])
def test_a_glb_keeps_the_rules_of_the_format(source, limit, monkeypatch, tmp_path):
    pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    monkeypatch.setattr(gltf, "PLAIN_LIMIT", limit)
    export(source, tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    assert broken_rules(data) == []


@needs_trimesh
@pytest.mark.parametrize("suffix", ["ply", "stl", "obj", "glb"])
def test_vtk_reads_the_triangles_of_a_mesh_in_their_colours(suffix, tmp_path):
    pyvista = pytest.importorskip("pyvista", reason="PyVista is not installed")
    report = export("edge:7", tmp_path / f"a.{suffix}")
    read = pyvista.read(tmp_path / f"a.{suffix}")
    mesh = read.combine() if suffix == "glb" else read.cast_to_unstructured_grid()
    points, faces = cubes(blocks_of("edge:7"))
    assert report["triangles"] == mesh.n_cells == len(faces)
    triangles = mesh.points[mesh.cells.reshape(-1, 4)[:, 1:]]
    assert np.array_equal(triangles[..., [2, 0, 1]] if suffix == "glb" else triangles, points[faces])  # y is upright in glTF
    if suffix == "obj":  # whose colours older versions of VTK do not read
        vertices = (tmp_path / "a.obj").read_text().splitlines()
        colours = [line.split()[4:7] for line in vertices if line.startswith("v ")]
    elif suffix != "stl":
        colours = mesh.point_data[{"ply": "RGBA", "glb": "COLOR_0"}[suffix]]
    assert suffix == "stl" or len(np.unique(colours, axis=0)) == 8  # one a generation


@pytest.mark.parametrize(("source", "colour"), [("edge:7", "branch"), ("fcc:5", None), ("chocolate:size=7,grundy=4", "grundy")])
def test_instances_are_the_cells_with_their_colours_and_values(source, colour, monkeypatch, tmp_path):
    monkeypatch.setattr(gltf, "PLAIN_LIMIT", 3)
    export(source, tmp_path / "a.glb", Look(colour=colour))
    blocks, facts = expected(source, colour)
    scene, read = read_glb((tmp_path / "a.glb").read_bytes())
    (node,) = scene["nodes"]
    instances = {name: read(at) for name, at in node["extensions"]["EXT_mesh_gpu_instancing"]["attributes"].items()}
    assert scene["extensionsRequired"] == ["EXT_mesh_gpu_instancing"]
    places = instances.pop("TRANSLATION")[:, [2, 0, 1]]  # y is upright
    assert np.array_equal(places, blocks.corners)
    light = (colour_bytes(blocks, Look(colour=colour)) / 255) ** 2.2  # sRGB, nearly
    assert np.abs(instances.pop("_COLOR_0") / 255 - np.c_[light, np.ones(len(light))]).max() < 0.02
    assert instances.keys() == {f"_{name.upper()}" for name in facts}
    for name, values in facts.items():
        assert np.array_equal(instances[f"_{name.upper()}"], values)
    (primitive,) = scene["meshes"][0]["primitives"]
    cube = read(primitive["attributes"]["POSITION"])
    assert {*map(tuple, cube.tolist())} == {(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)}
    a, b, c = np.moveaxis(cube[read(primitive["indices"]).reshape(-1, 3)], 1, 0)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(1)  # it faces out


def test_a_million_cells_are_a_glb_of_twenty_megabytes(tmp_path):
    blocks = blocks_of("nim:255")
    report = export(blocks, tmp_path / "a.glb")
    plain = report["bytes"]
    assert (plain < 20e6, report["note"]) == (True, "")
    instances = len(gltf.instanced(blocks, colour_bytes(blocks, Look()), Provenance("")))
    assert 16 * instances < 20e6 < 16 * plain
