"""VTK's HDF5 files of voxels, .vtkhdf: what a .vti holds, in VTK's layout of ImageData.

    /VTKHDF     attributes Version, Type, WholeExtent, Origin, Spacing, Direction; those of the file are the growth's
    /VTKHDF/CellData/birth_plus_one     (z, y, x), or (y, x) of a flat growth: generation of birth + 1, 0 where nothing was born

h5py writes it. The files of VTK's own writer hold the time at which they were written; of these, equal growths give equal ones.
"""

from pathlib import Path
from typing import Any

import numpy as np

from gpu_nim.automata.growth import Growth
from gpu_nim.model.errors import missing
from gpu_nim.model.work import interrupts_deferred
from gpu_nim.storage.tables import require_library
from gpu_nim.storage.voxels import SIDE, Slabs


def load_h5py() -> Any:
    """Return the module h5py: MissingDependency and InsufficientMemoryError."""
    require_library("h5py")
    try:
        import h5py
    except ImportError as error:
        raise missing(".vtkhdf files need h5py", "h5py") from error
    return h5py


def write_vtkhdf(growth: Growth, path: Path) -> None:
    """Write the voxels of a growth to a new file."""
    slabs = Slabs(growth, path.parent, growth.newborns(0).shape[1] - 1)  # the last coordinate varies slowest
    missing_axes = (0,) * (3 - len(slabs.shape))
    names = ("version", "automaton", "generations", "population", "digest")
    with interrupts_deferred(), load_h5py().File(path, "w") as file:
        file.attrs.update({name: getattr(growth, name) for name in names})
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([2, 0])
        root.attrs["Type"] = np.bytes_("ImageData")  # of a fixed length, as VTK reads it
        root.attrs["WholeExtent"] = np.array([[0, size] for size in (*slabs.shape, *missing_axes)]).reshape(-1)
        root.attrs["Origin"] = np.array([*slabs.lower, *missing_axes], float)
        root.attrs["Spacing"], root.attrs["Direction"] = np.ones(3), np.eye(3).reshape(-1)
        cells = root.create_group("CellData")
        shape = slabs.shape[::-1]
        chunk = (min(slabs.layers, shape[0]), *(min(SIDE, size) for size in shape[1:]))
        little = slabs.dtype.newbyteorder("<")
        born = cells.create_dataset("birth_plus_one", shape, little, chunks=chunk, compression=1, shuffle=True, track_times=False)
        born.attrs["Attribute"] = np.bytes_("Scalars")
        for first, voxels in slabs:
            layers = slice(first, first + len(voxels))
            for start in range(0, shape[1], SIDE):  # h5py copies what it writes
                part = slice(start, start + SIDE)
                born[layers, part] = voxels[..., part].swapaxes(1, -1)
