"""
Counts and growth rates
=======================

The table of a growth as a data frame, and how fast two automata grow: three-pile Nim, where a theorem gives the births, and the
rule of all twelve edge neighbours, for which no formula is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import gpu_nim

nim, edge = (gpu_nim.grow(name, 255) for name in ("nim", "edge"))

# %%
# A table is a dict of arrays, with exact values. The index of its data frame is the generation.

frame = nim.table.to_pandas()
frame.loc[[0, 1, 2, 3, 7, 15, 255]]

# %%
# Nim has 3^w births in generation n, where w is the number of 1s of n in binary.

assert all(frame.births == [3 ** n.bit_count() for n in range(256)])

# %%
# The population of Nim increases like n^2, and that of the other automaton like n^3: the ratios go on oscillating between powers of
# two instead of approaching a limit.

n = np.arange(1, 256)
figure, axes = plt.subplots(figsize=(7.2, 4.2))
axes.semilogx(n, nim.table["population"][1:] / n**2, base=2, label="nim: population / n²")
axes.semilogx(n, 6 * edge.table["population"][1:] / n**3, base=2, label="edge: 6 population / n³")
axes.set_xlabel("generation n")
axes.legend()
plt.show()

# %%
# Counts far beyond any growth are exact, too: reductions over a range do not visit its values.

print(gpu_nim.count("D", 10**18 + 12345, piles=4))
print(gpu_nim.count("D", range(10**18), piles=4, reduce=["sum", "max", "argmax"]))
