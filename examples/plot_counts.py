"""
Counts over a range
===================

The P-positions of Nim with three piles by their total, and by their largest pile: d_3 in rows between powers of two, laid over each
other, on which it tends to 6c - 3, A016945.
"""

import matplotlib.pyplot as plt

import gpu_nim

by_total = gpu_nim.count("D", range(4096), piles=3)
plt.loglog(by_total, ".", markersize=2, base=2)
plt.xlabel("n")
plt.ylabel("P-positions of total 2n")
plt.show()

# %%
# The rows, each a line over the place in its row.

by_maximum = gpu_nim.count("d", range(64), piles=3)
for power in range(6):
    row = by_maximum[2**power : 2 ** (power + 1)]
    plt.loglog(range(1, len(row) + 1), row, ".-", base=2, label=f"from {2**power}")
plt.xlabel("place in the row of n")
plt.ylabel("P-positions whose largest pile is n")
plt.legend()
plt.show()
