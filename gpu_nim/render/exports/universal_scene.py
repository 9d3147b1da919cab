"""OpenUSD's scenes, for Blender, Houdini and other programs of film: cubes as a mesh, by usd-core."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gpu_nim.render.exports.export_format import BLENDER_LIMIT, ExportedBody, export_format


@export_format(
    ".usdc",
    "cubes, OpenUSD, binary",
    lambda blocks: 1300 * blocks,
    limit=BLENDER_LIMIT,
    packages={"pxr": "usd-core"},
)
def usdc(body: ExportedBody) -> bytes:
    """Return a mesh as binary USD, with the facts of each point, such as generation, and a material in its colours.

    As in .glb a cell is a metre wide; here z is upright.
    """
    from pxr import Sdf, Usd, UsdGeom, UsdShade, Vt

    mesh, types = body.mesh, Sdf.ValueTypeNames
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().comment = str(body.made)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1)
    drawn = UsdGeom.Mesh.Define(stage, "/body")
    stage.SetDefaultPrim(drawn.GetPrim())
    drawn.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    drawn.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(mesh.points))
    drawn.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.array([mesh.points.min(axis=0), mesh.points.max(axis=0)])))
    drawn.CreateFaceVertexCountsAttr(Vt.IntArray(len(mesh.faces), 3))
    drawn.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(mesh.faces.ravel()))
    drawn.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex).Set(Vt.Vec3fArray.FromNumpy(body.light.repeat(8, axis=0)))
    for name, values in body.facts.items():
        primvar = UsdGeom.PrimvarsAPI(drawn).CreatePrimvar(name, types.IntArray, UsdGeom.Tokens.vertex)
        primvar.Set(Vt.IntArray.FromNumpy(values))
    material = UsdShade.Material.Define(stage, "/body/matte")
    surface, colour = (UsdShade.Shader.Define(stage, f"/body/matte/{name}") for name in ("surface", "colour"))
    colour.CreateIdAttr("UsdPrimvarReader_float3")
    colour.CreateInput("varname", types.String).Set("displayColor")
    surface.CreateIdAttr("UsdPreviewSurface")
    surface.CreateInput("roughness", types.Float).Set(0.8)
    surface.CreateInput("diffuseColor", types.Color3f).ConnectToSource(colour.ConnectableAPI(), "result")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    UsdShade.MaterialBindingAPI.Apply(drawn.GetPrim()).Bind(material)
    with TemporaryDirectory() as folder:
        stage.GetRootLayer().Export(str(path := Path(folder, "body.usdc")))
        return path.read_bytes()
