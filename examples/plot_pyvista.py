"""
A growth among other things in PyVista
======================================

``add_mesh`` adds a growth to a plotter of your own, and ``to_pyvista`` gives a grid with the generation of each cell, for the
filters of PyVista.
"""

import pyvista as pv

import gpu_nim
from gpu_nim.render import add_mesh

growth = gpu_nim.grow("edge", 15)
grid = growth.to_pyvista()
grid.n_cells, grid.cell_data["generation"].max()

# %%
# The object with its colours, inside the outline of its box.

plotter = pv.Plotter(window_size=(800, 500))
add_mesh(plotter, growth, show_edges=True)
plotter.add_mesh(grid.outline(), color="grey")
plotter.show()

# %%
# The early generations as a threshold, and the whole as glass around them.

plotter = pv.Plotter(window_size=(800, 500))
plotter.add_mesh(grid, opacity=0.1, color="white")
plotter.add_mesh(grid.threshold((0, 5), scalars="generation"), scalars="generation", cmap="viridis")
plotter.show()
