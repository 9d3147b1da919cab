"""Bodies as clouds: a grid of colours and opacities that VTK casts rays through.

The grid holds at most 64 points a cell and 2^24 in all: a dense grid is never built for a sparse set, which is made
coarser instead.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_nim.render.geometry import Blocks, coarsen

_POINTS_LIMIT = 1 << 24
_POINTS_A_CELL = 64


@dataclass(frozen=True)
class Cloud:
    """A grid: `colours` uint8 (x, y, z, 4), red, green, blue and opacity, whose first point has its middle at
    `origin`.
    """

    colours: NDArray[np.uint8]
    origin: NDArray[np.float64]
    spacing: int


def solid_enough(blocks: Blocks) -> Blocks:
    """Return the blocks, made coarser until their grid is small enough for how many they are."""
    size = int(blocks.sizes.max())
    while True:
        low, high = blocks.bounds()
        points = int(np.prod((high - low) // size + 3))
        if points <= min(_POINTS_LIMIT, max(_POINTS_A_CELL * len(blocks), 1 << 12)):
            return blocks
        size *= 2
        blocks = coarsen(blocks, size)


def cloud_of(blocks: Blocks, base: NDArray[np.float32]) -> Cloud:
    """Return the cloud of blocks of one size in their colours: the older a cell, the denser, so that the young let
    light in.

    >>> from gpu_nim.render.source import blocks_of
    >>> cells = blocks_of("nim:7")
    >>> cloud = cloud_of(cells, np.ones((64, 3), np.float32))
    >>> cloud.colours.shape, int((cloud.colours[..., 3] > 0).sum())
    ((10, 10, 10, 4), 64)
    """
    size = int(blocks.sizes.max())
    low, high = blocks.bounds()
    shape = (high - low) // size + 2  # a rim of one empty point all around
    colours = np.zeros((*shape.tolist(), 4), dtype=np.uint8)
    x, y, z = ((blocks.corners - low) // size + 1).T
    first, last = int(blocks.generations.min()), int(blocks.generations.max())
    age = 1 - (blocks.generations - first) / max(last - first, 1)
    colours[x, y, z, :3] = np.rint(base * 255)
    colours[x, y, z, 3] = np.rint(40 + 215 * age**1.5)
    # Between a cell and the emptiness beside it colours are mixed: let the emptiness have its neighbours' colour.
    empty = colours[..., 3] == 0
    total, count = np.zeros((*shape.tolist(), 3), dtype=np.float32), np.zeros(shape.tolist(), dtype=np.float32)
    for axis in range(3):
        for step in (-1, 1):
            total += np.roll(colours[..., :3] * ~empty[..., None], step, axis)
            count += np.roll(~empty, step, axis)
    fill = empty & (count > 0)
    colours[fill, :3] = (total[fill] / count[fill][:, None]).astype(np.uint8)
    return Cloud(colours, np.asarray(low - size / 2, dtype=np.float64), size)


def volume_of(cloud: Cloud) -> Any:
    """Return the cloud as a VTK volume, its light falling off along the ray."""
    import vtkmodules.vtkRenderingVolumeOpenGL2  # noqa: F401  registers the classes that draw
    from vtkmodules.util import numpy_support
    from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPiecewiseFunction
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction, vtkVolume, vtkVolumeProperty
    from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper

    convert: Any = numpy_support
    data = vtkImageData()
    data.SetDimensions(*cloud.colours.shape[:3])
    data.SetSpacing(cloud.spacing, cloud.spacing, cloud.spacing)
    data.SetOrigin(*cloud.origin)
    flat = np.ascontiguousarray(cloud.colours.transpose(2, 1, 0, 3)).reshape(-1, 4)
    data.GetPointData().SetScalars(convert.numpy_to_vtk(flat, deep=True))
    opacity = vtkPiecewiseFunction()
    opacity.AddPoint(0, 0.0)
    opacity.AddPoint(255, 0.55)
    grey = vtkColorTransferFunction()
    grey.AddRGBPoint(0, 0, 0, 0)
    grey.AddRGBPoint(255, 1, 1, 1)
    look = vtkVolumeProperty()
    look.IndependentComponentsOff()
    look.SetColor(grey)
    look.SetScalarOpacity(opacity)
    look.SetScalarOpacityUnitDistance(cloud.spacing)
    look.SetInterpolationTypeToLinear()
    look.ShadeOn()
    look.SetAmbient(0.45)
    look.SetDiffuse(0.9)
    look.SetSpecular(0.1)
    mapper = vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputData(data)
    mapper.SetAutoAdjustSampleDistances(0)
    mapper.SetSampleDistance(cloud.spacing * 0.4)
    mapper.SetImageSampleDistance(1.0)
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(look)
    return volume
