"""
The edge automaton holds Nim
============================

In the octant, a cell is born where exactly one of its twelve edge neighbours is alive. The cells born in generation n with total 2n
are exactly the P-positions of total 2n (Khovanova): Nim grows inside a larger growth.
"""

import matplotlib.pyplot as plt
import numpy as np

import gpu_nim

edge = gpu_nim.grow("edge", 31, columns=["births", "p-positions", "n-positions"])
nim = gpu_nim.grow("nim", 31)
assert edge.table["p-positions"].tolist() == nim.births.tolist()

# %%
# Cell by cell, in one generation:

newborns = edge.newborns(21)
on_time = newborns[newborns.sum(axis=1) == 2 * 21]
assert np.array_equal(on_time, nim.newborns(21))

# %%
# Colour by what the theorem says, beside Nim alone.

figure, pair = plt.subplots(1, 2, figsize=(8, 4))
for axes, growth, colour in zip(pair, (edge, nim), ("nim-p", None), strict=True):
    axes.imshow(growth.plot(resolution=(400, 400), theme="paper", colour=colour).image)
    axes.set_axis_off()
    axes.set_title(f"{growth.automaton}: {growth.population:,} cells")
plt.show()

# %%
# The share of P-positions among the births.

figure, axes = plt.subplots(figsize=(7.2, 3.6))
axes.plot(edge.table["p-positions"] / edge.table["births"], drawstyle="steps-mid")
axes.set_xlabel("generation")
axes.set_ylabel("P-positions / births")
plt.show()
