"""
A position and its place in the fractal
=======================================

The position (13, 12, 8) of three-pile Nim, the moves that win from it, and where they lead: a cell of the fractal of P-positions.
"""

import matplotlib.pyplot as plt

import gpu_nim
from gpu_nim.games import nim

position = (13, 12, 8)
nim.nim_sum(position), nim.is_p_position(position)

# %%
# The nim-sum is not 0, so the player who moves next wins (Bouton). There is a winning move for each 1 in the leftmost odd column of
# the piles in binary, always an odd number of them.

for move in nim.winning_moves(position):
    print(f"take {move.take} from pile {move.pile + 1}, which leaves {move.leaves}")

# %%
# What is left is a P-position. Generation n of the fractal holds the P-positions of total 2n, and each one descends from one
# parent: 1 is taken from two piles that end in equally many binary 0s.

left = nim.winning_moves(position)[1].leaves
print(left, "of generation", nim.generation(left))
print("parents:", [relative.position for relative in nim.parents(left)])
print("children:", [relative.position for relative in nim.children(left)])

# %%
# The fractal up to that generation, grown by a rule that knows nothing of nim-sums: a cell is born where exactly one of three
# neighbours is alive. The position is one of the newborns of the last generation.

growth = gpu_nim.grow("nim", sum(left) // 2)
assert list(left) in growth.newborns(growth.generations).tolist()

picture = growth.plot(resolution=(720, 480), theme="paper", axes=True)
figure, axes = plt.subplots(figsize=(7.2, 4.8))
axes.imshow(picture.image)
axes.set_axis_off()
axes.set_title(f"{growth.population} P-positions, with {left} among the last")
plt.show()
