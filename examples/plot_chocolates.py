"""
Chocolates a y <= x + z
=======================

How far the chocolate game of Matsui, Yamauchi, Inoue and Tomari is from Nim, by the parameter a. For a = 3 the P-positions are
those of Nim (their Theorem 3.5); small boxes mislead for others.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import pandas as pd

import gpu_nim
from gpu_nim import chocolate

rows = []
for a in (Fraction(n, 2) for n in range(2, 17)):
    solution = gpu_nim.solve(chocolate(a), 31)
    rows.append({"a": float(a), "P-positions": len(solution.p_positions), "as in Nim": solution.equals_nim})
frame = pd.DataFrame(rows).set_index("a")
frame.T

# %%
# In this box a = 8 looks like Nim. It is not: the first position that differs has z = 32.

print(gpu_nim.solve(chocolate(8), 31).first_difference, gpu_nim.solve(chocolate(8), 127).first_difference)

# %%

figure, axes = plt.subplots(figsize=(7.2, 3.6))
frame["P-positions"].plot.bar(ax=axes, color=["tab:blue" if same else "tab:orange" for same in frame["as in Nim"]])
axes.set_title("P-positions with x, z <= 31; blue where they are those of Nim")
axes.set_xlabel("a")
figure.tight_layout()
plt.show()
