"""
A saved growth in xarray
========================

Growths are saved as Zarr, which other programs read by themselves: xarray finds the dimensions by name, and loads only what is
asked for.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import xarray as xr

import gpu_nim

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "edge.zarr")
gpu_nim.save(gpu_nim.grow("edge", 63), path)

# %%
# The dimensions are ``generation``, ``cell`` and ``coordinate``; the attributes say what made the file.

saved = xr.open_zarr(path)
saved

# %%
# ``gpu_nim.load`` compares the file with its checksums, and adds what follows from it, such as the generation of each cell.

growth = gpu_nim.load(path, gpu_nim.Growth)
found = growth.to_xarray()
cells = found.cells[found.born == 62]
assert (cells.values == growth.newborns(62)).all()

figure, axes = plt.subplots(figsize=(5, 5))
x, y, z = cells.values.T
axes.scatter(x, y, c=z, s=3, cmap="viridis")
axes.set_aspect("equal")
axes.set_title(f"the {cells.sizes['cell']:,} cells born in generation 62, along z")
plt.show()

# %%
# Without a file, a growth is a dataset with the generation of each cell, and a solved game one with its coordinates by name.

solution = gpu_nim.solve("3y <= x + z", 15, grundy=True).to_xarray()
print(solution.grundy.sel(y=2).max().item(), "is the largest Grundy value with y = 2")
gpu_nim.grow("nim", 31).to_xarray().population.plot.step()
plt.show()

# %%

saved.close()
folder.cleanup()
