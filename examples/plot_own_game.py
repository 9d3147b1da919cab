"""
A game of your own
==================

Three ways to state a game: inequalities, a rule for heaps, and any class with positions and options.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import gpu_nim
from gpu_nim import games

# %%
# In a game with inequalities a move lowers one coordinate, and the others drop where the inequalities force them to.

solution = gpu_nim.solve("2y <= x + z; w <= y/3 + 1", 12, grundy=True)
print(solution)
print("first differs from Nim at", solution.first_difference)

# %%
# A game of heaps, here Dawson's Chess as an octal code. The period of its Grundy values is proved, not guessed.

dawson = gpu_nim.solve("octal", 600, code="0.137")
print(dawson.period)

# %%
# Any impartial game: a class with two methods. A king on a board moves to the left, down or both.


class King:
    def positions(self) -> Iterator[tuple[int, int]]:
        return ((x, y) for x in range(16) for y in range(16))

    def options(self, position: tuple[int, int]) -> Iterator[tuple[int, int]]:
        x, y = position
        return ((a, b) for a, b in ((x - 1, y), (x, y - 1), (x - 1, y - 1)) if min(a, b) >= 0)


evolution = games.evolve(King())
board = np.array(evolution.grundy).reshape(16, 16)

figure, axes = plt.subplots(figsize=(4.5, 4.5))
axes.imshow(board, origin="lower", cmap="viridis")
axes.set_title("Grundy values of the king")
plt.show()
