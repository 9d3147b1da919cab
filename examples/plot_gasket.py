"""
The view with Sierpinski's gasket
=================================

The P-positions of the chocolate 3y <= x + z as (x, y, z - x), drawn along two directions: from one of them, Sierpinski's gasket
appears (Matsui and others, Graphs 4.1 to 4.3).
"""

import matplotlib.pyplot as plt

import gpu_nim
from gpu_nim.games import chocolate, sheared

solution = gpu_nim.solve(chocolate(3), 63)
points = sheared(solution.p_positions)

figure, axes = plt.subplots(figsize=(7.2, 3.6))
axes.scatter(points[:, 0], points[:, 2], c=points[:, 1], s=4, cmap="viridis")
axes.set_xlabel("x")
axes.set_ylabel("z - x")
axes.set_aspect("equal")
plt.show()

# %%
# The fractal of three-pile Nim seen along its diagonal is the gasket itself: the picture is of a growth, not of a formula.

growth = gpu_nim.grow("nim", 63)
figure, pair = plt.subplots(1, 2, figsize=(8, 4))
for axes, view in zip(pair, ("three-quarter", "gasket"), strict=True):
    axes.imshow(growth.plot(resolution=(400, 400), view=view, theme="paper").image)
    axes.set_axis_off()
    axes.set_title(view)
plt.show()
