"""
A rule of your own
==================

An automaton that is not in the catalogue: a ``Rule`` says which cells a newborn touches, how many touches give birth, where the
growth begins, and where cells may live. It runs on every engine, has a digest, and is saved and drawn as any other.
"""

import matplotlib.pyplot as plt

import gpu_nim
from gpu_nim import Rule

knight_and_king = Rule(
    dimension=2,
    offsets=tuple((x, y) for x in range(-2, 3) for y in range(-2, 3) if x * x + y * y in (1, 5)),
    births=frozenset({1}),
    seeds=((0, 0),),
)
growth = gpu_nim.grow(knight_and_king, 32, columns=["births", "population", "section y=0", "density"])
growth

# %%
# Where cells may live is a predicate over arrays of cells. This is the half plane with a wall that has one gap.

wall = Rule(
    dimension=2,
    offsets=((1, 0), (-1, 0), (0, 1), (0, -1)),
    births=frozenset({1}),
    seeds=((0, 0),),
    universe=lambda cells: (cells[:, 1] != 8) | (cells[:, 0] == 0),
)

# %%
# Both growths, coloured by generation. No theorem is known for them, so that ``verified`` is None.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4))
for axes, rule, title in ((left, knight_and_king, "knight and rook"), (right, wall, "through a gap")):
    grown = gpu_nim.grow(rule, 31)
    assert grown.verified is None
    axes.imshow(grown.plot(resolution=(400, 400), theme="paper").image)
    axes.set_axis_off()
    axes.set_title(f"{title}: {grown.population:,} cells")
plt.show()
