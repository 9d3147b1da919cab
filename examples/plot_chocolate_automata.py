"""
Are the P-positions of a chocolate automatic?
=============================================

A finite automaton that reads the binary digits of x, y and z, the highest first, is in one state after prefixes that allow the same
continuations. So the P-positions in a box of side 2^m, cut into cubes of side 2^c, have no more different cubes than the automaton
has states.
"""

import matplotlib.pyplot as plt
import numpy as np

import gpu_nim


def different_cubes(positions: np.ndarray, digits: int) -> int:
    """How many sets of positions there are in cubes of side 2^digits that are not empty."""
    cubes, inside = positions >> digits, positions & ((1 << digits) - 1)
    order = np.lexsort((*inside.T, *cubes.T))
    edges = np.flatnonzero(np.any(np.diff(cubes[order], axis=0), axis=1)) + 1
    return len({part.tobytes() for part in np.split(inside[order], edges)})


sizes = range(4, 8)
states = {}
for a in (1, 2, 3, 4, 5, 6, 8, 9):
    for m in sizes:
        positions = np.asarray(gpu_nim.solve(gpu_nim.chocolate(a), 2**m - 1).p_positions, dtype=np.int64)
        states[a, m] = max(different_cubes(positions, c) for c in range(m))
    print(f"a = {a}: at least", *(states[a, m] for m in sizes), "states that accept something")

# %%
# For odd a the numbers stay the same from some box on, and theorems give the automaton. For even a they grow almost fourfold with
# each doubling, as the P-positions do.

figure, axes = plt.subplots(figsize=(7.2, 4.2))
for a in (1, 2, 3, 4, 5, 6, 8, 9):
    axes.semilogy(sizes, [states[a, m] for m in sizes], marker="o", linestyle="-" if a % 2 else "--", label=f"a = {a}")
axes.set_xlabel("m: the box has side 2^m")
axes.set_ylabel("different cubes")
axes.set_xticks(list(sizes))
axes.legend(ncols=2)
plt.show()
